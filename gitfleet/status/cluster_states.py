"""A cluster's state in one word, for tables and events."""

from __future__ import annotations

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.conditions import Condition, MemberConditionType, Status, find_condition


def cluster_state(cluster: MemberCluster) -> str:
    """leaving, not seen yet, not joined, healthy, or unhealthy."""
    if cluster.deleting is not None:
        return "leaving"
    if cluster.status.agent is None:
        return "not seen yet"
    joined = joined_condition(cluster)
    if joined is not None and joined.status is not Status.TRUE:
        return "not joined"
    healthy = health_condition(cluster)
    return "healthy" if healthy is not None and healthy.status is Status.TRUE else "unhealthy"


def joined_condition(cluster: MemberCluster) -> Condition | None:
    """The cluster's Joined condition: its own, else its agent's."""
    agent = cluster.status.agent
    return find_condition(cluster.status.conditions, MemberConditionType.JOINED) or (
        find_condition(agent.conditions, MemberConditionType.JOINED) if agent else None
    )


def health_condition(cluster: MemberCluster) -> Condition | None:
    """The agent's Healthy condition."""
    agent = cluster.status.agent
    return find_condition(agent.conditions, MemberConditionType.HEALTHY) if agent else None
