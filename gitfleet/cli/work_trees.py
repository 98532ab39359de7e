"""The uncommitted changes of the work tree that a command stands in: left out and said, or read with `--work-tree`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click

from gitfleet.cli.texts import CliText
from gitfleet.errors import BadInput
from gitfleet.formats.sentences import counted, named_briefly
from gitfleet.settings import Settings

if TYPE_CHECKING:
    from gitfleet.ports.repos import WorkTreeFiles

_MOST_NAMED: Final = 4


def files_of(settings: Settings, rev: str | None, required: bool) -> WorkTreeFiles | None:
    """The files of the work tree, None where a revision is named or there is none. UsageError and BadInput when they
    are `wanted` and cannot be."""
    from gitfleet.wiring import hub

    if required and rev is not None:
        raise click.UsageError(CliText.REV_WORK_TREE_EXCLUDE_EACH())
    files = hub.work_tree_of(settings) if rev is None else None
    if required and files is None:
        raise BadInput(CliText.NO_WORK_TREE_READ_HERE(repo=settings.repo), hint=CliText.WORK_TREE_NEEDS_TOP_FOLDER())
    return files


def uncommitted(changed: Sequence[str]) -> str:
    """How many files have uncommitted changes, the first of them by name."""
    return f"{counted(len(changed), 'file')} ({named_briefly(changed, _MOST_NAMED)})"
