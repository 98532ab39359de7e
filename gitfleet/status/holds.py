"""What placements and clusters say of themselves while removals wait for a person's approval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.conditions import (
    Condition,
    ConditionType,
    MemberConditionType,
    Reason,
    Status,
    find_condition,
    set_condition,
    type_of,
)
from gitfleet.api.holds import Hold, RemovalKind
from gitfleet.api.placements import PlacementKey
from gitfleet.model.state import FleetState, PlacementRecord, keep
from gitfleet.status.records import with_condition
from gitfleet.status.texts import StatusText


def with_holds(state: FleetState, before: FleetState, now: datetime) -> FleetState:
    """The decided state in which every placement with held removals, and every cluster whose removal is held, says so,
    and no other."""
    said = _sentences(state.holds)
    marked = {key for key, record in before.placements.items() if _condition_of(record) is not None}
    placements = dict(state.placements)
    for key in sorted(marked | said.keys()):
        record = placements.get(key)
        if record is not None:
            sentence = said.get(key)
            held = (Status.TRUE, Reason.APPROVAL_PENDING, sentence) if sentence is not None else None
            marked_now = with_condition(record, ConditionType.REMOVALS_HELD, held, now)
            placements[key] = keep(before.placements.get(key, record), marked_now)
    return _with_held_clusters(replace(state, placements=placements) if marked or said else state, now)


def _with_held_clusters(state: FleetState, now: datetime) -> FleetState:
    pending = [hold for hold in state.holds.values() if hold.answer is not Status.TRUE]
    held = {r.cluster: _named(hold) for hold in pending for r in hold.removals if r.kind is RemovalKind.CLUSTER}
    marked = {
        name: _marked_cluster(cluster, held.get(name), now)
        for name, cluster in state.clusters.items()
        if name in held or find_condition(cluster.status.conditions, MemberConditionType.REMOVAL_HELD) is not None
    }
    return replace(state, clusters={**state.clusters, **marked}) if marked else state


def _marked_cluster(cluster: MemberCluster, hold: str | None, now: datetime) -> MemberCluster:
    if hold is None:
        others = (c for c in cluster.status.conditions if c.type != MemberConditionType.REMOVAL_HELD)
        return replace(cluster, status=replace(cluster.status, conditions=tuple(others)))
    condition = Condition(
        type=MemberConditionType.REMOVAL_HELD.value,
        status=Status.TRUE,
        reason=Reason.APPROVAL_PENDING.value,
        message=StatusText.REMOVAL_WAITS_APPROVAL(hold=hold),
        last_transition_time=now,
        observed_generation=cluster.generation,
    )
    conditions = set_condition(cluster.status.conditions, condition)
    same = conditions == cluster.status.conditions
    return cluster if same else replace(cluster, status=replace(cluster.status, conditions=conditions))


def _sentences(holds: Mapping[str, Hold]) -> dict[PlacementKey, str]:
    found: dict[PlacementKey, list[str]] = {}
    kinds: set[tuple[PlacementKey | None, RemovalKind]] = set()
    for hold in holds.values():
        if hold.answer is Status.TRUE:
            continue
        kinds |= {(removal.placement, removal.kind) for removal in hold.removals}
        for key in sorted({removal.placement for removal in hold.removals if removal.placement is not None}):
            found.setdefault(key, []).append(_named(hold))
    return {
        key: _sentence(names, {kind for kind in RemovalKind if (key, kind) in kinds}) for key, names in found.items()
    }


def _named(hold: Hold) -> str:
    return f"{hold.name} (rejected)" if hold.answer is Status.FALSE else hold.name


def _sentence(names: Sequence[str], kinds: Set[RemovalKind]) -> str:
    """Of a placement that would go itself, nobody writes any more what it should become."""
    holds = " and ".join(names)
    if RemovalKind.PLACEMENT in kinds:
        return StatusText.REMOVAL_WAITS_APPROVAL(hold=holds)
    if RemovalKind.STRATEGY in kinds:
        alone = kinds == {RemovalKind.STRATEGY}
        what = StatusText.CHANGE_FROM_EXTERNAL(part="waits" if alone else StatusText.REMOVALS_WAIT())
        return StatusText.APPROVAL_UNTIL_THEN_NEEDS_RUNS(what=what, holds=holds)
    return StatusText.REMOVALS_WAIT_APPROVAL(holds=holds)


def _condition_of(record: PlacementRecord) -> Condition | None:
    return find_condition(record.conditions, type_of(record.placement.key.kind, ConditionType.REMOVALS_HELD))
