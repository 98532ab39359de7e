"""RepoReader and RepoWriter on one git remote: the adapter's front."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TypedDict, Unpack

from gitfleet.adapters.git import imports
from gitfleet.adapters.git.access import AppToken
from gitfleet.adapters.git.connection import Bounds, Connection, ConnectionSettings
from gitfleet.adapters.git.history import GitHistory
from gitfleet.adapters.git.mirror import PENDING, branch_ref
from gitfleet.adapters.git.pushes import checked_out, classify_push
from gitfleet.adapters.git.shortening import Shortening
from gitfleet.adapters.git.signing import commit_signed
from gitfleet.adapters.git.texts import GitText
from gitfleet.errors import BadInput, GitfleetError, LostRace
from gitfleet.formats import git_names as names
from gitfleet.ports.repos import BranchChange
from gitfleet.settings import GitCredentials

_EMPTY_TREES = frozenset(
    {"4b825dc642cb6eb9a060e54bf8d69288fbee4904", "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"}
)
_CHANGES_BETWEEN_HOUSEKEEPING = 25
_log = logging.getLogger(__name__)


class RemoteOptions(TypedDict, total=False):
    """See GitRemote."""

    credentials: GitCredentials | None
    bounds: Bounds
    use_git_config: bool
    app_token: AppToken | None
    tracked: bool


class GitRemote(GitHistory):
    """One git remote, read through a bare mirror in `mirror_dir` and written by compare-and-swap.

    `url` is an https, http, ssh, git or file URL, or the path of a local repository (work tree or bare), which is
    treated as a remote: its work tree and index are never touched and its hooks never run. `mirror_dir` is a folder
    of gitfleet's own; several processes and threads (each with its own instance) may share it.
    `credentials` are read at each use where they are files; `app_token` gives those of a GitHub App.
    `bounds` limit time and size. With `use_git_config` the user's own git settings and credential helpers count. A
    local clone that is `tracked` has the branches of its own remote `origin` too, where it has none of that name.
    Raises BadInput for an address that is not acceptable and MissingPart without git or a usable folder.
    """

    def __init__(self, url: str, mirror_dir: Path, **options: Unpack[RemoteOptions]) -> None:
        self._settings = ConnectionSettings(url=url, mirror_dir=Path(mirror_dir), **options)
        super().__init__(Connection(self._settings))
        self._shortening = Shortening(self._connection)

    def __repr__(self) -> str:
        return f"GitRemote({self._connection.shown!r})"

    @property
    def shown(self) -> str:
        """The remote's address as people and logs may see it, without secrets."""
        return self._connection.shown

    def clone_reader(self) -> GitRemote:
        """A second one on the same remote and mirror, for another thread."""
        return GitRemote(**{field.name: getattr(self._settings, field.name) for field in fields(self._settings)})

    def commit(self, change: BranchChange) -> str:
        """Make the commit and push it if the remote's branch still is `change.expected`; the new commit's id.

        The parent is `base` (`expected` when None; an orphan when both are None, or when `base` is ""). The same
        change always gives the same id. A change that leaves the tree as it was gives `expected` back and pushes
        nothing. LostRace when the branch has moved, even to the very same commit: it was not this call that moved it.
        BadInput also for a branch that a local work tree has checked out (for a person's change, one that is not
        clean), or a commit that git cannot sign. When the connection broke off, RemoteUnreachable or LostRace may hide
        that this very push went through: read the branch again.
        """
        imports.check_change(change)
        if change.expected is not None:
            names.check_object_id(change.expected)
        if change.person is None and self._connection.checked_out(change.branch):
            raise checked_out(change.branch, self.shown)
        with self._connection.mirror.locked() as lock:
            pushed = None
            try:
                pushed = self._make_and_push(change, lock)
            finally:
                self._connection.mirror.drop_pending()
            if pushed:
                # Should this fail, the next fetch finds the branch moved and brings it.
                self._connection.local("update-ref", "--no-deref", branch_ref(change.branch), pushed, lock=lock)
        if pushed is None:
            return self._unchanged(change)
        self._count_change()
        return pushed

    def remove_branch(self, branch: str, expected: str) -> None:
        """Remove a branch of the remote if it still is at `expected`; LostRace, Forbidden, RemoteUnreachable."""
        names.check_branch(branch)
        with self._connection.mirror.locked() as lock:
            result = self._connection.push("", branch=branch, expected=names.check_object_id(expected), lock=lock)
            error = classify_push(result, branch=branch, shown=self.shown, mask=self._connection.mask)
            if error is not None:
                raise error
            self._connection.local("update-ref", "-d", branch_ref(branch), lock=lock)

    def fetch(self, branches: Collection[str] | None = None) -> Mapping[str, str]:
        """As `GitReader.fetch`; tidies the mirror now and then, since every fetch leaves a pack."""
        heads = super().fetch(branches)
        if self._changes >= _CHANGES_BETWEEN_HOUSEKEEPING:
            self._count_change()
        return heads

    def housekeep(self) -> None:
        """Tidy the mirror if enough has piled up; cheap (a few ms) otherwise. Also called now and then by `commit`."""
        self._connection.housekeep()

    def _import(self, change: BranchChange, lock: int) -> tuple[str | None, str, str]:
        base = change.expected if change.base is None else change.base or None
        person = change.person
        committer = (person.name, person.email) if person else names.GITFLEET
        stream = imports.compose_import(change, ref=PENDING, base=base, committer=committer)
        arguments = ("fast-import", "--quiet", "--force", "--date-format=raw")
        result = self._connection.local(*arguments, stdin=stream, lock=lock)
        if not result.ok:
            # Somebody else's newer commit may not be here yet, or a killed process left a lock.
            self._connection.repair_after(result, change.branch, base)
            result = self._connection.local(*arguments, stdin=stream, lock=lock)
        if result.ok and person is not None and person.signing is not None:
            before, after, _ = imports.parse_import(result.output)
            parents = [base] if base else []
            return before, after, commit_signed(self._connection.mirror.git_dir, person, change, after, parents)
        if result.ok and change.tree_trailer:
            _, tree, _ = imports.parse_import(result.output)
            stream = imports.compose_import(change, ref=PENDING, base=base, committer=committer, tree=tree)
            result = self._connection.local(*arguments, stdin=stream, lock=lock)
        if result.ok:
            return imports.parse_import(result.output)
        self._connection.mirror.remove_leftovers()
        if base and not self._has(base) and base != change.expected:
            raise BadInput(GitText.NOT_HAVE(shown=self.shown, subject=GitText.COMMIT(oid=base)))
        if change.expected and not self._has(change.expected):
            raise LostRace(GitText.BRANCH_MOVED_FIRST(branch=change.branch, shown=self.shown))
        missing = [path for path, entry in sorted(change.link.items()) if not self._has(entry.oid)]
        subject = GitText.BLOB_LINKED(path=missing[0]) if missing else GitText.WHAT_COMMIT_MADE_FROM()
        raise self._connection.unreadable(result, subject)

    def _has(self, oid: str) -> bool:
        return self._connection.local("cat-file", "-e", oid).ok

    def _make_and_push(self, change: BranchChange, lock: int) -> str | None:
        """The commit that the branch has now, None when there was nothing to change."""
        first, base = True, self._shortening.base_of(change, lock)
        if base is not None:
            change = replace(change, base=base)
        while True:
            before, after, commit = self._import(change, lock)
            if after == before or (before is None and after in _EMPTY_TREES):
                return None
            if change.check is not None:
                change.check(commit)
            follow = change.person is not None
            result = self._connection.push(
                commit, branch=change.branch, expected=change.expected, lock=lock, follow=follow
            )
            # Only an empty remote reports so late that its ids are SHA-256.
            if first and not result.ok and self._connection.repaired_push(result):
                first = False
                continue
            error = classify_push(result, branch=change.branch, shown=self.shown, mask=self._connection.mask)
            if error is not None:
                raise error
            self._shortening.note(commit, base, change.keep_commits, change.expected)
            return commit

    def _unchanged(self, change: BranchChange) -> str:
        if change.expected is None:
            raise BadInput(GitText.CHANGE_PUTS_NOTHING(branch=change.branch))
        return change.expected

    def _count_change(self) -> None:
        self._changes += 1
        if self._changes >= _CHANGES_BETWEEN_HOUSEKEEPING:
            self._changes = 0
            try:
                self.housekeep()
            except GitfleetError as error:
                _log.warning(GitText.HOUSEKEEPING_PUT_OFF(), extra={"reason": str(error)})
