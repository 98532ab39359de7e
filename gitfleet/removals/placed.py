"""What is placed, by the inventory: the objects that a removal would take from clusters, and of how many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gitfleet.api.bindings import Binding, is_active
from gitfleet.api.holds import ClusterCount, Removal, RemovalKind
from gitfleet.api.objects import Identity
from gitfleet.api.placements import PlacementKey
from gitfleet.model.state import FleetState, changed
from gitfleet.removals.kept import Kept
from gitfleet.removals.unfinished import brought_unfinished

Cell = tuple[str, Identity]
"""One placed object: its cluster, and its group, kind, namespace and name."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Every placed object of a fleet, by cluster and by placement. An object on a cluster has one owner."""

    by_cluster: dict[str, set[Cell]] = field(default_factory=dict)
    by_placement: dict[PlacementKey, set[Cell]] = field(default_factory=dict)

    @classmethod
    def of(cls, state: FleetState) -> Placed:
        """What the inventory says; an object that was never applied is not placed."""
        made = cls()
        for cluster, owned in state.inventory.items():
            for key, entry in owned.items():
                if entry.uid is None:
                    continue
                cell = (cluster, key.identity)
                made.by_cluster.setdefault(cluster, set()).add(cell)
                made.by_placement.setdefault(entry.placement, set()).add(cell)
        return made

    @property
    def total(self) -> int:
        """All placed objects (object x cluster)."""
        return sum(map(len, self.by_cluster.values()))

    def clusters_of(self, placement: PlacementKey) -> frozenset[str]:
        """The clusters on which a placement has anything."""
        return frozenset(cluster for cluster, _ in self.by_placement.get(placement, ()))


@dataclass(frozen=True, slots=True)
class Losses:
    """What removals take from clusters.

    An object that another placement wants on the same cluster is not lost, nor is one that an unfinished rollout
    brought and that is taken back. Nothing is where a deleteStrategy or the cluster's deleteOptions say that objects
    stay (Abandon).
    """

    before: FleetState
    after: FleetState
    kept: Kept
    placed: Placed
    _wanted: dict[Identity, list[PlacementKey]]
    _brought: dict[PlacementKey, dict[str, frozenset[Identity]]]

    @classmethod
    def between(cls, before: FleetState, after: FleetState, kept: Kept) -> Losses:
        """The losses of a decision; what `after` has only because it is `kept` is wanted by nobody."""
        wanted: dict[Identity, list[PlacementKey]] = {}
        for key, record in after.placements.items():
            latest = record.latest_resources
            goes = record.placement.deleting is not None or key in kept.placements
            for document in latest.documents if latest is not None and not goes else ():
                if document.key.identity not in kept.objects.get(key, ()):
                    wanted.setdefault(document.key.identity, []).append(key)
        moved = {key for key, *_ in changed(before.placements, after.placements)}
        brought = {
            key: brought_unfinished(before, after, key, kept.objects.get(key, frozenset()))
            for key in moved.union(kept.objects)
        }
        return cls(before, after, kept, Placed.of(before), wanted, brought)

    def of(self, removal: Removal) -> frozenset[Cell]:
        """The placed objects that one removal takes away."""
        return frozenset(
            cell
            for cell in self._owned(removal)
            if removal.kind is RemovalKind.CLUSTER or not self._wanted_elsewhere(cell, removal)
        )

    def counts(self, removals: Iterable[Removal]) -> tuple[ClusterCount, ...]:
        """How many placed objects some removals take from each cluster, and leave there unmanaged."""
        removals = tuple(removals)
        cells: set[Cell] = set().union(*map(self.of, removals))
        gone = Counter(cluster for cluster, _ in cells)
        leaving = {removal.cluster for removal in removals if removal.kind is RemovalKind.CLUSTER}
        return tuple(
            ClusterCount(
                cluster=name,
                objects=gone[name],
                unmanaged=len(self.placed.by_cluster.get(name, ())) - gone[name] if name in leaving else 0,
            )
            for name in sorted(leaving | gone.keys())
        )

    def is_wanted(self, identity: Identity) -> bool:
        """Whether a placement has an object, on whichever clusters."""
        return bool(self._wanted.get(identity))

    def _owned(self, removal: Removal) -> Iterator[Cell]:
        key = removal.placement
        if removal.kind is RemovalKind.CLUSTER:
            cluster = self.before.clusters.get(removal.cluster)
            if cluster is not None and not cluster.delete_propagation_policy.keeps_objects:
                yield from self.placed.by_cluster.get(removal.cluster, ())
            return
        record = self.before.placements.get(key) if key is not None else None
        if key is None or record is None or removal.kind is RemovalKind.STRATEGY:
            return
        stays = record.placement.strategy.delete_propagation_policy.keeps_objects
        if stays and removal.kind not in (RemovalKind.OBJECT, RemovalKind.OVERRIDDEN):
            return
        brought = self._brought.get(key, {}) if removal.kind is RemovalKind.OBJECT else {}
        mine = self.placed.by_placement.get(key, set())
        for cell in self._named(removal, mine):
            if cell in mine and cell[1] not in brought.get(cell[0], ()):
                yield cell

    def _named(self, removal: Removal, mine: Iterable[Cell]) -> Iterable[Cell]:
        """The cells that a removal names, of whatever placement, without a look at every cell of its own."""
        if removal.object is None:
            return self.placed.by_cluster.get(removal.cluster, ()) if removal.cluster else mine
        identity = removal.object.identity
        return ((name, identity) for name in ([removal.cluster] if removal.cluster else self.placed.by_cluster))

    def successors_of(self, key: PlacementKey) -> frozenset[PlacementKey]:
        """The other placements that want placed objects of one, on the same clusters."""
        cells = self.placed.by_placement.get(key, ())
        found = {other for _, identity in cells for other in self._wanted.get(identity, ()) if other != key}
        clusters = self.placed.clusters_of(key)
        return frozenset(other for other in found if any(self._binding(other, cluster) for cluster in clusters))

    def _wanted_elsewhere(self, cell: Cell, removal: Removal) -> bool:
        cluster, identity = cell
        for key in self._wanted.get(identity, ()):
            binding = self._binding(key, cluster) if key != removal.placement else None
            if binding is None:
                continue
            # A placement that is removed stays until the other one has the objects; what else is removed does not.
            record = self.after.placements[key]
            if removal.kind is RemovalKind.PLACEMENT or not record.placement.strategy.external:
                return True
            snapshot = record.snapshot_named(binding.resource_snapshot)
            if snapshot is not None and any(one.key.identity == identity for one in snapshot.documents):
                return True
        return False

    def _binding(self, key: PlacementKey, cluster: str) -> Binding | None:
        """The binding by which a placement wants a cluster."""
        if cluster in self.kept.bindings.get(key, ()) or cluster in self.kept.clusters:
            return None
        return next((b for b in self.after.placements[key].bindings if b.cluster == cluster and is_active(b)), None)
