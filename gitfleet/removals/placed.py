"""What is placed, by the inventory: the objects that a removal would take from clusters, and of how many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace

from gitfleet.api.bindings import is_active
from gitfleet.api.conditions import ConditionType, find_condition
from gitfleet.api.holds import OF_GATES, ClusterCount, Removal, RemovalKind
from gitfleet.api.objects import Identity
from gitfleet.api.placements import PlacementKey
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.model.successors import Successors, is_held_for
from gitfleet.removals.kept import Kept

Cell = tuple[str, Identity]
"""One placed object: its cluster, and its group, kind, namespace and name."""
Overridden = Callable[[PlacementKey, str], Collection[Identity]]
"""What overrides delete of a placement on a cluster."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Every placed object of a fleet, by cluster and by placement, and the `clusters` on which a placement has any. An
    object on a cluster has one owner; `given_up` are the clusters on which that one is to lose an object, now or once
    its newest content gets there. What is `protected` by its own annotations stays on its cluster, whatever goes."""

    by_cluster: dict[str, set[Cell]] = field(default_factory=dict)
    by_placement: dict[PlacementKey, set[Cell]] = field(default_factory=dict)
    clusters: dict[PlacementKey, set[str]] = field(default_factory=dict)
    given_up: dict[Identity, set[str]] = field(default_factory=dict)
    protected: set[Cell] = field(default_factory=set)

    @classmethod
    def of(cls, state: FleetState) -> Placed:
        """What the inventory says. An object that was to be applied is not placed where a report says that it was not;
        without one (a process was killed) it may be there."""
        made, reported = cls(), set[tuple[PlacementKey, str]]()
        for binding in (binding for record in state.placements.values() for binding in record.bindings):
            for one in binding.kept:
                made.given_up.setdefault(one.key.identity, set()).add(binding.cluster)
            if find_condition(binding.conditions, ConditionType.APPLIED, generation=binding.generation) is not None:
                reported.add((binding.placement, binding.cluster))
        newest = _to_stay(state)
        for cluster, owned in state.inventory.items():
            for key, entry in owned.items():
                if entry.uid is None and (entry.placement, cluster) in reported:
                    continue
                cell = (cluster, key.identity)
                made.by_cluster.setdefault(cluster, set()).add(cell)
                made.by_placement.setdefault(entry.placement, set()).add(cell)
                made.clusters.setdefault(entry.placement, set()).add(cluster)
                if entry.is_protected:
                    made.protected.add(cell)
                if key.identity not in newest.get(entry.placement, (key.identity,)):
                    made.given_up.setdefault(key.identity, set()).add(cluster)
        return made

    @property
    def total(self) -> int:
        """All placed objects (object x cluster)."""
        return sum(map(len, self.by_cluster.values()))

    def clusters_of(self, placement: PlacementKey) -> frozenset[str]:
        """The clusters on which a placement has anything."""
        return frozenset(self.clusters.get(placement, ()))


def _to_stay(state: FleetState) -> dict[PlacementKey, Collection[Identity]]:
    """What each placement has by its newest content, but for what goes to another one once a gate lets it; none for one
    that cannot be read, which fails where it is decided."""
    content, failures = Successors(state.placements).content, Failures()
    newest: dict[PlacementKey, Collection[Identity]] = {}
    for key, record in state.placements.items():
        subject, latest = Subject.of_placement(key), record.latest_resources
        if record.placement.deleting is not None:
            newest[key] = ()
        elif (found := failures.contain(subject, None, content, key, latest)) is not None:
            newest[key] = found
    for hold in state.holds.values():
        for removal in hold.removals:
            if removal.placement in newest and is_held_for(hold, removal, *OF_GATES):
                stays = {removal.object.identity} if removal.object is not None else newest[removal.placement]
                newest[removal.placement] = frozenset(newest[removal.placement]) - frozenset(stays)
    return newest


@dataclass(frozen=True, slots=True)
class Losses:
    """What removals take from clusters.

    An object that another placement wants on the same cluster is not lost, unless overrides delete it there
    (`overridden` says which). Nothing is where a deleteStrategy or the cluster's deleteOptions say that objects stay
    (Abandon), nor what is protected.
    """

    before: FleetState
    after: FleetState
    kept: Kept
    placed: Placed
    overridden: Overridden
    _successors: Successors

    @classmethod
    def between(cls, before: FleetState, after: FleetState, kept: Kept, overridden: Overridden) -> Losses:
        """The losses of a decision; what `after` has only because it is `kept` is wanted by nobody, nor is what a file
        with an error may select: once that is corrected, nobody would judge it any more."""
        wanting = Successors.of(replace(after, misread={}))
        return cls(before, after, kept, Placed.of(before), overridden, wanting)

    def of(self, removal: Removal) -> frozenset[Cell]:
        """The placed objects that one removal takes away."""
        return frozenset(
            cell
            for cell in self._owned(removal)
            if cell not in self.placed.protected
            and (removal.kind is RemovalKind.CLUSTER or not self._wanted_elsewhere(cell, removal))
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

    def is_taken_over(self, removal: Removal) -> bool:
        """Whether others have all that a removal names on the same clusters, or by their newest content are to."""
        key = removal.placement
        record = self.before.placements.get(key) if key is not None else None
        if key is None or record is None:
            return False
        identities = {removal.object.identity} if removal.object is not None else self._content(record)
        clusters = (removal.cluster,) if removal.cluster else {binding.cluster for binding in record.bindings}
        there = {
            (name, one)
            for name in clusters
            for one in identities
            if (name, one) in self.placed.by_cluster.get(name, ())
        }
        mine = self.placed.by_placement.get(key, set())
        mine = mine.intersection(self._named(removal, key, mine)).union(self._awaited(removal, record))
        for other, identities in self.kept.objects.items():  # what the owner itself has only for a hold
            owned = self.placed.by_placement.get(other, set())
            mine |= {cell for cell in there & owned if cell[1] in identities and other != key}
        return bool(there) and all(self._is_taken(cell, key) for cell in mine)

    def _is_taken(self, cell: Cell, but: PlacementKey) -> bool:
        cluster, identity = cell
        for key in self._wanting(identity, but):
            binding = self._successors.binding(key, cluster) if self._wants(key, cluster) else None
            if binding is None or binding.apply_strategy.type.only_reports:
                continue
            newest = self._successors.content(key, self.after.placements[key].latest_resources)
            if identity in newest and identity not in self.overridden(key, cluster):
                return True
        return False

    def _content(self, record: PlacementRecord) -> frozenset[Identity]:
        contents = (self._successors.content(record.placement.key, one) for one in record.resource_snapshots)
        return frozenset[Identity]().union(*contents)

    def is_wanted(self, identity: Identity) -> bool:
        """Whether a placement has an object, on whichever clusters."""
        return any(self._wanting(identity))

    def has_taker(self, removal: Removal) -> bool:
        """Whether another placement has the object that is removed, if only because its removal is held there."""
        identity = removal.object.identity if removal.object is not None else None
        return identity is not None and any(self._successors.selecting(identity, removal.placement))

    def selects(self, key: PlacementKey, identity: Identity) -> bool:
        """Whether a placement has an object, and not only because its removal is held."""
        return key in self._wanting(identity)

    def _owned(self, removal: Removal) -> Iterator[Cell]:
        key = removal.placement
        if removal.kind is RemovalKind.CLUSTER:
            # As it leaves: one that stays under another name keeps what it has.
            cluster = self.after.clusters.get(removal.cluster) or self.before.clusters.get(removal.cluster)
            if cluster is not None and not cluster.delete_propagation_policy.keeps_objects:
                yield from self.placed.by_cluster.get(removal.cluster, ())
            return
        record = self.before.placements.get(key) if key is not None else None
        if key is None or record is None or removal.kind is RemovalKind.STRATEGY:
            return
        yield from self._awaited(removal, record)
        stays = record.placement.strategy.delete_propagation_policy.keeps_objects
        if stays and removal.kind not in (RemovalKind.OBJECT, RemovalKind.OVERRIDDEN):
            return
        mine = self.placed.by_placement.get(key, set())
        yield from (cell for cell in self._named(removal, key, mine) if cell in mine)

    def _awaited(self, removal: Removal, record: PlacementRecord) -> Iterator[Cell]:
        """What others keep until the placement of a removal has it: nobody would keep it any more."""
        key, given_up = record.placement.key, self.placed.given_up
        if not given_up or removal.kind is RemovalKind.OVERRIDDEN:
            return
        mine = self.placed.by_placement.get(key, ())
        content = self._successors.content(key, record.latest_resources)
        named = {removal.object.identity} if removal.object is not None else given_up.keys()
        for identity in content.intersection(named):
            for cluster in given_up.get(identity, ()):
                if removal.cluster in ("", cluster) and (cluster, identity) not in mine:
                    yield cluster, identity

    def _named(self, removal: Removal, key: PlacementKey, mine: Iterable[Cell]) -> Iterable[Cell]:
        """The cells that a removal names, of whatever placement, without a look at every cell of its own (`key`)."""
        if removal.object is None:
            return self.placed.by_cluster.get(removal.cluster, ()) if removal.cluster else mine
        identity = removal.object.identity
        clusters = (removal.cluster,) if removal.cluster else self.placed.clusters.get(key, ())
        return ((name, identity) for name in clusters)

    def successors_of(self, key: PlacementKey) -> frozenset[PlacementKey]:
        """The other placements that want placed objects of one, on the same clusters."""
        cells = self.placed.by_placement.get(key, ())
        found = {other for _, identity in cells for other in self._wanting(identity, key)}
        clusters = self.placed.clusters_of(key)
        return frozenset(other for other in found if any(self._wants(other, cluster) for cluster in clusters))

    def has(self, removal: Removal) -> bool:
        """Whether a placement has the object on any cluster that is removed of it."""
        mine = self.placed.by_placement.get(removal.placement, set()) if removal.placement is not None else set[Cell]()
        return any(cell in mine for cell in self._owned(removal))

    def taken_by(self, removal: Removal) -> dict[PlacementKey, set[str]]:
        """The other placements that get what a removal lets go of a placement, and on which clusters of that; nothing
        where nothing of it lies anywhere."""
        key = removal.placement
        record = self.before.placements.get(key) if key is not None else None
        found: dict[PlacementKey, set[str]] = {}
        if key is None or record is None or not self.placed.by_placement.get(key):
            return found
        clusters = [binding.cluster for binding in record.bindings if is_active(binding)]
        only = removal.object
        content = [only.identity] if only else self._successors.content(key, record.latest_resources)
        for identity in content:
            for other in self._wanting(identity, key):
                mine = self.placed.by_placement.get(other, ())
                here = {one for one in clusters if (one, identity) not in mine and self._wants(other, one)}
                if here:
                    found.setdefault(other, set()).update(here)
        return found

    def _wanted_elsewhere(self, cell: Cell, removal: Removal) -> bool:
        cluster, identity = cell
        return any(
            self._wants(key, cluster) and identity not in self.overridden(key, cluster)
            for key in self._wanting(identity, removal.placement)
        )

    def _wanting(self, identity: Identity, but: PlacementKey | None = None) -> Iterator[PlacementKey]:
        for key in self._successors.selecting(identity, but):
            if key not in self.kept.placements and identity not in self.kept.objects.get(key, ()):
                yield key

    def _wants(self, key: PlacementKey, cluster: str) -> bool:
        held = cluster in self.kept.bindings.get(key, ()) or cluster in self.kept.clusters
        return not held and self._successors.binding(key, cluster) is not None
