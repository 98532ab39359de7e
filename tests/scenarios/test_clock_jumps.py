"""A machine whose clock jumps in the middle of a rollout: every wait ends, at the latest its own length after the jump.

What passes on clusters passes by a clock of its own; only the process's clock jumps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from gitfleet.api.objects import JsonObject
from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from gitfleet.loop.driver import Driver
from gitfleet.loop.fanout import Fanout
from gitfleet.simulation.clock import ManualClock
from gitfleet.wiring import simulated_clusters
from tests import builders
from tests.scenarios.world import World

CLUSTERS = ("c1", "c2", "c3")
JUMPS = [timedelta(hours=-1), timedelta(days=-1), timedelta(hours=1)]
STEP = timedelta(seconds=30)
DAY = timedelta(days=2)
restarting = pytest.mark.parametrize("restarts", [False, True], ids=["goes on", "restarts"])
jumping = pytest.mark.parametrize("jump", JUMPS, ids=["an hour back", "a day back", "an hour ahead"])


@dataclass(slots=True)
class MachineClock:
    """The clock of a process: true time and what the machine's time is wrong by."""

    true: ManualClock
    wrong_by: timedelta = timedelta(0)

    def now(self) -> datetime:
        """The machine's time."""
        return self.true.now() + self.wrong_by

    def monotonic(self) -> float:
        """Jumps with nothing."""
        return self.true.monotonic()


@dataclass(slots=True)
class JumpingWorld:
    """A world at rest whose processes go by a machine's clock."""

    world: World
    clock: MachineClock

    def jump(self, by: timedelta, *, restarts: bool) -> None:
        """The clock jumps, and perhaps the process dies with it."""
        self.clock.wrong_by += by
        if restarts:
            self.world.restart()
        self.world.rest()

    def time_until(self, done: Callable[[], bool]) -> timedelta:
        """True time that passes until something is done, at most two days."""
        start = self.world.clock.now()
        while not done():
            passed = self.world.clock.now() - start
            assert passed < DAY, "it waits for ever"
            self.world.clock.advance((STEP if passed < timedelta(hours=1) else timedelta(minutes=10)).total_seconds())
            self.world.rest()
        return self.world.clock.now() - start

    def values(self) -> list[str | None]:
        """What the ConfigMap says on each cluster."""
        found = [self.world.live(name, "ConfigMap", "settings") for name in CLUSTERS]
        return [body["data"]["version"] if body else None for body in found]


def jumping_world(*bodies: JsonObject, rules: tuple[ClusterRule, ...] = ()) -> JumpingWorld:
    world = World(rules=rules)
    clock = MachineClock(world.clock)

    def on_that_machine(driver: Driver) -> None:
        driver.clock = clock
        driver.fanout = Fanout(directory=simulated_clusters(world.fleet, clock), executor=None)

    world.start_with = on_that_machine
    world.restart()
    world.commit(
        *map(member, CLUSTERS),
        builders.namespace("web"),
        builders.placement("web", strategy=builders.rolling_update(maxUnavailable=1, unavailablePeriodSeconds=600)),
        *bodies,
    )
    world.settle()
    return JumpingWorld(world, clock)


def member(name: str) -> JsonObject:
    """A cluster whose objects go when it leaves."""
    body = builders.member_cluster(name)
    body["spec"]["deleteOptions"] = {"propagationPolicy": "Delete"}
    return body


def settings(version: str) -> JsonObject:
    return builders.config_map("web", "settings", {"version": version})


@jumping
@restarting
def test_the_unavailable_period_ends(jump: timedelta, restarts: bool) -> None:
    """Such a Service is not trackable: a cluster that gets it counts as unavailable for ten minutes."""
    played = jumping_world(settings("1"), builders.service("web", "away", type_="ExternalName"))
    world = played.world
    world.advance(hours=1)
    world.commit(settings("2"))
    world.rest()
    assert played.values() == ["2", "1", "1"]
    world.advance(minutes=3)
    with world.nothing_deleted():
        played.jump(jump, restarts=restarts)
        assert played.time_until(lambda: played.values()[:2] == ["2", "2"]) <= timedelta(minutes=10) + STEP
        assert played.time_until(lambda: played.values() == ["2"] * 3) <= timedelta(minutes=10) + STEP


