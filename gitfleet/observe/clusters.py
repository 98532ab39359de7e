"""What one look at a cluster means for the member: joined, healthy, heartbeat, properties.

gitfleet stands in for KubeFleet's member agent. An answering API server is a heartbeat; so that an unchanged fleet
makes no commit, the heartbeat is written only when a condition changes. Properties are in `properties.py`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from gitfleet.api.clusters import AgentStatus, MemberCluster
from gitfleet.api.conditions import Condition, Conditions, Status, find_condition, set_condition
from gitfleet.model.observations import ClusterObservation, ReportedCondition
from gitfleet.observe.properties import measured

UNREACHABLE = "ClusterUnreachable"


def observe_cluster(cluster: MemberCluster, observation: ClusterObservation, now: datetime) -> MemberCluster:
    """The member with its status after one look; the very same value when nothing changed."""
    before = cluster.status
    agent = _agent(cluster, observation, now)
    conditions = before.conditions
    if observation.reachable:
        for type_ in ("ReadyToJoin", "Joined"):
            message = "the API server answers" if type_ == "Joined" else "the member cluster is ready to join"
            conditions = _set(
                conditions, cluster, now, ReportedCondition(type_, Status.TRUE, f"MemberCluster{type_}", message)
            )
    elif find_condition(conditions, "Joined") is None:
        message = f"cluster {cluster.name} has not answered yet: {observation.error}"
        conditions = _set(conditions, cluster, now, ReportedCondition("Joined", Status.UNKNOWN, UNREACHABLE, message))
    if observation.reachable:
        for reported in observation.reported:
            conditions = _set(conditions, cluster, now, reported)
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
    conditions = before.conditions
    seen = observation.observed or now
    if observation.reachable:
        conditions = _set(
            conditions, cluster, now, ReportedCondition("Joined", Status.TRUE, "AgentJoined", "the API server answers")
        )
        if observation.healthy:
            conditions = _set(
                conditions,
                cluster,
                now,
                ReportedCondition("Healthy", Status.TRUE, "AgentHealthy", "the API server is ready"),
            )
        else:
            why = observation.error or "the API server answers and says that it is not ready"
            conditions = _set(
                conditions, cluster, now, ReportedCondition("Healthy", Status.FALSE, "AgentUnhealthy", why)
            )
        heartbeat: datetime | None = seen
    else:
        why = f"cluster {cluster.name} does not answer: {observation.error}"
        if find_condition(conditions, "Joined") is None:
            conditions = _set(conditions, cluster, now, ReportedCondition("Joined", Status.UNKNOWN, UNREACHABLE, why))
        healthy = find_condition(conditions, "Healthy")
        known = healthy is not None and healthy.reason == UNREACHABLE
        if not known:
            conditions = _set(conditions, cluster, now, ReportedCondition("Healthy", Status.UNKNOWN, UNREACHABLE, why))
        # It answered until this look; one that never answered has no heartbeat.
        heartbeat = seen if healthy is not None else None
    if conditions == before.conditions:
        return before
    return replace(before, conditions=conditions, last_received_heartbeat=heartbeat)


def _set(conditions: Conditions, cluster: MemberCluster, now: datetime, reported: ReportedCondition) -> Conditions:
    new = Condition(
        type=reported.type,
        status=reported.status,
        reason=reported.reason,
        message=reported.message,
        last_transition_time=now,
        observed_generation=cluster.generation,
    )
    return set_condition(conditions, new)
