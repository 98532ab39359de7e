"""Which approvals are meant for a request: the one of its name, and NAME.2, NAME.ann, ... of further people."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import chain, count

from gitfleet.api.staged import Approval
from gitfleet.api.values import NamespacedName
from gitfleet.model.approvals import Asked

APPROVALS_FOLDER = "approvals"
_SEPARATOR = "."
"""No stage and no digest has it, so no request's name continues another's in this way."""


def given(asked: Asked, approvals: Mapping[NamespacedName, Approval]) -> Iterator[Approval]:
    """The approvals that are meant for a request, by name."""
    begins = tuple(name + _SEPARATOR for name in (asked.name, *asked.aliases))
    for key, approval in sorted(approvals.items()):
        if key.namespace == asked.namespace and f"{key.name}{_SEPARATOR}".startswith(begins):
            yield approval


def next_name(name: str, paths: Collection[str], namespace: str = "") -> str:
    """The name of one more approval of the request `name`, where the repo has files at these paths."""
    names = chain([name], (f"{name}{_SEPARATOR}{number}" for number in count(2)))
    return next(one for one in names if path_of(one, namespace) not in paths)


def path_of(name: str, namespace: str = "") -> str:
    """Where the file of an approval lies."""
    return f"{APPROVALS_FOLDER}/{namespace}/{name}.yaml" if namespace else f"{APPROVALS_FOLDER}/{name}.yaml"
