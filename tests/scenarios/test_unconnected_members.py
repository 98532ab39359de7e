"""A new member without a connection is an error of its file: nothing is placed there, the others go on, and it joins
when the connection comes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from gitfleet.branches.desired_trees import ClusterReading, DesiredTrees
from gitfleet.desired.texts import DesiredText
from gitfleet.fleet.clusters import ByConnection
from gitfleet.fleet.fanout import Fanout
from gitfleet.loop.driver import Driver
from gitfleet.rollout.texts import RolloutText
from gitfleet.schedule.texts import ScheduleText
from gitfleet.settings import Limits
from gitfleet.simulation.memory_cache import MemoryCache
from gitfleet.wiring.hub import simulated_clusters
from tests import builders
from tests.rollout.builders import takes_no_more
from tests.scenarios.explaining import explain
from tests.scenarios.world import World

CONNECTED = ("c1", "c2", "c3")
NEW = "c4"
ERROR = DesiredText.REQUIRED_ADD_CONTEXT()


def unconnected() -> dict[str, Any]:
    """The new member."""
    body = builders.member_cluster(NEW)
    del body["spec"]["connection"]
    return body


def a_world() -> World:
    """Where only clusters with a connection can be reached, as in production."""
    world = World()

    def start(driver: Driver) -> None:
        directory = simulated_clusters(world.fleet, world.clock)
        driver.clusters.fanout = Fanout(directory=ByConnection(real=directory, simulated=directory), executor=None)
        driver.repository.desired_trees = DesiredTrees(
            world.repo, MemoryCache(), Limits(), clusters=ClusterReading(simulated=False)
        )

    world.start_with = start
    world.restart()
    return world


POLICIES = {
    "PickAll": {"placementType": "PickAll"},
    "PickN": builders.pick_n(3),
    "PickFixed": builders.pick_fixed(*CONNECTED, NEW),
}


def release(world: World, policy: dict[str, Any], version: str) -> None:
    world.roll_out(
        builders.deployment("web", "web", image=version),
        builders.placement("web", policy=policy, strategy=builders.rolling_update(maxUnavailable=1)),
        limit=timedelta(minutes=30),
    )


def images(world: World) -> dict[str, str | None]:
    return {name: world.image(name) for name in sorted(world.fleet.clusters)}


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_a_member_without_connection_stops_nobody_and_joins_later(policy: dict[str, Any]) -> None:
    world = a_world()
    world.commit(*(builders.member_cluster(name) for name in CONNECTED), builders.namespace("web"))
    world.commit(unconnected())
    release(world, policy, "web:1")
    faults = [(f.path, f.field, f.message) for f in world.state().faults]
    assert faults == [(f"clusters/{NEW}.yaml", "spec.connection", ERROR)]
    assert set(world.bindings("web")) == set(CONNECTED)
    release(world, policy, "web:2")
    assert images(world) == dict.fromkeys(CONNECTED, "web:2"), "nothing waits for it"
    (row,) = [r for r in explain(world.repo, world.fleet, world.clock, "web") if r["clusterName"] == NEW]
    assert not row["selected"] and ScheduleText.CLUSTER_NOT_CONNECTED_FLEET() in row["reason"], row
    world.roll_out(builders.member_cluster(NEW))
    wanted = CONNECTED if policy["placementType"] == "PickN" else (*CONNECTED, NEW)
    assert images(world) == {**dict.fromkeys(sorted(world.fleet.clusters)), **dict.fromkeys(wanted, "web:2")}
    assert not world.state().faults


def test_a_number_of_clusters_that_cannot_be_reached_is_named_as_what_is_waited_for() -> None:
    """N counts as it is written (seed 001), with or without a member that nobody can reach."""
    world = a_world()
    world.commit(*(builders.member_cluster(name) for name in CONNECTED), unconnected(), builders.namespace("web"))
    release(world, builders.pick_n(4), "web:1")
    release(world, builders.pick_n(4), "web:2")
    assert images(world) == dict.fromkeys(CONNECTED, "web:1")
    rows = explain(world.repo, world.fleet, world.clock, "web")
    picked = RolloutText.CAN_BE_PICKED(count="1 more cluster")
    sentence = takes_no_more("3 of 4 clusters are", 3, "1", picked)
    assert {row["why"] for row in rows if row["selected"]} == {sentence}
    world.roll_out(builders.member_cluster(NEW))
    assert images(world) == dict.fromkeys((*CONNECTED, NEW), "web:2")


def test_a_member_that_loses_its_connection_keeps_the_one_it_had() -> None:
    world = a_world()
    world.commit(*(builders.member_cluster(name) for name in (*CONNECTED, NEW)), builders.namespace("web"))
    release(world, POLICIES["PickAll"], "web:1")
    with world.nothing_deleted():
        world.commit(unconnected())
        release(world, POLICIES["PickAll"], "web:2")
    assert images(world) == dict.fromkeys((*CONNECTED, NEW), "web:2")
    assert [fault.message for fault in world.state().faults if fault.field == "spec.connection"]
