"""A member's way into the fleet and its health: Joined, Healthy, heartbeats, eligibility (kubefleet.md §1, §2)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from gitfleet.api.clusters import MemberCluster
from gitfleet.model.observations import ClusterObservation
from gitfleet.observe import observe_cluster
from gitfleet.schedule.eligibility import Eligibility, eligibility_of, reason_of
from gitfleet.schedule.texts import ScheduleText
from gitfleet.status.texts import StatusText
from tests.members.plays import START, back, key_of_role, member, place_role, play_bodies, remove, silent, write


def status_of(document: Any) -> dict[str, tuple[str, str]]:
    """Status and reason of the member's own conditions and its agent's, by type."""
    status = document["status"]
    own = {c["type"]: (c["status"], c["reason"]) for c in status["conditions"]}
    agent = {f"agent {c['type']}": (c["status"], c["reason"]) for c in status["agentStatus"][0]["conditions"]}
    return own | agent


def test_a_cluster_joins_and_gets_what_is_meant_for_it() -> None:
    played = play_bodies([member("a"), *place_role("r")], *write(60, member("b")))
    for name, at in (("a", "2026-01-01T00:00:00Z"), ("b", "2026-01-01T00:01:00Z")):
        document = played.document(f"clusters/{name}.yaml")
        assert (
            status_of(document).items()
            >= {
                "ReadyToJoin": ("True", "MemberClusterReadyToJoin"),
                "Joined": ("True", "MemberClusterJoined"),
                "agent Joined": ("True", "AgentJoined"),
                "agent Healthy": ("True", "AgentHealthy"),
            }.items()
        )
        assert document["status"]["agentStatus"][0]["lastReceivedHeartbeat"] == at
    assert played.placed("r") == {"a", "b"}
    assert played.live("b", "ClusterRole", "r") is not None


def test_a_cluster_that_never_answered_is_not_joined_and_not_picked() -> None:
    played = play_bodies([member("a"), *place_role("r")], silent(30, "b"), *write(60, member("b")))
    document = played.document("clusters/b.yaml")
    assert status_of(document)["Joined"] == ("Unknown", "ClusterUnreachable")
    assert "lastReceivedHeartbeat" not in document["status"]["agentStatus"][0]
    assert played.placed("r") == {"a"}
    assert (ScheduleText.CLUSTER_NOT_CONNECTED_FLEET() + ScheduleText.MEMBER_AGENT_NOT_JOINED_YET()) in played.refusals(
        "r"
    )["b"]


def test_an_unready_cluster_is_refused_after_five_minutes_and_by_its_own_reason() -> None:
    """It answers, so its heartbeat is fresh: what is wrong with it is its health."""
    cluster = observe_cluster(
        MemberCluster(name="a"), ClusterObservation(cluster="a", reachable=True, observed=START), START
    )
    begun = START + timedelta(hours=1)
    ill = ClusterObservation(cluster="a", reachable=True, healthy=False, error="etcd is not ready", observed=begun)
    cluster = observe_cluster(cluster, ill, begun)
    assert eligibility_of(cluster, begun + timedelta(minutes=4)).verdict is Eligibility.ELIGIBLE
    after = begun + timedelta(minutes=6)
    assert observe_cluster(cluster, ill, after) is cluster
    verdict = eligibility_of(cluster, after).verdict
    assert reason_of(cluster, verdict, after) == (
        ScheduleText.CLUSTER_NOT_CONNECTED_FLEET()
        + ScheduleText.UNHEALTHY_PROLONGED_PERIOD_TIME_LAST(disconnected="", since="6.00")
    )
    assert eligibility_of(cluster, begun).until == begun + timedelta(minutes=5) + timedelta.resolution


def test_an_edit_of_the_file_keeps_what_is_known_of_the_cluster() -> None:
    played = play_bodies([member("a", env="prod"), *place_role("r")], *write(60, member("a", env="test")))
    document = played.document("clusters/a.yaml")
    assert document["metadata"]["labels"] == {"env": "test"}
    assert document["status"]["agentStatus"][0]["lastReceivedHeartbeat"] == "2026-01-01T00:00:00Z"
    assert [t for t in (0, 60) if played.subjects(t)] == [0, 60]


# Leaving


def test_a_cluster_that_is_to_be_cleared_loses_what_was_placed_and_nothing_else() -> None:
    cluster = member("a", leave="Delete")
    played = play_bodies([cluster, member("b"), *place_role("r")], remove(60, cluster))
    assert played.live("a", "ClusterRole", "r") is None
    assert played.live("a", "Namespace", "default") is not None
    assert [e.cluster for e in played.events("removed")] == ["a"]
    assert [e.fields for e in played.events("cluster", cluster="a", state="left")] == [{"state": "left"}]
    assert any(s.startswith(f"a{StatusText.LEFT_FLEET(count=0)}") for s in played.subjects(60))
    assert set(played.state.clusters) == {"b"}
    assert set(played.state.inventory) == {"b"}


def test_a_silent_cluster_that_is_to_be_cleared_is_waited_for_and_let_go_after_a_quarter_of_an_hour() -> None:
    cluster = member("a", leave="Delete")
    bodies = [cluster, member("b"), *place_role("r", policy={"placementType": "PickN", "numberOfClusters": 1})]
    files = [silent(60, "b"), remove(90, member("b", leave="Delete"))]
    bodies[1] = member("b", leave="Delete")  # PickN takes the largest name first
    early = play_bodies(bodies, *files, max_time=timedelta(minutes=10))
    assert early.state.clusters["b"].deleting is not None
    assert len(early.state.inventory["b"]) == 1
    late = play_bodies(bodies, *files)
    assert late.placed("r") == {"a"}
    assert "b" not in late.state.clusters and "b" not in late.state.inventory
    (left,) = late.events("cluster", cluster="b", state="left")
    assert left.fields["objects"] == 1
    assert [t for t, e in late.reported if e is left] == [995.0]  # the first look after 90 s and 15 min


def test_a_silent_cluster_that_is_to_be_cleared_is_cleared_when_it_comes_back_in_time() -> None:
    cluster = member("a", leave="Delete")
    played = play_bodies([cluster, member("b"), *place_role("r")], silent(60, "a"), remove(90, cluster), back(300, "a"))
    assert played.live("a", "ClusterRole", "r") is None
    assert "a" not in played.state.clusters
    assert [e.cluster for e in played.events("removed")] == ["a"]


def test_a_leaving_cluster_whose_file_comes_back_is_picked_again() -> None:
    cluster = member("a", leave="Delete")
    timeline = [silent(60, "a"), remove(90, cluster), *write(200, cluster), back(300, "a")]
    played = play_bodies([cluster, member("b"), *place_role("r")], *timeline)
    assert played.state.clusters["a"].deleting is None
    assert played.placed("r") == {"a", "b"}
    assert played.live("a", "ClusterRole", "r") is not None
    assert set(played.state.inventory["a"]) == {key_of_role("r")}


def test_a_fixed_cluster_that_leaves_is_missed_and_taken_again() -> None:
    policy = {"placementType": "PickFixed", "clusterNames": ["a", "b"]}
    bodies = [member("a"), member("b"), *place_role("r", policy=policy)]
    gone = play_bodies(bodies, remove(60, member("a")))
    assert gone.placed("r") == {"b"}
    assert gone.condition("r")[:2] == ("False", "SchedulingPolicyUnfulfilled")
    assert ScheduleText.SPECIFIED_CLUSTER_NOT_FOUND(cluster="a") in gone.refusals("r")["a"]
    again = play_bodies(bodies, remove(60, member("a")), *write(120, member("a")))
    assert again.placed("r") == {"a", "b"}
    assert again.condition("r")[:2] == ("True", "SchedulingPolicyFulfilled")
