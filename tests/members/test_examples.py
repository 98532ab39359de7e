"""The four cases of examples/member-clusters: a tainted, a leaving, a silent and a relabelled cluster (seeds 001, 003).

Once a cluster is picked it will not be unpicked even if it is modified in a way that renders it unfit, nor if it
becomes unhealthy. However, it is unpicked if it leaves the fleet, and PickN finds a new cluster as replacement
(seeds/001).
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from gitfleet.schedule.texts import ScheduleText
from gitfleet.status.texts import StatusText
from tests.members.plays import Played, play_example

PROD = {"eu-1", "eu-2", "us-1"}


def example(scenario: str, until: timedelta | None = None) -> Played:
    return play_example("member-clusters", scenario, until)


def price_list(played: Played, cluster: str) -> str | None:
    body = played.live(cluster, "ConfigMap", "settings")
    return body["data"]["price-list"] if body else None


# A tainted cluster


def test_a_taint_takes_nothing_away() -> None:
    played = example("tainted", timedelta(seconds=60))
    assert played.placed("everywhere") == PROD
    assert played.placed("pair") == {"us-1", "eu-2"}
    assert not [e for t, e in played.reported if t >= 60 and e.type in ("unscheduled", "removed", "released")]


def test_a_tainted_cluster_goes_on_receiving_updates() -> None:
    played = example("tainted", timedelta(minutes=2))
    assert {name: price_list(played, name) for name in PROD} == dict.fromkeys(PROD, "2")


def test_a_taint_keeps_away_what_does_not_tolerate_it() -> None:
    played = example("tainted")
    assert played.placed("auditors") == {"eu-1", "eu-2"}
    assert (
        ScheduleText.TAINT_KEY_VALUE(taint="maintenance", taint_2="yes", effect="NoSchedule")
        in (played.refusals("auditors")["us-1"])
    )
    assert played.placed("backups") == PROD
    assert played.placed("debuggers") == {"us-1"}  # taints are ignored by PickFixed (seeds/003)


# A leaving cluster


def test_a_leaving_cluster_is_unpicked_and_replaced_where_a_number_is_wanted() -> None:
    played = example("leaving", timedelta(seconds=60))
    assert played.placed("everywhere") == {"eu-1", "eu-2"}
    assert played.placed("pair") == {"eu-1", "eu-2"}
    assert played.live("eu-1", "ClusterRole", "shop-reader") is not None
    assert "us-1" not in played.state.clusters
    assert "us-1" not in played.state.inventory


def test_what_was_placed_stays_and_is_told_with_its_number() -> None:
    played = example("leaving", timedelta(seconds=60))
    kept = [("ClusterRole", "shop-reader"), ("ConfigMap", "settings"), ("Namespace", "shop")]
    assert all(played.live("us-1", kind, name) for kind, name in kept)
    assert [(e.cluster, e.fields) for e in played.events("cluster", 60)] == [
        ("us-1", {"state": "leaving"}),
        ("us-1", {"state": "left", "objects": 3}),
    ]
    assert {(e.placement, e.fields["objects"]) for e in played.events("released")} == {("everywhere", 2), ("pair", 1)}
    assert not played.events("removed")
    assert any(s.startswith(f"us-1{StatusText.LEFT_FLEET(count=3)}") for s in played.subjects(60))


def test_a_cluster_that_joins_again_is_a_new_cluster() -> None:
    played = example("leaving")
    assert played.placed("everywhere") == PROD
    assert played.placed("pair") == {"eu-1", "eu-2"}  # nothing is moved back
    assert len(played.state.inventory["us-1"]) == 2
    assert played.reported[-1][1].fields["reason"] == "settled"


# A silent cluster


def test_a_silent_cluster_keeps_its_bindings_and_objects() -> None:
    played = example("silent", timedelta(seconds=90))
    assert played.placed("everywhere") == PROD
    assert price_list(played, "us-1") == "1"
    assert {price_list(played, name) for name in ("eu-1", "eu-2")} == {"2"}
    assert len(played.state.inventory["us-1"]) == 3
    agent = played.document("clusters/us-1.yaml")["status"]["agentStatus"][0]
    (healthy,) = [c for c in agent["conditions"] if c["type"] == "Healthy"]
    assert (healthy["status"], healthy["reason"]) == ("Unknown", "ClusterUnreachable")
    assert agent["lastReceivedHeartbeat"] == "2026-01-01T00:01:00Z"


def test_a_cluster_is_picked_for_five_minutes_of_silence_and_then_no_more() -> None:
    soon = example("silent", timedelta(minutes=4))
    assert soon.placed("auditors") == PROD
    later = example("silent", timedelta(minutes=10))
    assert later.placed("auditors") == PROD
    assert later.placed("backups") == {"eu-1", "eu-2"}
    assert (
        ScheduleText.CLUSTER_NOT_CONNECTED_FLEET()
        + ScheduleText.NO_RECENT_HEARTBEAT_SIGNALS(
            disconnected="", when=ScheduleText.LAST_RECEIVED_MINUTES_AGO(minutes="9.00")
        )
    ) in (later.refusals("backups")["us-1"])


def test_a_cluster_that_comes_back_catches_up() -> None:
    played = example("silent")
    assert price_list(played, "us-1") == "2"
    assert played.placed("backups") == PROD
    assert all(played.live("us-1", "ClusterRole", name) for name in ("auditors", "backups"))
    assert played.reported[-1][1].fields["reason"] == "settled"


# A relabelled cluster


def test_a_label_taken_away_moves_nothing() -> None:
    played = example("relabelled", timedelta(minutes=2))
    assert played.placed("everywhere") == PROD
    assert played.placed("pair") == {"us-1", "eu-2"}
    assert price_list(played, "us-1") == "2"


def test_a_label_given_is_seen_by_who_looks_on() -> None:
    before = example("relabelled", timedelta(seconds=30))
    assert before.condition("auditors")[:2] == ("False", "SchedulingPolicyUnfulfilled")
    played = example("relabelled")
    everyone = PROD | {"staging-1"}
    assert played.placed("everywhere") == everyone
    assert played.placed("auditors") == everyone
    assert played.condition("auditors")[:2] == ("True", "SchedulingPolicyFulfilled")
    assert played.placed("pair") == {"us-1", "eu-2"}  # it has what it wants and stopped looking


@pytest.mark.parametrize("scenario", ["tainted", "leaving", "silent", "relabelled"])
def test_every_example_ends_at_rest_without_faults(scenario: str) -> None:
    played = example(scenario)
    assert played.reported[-1][1].type == "end"
    assert played.reported[-1][1].fields["reason"] == "settled"
    assert not played.events("fault")
