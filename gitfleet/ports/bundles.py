"""What carrying branches in files needs of a git remote, beside reading it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from gitfleet.ports.repos import CommitFacts, TreeEntry


class BundleRepo(Protocol):
    """One remote whose branches can be written to git bundles, and moved to what a bundle holds."""

    @property
    def shown(self) -> str:
        """The remote's address without secrets."""

    def fetch(self, branches: Collection[str] | None = None) -> Mapping[str, str]:
        """RepoReader.fetch."""

    def about(self, commit: str) -> CommitFacts:
        """RepoReader.about."""

    def list_tree(self, commit: str, under: str = "") -> Mapping[str, TreeEntry]:
        """RepoReader.list_tree."""

    def is_ancestor(self, old: str, new: str) -> bool | None:
        """HistoryReader.is_ancestor."""

    def write_bundle(self, branch: str, commit: str, *, limit: int) -> bytes:
        """The bundle of a branch that was fetched, whole and at a commit; BadInput for more than `limit` bytes, or a
        branch whose history is not all there."""

    def read_bundle(self, content: bytes, branch: str, *, shown: str) -> str:
        """The commit of a bundle (`shown` is the file's name) that holds this branch, whole, and nothing else; its
        objects can be read from then on, and no branch is moved. Nothing of a bundle is kept that is refused.

        BadInput for any other bundle, a damaged one, and objects that git's fsck refuses.
        """

    def move_branch(self, branch: str, commit: str, expected: str | None) -> None:
        """Set a branch to a commit that was read, if it still is at `expected` (None: is not there); LostRace,
        Forbidden, BadInput, RemoteUnreachable."""