@jumping
@restarting
def test_progress_that_lasts_counts_as_failure(jump: timedelta, restarts: bool) -> None:
    """A release that never becomes available gets its fix after five minutes."""
    bad = ClusterRule(object=ObjectPattern(kind="Deployment", image="*:bad"), available="never")
    played = jumping_world(builders.deployment("web", "web"), rules=(bad,))
    world = played.world
    world.advance(hours=1)
    world.commit(builders.deployment("web", "web", image="web:bad"))
    world.rest()
    world.advance(minutes=1)
    played.jump(jump, restarts=restarts)
    world.commit(builders.deployment("web", "web", image="web:2"))
    world.rest()
    took = played.time_until(lambda: [world.image(name) for name in CLUSTERS] == ["web:2"] * 3)
    assert took <= timedelta(minutes=6)


@jumping
@restarting
def test_a_silent_cluster_is_left_out(jump: timedelta, restarts: bool) -> None:
    played = jumping_world(settings("1"))
    world = played.world
    world.advance(hours=1)
    world.fleet.cluster("c2").reachable = False
    world.rest()
    world.advance(minutes=1)
    played.jump(jump, restarts=restarts)
    world.commit(settings("2"))
    world.rest()
    assert played.time_until(lambda: played.values() == ["2", "1", "2"]) <= timedelta(minutes=5) + STEP


@jumping
@restarting
def test_a_silent_cluster_gets_nothing_new(jump: timedelta, restarts: bool) -> None:
    """The scheduler's own limit of five minutes: a heartbeat in the future is none that was just received."""
    played = jumping_world(settings("1"))
    world = played.world
    world.fleet.cluster("c1").reachable = False
    world.rest()
    played.jump(jump, restarts=restarts)
    world.advance(minutes=6)
    world.commit(
        builders.namespace("other"),
        builders.placement("other", policy=builders.pick_n(3), strategy=builders.rolling_update()),
    )
    world.rest()
    assert sorted(world.bindings("other")) == ["c2", "c3"]


@jumping
@restarting
def test_a_cluster_that_leaves_and_does_not_answer_is_released(jump: timedelta, restarts: bool) -> None:
    played = jumping_world(settings("1"))
    world = played.world
    world.advance(hours=1)
    world.fleet.cluster("c3").reachable = False
    world.commit(remove=[member("c3")])
    world.rest()
    assert "c3" in world.state().clusters
    world.advance(minutes=1)
    played.jump(jump, restarts=restarts)
    assert played.time_until(lambda: "c3" not in world.state().clusters) <= timedelta(minutes=15) + STEP


@restarting
def test_a_fleet_at_rest_is_written_at_most_once_more(restarts: bool) -> None:
    played = jumping_world(settings("1"))
    world = played.world
    before = world.state_commits()
    with world.nothing_deleted():
        played.jump(timedelta(days=-1), restarts=restarts)
        for _ in range(5):
            world.advance(minutes=10)
            world.rest()
    assert world.state_commits() <= before + 1
    assert [event for event in world.events if event.type == "failed"] == []


def test_a_delayed_process_asks_the_remote_again_whatever_its_clock_says() -> None:
    """Delayed between its push and its operations, while another process rolled out a newer commit."""
    played = jumping_world(settings("1"))
    world, other = played.world, played.world.start()

    def delayed(step: str) -> None:
        if step == "intent published":
            world.driver.checkpoint = lambda _: None
            world.advance(minutes=1)
            world.commit(settings("3"))
            while other.reconcile().changed:
                pass
            played.clock.wrong_by -= timedelta(hours=1)

    world.commit(settings("2"))
    world.driver.checkpoint = delayed
    assert world.driver.reconcile().lost_race
    assert "2" not in played.values()
