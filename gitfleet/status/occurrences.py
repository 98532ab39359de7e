"""Which events people want to be told of, and under which name (`spec.notifications`)."""

from __future__ import annotations

from typing import Final

from gitfleet.api.conditions import ConditionType, Status
from gitfleet.api.faults import Severity
from gitfleet.api.notifications import NotificationEvent
from gitfleet.api.runs import RunReason
from gitfleet.api.workload_records import RollingState
from gitfleet.model.events import Event, EventType
from gitfleet.model.notifications import Occurrence
from gitfleet.status.cluster_states import ClusterState
from gitfleet.status.commit_messages import sentence
from gitfleet.status.texts import StatusText

_NAMING: Final = ("hold", "approval", "run", "eviction", "rollout")
_OF_CLUSTERS: Final = {
    ClusterState.UNHEALTHY: NotificationEvent.CLUSTER_UNHEALTHY,
    ClusterState.NOT_JOINED: NotificationEvent.CLUSTER_UNHEALTHY,
    ClusterState.HEALTHY: NotificationEvent.CLUSTER_HEALTHY,
}
_OF_ROLLOUTS: Final = {
    RollingState.FAILED: NotificationEvent.WORKLOAD_ROLLOUT_FAILED,
    RollingState.SUCCEEDED: NotificationEvent.WORKLOAD_ROLLOUT_SUCCEEDED,
}
_OF_RUNS: Final = {
    RunReason.RUN_NOT_INITIALIZED: NotificationEvent.RUN_FAILED,
    RunReason.RUN_STUCK: NotificationEvent.RUN_FAILED,
    RunReason.RUN_FAILED: NotificationEvent.RUN_FAILED,
    RunReason.RUN_ROLLED_BACK: NotificationEvent.RUN_FAILED,
    RunReason.RUN_SUCCEEDED: NotificationEvent.RUN_SUCCEEDED,
}


def occurrence_of(event: Event) -> Occurrence | None:
    """What people are told of an event; None where they are told nothing."""
    kind = _kind_of(event)
    if kind is None:
        return None
    name = next((str(event.fields[field]) for field in _NAMING if field in event.fields), None)
    run, rollout = event.fields.get("run"), event.fields.get("rollout")
    return Occurrence(kind, _said(kind, event), event.placement, event.cluster, name, run, rollout)


def _said(kind: NotificationEvent, event: Event) -> str:
    """In the words of the state branch's commits, but where those leave out what a message must say."""
    if kind is NotificationEvent.ROLLOUT_COMPLETE:
        return StatusText.NEWEST_CONTENT_ALL_CLUSTERS(placement=event.placement)
    return f"cluster {event.cluster} is {event.fields['state']}" if event.type is EventType.CLUSTER else sentence(event)


def _kind_of(event: Event) -> NotificationEvent | None:  # noqa: C901 - one case for one type of event
    fields = event.fields
    match event.type:
        case EventType.HELD:
            return NotificationEvent.ANSWERED if fields["rejected"] else NotificationEvent.REMOVAL_HELD
        case EventType.RELEASED:
            return NotificationEvent.ANSWERED if "hold" in fields else None
        case EventType.FAULT:
            return NotificationEvent.ERROR if fields["severity"] == Severity.ERROR and fields["count"] else None
        case EventType.CLUSTER:
            return _OF_CLUSTERS.get(ClusterState(fields["state"])) if fields["state"] in list(ClusterState) else None
        case EventType.RUN:
            return _OF_RUNS.get(RunReason(fields["reason"])) if fields["reason"] in list(RunReason) else None
        case EventType.WORKLOAD_ROLLOUT:
            waits = NotificationEvent.WORKLOAD_ROLLOUT_WAITING if "waits" in fields else None
            return waits or _OF_ROLLOUTS.get(RollingState(fields["state"]))
        case EventType.PLACEMENT:
            whole = (fields.get("condition"), fields.get("status")) == (ConditionType.AVAILABLE, Status.TRUE)
            return NotificationEvent.ROLLOUT_COMPLETE if whole else None
        case EventType.APPROVAL_REQUESTED:
            return NotificationEvent.APPROVAL_REQUESTED
        case EventType.APPROVED | EventType.REJECTED:
            return NotificationEvent.ANSWERED
        case EventType.EVICTED | EventType.EVICTION_REFUSED:
            return NotificationEvent.EVICTED
        case EventType.FAILED:
            return NotificationEvent.APPLY_FAILED
        case EventType.FAULTS_CLEARED:
            return NotificationEvent.CORRECTED
        case (
            EventType.COMMIT | EventType.COMMIT_READ | EventType.SNAPSHOT | EventType.SCHEDULED | EventType.BOUND
            | EventType.UPDATING | EventType.UPDATED | EventType.UNSCHEDULED | EventType.REMOVED | EventType.STAGE
            | EventType.CLUSTER_UPDATE | EventType.AVAILABLE | EventType.APPLIED | EventType.CRASH | EventType.END
        ):  # fmt: skip
            return None
