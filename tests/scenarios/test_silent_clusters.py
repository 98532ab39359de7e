"""Clusters that stop answering in the middle of a rollout (decision D32), on whole simulated fleets."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gitfleet.adapters.kube.texts import KubeText
from gitfleet.api.conditions import find_condition
from gitfleet.api.placements import PlacementKey
from gitfleet.observe.texts import ObserveText
from gitfleet.rollout.texts import RolloutText
from gitfleet.status import cluster_progress
from tests import builders
from tests.scenarios.explaining import explain
from tests.scenarios.world import World

CLUSTERS = ("c1", "c2", "c3", "c4")


def settled(**strategy: int | str) -> World:
    """Four clusters with one Deployment, one at a time."""
    world = World()
    strategy = {"maxUnavailable": 1, **strategy}
    world.roll_out(
        *(builders.member_cluster(name) for name in CLUSTERS),
        builders.namespace("web"),
        builders.deployment("web", "web"),
        builders.placement("web", strategy=builders.rolling_update(**strategy)),
    )
    return world


def silence(world: World, *names: str) -> None:
    """Clusters stop answering, and gitfleet notices."""
    for name in names:
        world.fleet.cluster(name).reachable = False
    world.rest()


def images(world: World) -> list[str | None]:
    return [world.image(name) for name in CLUSTERS]


def release(world: World, version: str) -> None:
    world.commit(builders.deployment("web", "web", image=version))


def test_one_silent_cluster_does_not_stop_a_fleet() -> None:
    world = settled()
    silence(world, "c2")
    release(world, "web:2")
    world.rest()
    assert images(world) == ["web:1"] * 4, "for five minutes it uses up the budget"
    world.settle(limit=timedelta(minutes=10))
    assert images(world) == ["web:2", "web:1", "web:2", "web:2"]
    waiting = {row["clusterName"]: row for row in explain(world.repo, world.fleet, world.clock, "web")}
    sentence = RolloutText.NOT_ANSWER_ROLLOUT_GOES_WITHOUT(cluster="c2")
    assert waiting["c2"]["waiting"] == [sentence]
    started = find_condition(world.bindings("web")["c2"].conditions, "RolloutStarted")
    assert started is not None
    assert (started.status, started.message) == ("False", sentence)
    world.fleet.cluster("c2").reachable = True
    world.settle()
    assert images(world) == ["web:2"] * 4, "it is brought up to date when it returns"


def test_a_process_that_starts_later_knows_how_long_it_was_silent() -> None:
    world = settled()
    silence(world, "c2")
    world.advance(minutes=10)
    world.restart()
    release(world, "web:2")
    world.settle(limit=timedelta(minutes=1))
    assert images(world) == ["web:2", "web:1", "web:2", "web:2"]


def test_with_wait_the_fleet_waits() -> None:
    world = settled()
    world.commit(builders.fleet_config(rollout={"unreachable": "Wait"}))
    silence(world, "c2")
    release(world, "web:2")
    world.settle(limit=timedelta(hours=1))
    assert images(world) == ["web:1"] * 4
    assert not world.state().faults


@pytest.mark.parametrize("minutes", [0, 10])
def test_a_partitioned_reconciler_moves_nothing(minutes: int) -> None:
    """Three of four do not answer: the fourth gets nothing either, not even after a day, and nothing is lost."""
    world = settled()
    silence(world, "c1", "c2", "c3")
    world.advance(minutes=minutes)
    release(world, "web:2")
    world.settle(limit=timedelta(days=1))
    assert images(world) == ["web:1"] * 4
    for name in ("c1", "c2", "c3"):
        world.fleet.cluster(name).reachable = True
    world.settle()
    assert images(world) == ["web:2"] * 4


def test_an_edited_cluster_that_answers_stays_eligible_however_long_ago_it_joined() -> None:
    world = World()
    world.roll_out(
        builders.member_cluster("c1"),
        builders.member_cluster("c2"),
        builders.namespace("web"),
        builders.placement("web"),
    )
    world.advance(hours=1)
    taint = {"key": "busy", "value": "yes", "effect": "NoSchedule"}
    world.roll_out(builders.member_cluster("c1", taints=[taint]))
    world.roll_out(builders.member_cluster("c1"))
    world.advance(hours=1)
    world.roll_out(builders.namespace("late"), builders.placement("late"))
    assert set(world.bindings("late")) == {"c1", "c2"}


def test_a_placement_says_the_present_cause_of_each_silent_cluster() -> None:
    world = settled()
    for cause in ("connection refused", "its certificate has expired"):
        world.fleet.cluster("c2").silent_because = cause
        silence(world, "c2")
        sentence = ObserveText.CLUSTER_NOT_ANSWER(
            cluster="c2", error=KubeText.API_SERVER_NOT_ANSWER(name="c2", error=cause)
        )
        (condition,) = [c for c in world.bindings("web")["c2"].conditions if c.status == "Unknown"]
        assert (condition.reason, condition.message) == ("ClusterUnreachable", sentence)
        record = world.state().placements[PlacementKey("", "web")]
        (said,) = [p for p in cluster_progress(record) if p.cluster == "c2"]
        assert said.steps[-1][1:4] == ("Unknown", "ClusterUnreachable", sentence)
