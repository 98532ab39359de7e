"""What is written of properties, and when: docs/decisions/0004-property-freshness.md."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from gitfleet.api.clusters import MemberCluster, PropertyValue, ResourceUsage
from gitfleet.api.conditions import Status, find_condition
from gitfleet.model.observations import ClusterObservation, ReportedCondition
from gitfleet.observe import observe_cluster
from tests.members.plays import START

COLLECTED = ReportedCondition("ClusterPropertyCollectionSucceeded", Status.TRUE, "PropertiesCollected", "all is well")
STALLED = ReportedCondition("ClusterPropertyCollectionSucceeded", Status.FALSE, "TimedOut", "cost: it is late")


def answer(
    at: float, cpu: str = "4", *, reported: ReportedCondition = COLLECTED, total: str = "8", **values: str
) -> ClusterObservation:
    """What a live cluster answers so many seconds after the start."""
    when = START + timedelta(seconds=at)
    return ClusterObservation(
        cluster="a",
        reachable=True,
        observed=when,
        properties={name: PropertyValue(value, when) for name, value in values.items()},
        resource_usage=ResourceUsage(
            capacity={"cpu": total}, allocatable={"cpu": total}, available={"cpu": cpu}, observed=when
        ),
        reported=(reported,),
    )


def observe(cluster: MemberCluster, at: float, seen: ClusterObservation) -> MemberCluster:
    return observe_cluster(cluster, seen, START + timedelta(seconds=at))


def first(period: int = 60, **values: str) -> MemberCluster:
    return observe(MemberCluster(name="a", heartbeat_period_seconds=period), 0, answer(0, reported=COLLECTED, **values))


def test_what_did_not_change_is_the_very_same_value() -> None:
    cluster = first(cost="3")
    assert observe(cluster, 300, answer(300, cost="3")) is cluster


def test_free_resources_are_written_once_in_a_heartbeat_period() -> None:
    cluster = first()
    assert observe(cluster, 30, answer(30, cpu="3")) is cluster
    later = observe(cluster, 60, answer(60, cpu="3"))
    assert later.status.resource_usage.available == {"cpu": "3"}
    assert later.status.resource_usage.observed == START + timedelta(seconds=60)
    assert observe(later, 90, answer(90, cpu="2")) is later


def test_a_longer_heartbeat_means_fewer_commits() -> None:
    cluster = first(period=600)
    assert observe(cluster, 599, answer(599, cpu="3")) is cluster
    assert observe(cluster, 600, answer(600, cpu="3")) is not cluster


def test_new_machines_are_told_at_once() -> None:
    cluster = observe(first(), 5, answer(5, cpu="11", total="16"))
    assert cluster.status.resource_usage.capacity == {"cpu": "16"}
    assert cluster.status.resource_usage.available == {"cpu": "11"}


def test_each_property_has_its_own_time() -> None:
    cluster = observe(first(cost="3", nodes="2"), 60, answer(60, cost="4", nodes="2"))
    assert cluster.status.properties == {
        "cost": PropertyValue("4", START + timedelta(seconds=60)),
        "nodes": PropertyValue("2", START),
    }
    cluster = observe(cluster, 90, answer(90, cost="5", nodes="3", fresh="1"))
    assert {name: p.value for name, p in cluster.status.properties.items()} == {"cost": "4", "nodes": "3", "fresh": "1"}


def test_a_property_that_nobody_tells_any_more_goes() -> None:
    assert set(observe(first(cost="3", nodes="2"), 60, answer(60, nodes="2")).status.properties) == {"nodes"}
    assert not observe(first(cost="3"), 60, answer(60)).status.properties


def test_where_a_provider_failed_the_last_values_stay_and_the_condition_says_why() -> None:
    cluster = observe(first(cost="3", nodes="2"), 60, answer(60, nodes="4", reported=STALLED))
    assert {name: p.value for name, p in cluster.status.properties.items()} == {"cost": "3", "nodes": "4"}
    found = find_condition(cluster.status.conditions, "ClusterPropertyCollectionSucceeded")
    assert found is not None
    assert (found.status, found.reason, found.message) == (Status.FALSE, "TimedOut", "cost: it is late")
    assert found.last_transition_time == START + timedelta(seconds=60)
    assert observe(cluster, 70, answer(70, nodes="4", reported=STALLED)) is cluster


def test_the_same_when_it_could_tell_nothing_at_all() -> None:
    cluster = first(cost="3")
    nothing = ClusterObservation(
        cluster="a", reachable=True, observed=START + timedelta(minutes=2), reported=(STALLED,)
    )
    after = observe_cluster(cluster, nothing, START + timedelta(minutes=2))
    assert after.status.properties == cluster.status.properties
    assert after.status.resource_usage == cluster.status.resource_usage


def test_a_silent_cluster_keeps_its_properties() -> None:
    cluster = first(cost="3")
    after = observe_cluster(cluster, ClusterObservation(cluster="a", reachable=False, error="gone"), START)
    assert after.status.properties == cluster.status.properties


@given(st.lists(st.tuples(st.integers(1, 100), st.integers(0, 3), st.integers(0, 3)), min_size=3, max_size=30))
def test_never_more_than_one_commit_in_a_period_for_each_value(observations_of: list[tuple[int, int, int]]) -> None:
    """However often one looks and whatever one sees: two values, so at most two writes in any period."""
    cluster, at, writes = first(cost="0"), 0, []
    for wait, cpu, cost in observations_of:
        at += wait
        seen = observe(cluster, at, answer(at, cpu=str(cpu), cost=str(cost)))
        if seen is not cluster:
            writes.append(at)
        cluster = seen
    assert all(len([w for w in writes if start <= w < start + 60]) <= 2 for start in writes)
