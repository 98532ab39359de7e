"""A repository in which the files of a work tree are one commit more, for `plan --work-tree`."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from gitfleet.ports.repos import CommitFacts, RepoReader, TreeEntry, WorkTreeFiles


def commit_id_of(tree: WorkTreeFiles) -> str:
    """A name for the files as if they were committed; the same files give the same name."""
    text = "\n".join([tree.head, *(f"{entry.mode} {entry.oid} {path}" for path, entry in tree.files.items())])
    return hashlib.sha1(text.encode(errors="surrogateescape"), usedforsecurity=False).hexdigest()


@dataclass(frozen=True, slots=True)
class WithWorkTree:
    """RepoReader that knows `tree` as the commit `commit_id_of(tree)`, on top of the one that is checked out."""

    repo: RepoReader
    tree: WorkTreeFiles

    def fetch(self, branches: Collection[str] | None = None) -> Mapping[str, str]:
        """As the repository does."""
        return self.repo.fetch(branches)

    def resolve(self, revision: str) -> str:
        """As the repository does."""
        return revision if self._is_ours(revision) else self.repo.resolve(revision)

    def list_tree(self, commit: str, under: str = "") -> Mapping[str, TreeEntry]:
        """The files of the work tree for their own commit, else the repository's tree."""
        if not self._is_ours(commit):
            return self.repo.list_tree(commit, under)
        self.repo.list_tree(self.tree.head)  # brings the blobs of the commit that is checked out, whatever its branch
        prefix = f"{under.rstrip('/')}/" if under else ""
        return {path: entry for path, entry in self.tree.files.items() if path.startswith(prefix)}

    def read_blobs(self, oids: Iterable[str], *, limit: int) -> Mapping[str, bytes]:
        """Blobs of the work tree, and of the repository."""
        requested = set(oids)
        own = {oid: self.tree.contents[oid] for oid in requested if oid in self.tree.contents}
        missing = requested - own.keys()
        blobs = {oid: content for oid, content in own.items() if len(content) <= limit}
        return {**blobs, **(self.repo.read_blobs(missing, limit=limit) if missing else {})}

    def changed_paths(self, old: str, new: str) -> Mapping[str, TreeEntry | None]:
        """As the repository says; with the work tree on one side both sides are listed."""
        if not self._is_ours(old) and not self._is_ours(new):
            return self.repo.changed_paths(old, new)
        before, after = self.list_tree(old), self.list_tree(new)
        paths = sorted({*before, *after})
        return {path: after.get(path) for path in paths if before.get(path) != after.get(path)}

    def ancestors(self, commit: str, *, most: int) -> Sequence[str]:
        """As the repository says; the work tree comes after what is checked out."""
        if not self._is_ours(commit):
            return self.repo.ancestors(commit, most=most)
        return [self.tree.head, *self.repo.ancestors(self.tree.head, most=most)][:most]

    def about(self, commit: str) -> CommitFacts:
        """As the repository says; of the work tree, what its head says."""
        return self.repo.about(self.tree.head if self._is_ours(commit) else commit)

    def clone_reader(self) -> RepoReader:
        """Another one on the same files."""
        return WithWorkTree(self.repo.clone_reader(), self.tree)

    def _is_ours(self, commit: str) -> bool:
        return commit == commit_id_of(self.tree)
