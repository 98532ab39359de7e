"""What gitfleet needs from a git remote: read trees and blobs of commits, and move a branch by compare-and-swap.

No method ever reads a work tree, an index, a hook or a filter. Object ids are full hexadecimal SHA-1 (or SHA-256).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Protocol


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One blob of a tree: `mode` as git prints it (100644, 100755, 120000 symlink, 160000 submodule), its id and its
    size in bytes."""

    mode: str
    oid: str
    size: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Who commits by a command: `signing` are the git settings by which their commits are signed (user.signingKey,
    gpg.format), None where they sign none."""

    name: str
    email: str
    signing: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchChange:
    """One commit to be put on a branch.

    `write` maps a path to its new bytes; `link` maps a path to a blob that the repository already has (no new blob is
    made); `remove` names paths or whole folders to drop (a removal is done before writes and links).
    `expected` is the head that the branch must still have, None when the branch must not exist yet; `base` is the
    commit whose tree the change starts from (the same as `expected` when None and there is one).
    Where the branch has `most_commits` commits or more (following first parents), this one is put on top of the newest
    `keep_commits` (at least one) of them alone: these get new ids, keep their trees and messages, and say in a trailer
    `Gitfleet-Was` which commit they were. That counts where no `base` is given.
    `tree_trailer` is the key of one more trailer: its value is the id of the commit's tree.
    A `person` is author and committer, and signs as their settings say; where the branch is checked out in a local
    repository, its clean work tree follows.
    `check` is given the new commit, which can be read then, and raises where it shall not be pushed.
    """

    branch: str
    expected: str | None
    subject: str
    body: str = ""
    trailers: tuple[tuple[str, str], ...] = ()
    tree_trailer: str = ""
    when: datetime
    write: Mapping[str, bytes] = field(default_factory=dict)
    link: Mapping[str, TreeEntry] = field(default_factory=dict)
    remove: Collection[str] = ()
    base: str | None = None
    author: tuple[str, str] | None = None  # (name, email); gitfleet's own when None
    person: Person | None = None
    most_commits: int | None = None
    keep_commits: int = 1
    check: Callable[[str], None] | None = None

    def message(self, tree: str) -> str:
        """Subject, body and trailers as the message of a commit of this tree."""
        named = ((self.tree_trailer, tree),) if self.tree_trailer else ()
        trailers = "\n".join(f"{key}: {value.strip()}" for key, value in (*self.trailers, *named))
        return "\n\n".join(filter(None, (self.subject.strip(), self.body.strip("\n"), trailers))) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkTreeFiles:
    """The files of a work tree: `head` is the commit that is checked out, `changed` the paths that differ from it,
    `contents` the bytes of blobs that it does not have."""

    head: str
    files: Mapping[str, TreeEntry]
    contents: Mapping[str, bytes]
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitFacts:
    """What a commit says of itself: `author` and `committer` are name and email, `at` is when it was committed."""

    id: str
    tree: str
    parents: tuple[str, ...]
    author: tuple[str, str]
    committer: tuple[str, str]
    at: datetime
    message: str

    @property
    def trailers(self) -> Mapping[str, str]:
        """The last paragraph of the message, as far as it consists of `Key: value` lines."""
        last = self.message.rstrip().rpartition("\n\n")[2]
        return {key: value for key, colon, value in (line.partition(": ") for line in last.splitlines()) if colon}


class RepoReader(Protocol):
    """Reads commits of one remote. An instance belongs to one thread; `clone_reader` makes one for another thread."""

    def fetch(self, branches: Collection[str] | None = None) -> Mapping[str, str]:
        """Bring some branches here (all when None) and give `{branch name: commit id}` of every branch that there is;
        the tree of another one is brought when it is read. RemoteUnreachable, Forbidden."""

    def resolve(self, revision: str) -> str:
        """The commit id that a branch, tag or (abbreviated) id names; BadInput when it names none."""

    def list_tree(self, commit: str, under: str = "") -> Mapping[str, TreeEntry]:
        """Every blob below a folder ("" = all) of a commit by full path, in path order; sizes are filled in."""

    def read_blobs(self, oids: Iterable[str], *, limit: int) -> Mapping[str, bytes]:
        """The bytes of blobs; one larger than `limit` bytes is left out. The id of each is checked on reading."""

    def changed_paths(self, old: str, new: str) -> Mapping[str, TreeEntry | None]:
        """Paths that differ between two commits: the new entry, or None where the path is gone. No rename detection."""

    def ancestors(self, commit: str, *, most: int) -> Sequence[str]:
        """The commits before a commit, the nearest first, following first parents: at most so many. Of a head that
        cannot be read, those that can; UnreadableCommit where there are none."""

    def about(self, commit: str) -> CommitFacts:
        """What a commit says of itself; BadInput for an unknown one. The head of a branch is brought for it."""

    def clone_reader(self) -> RepoReader:
        """A second reader of the same remote for use by another thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignerKeys:
    """The keys whose signatures count: a file of ssh-keygen's ALLOWED SIGNERS, and exported public keys of GPG."""

    ssh: bytes | None = None
    gpg: bytes | None = None


class Signature(NamedTuple):
    """Who signed a commit: the principal that the keys name and the fingerprint of the key; without a `name`, `why` is
    the end of a sentence."""

    name: str = ""
    key: str = ""
    why: str = ""


class HistoryReader(Protocol):
    """Reads who made commits of one remote, and why."""

    def about(self, commit: str) -> CommitFacts:
        """What a commit says of itself; BadInput for an unknown one. The head of a branch is brought for it."""

    def last_changes(self, commit: str, path: str) -> Sequence[str]:
        """The commits by which a file came to be as a commit has it: the one that brought it there, following first
        parents, and, where that merged it, the one that wrote it. None for a file that is not there, and none that a
        later commit undid, though a merge brought its file again."""

    def is_ancestor(self, old: str, new: str) -> bool | None:
        """Whether a commit is another one, or comes before it; None where the history does not reach so far."""

    def authors(self, commit: str, excluded: Collection[str], paths: Collection[str]) -> Collection[str]:
        """The emails of the authors and co-authors (trailer Co-authored-by) of a commit and of all before it that none
        of the commits `excluded` has, those alone that touched one of these files and folders (none: whatever). Merges
        count where they leave a file as no parent has it. BadInput where these are too many."""

    def signer(self, commit: str, keys: SignerKeys, now: datetime) -> Signature:
        """Who of the owners of these keys signed a commit, with a key that was valid at the commit's own date, and is
        valid `now`: the date is whatever its maker wrote."""


class RepoWriter(Protocol):
    """Moves branches of one remote."""

    def commit(self, change: BranchChange) -> str:
        """Make the commit and push it if the remote's branch still is `expected`; the new commit id.

        LostRace when the branch has moved (nothing is left behind), RemoteUnreachable, Forbidden. A change that leaves
        the tree as it was makes no commit and gives `expected` back (BadInput when there is no `expected`).
        """

    def remove_branch(self, branch: str, expected: str) -> None:
        """Remove a branch if it still is at `expected`; the errors of `commit`."""
