"""Being told that nothing changed on a cluster, instead of reading it again."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Protocol

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import ObjectKey


class Watching(Protocol):
    """Watches member clusters. It never says what an object is, only whether something was changed: objects are always
    read from their server. Used by one thread."""

    def mark(self, cluster: MemberCluster, keys: Collection[ObjectKey]) -> Hashable | None:
        """This moment on the cluster, taken before its objects are read; watches of their kinds, and of Namespaces, are
        begun and those of other kinds ended.

        None while one of them is not established (or may not be): then nothing vouches for what is read. Never waits
        for a server and never raises for what a cluster does.
        """

    def unchanged(self, cluster: MemberCluster, mark: Hashable) -> bool:
        """Whether since that moment the watches have been without a gap, their server was heard of lately, and none of
        the objects and no namespace was made, changed or deleted."""

    def keep(self, names: Collection[str]) -> None:
        """These are the clusters of the fleet: watches of any other are ended."""
