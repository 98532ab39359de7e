"""RepoReader on the mirror: trees, blobs and differences of commits, nothing but plumbing."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import TypeVar

from gitfleet.adapters.git import objects
from gitfleet.adapters.git.connection import Connection
from gitfleet.adapters.git.runner import GitResult
from gitfleet.adapters.git.texts import GitText
from gitfleet.errors import BadInput, UnreadableCommit
from gitfleet.formats import git_names as names
from gitfleet.formats.limits import in_batches
from gitfleet.ports.repos import CommitFacts, TreeEntry

_Parsed = TypeVar("_Parsed")
_TREES_KEPT = 6
_BATCH_BYTES = 64 << 20
_HEADER_BYTES = 200
_MOST_READINGS = 3
"""The head of a branch that is not here yet, and a commit that is no head, each cost one reading more."""
_REMOTE_HEAD = "refs/gitfleet/head"
_COMMITS = "refs/gitfleet/commits/"
"""Where the mirror keeps commits that were fetched by their ids."""


class GitReader:
    """Reads one remote through its mirror. For one thread; `clone_reader` of GitRemote makes one for another."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._trees: OrderedDict[str, Mapping[str, TreeEntry]] = OrderedDict()
        self._known: tuple[tuple[int, int], Mapping[str, str]] | None = None
        self._changes = 0

    def fetch(self, branches: Collection[str] | None = None) -> Mapping[str, str]:
        """Bring some of the remote's branches into the mirror (all when None) and give `{branch: commit id}` of every
        branch that there is; `{}` for an empty remote. The tree of another branch is brought when it is read. That of a
        branch whose head cannot be brought raises UnreadableCommit then, and the other branches are not hindered by it.

        When none of them moved this is one `ls-remote`. RemoteUnreachable, Forbidden, BadInput (no repository there).
        """
        heads = dict(self._connection.remote_heads())
        self._connection.drop_passing_refusals()
        mirror = self._connection.mirror
        requested = heads if branches is None else {name: heads[name] for name in branches if name in heads}
        readable = {name: oid for name, oid in requested.items() if self._connection.refusals.get(oid) is None}
        if self._known == (mirror.identity(), readable) and not mirror.is_damaged():
            return heads
        if mirror.is_damaged() or self._connection.mirrored(readable) != readable:
            readable = dict.fromkeys(self._connection.bring(sorted(readable)), "")
            heads |= self._connection.mirrored(readable)
            self._changes += 1
        self._known = (mirror.identity(), {name: heads[name] for name in readable})
        return heads

    def resolve(self, revision: str) -> str:
        """The commit id that a branch, a tag, HEAD or an (abbreviated) id names; BadInput when it names none.

        A branch is the one that the last fetch found; an id is sought in what was read already, then in the rest of
        the remote; a tag or HEAD is asked of the remote.
        """
        name = revision.removeprefix("refs/heads/")
        oid = None if revision == "HEAD" else self._connection.known_heads().get(name)
        if oid is not None:
            return oid
        if names.is_abbreviated_id(name):
            oid = self._by_id(name)
        else:
            if any(sign in revision for sign in ("~", "^", "@{")):
                message = GitText.COUNTS_FROM_ANOTHER_REVISION(revision=revision[:80])
                raise BadInput(message, hint=GitText.GIVE_REVISION())
            if revision != "HEAD":
                names.check_branch(revision)
        if oid is None:
            tag = f"refs/tags/{revision.removeprefix('refs/tags/')}"
            source, target = ("HEAD", _REMOTE_HEAD) if revision == "HEAD" else (tag, tag)
            oid = self._commit_of(target) if self._connection.fetch_ref(source, target) else None
        if oid is None:
            message = GitText.NO_REVISION(shown=self._connection.shown, revision=revision[:80])
            raise BadInput(message, hint=GitText.GIVE_REVISION())
        return oid

    def list_tree(self, commit: str, under: str = "") -> Mapping[str, TreeEntry]:
        """Every blob, symlink and submodule below a folder of a commit by full path; sizes are in bytes.

        Symlinks and submodules are listed with their mode and never followed. BadInput for an unknown commit.
        """
        prefix = under.rstrip("/") + "/"
        if under and commit not in self._trees:
            return self._listed(names.check_object_id(commit), "--", prefix)
        tree = self._tree(names.check_object_id(commit))
        if not under:
            return tree
        return {path: entry for path, entry in tree.items() if path.startswith(prefix)}

    def read_blobs(self, oids: Iterable[str], *, limit: int) -> Mapping[str, bytes]:
        """The bytes of blobs by id, each checked against its id; one of more than `limit` bytes is left out.

        BadInput for an id that is no blob; RemoteUnreachable when the mirror turns out to be damaged.
        """
        distinct = list(dict.fromkeys(names.check_object_id(oid) for oid in oids))
        if not distinct:
            return {}
        sizes = {oid: size for oid, size in self._sizes(distinct).items() if size <= limit}
        contents: dict[str, bytes] = {}
        for batch in in_batches(sizes, sizes.__getitem__, _BATCH_BYTES):
            expected = sum(sizes[oid] + _HEADER_BYTES for oid in batch)
            contents |= self._contents(batch, expected)
        return contents

    def changed_paths(self, old: str, new: str) -> Mapping[str, TreeEntry | None]:
        """Paths that differ between two commits: the new entry (without its size), or None where the path is gone."""
        result = self._read(
            GitText.COMMITS(old=old, new=new),
            "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--no-ext-diff", "--no-textconv",
            "--ignore-submodules=none", names.check_object_id(old), names.check_object_id(new), "--",
            commits=(old, new),
        )  # fmt: skip
        return objects.parse_changes(result.output)

    def ancestors(self, commit: str, *, most: int) -> Sequence[str]:
        """The commits before a commit, the nearest first, following first parents; BadInput for an unknown commit.

        Of the head of a branch that git refuses: the nearest that it does not refuse and those before it, or what the
        mirror had of the branch when even the ids of its history cannot be had; UnreadableCommit for neither.
        """
        names.check_object_id(commit)
        try:
            return self._first_parents(commit, most)
        except UnreadableCommit:
            near = self._nearest_readable(commit, most)
            if near is None:
                raise
            return [near, *self._first_parents(near, most - 1)]

    def about(self, commit: str) -> CommitFacts:
        """What a commit says of itself; BadInput for an unknown commit."""
        subject = GitText.COMMIT(oid=commit)
        result = self._read(subject, "cat-file", "commit", names.check_object_id(commit), commits=(commit,))
        return objects.parse_commit(commit, result.output)

    def _first_parents(self, commit: str, most: int) -> Sequence[str]:
        result = self._read(GitText.HISTORY(subject=commit), *_first_parents(commit, most), commits=(commit,))
        return result.output.decode().split()[1:]

    def _nearest_readable(self, commit: str, most: int) -> str | None:
        branches = [name for name, oid in self._connection.known_heads().items() if oid == commit]
        if not branches:
            return None
        with self._connection.unchecked(branches) as git:
            result = git.run(*_first_parents(commit, most)) if git is not None else None
        before = result.output.decode().split()[1:] if result is not None and result.ok else []
        for oid in before:
            with suppress(UnreadableCommit):
                if self._commit_of(oid) or self._connection.fetch_ref(oid, _COMMITS + oid):
                    return oid
        return next(iter(self._connection.mirrored(branches).values()), None)

    def _contents(self, batch: list[str], output_bytes: int) -> dict[str, bytes]:
        """The blobs of a batch, each checked against its id."""
        subject = GitText.BLOB_OR_ONE_AFTER(oid=batch[0])
        result = self._read(subject, "cat-file", "--batch", "--buffer", stdin=_lines(batch), output_bytes=output_bytes)
        return self._parsed(subject, result, objects.parse_blobs)

    def _parsed(self, subject: str, result: GitResult, parse: Callable[[bytes], _Parsed]) -> _Parsed:
        """What git printed as a value. Git does not always say by its exit code that an object is damaged: then parsing
        fails."""
        try:
            return parse(result.output)
        except ValueError as error:
            raise self._connection.damaged(f"{subject}: {error}") from error

    def _by_id(self, beginning: str) -> str | None:
        """The commit of an (abbreviated) id, from the whole remote when what was read does not have it."""
        if commit := self._commit_of(beginning):
            return commit
        heads = self._connection.known_heads()
        matching = {oid for oid in heads.values() if oid.startswith(beginning)}
        if len(matching) == 1:
            return matching.pop()
        self._connection.bring(sorted(heads))
        return self._commit_of(beginning)

    def _read(
        self,
        subject: str,
        *arguments: str,
        commits: Collection[str] = (),
        stdin: Sequence[bytes] = (),
        output_bytes: int | None = None,
    ) -> GitResult:
        """Run git on the mirror; a commit that was not brought yet is brought."""
        bounds = {} if output_bytes is None else {"output_bytes": output_bytes}
        for _ in range(_MOST_READINGS):
            result = self._connection.local(*arguments, stdin=stdin, **bounds)
            if result.ok:
                return result
            if not self._brought(commits):
                self._recover(result, subject, commits)
        raise self._connection.damaged(subject)

    def _recover(self, result: GitResult, subject: str, commits: Collection[str]) -> None:
        error = self._connection.unreadable(result, subject)
        if not isinstance(error, BadInput) or isinstance(error, UnreadableCommit):
            raise error
        # A commit that is no head and was never brought: of a branch that is read without its history.
        lacking = [oid for oid in commits if not self._connection.local("cat-file", "-e", oid).ok]
        if not lacking or not all(self._connection.fetch_ref(oid, _COMMITS + oid) for oid in lacking):
            raise error

    def _brought(self, commits: Collection[str]) -> bool:
        """Whether one of the commits is the head of a branch that had to be brought."""
        heads = self._connection.known_heads() if commits else {}
        branches = {name: oid for name, oid in heads.items() if oid in commits}
        mirrored = self._connection.mirrored(branches) if branches else {}
        missing = [name for name, oid in branches.items() if mirrored.get(name) != oid]
        if missing and len(missing) == len(branches):
            refusals = self._connection.refusals
            if not any(oid in refusals for oid in branches.values()) and self._connection.bring(missing[:1]):
                return True
            raise next(refusals[oid] for oid in branches.values() if oid in refusals)
        return False

    def _commit_of(self, ref: str) -> str | None:
        result = self._connection.local("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        return result.output.decode().strip() if result.ok else None

    def _tree(self, commit: str) -> Mapping[str, TreeEntry]:
        if commit in self._trees:
            self._trees.move_to_end(commit)
            return self._trees[commit]
        self._trees[commit] = MappingProxyType(self._listed(commit))
        while len(self._trees) > _TREES_KEPT:
            self._trees.popitem(last=False)
        return self._trees[commit]

    def _listed(self, commit: str, *parts: str) -> dict[str, TreeEntry]:
        arguments = ("ls-tree", "-r", "-z", "-l", "--full-tree", commit, *parts)
        subject = GitText.COMMIT(oid=commit)
        if (refusal := self._connection.refusals.get(commit)) is not None:
            raise refusal
        try:
            return self._parsed(subject, self._read(subject, *arguments, commits=(commit,)), objects.parse_tree)
        except UnreadableCommit as error:
            self._connection.refusals[commit] = error
            raise

    def _sizes(self, oids: list[str]) -> Mapping[str, int]:
        subject = GitText.BLOB_OR_ONE_AFTER(oid=oids[0])
        result = self._read(subject, "cat-file", "--batch-check", "--buffer", stdin=_lines(oids))
        entries, sizes = objects.parse_sizes(result.output), dict[str, int]()
        for oid in oids:
            entry = entries.get(oid)
            if entry is None:
                raise self._connection.unreadable(result, GitText.BLOB(oid=oid))
            kind, sizes[oid] = entry
            if kind != "blob":
                raise BadInput(GitText.NO_BLOB(oid=oid, kind=kind))
        return sizes


def _first_parents(commit: str, most: int) -> tuple[str, ...]:
    """The command that lists a commit and at most so many before it."""
    return ("rev-list", "--first-parent", f"--max-count={most + 1}", commit, "--")


def _lines(oids: Iterable[str]) -> tuple[bytes]:
    return ("".join(f"{oid}\n" for oid in oids).encode(),)
