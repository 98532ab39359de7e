"""Which kinds of workloads a rollout can move, as far as a commit tells: handlers of third parties are installed in the
process that runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gitfleet.api import Break
from gitfleet.api.workload_rollouts import WORKLOAD_KINDS, RolloutTrait
from gitfleet.desired.known_kinds import is_kubernetes_group
from gitfleet.formats.kinds import BUILT_IN_KINDS

_FIELD: Final = ("spec", "targetRef")
_KINDS: Final = ", ".join(sorted(kind.kind for kind in WORKLOAD_KINDS))


def unmovable(rollout: RolloutTrait) -> Iterator[Break]:
    """A target of one of Kubernetes' own kinds that is no workload, or under a group that it has no more. Sources are
    of the target's kind."""
    group, kind = rollout.target.group_kind
    if (group, kind) not in BUILT_IN_KINDS or rollout.target.group_kind in WORKLOAD_KINDS:
        return
    if any(is_kubernetes_group(one.group) and one.kind == kind for one in WORKLOAD_KINDS):
        yield (*_FIELD, "apiVersion"), f"has no {kind} that clusters still serve; write apps/v1"
    else:
        yield (*_FIELD, "kind"), f"is no kind that a rollout can move; name one of {_KINDS}"


def unhandled(rollout: RolloutTrait) -> Iterator[Break]:
    """A target of another kind, of which this process may have a handler or not."""
    kind = rollout.target.group_kind
    if kind not in WORKLOAD_KINDS and (kind.group, kind.kind) not in BUILT_IN_KINDS:
        sentence = f"is no kind that a rollout can move by itself ({_KINDS} are); correct it, or install a handler of"
        yield (*_FIELD, "kind"), f"{sentence} {kind} where gitfleet runs: without one nothing is rolled out"
