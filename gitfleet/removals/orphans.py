"""Orphans: the objects that gitfleet owns on a cluster and that no placement wants there."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from gitfleet.api.holds import Hold, Removal, RemovalKind
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import Identity, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.model.state import FleetState, Inventory

_GENERATED: Final = re.compile(r"(.+)-[2456789bcdfghkmt]{10}")
"""The name of a ConfigMap or Secret that kustomize generated: its hash has these characters."""


class OrphanKind(StrEnum):
    """Why an object is not wanted: only a pin, run, quarantine, rollback or eviction leaves it out (or a generator gave
    it a new hash, or it is the Job of a step); it is wanted on another cluster; its cluster leaves the fleet; it is
    wanted nowhere."""

    REQUESTED = "Requested"
    LEAVING = "Leaving"
    WITHDRAWN = "Withdrawn"
    DROPPED = "Dropped"


@dataclass(frozen=True, slots=True)
class Orphan:
    """An owned object that no placement wants on its cluster."""

    cluster: str
    placement: PlacementKey
    key: ObjectKey
    kind: OrphanKind


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphansRequest:
    """The state after a decision with what clusters are to have, what the newest content of a placement has for a
    cluster (it follows from the state and `commit`), and the evictions that were carried out."""

    state: FleetState
    commit: str = ""
    newest: Callable[[PlacementKey, str], Collection[Identity]] = lambda _key, _cluster: ()
    evicted: Collection[tuple[PlacementKey, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class OrphansMemo:
    """What the pass before saw of the fleet and of each cluster, and the objects of it that nothing wants there."""

    facts: tuple[object, ...] = ()
    unwanted: Mapping[str, tuple[tuple[object, ...], tuple[InventoryEntry, ...]]] = field(default_factory=dict)


def orphans_of(request: OrphansRequest, memo: OrphansMemo) -> tuple[tuple[Orphan, ...], OrphansMemo]:
    """All orphans, by cluster and object. Objects that must be kept, and those that are abandoned, are none: they are
    released. What is unwanted on a cluster is found again once anything is known, owned or wanted otherwise there."""
    state, wants = request.state, request.state.wanted
    keepers = {k for k, r in state.placements.items() if r.placement.strategy.delete_propagation_policy.keeps_objects}
    facts = frozenset(state.placements), frozenset(wants.placements), keepers
    previous = memo.unwanted if facts == memo.facts else {}
    unwanted: dict[str, tuple[tuple[object, ...], tuple[InventoryEntry, ...]]] = {}
    for name, owned in state.inventory.items():
        seen = owned, state.clusters.get(name), wants.on(name), wants.later_on(name)
        last, entries = previous.get(name, ((None,) * len(seen), ()))
        if any(old is not new for old, new in zip(last, seen, strict=True)):
            entries = tuple(_unwanted(name, owned, state))
        unwanted[name] = seen, entries
    orphans = (
        Orphan(name, entry.placement, entry.key, _kind_of(name, entry, request))
        for name, (_, entries) in unwanted.items()
        for entry in entries
    )
    return tuple(orphans), OrphansMemo(facts, unwanted)


def _unwanted(name: str, owned: Inventory, state: FleetState) -> Iterator[InventoryEntry]:
    cluster, wants = state.clusters.get(name), state.wanted
    leaves = cluster is not None and cluster.deleting is not None
    if cluster is not None and leaves and cluster.delete_propagation_policy.keeps_objects:
        return
    for entry in owned.values():
        owner, identity = entry.placement, entry.key.identity
        record = state.placements.get(owner)
        if record is None or entry.is_protected:
            continue
        if not leaves:
            if wants.wants(owner, name, identity) or wants.taker(owner, name, identity) is not None:
                continue
            keeps = record.placement.strategy.delete_propagation_policy.keeps_objects
            if keeps and name not in wants.placements[owner]:
                continue
        yield entry


def _kind_of(cluster: str, entry: InventoryEntry, request: OrphansRequest) -> OrphanKind:
    owner, identity, wants = entry.placement, entry.key.identity, request.state.wanted
    member = request.state.clusters.get(cluster)
    if member is not None and member.deleting is not None:
        return OrphanKind.LEAVING
    if cluster in wants.placements[owner]:
        is_newer = identity in request.newest(owner, cluster)
        has_new_name = _has_new_hash(identity, wants.of(owner, cluster) or ())
        is_requested = is_newer or has_new_name or entry.step is not None
    else:
        is_requested = (owner, cluster) in request.evicted
    if is_requested:
        return OrphanKind.REQUESTED
    return OrphanKind.WITHDRAWN if wants.has_anywhere(identity) else OrphanKind.DROPPED


def _has_new_hash(identity: Identity, content: Collection[Identity]) -> bool:
    """Whether a generator of kustomize gave an object a new hash."""
    group, kind, namespace, name = identity
    stem = _stem(name)
    if stem is None or (group, kind) not in (("", "ConfigMap"), ("", "Secret")):
        return False
    names = (i[3] for i in content if i[:3] == (group, kind, namespace) and i != identity)
    return stem in map(_stem, names)


def _stem(name: str) -> str | None:
    match = _GENERATED.fullmatch(name)
    return match[1] if match is not None else None


def removal_of(orphan: Orphan) -> Removal:
    """The entry of a list that an orphan belongs to."""
    if orphan.kind is OrphanKind.LEAVING:
        return Removal(kind=RemovalKind.CLUSTER, cluster=orphan.cluster)
    if orphan.kind is OrphanKind.WITHDRAWN:
        return Removal(kind=RemovalKind.BINDING, placement=orphan.placement, cluster=orphan.cluster)
    return Removal(kind=RemovalKind.OBJECT, placement=orphan.placement, object=orphan.key)


def entries_of(
    orphans: Iterable[Orphan], holds: Iterable[Hold], is_wanted: Callable[[Identity], bool] = lambda _: False
) -> Iterator[tuple[Orphan, str]]:
    """Orphans with their entries. A dropped object that waits for an approval, and is wanted nowhere, also waits on a
    cluster that leaves later."""
    since: dict[str, datetime] = {}
    waiting: dict[tuple[PlacementKey | None, Identity], str] = {}
    for hold in holds:
        for removal in hold.removals:
            since[removal.id] = hold.since
            if hold.waits and removal.rules and removal.kind is RemovalKind.OBJECT and removal.object is not None:
                waiting[removal.placement, removal.object.identity] = removal.id
    for orphan in orphans:
        own, identity = removal_of(orphan).id, orphan.key.identity
        earlier = waiting.get((orphan.placement, identity)) if orphan.kind is OrphanKind.LEAVING else None
        stays = earlier is not None and not is_wanted(identity) and (own not in since or since[earlier] < since[own])
        yield orphan, earlier if stays and earlier is not None else own
