"""What happened to a staged update run between two states (contracts.md §5): `run`, `stage`, `clusterUpdate`,
`approvalRequested`, `approved` and `rejected`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gitfleet.api.conditions import APPROVED, Condition, Conditions, Status, find_condition
from gitfleet.api.objects import JsonValue
from gitfleet.api.runs import ApprovalRequest, RunConditionType, RunReason, RunRecord, RunStatus
from gitfleet.model.events import Event, EventType

_PHASES: Final = {
    RunReason.STAGE_STARTED: "started",
    RunReason.STAGE_WAITING: "waiting",
    RunReason.STAGE_STOPPING: "stopping",
    RunReason.STAGE_STOPPED: "stopped",
    RunReason.STAGE_SUCCEEDED: "succeeded",
    RunReason.STAGE_SKIPPED: "skipped",
    RunReason.STAGE_FAILED: "failed",
    RunReason.CLUSTER_STARTED: "started",
    RunReason.CLUSTER_SUCCEEDED: "succeeded",
    RunReason.CLUSTER_SKIPPED: "skipped",
    RunReason.CLUSTER_FAILED: "failed",
    RunReason.CLUSTER_ROLLING_BACK: "rollingBack",
    RunReason.CLUSTER_ROLLED_BACK: "rolledBack",
}


def run_events(old: RunRecord | None, new: RunRecord | None) -> Iterator[Event]:
    """The events of one run: its stages in their order with their clusters, then the run itself. One that was removed
    has none."""
    if new is None or old is new:
        return
    run = {"run": str(new.key)}
    before = old.status if old is not None else RunStatus()
    stages = {stage.name: stage for stage in before.all_stages}
    for stage in new.status.all_stages:
        previous = stages.get(stage.name)
        place = {**run, "stage": stage.name}
        yield from _phases(EventType.STAGE, place, previous.conditions if previous else (), stage.conditions)
        clusters = {cluster.cluster: cluster.conditions for cluster in previous.clusters} if previous else {}
        for cluster in stage.clusters:
            earlier = clusters.get(cluster.cluster, ())
            yield from _phases(EventType.CLUSTER_UPDATE, place, earlier, cluster.conditions, cluster.cluster)
    for condition in _changed(before.conditions, new.status.conditions):
        fields = {"condition": condition.type, "status": condition.status.value, "reason": condition.reason}
        message = {"message": condition.message} if condition.message else {}
        yield Event(type=EventType.RUN, placement=str(new.placement), fields={**run, **fields, **message})


def request_events(old: ApprovalRequest | None, new: ApprovalRequest | None) -> Iterator[Event]:
    """The events of an approval request: made, and answered."""
    if new is None or old is new:
        return
    namespace = f"{new.key.namespace}/" if new.key.namespace else ""
    fields = {"run": f"{namespace}{new.parent_run}", "stage": new.target_stage, "approval": str(new.key)}
    if old is None:
        yield Event(type=EventType.APPROVAL_REQUESTED, fields=fields)
    for condition in _changed(old.conditions if old else (), new.conditions):
        if condition.type == APPROVED and condition.status is not Status.UNKNOWN:
            type_ = EventType.APPROVED if condition.status is Status.TRUE else EventType.REJECTED
            yield Event(type=type_, fields={**fields, "message": condition.message or condition.reason})


def _phases(
    type_: EventType, place: Mapping[str, JsonValue], before: Conditions, now: Conditions, cluster: str | None = None
) -> Iterator[Event]:
    for condition in _changed(before, now):
        phase = _PHASES.get(RunReason(condition.reason))
        ended = find_condition(now, RunConditionType.SUCCEEDED)
        if phase and not (ended is not None and ended.reason == condition.reason and ended is not condition):
            yield Event(type=type_, cluster=cluster, fields={**place, "phase": phase})


def _changed(before: Conditions, now: Conditions) -> Iterator[Condition]:
    """The conditions that say something else than before."""
    for condition in now:
        old = find_condition(before, condition.type)
        if old is None or (old.status, old.reason) != (condition.status, condition.reason):
            yield condition
