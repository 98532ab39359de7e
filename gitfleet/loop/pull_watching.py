"""Watching clusters that agents reach: what was reported stays as it is until there is another report."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import ObjectKey
from gitfleet.loop.pull_clusters import PullClusters
from gitfleet.ports.watching import Watching


@dataclass(frozen=True, slots=True)
class PullWatching:
    """Watching of pulled clusters by their reports, and of all others by `others`."""

    pull: PullClusters
    others: Watching

    def mark(self, cluster: MemberCluster, keys: Collection[ObjectKey]) -> Hashable | None:
        """See Watching."""
        return self.pull.report_of(cluster) if cluster.is_pulled else self.others.mark(cluster, keys)

    def unchanged(self, cluster: MemberCluster, mark: Hashable) -> bool:
        """See Watching."""
        if cluster.is_pulled:
            return self.pull.report_of(cluster) == mark
        return self.others.unchanged(cluster, mark)

    def keep(self, names: Collection[str]) -> None:
        """See Watching."""
        self.others.keep(names)
