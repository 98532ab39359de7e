"""RepoReader on the mirror: trees, blobs and differences of commits, nothing but plumbing."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from gitfleet.adapters.git import objects
from gitfleet.adapters.git.connection import Connection
from gitfleet.adapters.git.mirror import BRANCHES
from gitfleet.errors import BadInput
from gitfleet.formats import git_names as names
from gitfleet.ports.repos import TreeEntry

_TREES_KEPT = 6
_WORTH_BRINGING_FORWARD = 1_000
"""Entries from which `diff-tree` against a listing at hand is cheaper than a new `ls-tree`."""
_ANCESTORS_TRIED = "20"
_BATCH_BYTES = 64 << 20
_HEADER_BYTES = 200
_REMOTE_HEAD = "refs/gitfleet/head"


class GitReader:
    """Reads one remote through its mirror. For one thread; `clone_reader` of GitRemote makes one for another."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._trees: OrderedDict[str, Mapping[str, TreeEntry]] = OrderedDict()
        self._known: tuple[tuple[int, int], Mapping[str, str]] | None = None
        self._changes = 0

    def fetch(self) -> Mapping[str, str]:
        """Bring the remote's branches into the mirror and give `{branch: commit id}`; `{}` for an empty remote.

        When no branch moved this is one `ls-remote`. RemoteUnreachable, Forbidden, BadInput (no repository there).
        """
        heads = self._connection.remote_heads()
        mirror = self._connection.mirror
        if self._known == (mirror.identity(), heads) and not mirror.is_damaged():
            return dict(heads)
        if mirror.is_damaged() or self._connection.mirror_heads() != heads:
            self._connection.update()
            heads = self._connection.mirror_heads()
            self._changes += 1
        self._known = (mirror.identity(), heads)
        return dict(heads)

    def resolve(self, revision: str) -> str:
        """The commit id that a branch, a tag, HEAD or an (abbreviated) id names; BadInput when it names none.

        Branches and ids are looked up in the mirror as last fetched; a tag or HEAD is asked of the remote.
        """
        name = revision.removeprefix("refs/heads/")
        if names.is_abbreviated_id(name):
            found = self._commit_of(f"{BRANCHES}{name}") or self._commit_of(name)
        else:
            if any(sign in revision for sign in ("~", "^", "@{")):
                raise BadInput(
                    f"{revision[:80]!r} counts from another revision, which is not read here.",
                    hint="Give a branch, a tag or a commit id: `git rev-parse` prints the id of any revision.",
                )
            names.check_branch(revision)
            found = None if revision == "HEAD" else self._commit_of(f"{BRANCHES}{name}")
        if found is None:
            tag = f"refs/tags/{revision.removeprefix('refs/tags/')}"
            source, target = ("HEAD", _REMOTE_HEAD) if revision == "HEAD" else (tag, tag)
            found = self._commit_of(target) if self._connection.fetch_ref(source, target) else None
        if found is None:
            message = f"{self._connection.shown} has no branch, tag or commit {revision[:80]!r}."
            raise BadInput(message, hint="Give a branch, a tag or a commit id.")
        return found

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
        wanted = list(dict.fromkeys(names.check_object_id(oid) for oid in oids))
        if not wanted:
            return {}
        sizes = {oid: size for oid, size in self._sizes(wanted).items() if size <= limit}
        found: dict[str, bytes] = {}
        for batch in _batches(sizes):
            expected = sum(sizes[oid] + _HEADER_BYTES for oid in batch)
            result = self._connection.local(
                "cat-file", "--batch", "--buffer", stdin=_lines(batch), output_bytes=expected
            )
            if not result.ok:
                raise self._connection.unreadable(result, f"the blob {batch[0]} or one after it")
            for oid, kind, data in objects.parse_contents(result.output):
                if kind != "blob" or not objects.is_blob(oid, data):
                    raise self._connection.damaged(f"the object {oid} is not what its id says")
                found[oid] = data
        return found

    def changed_paths(self, old: str, new: str) -> Mapping[str, TreeEntry | None]:
        """Paths that differ between two commits: the new entry (without its size), or None where the path is gone."""
        result = self._connection.local(
            "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--no-ext-diff", "--no-textconv",
            "--ignore-submodules=none", names.check_object_id(old), names.check_object_id(new), "--",
        )  # fmt: skip
        if not result.ok:
            raise self._connection.unreadable(result, f"the commits {old} and {new}")
        return objects.parse_changes(result.output)

    def ancestors(self, commit: str, *, most: int) -> Sequence[str]:
        """The commits before a commit, the nearest first, following first parents; BadInput for an unknown commit."""
        names.check_object_id(commit)
        answer = self._connection.local("rev-list", "--first-parent", f"--max-count={most + 1}", commit, "--")
        if not answer.ok:
            raise self._connection.unreadable(answer, f"the history of {commit}")
        return answer.output.decode().split()[1:]

    def commit_message(self, commit: str) -> str:
        """The whole message of a commit; BadInput for an unknown commit."""
        result = self._connection.local("cat-file", "commit", names.check_object_id(commit))
        if not result.ok:
            raise self._connection.unreadable(result, f"the commit {commit}")
        return result.output.partition(b"\n\n")[2].decode(errors="replace")

    def _commit_of(self, ref: str) -> str | None:
        result = self._connection.local("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        return result.output.decode().strip() if result.ok else None

    def _tree(self, commit: str) -> Mapping[str, TreeEntry]:
        if commit in self._trees:
            self._trees.move_to_end(commit)
            return self._trees[commit]
        tree = self._updated_listing(commit)
        if tree is None:
            tree = self._listed(commit)
        self._trees[commit] = MappingProxyType(tree)
        while len(self._trees) > _TREES_KEPT:
            self._trees.popitem(last=False)
        return self._trees[commit]

    def _listed(self, commit: str, *parts: str) -> dict[str, TreeEntry]:
        result = self._connection.local("ls-tree", "-r", "-z", "-l", "--full-tree", commit, *parts)
        if not result.ok:
            raise self._connection.unreadable(result, f"the commit {commit}")
        return objects.parse_tree(result.output)

    def _updated_listing(self, commit: str) -> dict[str, TreeEntry] | None:
        """The listing made from that of a recent ancestor: its cost follows the change and not the tree."""
        if not any(len(tree) >= _WORTH_BRINGING_FORWARD for tree in self._trees.values()):
            return None
        result = self._connection.local("rev-list", "--first-parent", f"--max-count={_ANCESTORS_TRIED}", commit, "--")
        near = next((oid for oid in result.output.decode().split() if oid in self._trees), None)
        if not result.ok or near is None:
            return None
        changes = dict(self.changed_paths(near, commit))
        blobs = {entry.oid for entry in changes.values() if entry and entry.mode != "160000"}
        sizes = self._sizes(sorted(blobs)) if blobs else {}
        sized = {
            path: entry and TreeEntry(entry.mode, entry.oid, sizes.get(entry.oid)) for path, entry in changes.items()
        }
        return objects.with_changes(self._trees[near], sized)

    def _sizes(self, oids: list[str]) -> Mapping[str, int]:
        result = self._connection.local("cat-file", "--batch-check", "--buffer", stdin=_lines(oids))
        if not result.ok:
            raise self._connection.unreadable(result, "the blobs that were asked for")
        sizes = {}
        for oid, found in objects.parse_sizes(result.output).items():
            if found is None:
                raise self._connection.unreadable(result, f"the blob {oid}")
            if found[0] != "blob":
                raise BadInput(f"The object {oid} is a {found[0]} and not a blob.")
            sizes[oid] = found[1]
        return sizes


def _lines(oids: Iterable[str]) -> tuple[bytes]:
    return ("".join(f"{oid}\n" for oid in oids).encode(),)


def _batches(sizes: Mapping[str, int]) -> Iterator[list[str]]:
    batch: list[str] = []
    held = 0
    for oid, size in sizes.items():
        if batch and held + size > _BATCH_BYTES:
            yield batch
            batch, held = [], 0
        batch.append(oid)
        held += size
    if batch:
        yield batch
