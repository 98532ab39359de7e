"""A cluster's state in one word, for tables and events."""

from __future__ import annotations

from enum import StrEnum

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.conditions import Condition, MemberConditionType, Status, find_condition, is_true
from gitfleet.status.texts import StatusText


class ClusterState(StrEnum):
    """All that a cluster can be, as people read it."""

    LEAVING = "leaving"
    NOT_SEEN = StatusText.NOT_SEEN_YET()
    NOT_JOINED = "not joined"
    HEALTHY = "healthy"
    UNHEALTHY = "unhealthy"


def cluster_state(cluster: MemberCluster) -> ClusterState:
    """The first that holds, in this order, of a cluster that leaves, was never seen, has not joined, is healthy."""
    if cluster.deleting is not None:
        return ClusterState.LEAVING
    if cluster.status.agent is None:
        return ClusterState.NOT_SEEN
    joined = joined_condition(cluster)
    if joined is not None and joined.status is not Status.TRUE:
        return ClusterState.NOT_JOINED
    is_healthy = is_true(cluster.status.agent.conditions, MemberConditionType.HEALTHY)
    return ClusterState.HEALTHY if is_healthy else ClusterState.UNHEALTHY


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
