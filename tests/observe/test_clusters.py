"""observe_cluster: conditions, heartbeats on transitions only, quantities with their times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from gitfleet.api.clusters import MemberCluster, PropertyValue, ResourceUsage
from gitfleet.model.observations import ClusterObservation
from gitfleet.observe import observe_cluster

T0 = datetime(2026, 1, 1, tzinfo=UTC)
T1, T2 = T0 + timedelta(minutes=1), T0 + timedelta(minutes=2)
UP = ClusterObservation(cluster="c1", reachable=True)
DOWN = ClusterObservation(cluster="c1", reachable=False, error="connection refused")


def agent(cluster: MemberCluster) -> tuple[list[tuple[str, str, str]], datetime | None]:
    reported = cluster.status.agent
    assert reported is not None
    return [(c.type, c.status.value, c.reason) for c in reported.conditions], reported.last_received_heartbeat


def test_a_cluster_that_answers_joins() -> None:
    got = observe_cluster(MemberCluster(name="c1"), UP, T0)
    assert agent(got) == ([("Joined", "True", "AgentJoined"), ("Healthy", "True", "AgentHealthy")], T0)
    assert [(c.type, c.status.value, c.reason) for c in got.status.conditions] == [
        ("ReadyToJoin", "True", "MemberClusterReadyToJoin"),
        ("Joined", "True", "MemberClusterJoined"),
    ]
    assert observe_cluster(got, UP, T1) is got


def test_a_cluster_that_stops_answering_stays_joined_and_is_not_healthy() -> None:
    joined = observe_cluster(MemberCluster(name="c1"), UP, T0)
    down = observe_cluster(joined, DOWN, T1)
    assert agent(down) == ([("Joined", "True", "AgentJoined"), ("Healthy", "Unknown", "ClusterUnreachable")], T1)
    assert down.status.conditions == joined.status.conditions
    assert observe_cluster(down, ClusterObservation(cluster="c1", reachable=False, error="timed out"), T2) is down
    back = observe_cluster(down, UP, T2)
    assert agent(back) == ([("Joined", "True", "AgentJoined"), ("Healthy", "True", "AgentHealthy")], T2)


def test_a_cluster_that_never_answered_has_not_joined() -> None:
    got = observe_cluster(MemberCluster(name="c1"), DOWN, T0)
    assert agent(got) == (
        [("Joined", "Unknown", "ClusterUnreachable"), ("Healthy", "Unknown", "ClusterUnreachable")],
        None,
    )
    assert observe_cluster(got, DOWN, T1) is got


def test_a_cluster_may_answer_and_be_unwell() -> None:
    got = observe_cluster(MemberCluster(name="c1"), ClusterObservation(cluster="c1", reachable=True, healthy=False), T0)
    assert agent(got)[0][1] == ("Healthy", "False", "AgentUnhealthy")


def test_quantities_keep_their_times_while_they_stay_the_same() -> None:
    def observe(nodes: str, cpu: str) -> ClusterObservation:
        return ClusterObservation(
            cluster="c1",
            reachable=True,
            namespaces={"b": "", "a": ""},
            properties={"kubernetes-fleet.io/node-count": PropertyValue(nodes)},
            resource_usage=ResourceUsage(capacity={"cpu": cpu}),
        )

    first = observe_cluster(MemberCluster(name="c1"), observe("2", "4"), T0)
    assert first.status.properties == {"kubernetes-fleet.io/node-count": PropertyValue("2", T0)}
    assert first.status.resource_usage == ResourceUsage(capacity={"cpu": "4"}, observed=T0)
    assert list(first.status.namespaces or ()) == ["a", "b"]
    assert observe_cluster(first, observe("2", "4"), T1) is first
    assert observe_cluster(first, UP, T1) is first
    changed = observe_cluster(first, observe("3", "4"), T1)
    assert changed.status.properties["kubernetes-fleet.io/node-count"] == PropertyValue("3", T1)
    assert changed.status.resource_usage.observed == T0
