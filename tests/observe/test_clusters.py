"""observe_cluster: conditions, heartbeats on transitions only, quantities with their times."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gitfleet.api.clusters import MemberCluster, PropertyValue, ResourceUsage
from gitfleet.api.conditions import Status
from gitfleet.model.observations import ClusterObservation, ReportedCondition
from gitfleet.observe import observe_cluster
from gitfleet.observe.texts import ObserveText

T0 = datetime(2026, 1, 1, tzinfo=UTC)
T1, T2 = T0 + timedelta(minutes=1), T0 + timedelta(minutes=2)
UP = ClusterObservation(cluster="c1", reachable=True)
DOWN = ClusterObservation(cluster="c1", reachable=False, error="connection refused")


def agent(cluster: MemberCluster) -> tuple[list[tuple[str, str, str]], datetime | None]:
    reported = cluster.status.agent
    assert reported is not None
    return [(c.type, c.status.value, c.reason) for c in reported.conditions], reported.last_received_heartbeat


AGENT_ANSWERS, AGENT_READY = ObserveText.API_SERVER_ANSWERS(), ObserveText.API_SERVER_READY()
SILENT = ObserveText.CLUSTER_NOT_ANSWER_2(cluster="c1", error="connection refused")


def test_what_a_cluster_says_as_whole_conditions() -> None:
    """At the generation of its file, each since it became so."""
    member = MemberCluster(name="c1", generation=4)

    def shown(found: MemberCluster) -> list[tuple[Any, ...]]:
        status = found.status
        assert status.agent is not None
        both = (*status.conditions, *status.agent.conditions)
        assert {c.observed_generation for c in both} == {4}
        return [(c.type, c.status.value, c.reason, c.message, c.last_transition_time) for c in both]

    joined = observe_cluster(member, UP, T0)
    own = [
        ("ReadyToJoin", "True", "MemberClusterReadyToJoin", ObserveText.MEMBER_CLUSTER_READY_JOIN(), T0),
        ("Joined", "True", "MemberClusterJoined", AGENT_ANSWERS, T0),
    ]
    agent_joined = ("Joined", "True", "AgentJoined", AGENT_ANSWERS, T0)
    assert shown(joined) == [*own, agent_joined, ("Healthy", "True", "AgentHealthy", AGENT_READY, T0)]
    assert agent(joined)[1] == T0 and observe_cluster(joined, UP, T1) is joined
    down = observe_cluster(joined, DOWN, T1)
    assert shown(down) == [*own, agent_joined, ("Healthy", "Unknown", "ClusterUnreachable", SILENT, T1)]
    never = observe_cluster(member, DOWN, T0)
    assert shown(never) == [
        (
            "Joined",
            "Unknown",
            "ClusterUnreachable",
            ObserveText.CLUSTER_NOT_ANSWERED_YET(cluster="c1", error="connection refused"),
            T0,
        ),
        ("Joined", "Unknown", "ClusterUnreachable", SILENT, T0),
        ("Healthy", "Unknown", "ClusterUnreachable", SILENT, T0),
    ]
    assert agent(never)[1] is None and observe_cluster(never, DOWN, T1) is never
    for error, why in (("", ObserveText.API_SERVER_ANSWERS_SAYS_NOT()), ("etcd is slow", "etcd is slow")):
        unwell = observe_cluster(joined, replace(UP, healthy=False, error=error), T1)
        assert shown(unwell) == [*own, agent_joined, ("Healthy", "False", "AgentUnhealthy", why, T1)]


@pytest.mark.parametrize("ever_up", [True, False])
def test_the_cause_is_the_present_one_and_its_numbers_are_no_other_cause(ever_up: bool) -> None:
    def sentences(found: MemberCluster) -> list[str]:
        assert found.status.agent is not None
        both = (*found.status.conditions, *found.status.agent.conditions)
        return [c.message for c in both if c.reason == "ClusterUnreachable"]

    def down(error: str) -> ClusterObservation:
        return replace(DOWN, error=error)

    member = observe_cluster(MemberCluster(name="c1"), UP, T0) if ever_up else MemberCluster(name="c1")
    refused = observe_cluster(member, down("connection refused"), T0)
    timed_out = observe_cluster(refused, down("no response within 5 s"), T1)
    assert observe_cluster(timed_out, down("no response within 7 s"), T2) is timed_out
    expired = observe_cluster(timed_out, down("its certificate has expired"), T2)
    assert all("certificate has expired" in sentence for sentence in sentences(expired))
    assert len(sentences(expired)) == (1 if ever_up else 3)
    for found in (timed_out, expired):
        assert found.status.agent is not None and refused.status.agent is not None
        times = [c.last_transition_time for c in found.status.agent.conditions]
        assert times == [c.last_transition_time for c in refused.status.agent.conditions], "silent since the first look"
        assert found.status.agent.last_received_heartbeat == refused.status.agent.last_received_heartbeat


def test_the_heartbeat_is_the_moment_of_the_observation() -> None:
    seen = observe_cluster(MemberCluster(name="c1"), replace(UP, observed=T0), T1)
    assert seen.status.agent is not None and seen.status.agent.last_received_heartbeat == T0
    down = observe_cluster(seen, replace(DOWN, observed=T1), T2)
    assert down.status.agent is not None and down.status.agent.last_received_heartbeat == T1


STARTED = ReportedCondition("ClusterPropertyProviderStarted", Status.TRUE, "Started", "all started")
COLLECTED = ReportedCondition("ClusterPropertyCollectionSucceeded", Status.TRUE, "Collected", "all collected")
FAILED = replace(COLLECTED, status=Status.FALSE, reason="Failed", message="one failed")
FULL = ResourceUsage(capacity={"cpu": "4", "memory": "1Gi"}, allocatable={"cpu": "3"}, available={"cpu": "2"})


def providers(*reported: ReportedCondition, **parts: Any) -> ClusterObservation:
    """What property providers measured."""
    return replace(UP, reported=reported or (STARTED, COLLECTED), **parts)


def test_what_providers_say_of_themselves_is_kept_after_what_the_cluster_says() -> None:
    seen = observe_cluster(MemberCluster(name="c1"), providers(), T0)
    assert [(c.type, c.reason, c.message) for c in seen.status.conditions[2:]] == [
        ("ClusterPropertyProviderStarted", "Started", "all started"),
        ("ClusterPropertyCollectionSucceeded", "Collected", "all collected"),
    ]


@pytest.mark.parametrize(
    ("seconds", "written"), [(0, False), (14, False), (15, True), (16, True)], ids=lambda value: str(value)
)
def test_what_was_measured_is_written_once_in_a_heartbeat_period(seconds: int, written: bool) -> None:
    """What does not change by itself is written at once."""
    member = MemberCluster(name="c1", heartbeat_period_seconds=15)
    later = T0 + timedelta(seconds=seconds)
    first = observe_cluster(member, providers(properties={"p": PropertyValue("1")}, resource_usage=FULL), T0)
    less = replace(FULL, available={"cpu": "1"})
    then = observe_cluster(first, providers(properties={"p": PropertyValue("2")}, resource_usage=less), later)
    assert then.status.properties == {"p": PropertyValue("2", later) if written else PropertyValue("1", T0)}
    assert then.status.resource_usage == (replace(less, observed=later) if written else replace(FULL, observed=T0))
    for more in (replace(less, capacity={"cpu": "8"}), replace(less, allocatable={"cpu": "8"})):
        assert observe_cluster(first, providers(resource_usage=more), later).status.resource_usage == replace(
            more, observed=later
        )
    same = providers(properties={"p": PropertyValue("1")}, resource_usage=FULL)
    assert observe_cluster(first, same, later + timedelta(days=1)) is first
    written_by_people = replace(UP, properties={"p": PropertyValue("2")}, resource_usage=less)
    at_once = observe_cluster(first, written_by_people, later)
    assert at_once.status.properties == {"p": PropertyValue("2", later)}
    assert at_once.status.resource_usage == replace(less, observed=later)


def test_what_was_measured_has_the_time_of_its_measuring() -> None:
    first = observe_cluster(
        MemberCluster(name="c1"),
        providers(properties={"p": PropertyValue("1", T0)}, resource_usage=replace(FULL, observed=T0)),
        T2,
    )
    assert first.status.properties == {"p": PropertyValue("1", T0)}
    assert first.status.resource_usage == replace(FULL, observed=T0)


def test_where_a_provider_failed_what_is_known_stays() -> None:
    first = observe_cluster(
        MemberCluster(name="c1"),
        providers(properties={"p": PropertyValue("1"), "q": PropertyValue("1")}, resource_usage=FULL),
        T0,
    )
    late = T0 + timedelta(hours=1)
    part = ResourceUsage(capacity={"cpu": "5"}, allocatable={"gpu": "1"}, available={"gpu": "1"})
    failed = providers(STARTED, FAILED, properties={"p": PropertyValue("2")}, resource_usage=part)
    then = observe_cluster(first, failed, late).status
    assert then.properties == {"p": PropertyValue("2", late), "q": PropertyValue("1", T0)}
    assert then.resource_usage == ResourceUsage(
        capacity={"cpu": "5", "memory": "1Gi"},
        allocatable={"cpu": "3", "gpu": "1"},
        available={"cpu": "2", "gpu": "1"},
        observed=late,
    )
    nothing = observe_cluster(first, providers(STARTED, FAILED), late).status
    assert (nothing.properties, nothing.resource_usage) == (first.status.properties, first.status.resource_usage)
    well = observe_cluster(first, replace(failed, reported=(STARTED, COLLECTED)), late).status
    assert well.properties == {"p": PropertyValue("2", late)}
    assert well.resource_usage == replace(part, observed=late)
    assert observe_cluster(first, providers(), late).status.properties == {}, "all collected, and there is none"


def test_namespaces_are_kept_in_order_until_others_are_seen() -> None:
    first = observe_cluster(MemberCluster(name="c1"), replace(UP, namespaces={"b": "", "a": ""}), T0)
    assert list(first.status.namespaces or ()) == ["a", "b"]
    assert observe_cluster(first, UP, T1) is first
