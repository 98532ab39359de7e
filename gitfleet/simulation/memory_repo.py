"""A git remote in memory: true blob, tree and commit ids, compare-and-swap, and faults on demand.

It is the second body of RepoReader and RepoWriter: one contract suite runs over it and over real git, and the same
change gives the same commit id in both. Trees are persistent values that share what did not change, so a commit costs
what it touches.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType

from gitfleet.errors import BadInput, GitfleetError, LostRace
from gitfleet.formats import git_names as names
from gitfleet.formats.git_names import blob_id
from gitfleet.ports.repos import BranchChange, CommitFacts, Signature, SignerKeys, TreeEntry
from gitfleet.simulation.memory_trees import EMPTY, Folder, differences


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCommit:
    """One commit; `tree` is its root folder, `parent` None for an orphan."""

    id: str
    parent: str | None
    tree: Folder
    message: str
    author: tuple[str, str]
    committer: tuple[str, str]
    when: datetime

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.partition("\n")[0]


class MemoryRepo:
    """One remote repository. Threads may share it; what is committed can be read at once, fetched or not.

    `before_commit` is called with every change before the branch is compared, outside the lock: a test makes a race
    there by committing first. It is not called for commits that it makes itself.
    """

    def __init__(self) -> None:
        self.before_commit: Callable[[BranchChange], None] | None = None
        self.tags: dict[str, str] = {}
        self._blobs: dict[str, bytes] = {}
        self._commits: dict[str, MemoryCommit] = {}
        self._branches: dict[str, str] = {}
        self.commit_faults: list[GitfleetError] = []
        self.fetch_faults: list[GitfleetError] = []
        """What the next commits and fetches raise, one each."""
        self._lock = threading.RLock()
        self._racing = False

    # -- RepoReader

    def fetch(self, branches: Collection[str] | None = None) -> Mapping[str, str]:
        """`{branch: commit id}`; raises what `fail_next_fetch` was given."""
        if self.fetch_faults:
            raise self.fetch_faults.pop(0)
        with self._lock:
            return dict(sorted(self._branches.items()))

    def resolve(self, revision: str) -> str:
        """The commit id of a branch, a tag, HEAD (main) or an (abbreviated) id; BadInput when it names none."""
        name = revision.removeprefix("refs/heads/")
        if commit := self._branches.get("main" if revision == "HEAD" else name):
            return commit
        if names.is_abbreviated_id(name):
            matches = [oid for oid in self._commits if oid.startswith(name)]
            if len(matches) == 1:
                return matches[0]
        if commit := self.tags.get(revision.removeprefix("refs/tags/")):
            return commit
        raise BadInput(
            f"memory has no branch, tag or commit {revision!r}.", hint="Give a branch, a tag or a commit id."
        )

    def list_tree(self, commit: str, under: str = "") -> Mapping[str, TreeEntry]:
        """Every entry below a folder of a commit by full path, in path order."""
        folder = self._commit(commit).tree.below(under.rstrip("/"))
        return MappingProxyType(folder.listing()) if folder else {}

    def read_blobs(self, oids: Iterable[str], *, limit: int) -> Mapping[str, bytes]:
        """The bytes of blobs; larger ones are left out. BadInput for an id that is no blob."""
        contents = {}
        for oid in oids:
            data = self._blobs.get(oid)
            if data is None:
                raise BadInput(f"memory does not have the blob {oid[:80]!r}.")
            if len(data) <= limit:
                contents[oid] = data
        return contents

    def changed_paths(self, old: str, new: str) -> Mapping[str, TreeEntry | None]:
        """Paths that differ: the new entry (without its size, as git has it), or None where the path is gone."""
        return differences(self._commit(old).tree, self._commit(new).tree)

    def ancestors(self, commit: str, *, most: int) -> Sequence[str]:
        """The commits before a commit, the nearest first."""
        commits: list[str] = []
        parent = self._commit(commit).parent
        while parent is not None and len(commits) < most:
            commits.append(parent)
            parent = self._commit(parent).parent
        return commits

    def clone_reader(self) -> MemoryRepo:
        """Itself: threads may share it."""
        return self

    # -- RepoWriter

    def commit(self, change: BranchChange) -> str:
        """Put a change on a branch that is at `expected`; LostRace, BadInput, or what `fail_next_commit` was given."""
        _check(change)
        if self.commit_faults:
            raise self.commit_faults.pop(0)
        if self.before_commit is not None and not self._racing:
            self._racing = True
            try:
                self.before_commit(change)
            finally:
                self._racing = False
        with self._lock:
            change = self._shortened(change)
            made = self._make(change)
            if made is None:
                if change.expected is None:
                    raise BadInput(f"The branch {change.branch} cannot be made: the change puts nothing into it.")
                return change.expected
            if self._branches.get(change.branch) != change.expected:
                raise LostRace(f"The branch {change.branch} of memory was moved by somebody else first.")
            if change.expected is None and (conflicting := self._name_conflict(change.branch)):
                raise BadInput(f"The branch {change.branch} cannot be made: there is a branch {conflicting}.")
            self._commits[made.id] = made
            if change.check is not None:
                change.check(made.id)
            self._branches[change.branch] = made.id
        return made.id

    def remove_branch(self, branch: str, expected: str) -> None:
        """Remove a branch that is at `expected`; LostRace, or what `fail_next_commit` was given."""
        if self.commit_faults:
            raise self.commit_faults.pop(0)
        with self._lock:
            if self._branches.get(branch) != expected:
                raise LostRace(f"The branch {branch} of memory was moved by somebody else first.")
            del self._branches[branch]

    # -- HistoryReader

    def about(self, commit: str) -> CommitFacts:
        """What a commit says of itself."""
        facts = self._commit(commit)
        return CommitFacts(
            id=commit,
            tree=facts.tree.oid,
            parents=(facts.parent,) if facts.parent else (),
            author=facts.author,
            committer=facts.committer,
            at=facts.when.replace(microsecond=0),
            message=facts.message,
        )

    def last_changes(self, commit: str, path: str) -> Sequence[str]:
        """The commit that brought a file to what it is; there are no merges here."""
        entry = self._commit(commit).tree.listing().get(path)
        while entry is not None:
            parent = self._commit(commit).parent
            if parent is None or self._commit(parent).tree.listing().get(path) != entry:
                return (commit,)
            commit = parent
        return ()

    def is_ancestor(self, old: str, new: str) -> bool:
        """Whether a commit is another one or comes before it."""
        return old == new or old in self.ancestors(new, most=len(self._commits))

    def authors(self, commit: str, excluded: Collection[str], paths: Collection[str]) -> Collection[str]:
        """HistoryReader.authors, of commits without trailers and without merges."""
        line = [commit, *self.ancestors(commit, most=len(self._commits))]
        old = {oid for head in excluded for oid in (head, *self.ancestors(head, most=len(self._commits)))}
        new = [self._commit(oid) for oid in line if oid not in old]
        return {made.author[1] for made in new if not paths or self._touches(made, paths)}

    def _touches(self, made: MemoryCommit, paths: Collection[str]) -> bool:
        before = self._commit(made.parent).tree if made.parent is not None else EMPTY
        return any(f"{path}/".startswith(f"{folder}/") for path in differences(before, made.tree) for folder in paths)

    def signer(self, commit: str, keys: SignerKeys, now: datetime) -> Signature:
        """Nobody: commits in memory have no signatures."""
        return Signature(why="is not signed")

    # -- for tests and simulations

    def commit_files(
        self, branch: str, files: Mapping[str, bytes | str | None], when: datetime, subject: str = "Change files"
    ) -> str:
        """Write files (None removes one) to a branch whatever its head, making it if need be; the new commit's id."""
        return self.commit(
            BranchChange(
                branch=branch,
                expected=self._branches.get(branch),
                subject=subject,
                when=when,
                write={path: _as_bytes(data) for path, data in files.items() if data is not None},
                remove=tuple(path for path, data in files.items() if data is None),
            )
        )

    def keep_blobs(self, contents: Iterable[bytes]) -> None:
        """Have the bytes of blobs that commits may link to."""
        for data in contents:
            self._keep(data)

    def put_entry(self, branch: str, path: str, mode: str, data: bytes, when: datetime) -> str:
        """Commit one entry with a mode that `commit` refuses, such as a symlink (120000); the new commit's id."""
        expected = self._branches.get(branch)
        with self._lock:
            oid = self._keep(data)
            before = self._commits[expected].tree if expected else EMPTY
            tree = before.with_entries({path: TreeEntry(mode, oid, len(data))})
            made = _sealed(
                expected, tree, BranchChange(branch=branch, expected=expected, subject=f"Put {path}", when=when)
            )
            self._commits[made.id] = made
            self._branches[branch] = made.id
        return made.id

    def move_branch(self, branch: str, commit: str | None) -> None:
        """Point a branch at a commit by force, or delete it (None), as people with git do."""
        with self._lock:
            if commit is None:
                self._branches.pop(branch, None)
            else:
                self._branches[branch] = self._commit(commit).id

    def files(self, branch: str) -> Mapping[str, bytes]:
        """Every file at the head of a branch by path, `{}` without such a branch."""
        head = self._branches.get(branch)
        if head is None:
            return {}
        return {path: self._blobs[entry.oid] for path, entry in self._commits[head].tree.listing().items()}

    def log(self, branch: str) -> tuple[MemoryCommit, ...]:
        """The commits of a branch, newest first."""
        commits = []
        oid = self._branches.get(branch)
        while oid is not None:
            commits.append(self._commits[oid])
            oid = self._commits[oid].parent
        return tuple(commits)

    def _commit(self, oid: str) -> MemoryCommit:
        if names.check_object_id(oid) not in self._commits:
            raise BadInput(f"memory does not have the commit {oid}.")
        return self._commits[oid]

    def _make(self, change: BranchChange) -> MemoryCommit | None:
        """The commit that a change makes, None when it leaves the tree as it was."""
        parent = change.expected if change.base is None else change.base or None
        if parent is not None and parent not in self._commits:
            raise (LostRace if parent == change.expected else BadInput)(f"memory does not have the commit {parent}.")
        start = self._commits[parent].tree if parent else EMPTY
        before = start if parent or not change.expected else self._commit(change.expected).tree
        entries = {
            path: TreeEntry(entry.mode, entry.oid, len(self._linked(path, entry)))
            for path, entry in change.link.items()
        }
        entries |= {path: TreeEntry("100644", self._keep(data), len(data)) for path, data in change.write.items()}
        tree = EMPTY if "" in change.remove else start.without(path.rstrip("/") for path in change.remove)
        tree = tree.with_entries(entries) if entries else tree
        if tree.oid == before.oid:
            return None
        return _sealed(parent, tree, change)

    def _shortened(self, change: BranchChange) -> BranchChange:
        """The change, on top of the newest commits of its branch alone where it has too many."""
        head, most = change.expected, change.most_commits
        if most is None or head not in self._commits or change.base is not None:
            return change
        line = [head, *self.ancestors(head, most=most)]
        if len(line) < most:
            return change
        base = ""
        for oid in reversed(line[: max(1, change.keep_commits)]):
            old = self._commits[oid]
            message = names.was_trailer(old.message.encode(), oid).decode()
            made = _sealed_as(base or None, old.tree, message, old.author, old.committer, old.when)
            self._commits[made.id], base = made, made.id
        return replace(change, base=base)

    def _linked(self, path: str, entry: TreeEntry) -> bytes:
        if entry.oid not in self._blobs:
            raise BadInput(f"memory does not have the blob that {path!r} is linked to.")
        return self._blobs[entry.oid]

    def _keep(self, data: bytes) -> str:
        oid = blob_id(data)
        self._blobs[oid] = data
        return oid

    def _name_conflict(self, branch: str) -> str | None:
        for existing in self._branches:
            if existing.startswith(branch + "/") or branch.startswith(existing + "/"):
                return existing
        return None


