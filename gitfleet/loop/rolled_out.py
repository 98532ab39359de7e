"""The state of a fleet on which a commit is rolled out and available: from where a plan starts with `--base`.

unhindered   the commit without all that delays a rollout
applied      the state after a decision, everything that it wants applied and available
since        what a later commit wants that the base did not: its runs, evictions and rollouts are over
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from gitfleet import apply, reconcile
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.freeze_files import FREEZES
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import ObjectKey
from gitfleet.api.pins import PINS
from gitfleet.api.placements import Placement
from gitfleet.api.strategies import RollingUpdate, RolloutStrategyType
from gitfleet.api.workload_rollouts import ROLLOUTS
from gitfleet.model.decisions import Decision
from gitfleet.model.desired import Desired
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import Keep, KeepCode
from gitfleet.model.state import FleetState, Inventory
from gitfleet.model.works import Work
from gitfleet.reconcile.shared import with_settings

_DONE_ONCE: Final = ("runs", "approvals", "evictions")
"""What people write to have it done once: an edit of it does nothing more."""
_KEEPS_CONTENT: Final = (PINS, "quarantines")
_AT_ONCE: Final = RollingUpdate(max_unavailable="100%", max_surge="100%", unavailable_period_seconds=0)
_UID: Final = "planned"
"""The uid of an object that would have been made."""


def unhindered(base: Desired, before: FleetState) -> Desired:
    """The commit without what delays a rollout: runs, freezes and budgets; and without pins and quarantines of
    placements that nothing is recorded of, and that have no other content than the newest."""
    placements = {key: _at_once(placement) for key, placement in base.placements.items()}
    configs = {key: replace(config, freeze_windows=()) for key, config in base.objects.get("fleetconfigs", {}).items()}
    dropped: dict[str, Mapping[Any, Any]] = {name: {} for name in (*_DONE_ONCE, ROLLOUTS, FREEZES)}
    for name in _KEEPS_CONTENT:
        written = base.objects.get(name, {})
        dropped[name] = {key: value for key, value in written.items() if value.placement in before.placements}
    return replace(base, objects={**base.objects, **dropped, "placements": placements, "fleetconfigs": configs})


def _at_once(placement: Placement) -> Placement:
    strategy = replace(placement.strategy, type=RolloutStrategyType.ROLLING_UPDATE, rolling_update=_AT_ONCE)
    return replace(placement, strategy=strategy)


def applied(decision: Decision, now: datetime, memo: reconcile.Memo) -> FleetState:
    """The state once all that a decision wants is applied and available on every cluster, and nothing else is there."""
    names = decision.after.clusters
    inventory = {name: _inventory(decision, name) for name in names}
    after = replace(decision.after, inventory={name: owned for name, owned in inventory.items() if owned}, holds={})
    seen = {name: ClusterObservation(cluster=name, reachable=True) for name in names}
    inputs = replace(decision.inputs, observations=seen)
    performed = replace(decision, inputs=inputs, after=after, observed_again=frozenset(names))
    in_place = tuple(_in_place(work for works in decision.works.values() for work in works))
    state, _ = reconcile.settle(performed, in_place, (), now, memo)
    return replace(state, clusters=_with_namespaces(state, decision.inputs.desired))


def _inventory(decision: Decision, cluster: str) -> dict[ObjectKey, InventoryEntry]:
    entries = {key.identity: entry for key, entry in decision.after.inventory.get(cluster, {}).items()}
    inventory: dict[ObjectKey, InventoryEntry] = {}
    for work in decision.works.get(cluster, ()):
        for manifest in () if work.apply_strategy.type.only_reports else work.manifests:
            nothing = InventoryEntry(key=manifest.key, placement=work.placement)
            previous = entries.get(manifest.key.identity, nothing)
            taken = apply.is_taken_over(previous)
            inventory[manifest.key] = InventoryEntry(
                key=manifest.key,
                placement=work.placement,
                uid=previous.uid or _UID,
                applied_digest=manifest.digest,
                shape_digest="",
                taken_over=taken,
                protected_by=apply.protected_by(manifest.body, taken_over=taken),
            )
    return inventory


def _in_place(works: Iterable[Work]) -> Iterator[Keep]:
    for work in works:
        code = KeepCode.NO_DIFF_FOUND if work.apply_strategy.type.only_reports else KeepCode.FINISHED
        for manifest in work.manifests:
            yield Keep(
                cluster=work.cluster,
                placement=work.placement,
                reason="",
                key=manifest.key,
                manifest=manifest,
                code=code,
            )


def _with_namespaces(state: FleetState, base: Desired) -> Mapping[str, MemberCluster]:
    """The clusters with their namespaces: those that are placed there, and those of ResourcePlacements that nobody
    places."""
    placed = {name: _namespaces(owned) for name, owned in state.inventory.items()}
    elsewhere = {key.namespace for key in base.placements if key.namespace} - set().union(*placed.values())
    clusters: dict[str, MemberCluster] = {}
    for name, cluster in state.clusters.items():
        recorded = cluster.status.namespaces or {}
        namespaces = dict.fromkeys(sorted({*recorded, *placed.get(name, ()), *elsewhere}), "")
        status = replace(cluster.status, namespaces={**namespaces, **recorded})
        clusters[name] = cluster if status == cluster.status else replace(cluster, status=status)
    return clusters


def _namespaces(owned: Inventory) -> set[str]:
    return {key.name for key in owned if (key.group, key.kind) == ("", "Namespace")}


def as_written(state: FleetState, base: Desired) -> FleetState:
    """The state of `unhindered` with the strategies and settings that the commit really has."""
    records = {
        key: replace(record, placement=replace(record.placement, strategy=base.placements[key].strategy))
        for key, record in state.placements.items()
        if key in base.placements
    }
    return with_settings(replace(state, placements={**state.placements, **records}), base)


def since(base: Desired, desired: Desired) -> Desired:
    """A later commit without the runs, approvals and evictions that the base has as well: they are over. So are its
    workload rollouts, unless they are edited."""
    objects = dict(desired.objects)
    for name in _DONE_ONCE:
        old = base.objects.get(name, {})
        objects[name] = {key: value for key, value in objects.get(name, {}).items() if key not in old}
    old = {key: _unplaced(value) for key, value in base.objects.get(ROLLOUTS, {}).items()}
    rollouts = {key: value for key, value in objects.get(ROLLOUTS, {}).items() if _unplaced(value) != old.get(key)}
    return replace(desired, objects={**objects, ROLLOUTS: rollouts})


def _unplaced(value: Any) -> Any:
    """A value wherever it is written."""
    return replace(value, origin=None)
