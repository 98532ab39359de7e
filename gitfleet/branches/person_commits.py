"""Files that a command commits in a person's name, by compare-and-swap on top of what the branch has then."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

from gitfleet.branches.repository import no_such_branch
from gitfleet.errors import LostRace
from gitfleet.ports.repos import BranchChange, Person, RepoReader, RepoWriter, TreeEntry

_MOST_TRIES: Final = 5
Tree: TypeAlias = Mapping[str, TreeEntry]
"""The files of a commit by their paths."""
Check: TypeAlias = Callable[[str, Collection[str]], None]
"""Raises where a new commit, which writes these paths, shall not be pushed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesChange:
    """What a person changes: `write` maps a path to its new bytes, `remove` names paths that go."""

    subject: str
    body: str = ""
    write: Mapping[str, bytes]
    remove: Collection[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """What came of it: `commit` is on `branch`. `changed` is False where the branch had it all before."""

    branch: str
    commit: str
    changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonCommits:
    """Commits of one person in one repository."""

    reader: RepoReader
    writer: RepoWriter
    watched: str
    person: Person
    now: Callable[[], datetime]

    def commit(
        self, change: Callable[[Tree], FilesChange], branch: str | None = None, check: Check | None = None
    ) -> Committed:
        """Commit what `change` gives for the files that are there, to the watched branch or to `branch`, which is made
        on top of it where there is none. It is asked again when somebody else was faster.

        LostRace when that happens again and again; what RepoWriter.commit and `check` raise.
        """
        target = branch or self.watched
        for _ in range(_MOST_TRIES - 1):
            try:
                return self._try(change, target, check)
            except LostRace:
                continue
        return self._try(change, target, check)

    def _try(self, change: Callable[[Tree], FilesChange], target: str, check: Check | None) -> Committed:
        heads = self.reader.fetch((self.watched, target))
        start = heads.get(target) or heads.get(self.watched)
        if start is None:
            raise no_such_branch(self.watched, heads)
        tree = self.reader.list_tree(start)
        files = change(tree)
        made = self.writer.commit(
            BranchChange(
                branch=target,
                expected=heads.get(target),
                base=start,
                subject=files.subject,
                body=files.body,
                when=self.now(),
                write=files.write,
                remove=[path for path in files.remove if path in tree],
                person=self.person,
                check=None if check is None else lambda made: check(made, files.write.keys()),
            )
        )
        return Committed(branch=target, commit=made, changed=made != heads.get(target))