def _sealed(parent: str | None, tree: Folder, change: BranchChange) -> MemoryCommit:
    committer = (change.person.name, change.person.email) if change.person else names.GITFLEET
    return _sealed_as(parent, tree, change.message(tree.oid), change.author or committer, committer, change.when)


def _sealed_as(
    parent: str | None, tree: Folder, message: str, author: tuple[str, str], committer: tuple[str, str], when: datetime
) -> MemoryCommit:
    seconds = int(when.timestamp())
    lines = [f"tree {tree.oid}", *([f"parent {parent}"] if parent else [])]
    lines += [f"author {author[0]} <{author[1]}> {seconds} +0000"]
    lines += [f"committer {committer[0]} <{committer[1]}> {seconds} +0000", "", message]
    body = "\n".join(lines).encode(errors="replace")
    oid = hashlib.sha1(b"commit %d\0" % len(body) + body, usedforsecurity=False).hexdigest()
    return MemoryCommit(
        id=oid, parent=parent, tree=tree, message=message, author=author, committer=committer, when=when
    )


def _check(change: BranchChange) -> None:
    """The git adapter's rules in short; the contract suite holds both to the same refusals."""
    names.check_branch(change.branch)
    names.check_line(change.subject, "subject")
    if "\0" in change.body:
        raise BadInput("The body of a commit message must not hold a NUL character.")
    for key, value in change.trailers:
        names.check_trailer(key, value)
    names.check_identity(change.author or names.GITFLEET)
    if change.when.tzinfo is None:
        raise BadInput("The time of a commit must have a time zone.")
    if any(entry.mode not in ("100644", "100755") for entry in change.link.values()):
        raise BadInput("Only plain files may be linked: no symlinks, no submodules.")
    names.check_paths(change.write.keys(), change.link.keys(), change.remove)


def _as_bytes(data: bytes | str) -> bytes:
    return data.encode() if isinstance(data, str) else data
