"""What a decision takes away that nothing took away before it."""

from __future__ import annotations

from collections.abc import Iterator

from gitfleet.api.bindings import is_active
from gitfleet.api.clusters import is_leaving
from gitfleet.api.envelopes import carried
from gitfleet.api.holds import Removal, RemovalKind
from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.snapshots import ResourceSnapshot
from gitfleet.model.state import FleetState, PlacementRecord, changed


def going(before: FleetState, after: FleetState) -> tuple[Removal, ...]:
    """The removals that begin between two states: placements and clusters that start to leave, objects that the latest
    snapshot has no more (neither itself nor in an envelope), clusters that a placement picks no more, the strategy
    External.

    What was on its way out in `before` is not among them, and what goes together with its placement or its cluster is
    not named by itself. Records that are the same object cost nothing.
    """
    return (*_clusters(before, after), *_placements(before, after))


def _clusters(before: FleetState, after: FleetState) -> Iterator[Removal]:
    for name, old, new in changed(before.clusters, after.clusters):
        if old is not None and old.deleting is None and (new is None or new.deleting is not None):
            yield Removal(kind=RemovalKind.CLUSTER, cluster=name)


def _placements(before: FleetState, after: FleetState) -> Iterator[Removal]:
    for key, old, new in changed(before.placements, after.placements):
        if old is None or old.placement.deleting is not None:
            continue
        if new is None or new.placement.deleting is not None:
            yield Removal(kind=RemovalKind.PLACEMENT, placement=key)
        else:
            if old.placement.strategy.external and not new.placement.strategy.external:
                yield Removal(kind=RemovalKind.STRATEGY, placement=key)
            yield from _objects(key, old, new)
            yield from _bindings(key, old, new, after)


def _objects(key: PlacementKey, old: PlacementRecord, new: PlacementRecord) -> Iterator[Removal]:
    had, has = old.latest_resources, new.latest_resources
    if had is None or has is None or had is has:
        return
    inside_now = carried(has.manifests or ())
    stay = {document.key.identity for document in has.documents}
    stay |= {inner.identity for found in inside_now.values() for inner in found or ()}
    # Of an envelope that cannot be read nothing is removed: its works have an error.
    unread = {envelope.identity for envelope, found in inside_now.items() if found is None}
    loaded = has.manifests is not None
    for envelope, gone in content_of(had):
        is_known = envelope is None or (loaded and envelope.identity not in unread)
        if is_known and gone.identity not in stay:
            yield Removal(kind=RemovalKind.OBJECT, placement=key, object=gone)


def waiting_for_pins(after: FleetState) -> Iterator[Removal]:
    """What goes once its Pin has ended: objects of the pinned content that its placement does not select."""
    for key, selected in sorted(after.unsaid.items()):
        record = after.placements.get(key)
        pinned = record.latest_resources if record is not None and record.is_pinned else None
        for _, one in content_of(pinned) if pinned is not None else ():
            if one.identity not in selected:
                yield Removal(kind=RemovalKind.OBJECT, placement=key, object=one)


def content_of(snapshot: ResourceSnapshot) -> Iterator[tuple[ObjectKey | None, ObjectKey]]:
    """The objects of a snapshot, and those that its envelopes carry, each with its envelope."""
    yield from ((None, document.key) for document in snapshot.documents)
    for envelope, inside in carried(snapshot.manifests or ()).items():
        yield from ((envelope, one) for one in inside or ())


def _bindings(key: PlacementKey, old: PlacementRecord, new: PlacementRecord, after: FleetState) -> Iterator[Removal]:
    if old.bindings is new.bindings:
        return
    stay = {binding.cluster for binding in new.bindings if is_active(binding)}
    for binding in old.bindings:
        cluster = after.clusters.get(binding.cluster)
        leaves = is_leaving(cluster)
        if is_active(binding) and binding.cluster not in stay and not leaves:
            yield Removal(kind=RemovalKind.BINDING, placement=key, cluster=binding.cluster)
