"""What the fleet, its placements and its clusters say of themselves while removals wait for a person's approval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.conditions import (
    ConditionType,
    MemberConditionType,
    Reason,
    Status,
)
from gitfleet.api.faults import Fault, Severity
from gitfleet.api.holds import Hold, HoldRule, RemovalKind
from gitfleet.api.placements import PlacementKey
from gitfleet.model.state import FleetState
from gitfleet.status.records import told, with_each
from gitfleet.status.texts import StatusText


def with_holds(state: FleetState, before: FleetState, now: datetime) -> FleetState:
    """The decided state in which every placement with held removals, and every cluster whose removal is held, says so,
    and no other."""
    contents = {key: (Status.TRUE, Reason.APPROVAL_PENDING, why) for key, why in _sentences(state.held).items()}
    state = with_each(state, before, ConditionType.REMOVALS_HELD, contents, now)
    pending = state.held.values()
    held = {r.cluster: _named(hold) for hold in pending for r in hold.removals if r.kind is RemovalKind.CLUSTER}
    clusters = {name: _marked_cluster(cluster, held.get(name), now) for name, cluster in state.clusters.items()}
    unchanged = all(clusters[name] is cluster for name, cluster in state.clusters.items())
    return state if unchanged else replace(state, clusters=clusters)


def _marked_cluster(cluster: MemberCluster, hold: str | None, now: datetime) -> MemberCluster:
    why = StatusText.REMOVAL_WAITS_APPROVAL(hold=hold) if hold is not None else ""
    content = (Status.TRUE, Reason.APPROVAL_PENDING, why) if why else None
    conditions = told(
        cluster.status.conditions, MemberConditionType.REMOVAL_HELD.value, content, cluster.generation, now
    )
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
