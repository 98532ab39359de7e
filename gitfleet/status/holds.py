"""What the fleet, its placements and its clusters say of themselves while removals wait for a person's approval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
)
from gitfleet.api.faults import Fault, Severity
from gitfleet.api.holds import Hold, HoldRule, RemovalKind
from gitfleet.api.placements import PlacementKey
from gitfleet.model.state import FleetState, keep
from gitfleet.status.records import with_condition
from gitfleet.status.texts import StatusText


def with_holds(state: FleetState, before: FleetState, now: datetime) -> FleetState:
    """The decided state in which every placement with held removals, and every cluster whose removal is held, says so,
    and no other."""
    sentences = _sentences(state.held)
    marked = {
        key for key, record in before.placements.items() if record.condition(ConditionType.REMOVALS_HELD) is not None
    }
    placements = dict(state.placements)
    for key in sorted(marked | sentences.keys()):
        record = placements.get(key)
        if record is not None:
            sentence = sentences.get(key)
            held = (Status.TRUE, Reason.APPROVAL_PENDING, sentence) if sentence is not None else None
            marked_now = with_condition(record, ConditionType.REMOVALS_HELD, held, now)
            placements[key] = keep(before.placements.get(key, record), marked_now)
    return _with_held_clusters(replace(state, placements=placements) if marked or sentences else state, now)


def _with_held_clusters(state: FleetState, now: datetime) -> FleetState:
    pending = state.held.values()
    held = {r.cluster: _named(hold) for hold in pending for r in hold.removals if r.kind is RemovalKind.CLUSTER}
    marked = {
        name: _marked_cluster(cluster, held.get(name), now)
        for name, cluster in state.clusters.items()
        if name in held or find_condition(cluster.status.conditions, MemberConditionType.REMOVAL_HELD) is not None
    }
    return replace(state, clusters={**state.clusters, **marked}) if marked else state


def _marked_cluster(cluster: MemberCluster, hold: str | None, now: datetime) -> MemberCluster:
    if hold is None:
        remaining = (c for c in cluster.status.conditions if c.type != MemberConditionType.REMOVAL_HELD)
        return replace(cluster, status=replace(cluster.status, conditions=tuple(remaining)))
    condition = Condition(
        type=MemberConditionType.REMOVAL_HELD.value,
        status=Status.TRUE,
        reason=Reason.APPROVAL_PENDING.value,
        message=StatusText.REMOVAL_WAITS_APPROVAL(hold=hold),
        last_transition_time=now,
        observed_generation=cluster.generation,
    )
    conditions = set_condition(cluster.status.conditions, condition)
    unchanged = conditions == cluster.status.conditions
    return cluster if unchanged else replace(cluster, status=replace(cluster.status, conditions=conditions))


def _sentences(holds: Mapping[str, Hold]) -> dict[PlacementKey, str]:
    hold_names: dict[PlacementKey, list[str]] = {}
    for hold in holds.values():
        held = (removal for removal in hold.removals if removal.rules)
        for key in sorted({removal.placement for removal in held if removal.placement is not None}):
            hold_names.setdefault(key, []).append(_named(hold))
    return {key: StatusText.REMOVALS_WAIT_APPROVAL(holds=" and ".join(names)) for key, names in hold_names.items()}


def _named(hold: Hold) -> str:
    rules = ", ".join(reason.rule for reason in hold.reasons)
    return f"{hold.name} ({rules}; rejected)" if hold.answer is Status.FALSE else f"{hold.name} ({rules})"


def restored_state(state: FleetState) -> Iterator[Fault]:
    """The warning that the state was restored from an older commit of its branch, with the command to continue."""
    holds = (hold.name for hold in state.holds.values() if any(r.rule is HoldRule.STATE_RESTORED for r in hold.reasons))
    for hold in holds if state.restored else ():
        sentence = StatusText.STATE_RESTORED.coded(commit=state.restored[:12], hold=hold)
        yield Fault("fleet.yaml", 1, "FleetState/fleet", "", sentence, Severity.WARNING)
