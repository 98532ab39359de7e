"""Watches of simulated clusters: what a watch of every kind would say, and how watches fail."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass, field

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import ObjectKey
from gitfleet.simulation.fleet import SimulatedFleet


@dataclass(slots=True)
class MemoryWatching:
    """Watching in memory. `refused` are the clusters where nothing may be watched, `silent` those whose watches hang:
    they are thought to live and say nothing any more."""

    fleet: SimulatedFleet
    refused: set[str] = field(default_factory=set)
    silent: set[str] = field(default_factory=set)
    _cuts: dict[str, int] = field(default_factory=dict)

    def cut(self, name: str) -> None:
        """The connection breaks, and is made again: what happened in between is not known."""
        self._cuts[name] = self._cuts.get(name, 0) + 1

    def mark(self, cluster: MemberCluster, keys: Collection[ObjectKey]) -> Hashable | None:
        """See Watching."""
        return None if cluster.name in self.refused else self._at(cluster.name)

    def unchanged(self, cluster: MemberCluster, mark: Hashable) -> bool:
        """See Watching."""
        name = cluster.name
        if name in self.silent:
            return True
        return name not in self.refused and mark is not None and mark == self._at(name)

    def keep(self, names: Collection[str]) -> None:
        """See Watching."""

    def rests(self, cluster: MemberCluster) -> MemoryRests:
        """What knows whether the properties of a cluster may have changed."""
        return MemoryRests(self, cluster)

    def _at(self, name: str) -> Hashable | None:
        cluster = self.fleet.cluster(name)
        cluster.next_change()  # lets the time pass there
        return (cluster.memory.version, self._cuts.get(name, 0)) if cluster.reachable else None


@dataclass(frozen=True, slots=True)
class MemoryRests:
    """Whether nothing at all changed on a cluster."""

    watching: MemoryWatching
    cluster: MemberCluster

    def mark(self) -> Hashable | None:
        """This moment."""
        return self.watching.mark(self.cluster, ())

    def unchanged(self, mark: Hashable) -> bool:
        """Whether nothing changed since."""
        return self.watching.unchanged(self.cluster, mark)
