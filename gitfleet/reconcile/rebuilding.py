"""What the state branch lost is rebuilt before anything is decided: from the desired tree, from what is left of the
branch, and from what the clusters say of themselves. Nothing is deleted on account of a loss.

    clusters       a lost one counts as seen just now, until it is observed
    placements     a lost one is as the config repo has it, with the snapshots and bindings that are left
    policies       the latest one follows from the placement, under the index that bindings name
    inventory      of a lost part: what the placements have on the cluster, to be confirmed by the API server
    evictions      one whose end is lost is not decided again
    runs           one that began, and of which it is lost how far it was, is refused
    bindings       a placement that owns something on a cluster is bound there, to the snapshot that the cluster has

A lost resource snapshot or override snapshot is taken again under an index that no binding names, and goes out within
the budget; until then its objects are left alone. What belongs to a placement or lies on a cluster that neither the
branch nor the config repo knows is released, never deleted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from gitfleet import observe, rollout, snapshots, status, works
from gitfleet.api.clusters import ClusterStatus, MemberCluster
from gitfleet.api.faults import Fault
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.api.runs import RunRecord
from gitfleet.api.staged import Eviction
from gitfleet.api.values import NamespacedName
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failures
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.state import Damage, FleetState, Inventory, PlacementRecord
from gitfleet.reconcile.rebinding import KnownOverrides, rebound
from gitfleet.rollout import staged
from gitfleet.state import owner_of, path_of_snapshot

_INVENTORY: Final = re.compile(r"inventory/([^/]+)/.*")
_POLICY: Final = re.compile(r"snapshots/policies/[^/]+/([0-9]{1,9})\.yaml")
_EVICTION: Final = re.compile(r"evictions/([^/]+)\.yaml")
_RUN: Final = re.compile(r"runs/(?:([^/]+)/)?([^/]+)\.yaml")
_NO_WORKS: Final = works.WorksMemo()


def rebuild(read: FleetState, wanted: Desired, now: datetime) -> FleetState:
    """The state to decide from, of one that was just read from the branch; the very same when nothing is missing.

    While a file of the config repo hides what is wanted (`holds_removals`), nothing is released, and what only that
    file could say waits: the damage is then `unfinished`.
    """
    clusters = _clusters(read, wanted, now)
    placements = _placements(read, wanted)
    known = replace(read, clusters=clusters, placements=placements, evictions=_evictions(read, wanted, now))
    known = replace(known, runs=_runs(read, wanted, now))
    inventory, released = _owned(known, wanted)
    known = replace(known, inventory=inventory)
    lost = frozenset(match[1] for path in read.damage.lost if (match := _INVENTORY.fullmatch(path)))
    known = replace(known, placements={key: _with_policy(record, read.damage) for key, record in placements.items()})
    recovered = _with_inventory(known, lost)
    known = replace(recovered, placements=_with_bindings(recovered, wanted))
    notices = (*status.notices_of(read.damage), *released, *_lost_snapshots(read))
    rebuilt = _rebuilt(read, known)
    if not (notices or rebuilt or read.damage.any):
        return read
    damage = replace(
        read.damage,
        orphans={} if wanted.holds_removals else read.damage.orphans,
        notices=notices,
        unsure=lost | {name for name, owned in recovered.inventory.items() if owned is not inventory.get(name)},
        rebuilt=rebuilt,
        unfinished=wanted.holds_removals and bool(read.damage.orphans.keys() - placements.keys()),
    )
    return replace(known, damage=damage)


def _lost_snapshots(read: FleetState) -> Iterator[Fault]:
    for key, record in read.placements.items():
        paths = (path_of_snapshot(key, name) for name in record.lost_snapshots)
        yield from (status.lost_snapshot(path, key) for path in paths if path not in read.damage.files)


def _rebuilt(read: FleetState, known: FleetState) -> frozenset[PlacementKey | NamespacedName | str]:
    """The placements, runs and clusters of which the state does not say what was read."""
    found: set[PlacementKey | NamespacedName | str] = {
        key for key, record in known.placements.items() if read.placements.get(key) is not record
    }
    found |= known.runs.keys() - read.runs.keys()
    names = {*known.clusters, *known.inventory, *read.inventory}
    found |= {n for n in names if known.clusters.get(n) is not read.clusters.get(n)}
    found |= {n for n in names if known.inventory.get(n) is not read.inventory.get(n)}
    return frozenset(found)


def _clusters(read: FleetState, wanted: Desired, now: datetime) -> Mapping[str, MemberCluster]:
    used = {*read.inventory, *(b.cluster for record in _records(read) for b in record.bindings)}
    lost = sorted(name for name in used - read.clusters.keys() if name in wanted.clusters)
    if not lost:
        return read.clusters
    found = {**read.clusters, **{name: _seen_now(wanted.clusters[name], now) for name in lost}}
    return {name: found[name] for name in sorted(found)}


def _evictions(read: FleetState, wanted: Desired, now: datetime) -> Mapping[str, Eviction]:
    names = {match[1] for path in read.damage.lost if (match := _EVICTION.fullmatch(path))}
    lost = {name: rollout.evict_no_more(wanted.evictions[name], now) for name in names if name in wanted.evictions}
    return dict(sorted({**read.evictions, **lost}.items())) if lost else read.evictions


def _runs(read: FleetState, wanted: Desired, now: datetime) -> Mapping[NamespacedName, RunRecord]:
    """The runs, and those that began: their file is damaged, or it is gone and what they asked people is there."""
    found = (match for path in read.damage.lost if (match := _RUN.fullmatch(path)))
    began = {NamespacedName(match[1] or "", match[2]) for match in found}
    began |= {request.run for request in read.approvals.values()}
    names = (began & wanted.runs.keys()) - read.runs.keys()
    lost = {key: staged.lost_run(wanted.runs[key], now) for key in names}
    return dict(sorted({**read.runs, **lost}.items())) if lost else read.runs


def _seen_now(cluster: MemberCluster, now: datetime) -> MemberCluster:
    """A cluster that takes part in the fleet, of which nothing else is known any more."""
    fresh = replace(cluster, status=ClusterStatus(), generation=1, deleting=None)
    return observe.observe_cluster(fresh, ClusterObservation(cluster=cluster.name, reachable=True, observed=now), now)


def _records(read: FleetState) -> Iterator[PlacementRecord]:
    yield from read.placements.values()
    yield from read.damage.orphans.values()


def _placements(read: FleetState, wanted: Desired) -> dict[PlacementKey, PlacementRecord]:
    """The placements, with those whose file is lost as the config repo has them."""
    owners = {entry.placement for owned in read.inventory.values() for entry in owned.values()}
    found = dict(read.placements)
    for key in {*read.damage.orphans, *owners} - read.placements.keys():
        if key in wanted.placements:
            found[key] = _adopted(wanted.placements[key], read.damage.orphans.get(key))
    return {key: found[key] for key in sorted(found)}


def _adopted(placement: Placement, parts: PlacementRecord | None) -> PlacementRecord:
    generation = parts.latest_policy.placement_generation if parts and parts.latest_policy else 1
    accepted = replace(placement, generation=generation)
    return PlacementRecord(placement=accepted) if parts is None else replace(parts, placement=accepted)


def _owned(known: FleetState, wanted: Desired) -> tuple[Mapping[str, Inventory], list[Fault]]:
    """The inventory without what nobody has a claim to any more, and what is said of it."""
    if wanted.holds_removals:
        return known.inventory, []
    kept: dict[str, Inventory] = {}
    said: list[Fault] = []
    for name, owned in known.inventory.items():
        if name not in known.clusters:
            said.append(status.released_cluster(name, len(owned)))
            continue
        ghosts = {entry.placement for entry in owned.values()} - known.placements.keys()
        for ghost in sorted(ghosts):
            count = sum(entry.placement == ghost for entry in owned.values())
            said.append(status.released_placement(name, ghost, count))
        kept[name] = {k: e for k, e in owned.items() if e.placement not in ghosts} if ghosts else owned
    return (kept, said) if said else (known.inventory, said)


def _with_policy(record: PlacementRecord, damage: Damage) -> PlacementRecord:
    """The record with its latest policy snapshot, and to be scheduled again, where that was lost."""
    key = record.placement.key
    named = (b.policy_snapshot.removeprefix(f"{key.name}-") for b in record.bindings)
    indexes = [int(index) for index in named if index.isascii() and index.isdigit()]
    indexes += [int(m[1]) for path in damage.lost if owner_of(path) == key and (m := _POLICY.fullmatch(path))]
    latest = record.latest_policy.index if record.latest_policy else -1
    if max(indexes, default=-1) <= latest:
        return record
    policy = snapshots.restored_policy(record.placement, max(indexes))
    return replace(record, policy_snapshots=(*record.policy_snapshots, policy), decisions=(), schedule_key="")


def _with_inventory(known: FleetState, lost: frozenset[str]) -> FleetState:
    """The state with entries, not yet confirmed by a server, for all that was applied and is in no inventory."""
    owners = {(name, entry.placement) for name, owned in known.inventory.items() for entry in owned.values()}
    missing = {
        (binding.cluster, key)
        for key, record in known.placements.items()
        for binding in record.bindings
        if binding.cluster in lost or (binding.applied_snapshot and (binding.cluster, key) not in owners)
    }
    if not missing:
        return known
    concerned = {key: known.placements[key] for key in sorted({key for _, key in missing})}
    rendered, _ = works.render_fleet(replace(known, placements=concerned), _NO_WORKS, Failures())
    inventory = dict(known.inventory)
    for name, found in rendered.items():
        had = inventory.get(name, {})
        taken = {key.identity for key in had}
        fresh: dict[ObjectKey, InventoryEntry] = {}
        for work in found:
            if (name, work.placement) not in missing or work.apply_strategy.type.only_reports:
                continue
            for manifest in work.manifests:
                if manifest.key.identity not in taken:
                    taken.add(manifest.key.identity)
                    fresh[manifest.key] = InventoryEntry(key=manifest.key, placement=work.placement)
        if fresh:
            merged = {**had, **fresh}
            inventory[name] = {key: merged[key] for key in sorted(merged, key=lambda key: key.order)}
    return replace(known, inventory={name: inventory[name] for name in sorted(inventory)})


def _with_bindings(known: FleetState, wanted: Desired) -> Mapping[PlacementKey, PlacementRecord]:
    """The placements, each bound to every cluster on which it owns something."""
    missing: dict[PlacementKey, set[str]] = {}
    for name, owned in known.inventory.items():
        for key in {entry.placement for entry in owned.values()} if name in known.clusters else ():
            missing.setdefault(key, set()).add(name)
    found = dict(known.placements)
    overrides = KnownOverrides.of(known.overrides, snapshots.current_overrides(wanted.overrides, known.overrides))
    for key, record in known.placements.items():
        names = missing.get(key, set()) - {binding.cluster for binding in record.bindings}
        if names:
            clusters = {name: known.clusters[name] for name in sorted(names)}
            bound = (*record.bindings, *rebound(record, clusters, known.inventory, overrides))
            ordered = tuple(sorted(bound, key=lambda binding: binding.cluster))
            found[key] = replace(record, bindings=ordered, schedule_key="")
    return found
