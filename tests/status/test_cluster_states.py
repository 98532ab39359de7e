"""A cluster's state in one word."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.clusters import AgentStatus, ClusterStatus, MemberCluster
from gitfleet.status import cluster_state
from gitfleet.status.texts import StatusText
from tests.state.builders import T0, condition

JOINED, LEFT, DOUBTED = (condition("Joined", status) for status in ("True", "False", "Unknown"))
HEALTHY, ILL = condition("Healthy"), condition("Healthy", "False")


def member(*own: Any, agent: tuple[Any, ...] | None = (), **more: Any) -> MemberCluster:
    """A cluster with conditions of its own and of its agent."""
    status = ClusterStatus(conditions=own, agent=None if agent is None else AgentStatus(conditions=agent))
    return MemberCluster(name="c", status=status, **more)


@pytest.mark.parametrize(
    ("cluster", "state"),
    [
        (member(JOINED, agent=(JOINED, HEALTHY), deleting=T0), "leaving"),
        (member(agent=None), StatusText.NOT_SEEN_YET()),
        (member(JOINED, agent=None), StatusText.NOT_SEEN_YET()),
        (member(LEFT, agent=(JOINED, HEALTHY)), "not joined"),
        (member(DOUBTED, agent=(HEALTHY,)), "not joined"),
        (member(agent=(LEFT, HEALTHY)), "not joined"),
        (member(JOINED, agent=(LEFT, HEALTHY)), "healthy"),
        (member(agent=(JOINED, HEALTHY)), "healthy"),
        (member(agent=(HEALTHY,)), "healthy"),
        (member(JOINED, agent=(ILL,)), "unhealthy"),
        (member(JOINED, HEALTHY), "unhealthy"),
    ],
)
def test_the_state_of_a_cluster(cluster: MemberCluster, state: str) -> None:
    assert cluster_state(cluster) == state
