"""What one observation of a cluster means for the member: joined, healthy, heartbeat, properties.

gitfleet stands in for KubeFleet's member agent. An answering API server is a heartbeat; so that an unchanged fleet
makes no commit, the heartbeat is written only when a condition becomes another status. Properties are in
`properties.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Final

from gitfleet.api.clusters import AgentStatus, MemberCluster
from gitfleet.api.conditions import (
    Condition,
    Conditions,
    MemberConditionType,
    Reason,
    Status,
    find_condition,
    set_condition,
)
from gitfleet.model.observations import ClusterObservation, ReportedCondition
from gitfleet.observe.properties import measured
from gitfleet.observe.texts import ObserveText


def _condition(type_: MemberConditionType, status: Status, reason: Reason, message: str) -> ReportedCondition:
    return ReportedCondition(type_.value, status, reason.value, message)


_READY: Final = _condition(
    MemberConditionType.READY_TO_JOIN,
    Status.TRUE,
    Reason.MEMBER_CLUSTER_READY_TO_JOIN,
    ObserveText.MEMBER_CLUSTER_READY_JOIN(),
)
_REACHABLE: Final = ObserveText.API_SERVER_ANSWERS()
_DIGITS: Final = re.compile("[0-9]+")
_JOINED: Final = _condition(MemberConditionType.JOINED, Status.TRUE, Reason.MEMBER_CLUSTER_JOINED, _REACHABLE)
_AGENT_JOINED: Final = _condition(MemberConditionType.JOINED, Status.TRUE, Reason.AGENT_JOINED, _REACHABLE)
_AGENT_HEALTHY: Final = _condition(
    MemberConditionType.HEALTHY, Status.TRUE, Reason.AGENT_HEALTHY, ObserveText.API_SERVER_READY()
)


def observe_cluster(cluster: MemberCluster, observation: ClusterObservation, now: datetime) -> MemberCluster:
    """The member with its status after one observation; the very same value when nothing changed."""
    before = cluster.status
    agent = _agent(cluster, observation, now)
    reported: tuple[ReportedCondition, ...] = ()
    if observation.reachable:
        reported = (_READY, _JOINED, *observation.reported)
    elif _is_news(
        before.conditions,
        MemberConditionType.JOINED,
        message := _why(observation, ObserveText.CLUSTER_NOT_ANSWERED_YET),
    ):
        reported = (_condition(MemberConditionType.JOINED, Status.UNKNOWN, Reason.CLUSTER_UNREACHABLE, message),)
    conditions = _with(before.conditions, cluster, now, reported)
    status = replace(before, conditions=conditions, agent=agent)
    if observation.reachable:
        status = measured(status, observation, now, cluster.heartbeat_period_seconds)
    return cluster if status == before else replace(cluster, status=status)


def read_cluster(cluster: MemberCluster) -> None:
    """Read all that placements are scheduled and overridden by, so that a cluster that cannot be read fails by itself
    and not in every placement's decision."""
    status = cluster.status
    sorted(cluster.scheduling_labels.items())
    sorted(cluster.annotations.items())
    [(taint.key, taint.value, taint.effect) for taint in cluster.taints]
    [str(value.value) for value in status.properties.values()]
    usage = status.resource_usage
    [sorted(amounts.items()) for amounts in (usage.capacity, usage.allocatable, usage.available)]
    sorted(status.namespaces or ())


def _agent(cluster: MemberCluster, observation: ClusterObservation, now: datetime) -> AgentStatus:
    before = cluster.status.agent or AgentStatus()
    heartbeat: datetime | None = observation.observed or now
    if observation.reachable:
        why = observation.error or ObserveText.API_SERVER_ANSWERS_SAYS_NOT()
        unhealthy = _condition(MemberConditionType.HEALTHY, Status.FALSE, Reason.AGENT_UNHEALTHY, why)
        reported = [_AGENT_JOINED, _AGENT_HEALTHY if observation.healthy else unhealthy]
    else:
        reported = []
        why = _why(observation, ObserveText.CLUSTER_NOT_ANSWER_2)
        healthy = find_condition(before.conditions, MemberConditionType.HEALTHY)
        if _is_news(before.conditions, MemberConditionType.JOINED, why):
            reported.append(_condition(MemberConditionType.JOINED, Status.UNKNOWN, Reason.CLUSTER_UNREACHABLE, why))
        if _is_news(before.conditions, MemberConditionType.HEALTHY, why, always=True):
            reported.append(_condition(MemberConditionType.HEALTHY, Status.UNKNOWN, Reason.CLUSTER_UNREACHABLE, why))
        if healthy is None:
            heartbeat = None  # one that answered did so until now; this one never did
    conditions = _with(before.conditions, cluster, now, reported)
    if conditions == before.conditions:
        return before
    if before.conditions and _transitions(conditions) == _transitions(before.conditions):
        # Only the generation or a sentence is new: a later heartbeat would look like that of an agent that sends them
        # all the time, and the cluster like one that has stopped to.
        heartbeat = before.last_received_heartbeat
    return replace(before, conditions=conditions, last_received_heartbeat=heartbeat)


def _why(observation: ClusterObservation, silent: ObserveText) -> str:
    """Why nothing is known of a cluster: it is not used, or is silent."""
    if observation.refused is not None:
        return observation.error
    return silent(cluster=observation.cluster, error=observation.error)


def _is_news(conditions: Conditions, type_: MemberConditionType, message: str, *, always: bool = False) -> bool:
    """Whether a condition of an unreachable cluster is to be set: there is none, it says another cause, or (`always`)
    it says that the cluster answers. Numbers in a sentence (seconds, ports, bytes) are no other cause: they would make
    a commit of every pass in which a cluster stays away."""
    old = find_condition(conditions, type_)
    if old is None or old.reason != Reason.CLUSTER_UNREACHABLE:
        return old is None or always
    return is_other_cause(old.message, message)


def is_other_cause(known: str, message: str) -> bool:
    """Whether a sentence on a silent cluster says another cause than the one that is known."""
    return _DIGITS.sub("", known) != _DIGITS.sub("", message)


def _transitions(conditions: Conditions) -> set[datetime]:
    return {condition.last_transition_time for condition in conditions}


def _with(
    conditions: Conditions, cluster: MemberCluster, now: datetime, reported: Iterable[ReportedCondition]
) -> Conditions:
    for one in reported:
        new = Condition(
            type=one.type,
            status=one.status,
            reason=one.reason,
            message=one.message,
            last_transition_time=now,
            observed_generation=cluster.generation,
        )
        conditions = set_condition(conditions, new)
    return conditions
