"""Whether a cluster may get new placements: it stays in the fleet, has joined, answers and is healthy.

Source: kubefleet.md §2 "Eligibility" (KubeFleet's cluster eligibility checker); both time-outs are five minutes. A
cluster that is unhealthy for less long may still be picked, and none of this ever takes a placement away.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from gitfleet.api.clusters import AgentStatus, MemberCluster
from gitfleet.api.conditions import MemberConditionType, Status, find_condition, is_true
from gitfleet.schedule.texts import ScheduleText

HEARTBEAT_TIMEOUT = timedelta(minutes=5)
HEALTH_TIMEOUT = timedelta(minutes=5)
_DISCONNECTED = ScheduleText.CLUSTER_NOT_CONNECTED_FLEET()
_RESOLUTION = timedelta.resolution


class Eligibility(StrEnum):
    """The verdict, without the times: it changes only when the cluster's situation does."""

    ELIGIBLE = "eligible"
    LEFT = "left"
    NOT_ONLINE = "not-online"
    NOT_JOINED = "not-joined"
    SILENT = "silent"
    HEALTH_UNKNOWN = "health-unknown"
    UNHEALTHY = "unhealthy"


@dataclass(frozen=True, slots=True)
class TimedEligibility:
    """The verdict at a moment, and the first later moment at which the clock alone would change it (None: never)."""

    verdict: Eligibility
    until: datetime | None = None


def eligibility_of(cluster: MemberCluster, now: datetime) -> TimedEligibility:
    """How the cluster stands at `now`."""
    if cluster.deleting is not None:
        return TimedEligibility(Eligibility.LEFT)
    agent = cluster.status.agent
    if agent is None:
        return TimedEligibility(Eligibility.NOT_ONLINE)
    if not is_true(agent.conditions, MemberConditionType.JOINED):
        return TimedEligibility(Eligibility.NOT_JOINED)
    heartbeat = agent.last_received_heartbeat
    healthy = find_condition(agent.conditions, MemberConditionType.HEALTHY)
    vouched = healthy is not None and healthy.status is not Status.UNKNOWN and not _sends_heartbeats(agent)
    if heartbeat is None or (now - heartbeat > HEARTBEAT_TIMEOUT and not vouched):
        return TimedEligibility(Eligibility.SILENT)
    until = None if vouched else heartbeat + HEARTBEAT_TIMEOUT + _RESOLUTION
    if healthy is None:
        return TimedEligibility(Eligibility.HEALTH_UNKNOWN, until)
    if healthy.status is not Status.TRUE:
        if now - healthy.last_transition_time > HEALTH_TIMEOUT:
            return TimedEligibility(Eligibility.UNHEALTHY, until)
        over = healthy.last_transition_time + HEALTH_TIMEOUT + _RESOLUTION
        until = min(until, over) if until is not None else over
    return TimedEligibility(Eligibility.ELIGIBLE, until)


def _sends_heartbeats(agent: AgentStatus) -> bool:
    """Whether the agent sends heartbeats all the time, as KubeFleet's does, so that the last one's age means something.

    gitfleet writes a heartbeat only together with a change of a condition's status (so that an unchanged fleet makes no
    commit), and makes Healthy Unknown as soon as a cluster stops answering: True and False both confirm the old
    heartbeat.
    """
    heartbeat = agent.last_received_heartbeat
    if heartbeat is None or not agent.conditions:
        return True
    return heartbeat - max(condition.last_transition_time for condition in agent.conditions) > HEARTBEAT_TIMEOUT


def reason_of(cluster: MemberCluster, verdict: Eligibility, now: datetime) -> str:
    """KubeFleet's own sentence for a verdict other than eligible."""
    agent = cluster.status.agent
    match verdict:
        case Eligibility.ELIGIBLE:
            return ""
        case Eligibility.LEFT:
            return ScheduleText.CLUSTER_LEFT_FLEET()
        case Eligibility.NOT_ONLINE:
            return _DISCONNECTED + ScheduleText.MEMBER_AGENT_NOT_ONLINE_YET()
        case Eligibility.NOT_JOINED:
            return _DISCONNECTED + ScheduleText.MEMBER_AGENT_NOT_JOINED_YET()
        case Eligibility.HEALTH_UNKNOWN:
            return _DISCONNECTED + ScheduleText.HEALTH_CONDITION_FROM_MEMBER_AGENT()
        case Eligibility.SILENT:
            heartbeat = agent.last_received_heartbeat if agent else None
            when = (
                ScheduleText.LAST_RECEIVED_MINUTES_AGO(minutes=_minutes(now - heartbeat))
                if heartbeat
                else "never received"
            )
            return ScheduleText.NO_RECENT_HEARTBEAT_SIGNALS(disconnected=_DISCONNECTED, when=when)
        case Eligibility.UNHEALTHY:
            healthy = find_condition(agent.conditions, MemberConditionType.HEALTHY) if agent else None
            since = _minutes(now - healthy.last_transition_time) if healthy else "0.00"
            return ScheduleText.UNHEALTHY_PROLONGED_PERIOD_TIME_LAST(disconnected=_DISCONNECTED, since=since)


def _minutes(span: timedelta) -> str:
    return f"{span.total_seconds() / 60:.2f}"
