"""What a decision takes away that nothing took away before it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from gitfleet.api.bindings import is_active
from gitfleet.api.clusters import is_leaving
from gitfleet.api.envelopes import carried
from gitfleet.api.holds import Removal, RemovalKind
from gitfleet.api.objects import Identity, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.snapshots import ResourceSnapshot
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.state import FleetState, PlacementRecord, changed
from gitfleet.model.successors import Successors


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
            owned = _owned(key, before) if old.lost_snapshots else ()
            yield from _objects(key, old, new, owned)
            yield from _bindings(key, old, new, after)


def _owned(key: PlacementKey, before: FleetState) -> Collection[ObjectKey]:
    """What a placement has on clusters: of a snapshot that the state branch lost, that is known still."""
    owned = (entry for entries in before.inventory.values() for entry in entries.values())
    return {entry.key.identity: entry.key for entry in owned if entry.placement == key}.values()


def _objects(
    key: PlacementKey, old: PlacementRecord, new: PlacementRecord, owned: Collection[ObjectKey]
) -> Iterator[Removal]:
    had, has = old.latest_resources, new.latest_resources
    if has is None or had is has or (had is None and not owned):
        return
    inside_now = carried(has.manifests or ())
    stay = {document.key.identity for document in has.documents}
    stay |= {inner.identity for found in inside_now.values() for inner in found or ()}
    # Of an envelope that cannot be read nothing is removed: its works have an error.
    unread = {envelope.identity for envelope, found in inside_now.items() if found is None}
    loaded = has.manifests is not None
    named = tuple(content_of(had)) if had is not None else ()
    known = {one.identity for _, one in named}
    for envelope, gone in (*named, *((None, one) for one in owned if one.identity not in known)):
        is_known = envelope is None or (loaded and envelope.identity not in unread)
        if is_known and gone.identity not in stay:
            yield Removal(kind=RemovalKind.OBJECT, placement=key, object=gone)


def waiting_for_pins(after: FleetState, failures: Failures) -> tuple[Removal, ...]:
    """What goes once its Pin has ended: objects of pinned content that its placement does not select; nothing of one
    that cannot be read."""
    found: tuple[Removal, ...] = ()
    for key, selected in sorted(after.unsaid.items()):
        record = after.placements.get(key)
        pinned = record.latest_resources if record is not None and record.is_pinned else None
        if pinned is not None:
            found += failures.contain(Subject.of_placement(key), (), _not_selected, key, pinned, selected)
    return found


def _not_selected(key: PlacementKey, pinned: ResourceSnapshot, selected: Collection[Identity]) -> tuple[Removal, ...]:
    every = (one for _, one in content_of(pinned) if one.identity not in selected)
    return tuple(Removal(kind=RemovalKind.OBJECT, placement=key, object=one) for one in every)


def handed_on(before: FleetState, after: FleetState, failures: Failures) -> tuple[Removal, ...]:
    """What placements gave up in earlier commits, wholly or by their newest content, have on clusters still by an older
    snapshot, and others newly select; nothing of one that cannot be read."""
    was, now, gained = Successors(before.placements), Successors(after.placements), set[Identity]()
    for key, _, new in changed(before.placements, after.placements):
        if new is not None and new.placement.deleting is None:
            gained |= failures.contain(Subject.of_placement(key), frozenset[Identity](), _gained, key, was, now)
    found: tuple[Removal, ...] = ()
    given_up = was.given_up(Failures()) if gained else {}  # noted where operations are planned
    for key, old in before.placements.items() if gained else ():
        if key in after.placements and (key in given_up or old.placement.deleting is not None):
            found += failures.contain(
                Subject.of_placement(key), (), _moved, key, was, now, gained & given_up.get(key, gained)
            )
    return found


def _gained(key: PlacementKey, was: Successors, now: Successors) -> frozenset[Identity]:
    """What a placement selects that it did not select before."""
    old = was.records.get(key)
    had = was.content(key, old.latest_resources) if old is not None else frozenset[Identity]()
    return now.content(key, now.records[key].latest_resources) - had


def _moved(key: PlacementKey, was: Successors, now: Successors, gained: set[Identity]) -> tuple[Removal, ...]:
    """What of all that others select newly goes out of a placement that has given it up."""
    old, new = was.records[key], now.records[key]
    if old.placement.deleting is None:
        keys = {one.identity: one for snapshot in old.resource_snapshots for _, one in content_of(snapshot)}
        moved = gained - now.content(key, new.latest_resources)
        return tuple(Removal(kind=RemovalKind.OBJECT, placement=key, object=keys[one]) for one in sorted(moved))
    has = (was.content(key, old.snapshot_named(binding.resource_snapshot)) for binding in old.bindings)
    goes = new.placement.deleting is not None and any(not one.isdisjoint(gained) for one in has)
    return (Removal(kind=RemovalKind.PLACEMENT, placement=key),) if goes else ()


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
