"""What one look at a cluster means for the member: joined, healthy, heartbeat, properties.

gitfleet stands in for KubeFleet's member agent. An answering API server is a heartbeat; so that an unchanged fleet
makes no commit, the heartbeat is written only when a condition changes, and quantities only when they do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from gitfleet.model.clusters import AgentStatus, ClusterStatus, MemberCluster, PropertyValue, ResourceUsage
from gitfleet.model.conditions import Condition, Conditions, Status, find_condition, set_condition
from gitfleet.model.observations import ClusterAnswer

UNREACHABLE = "ClusterUnreachable"


def observe_cluster(cluster: MemberCluster, answer: ClusterAnswer, now: datetime) -> MemberCluster:
    """The member with its status after one look; the very same value when nothing changed."""
    before = cluster.status
    agent = _agent(cluster, answer, now)
    conditions = before.conditions
    if answer.reachable:
        for type_ in ("ReadyToJoin", "Joined"):
            message = "the API server answers" if type_ == "Joined" else "the member cluster is ready to join"
            conditions = _set(conditions, cluster, now, type_, Status.TRUE, f"MemberCluster{type_}", message)
    elif find_condition(conditions, "Joined") is None:
        message = f"cluster {cluster.name} has not answered yet: {answer.error}"
        conditions = _set(conditions, cluster, now, "Joined", Status.UNKNOWN, UNREACHABLE, message)
    status = replace(before, conditions=conditions, agent=agent)
    if answer.reachable:
        status = _measured(status, answer, now)
    return cluster if status == before else replace(cluster, status=status)


def _agent(cluster: MemberCluster, answer: ClusterAnswer, now: datetime) -> AgentStatus:
    before = cluster.status.agent or AgentStatus()
    conditions = before.conditions
    seen = answer.observed or now
    if answer.reachable:
        conditions = _set(conditions, cluster, now, "Joined", Status.TRUE, "AgentJoined", "the API server answers")
        if answer.healthy:
            conditions = _set(
                conditions, cluster, now, "Healthy", Status.TRUE, "AgentHealthy", "the API server is ready"
            )
        else:
            why = answer.error or "the API server answers and says that it is not ready"
            conditions = _set(conditions, cluster, now, "Healthy", Status.FALSE, "AgentUnhealthy", why)
        heartbeat: datetime | None = seen
    else:
        why = f"cluster {cluster.name} does not answer: {answer.error}"
        if find_condition(conditions, "Joined") is None:
            conditions = _set(conditions, cluster, now, "Joined", Status.UNKNOWN, UNREACHABLE, why)
        healthy = find_condition(conditions, "Healthy")
        known = healthy is not None and healthy.reason == UNREACHABLE
        if not known:
            conditions = _set(conditions, cluster, now, "Healthy", Status.UNKNOWN, UNREACHABLE, why)
        # It answered until this look; one that never answered has no heartbeat.
        heartbeat = seen if healthy is not None else None
    if conditions == before.conditions:
        return before
    return replace(before, conditions=conditions, last_received_heartbeat=heartbeat)


def _set(
    conditions: Conditions, cluster: MemberCluster, now: datetime, type_: str, status: Status, reason: str, message: str
) -> Conditions:
    new = Condition(
        type=type_,
        status=status,
        reason=reason,
        message=message,
        last_transition_time=now,
        observed_generation=cluster.generation,
    )
    return set_condition(conditions, new)


def _measured(status: ClusterStatus, answer: ClusterAnswer, now: datetime) -> ClusterStatus:
    if answer.properties:
        properties = {n: _kept(status.properties.get(n), v, now) for n, v in sorted(answer.properties.items())}
        status = replace(status, properties=properties)
    if answer.resource_usage is not None and _amounts(answer.resource_usage) != _amounts(status.resource_usage):
        seen = answer.resource_usage.observed or now
        status = replace(status, resource_usage=replace(answer.resource_usage, observed=seen))
    if answer.namespaces is not None:
        status = replace(status, namespaces=dict(sorted(answer.namespaces.items())))
    return status


def _kept(old: PropertyValue | None, new: PropertyValue, now: datetime) -> PropertyValue:
    if old is not None and old.value == new.value:
        return old
    return PropertyValue(new.value, new.observed or now)


def _amounts(usage: ResourceUsage) -> tuple[Mapping[str, str], ...]:
    return (dict(usage.capacity), dict(usage.allocatable), dict(usage.available))
