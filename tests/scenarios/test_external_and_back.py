"""A placement becomes External and goes back to RollingUpdate: nothing is lost on the way, and no run is cut off."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from tests import builders
from tests.scenarios.staged_world import EXTERNAL, members, rolled_out, run_named, staged
from tests.scenarios.test_crashes import Killer
from tests.scenarios.world import World

QUICK = ClusterRule(available=timedelta(seconds=10))
NAMES = ("c1", "c2", "c3")
ROLLING = builders.rolling_update(maxUnavailable=1)
ALL = builders.staged_strategy("all", builders.stage("all"))
GO = builders.staged_run("go", placement="web", strategy="all")


def web(image: str, strategy: dict[str, Any]) -> list[dict[str, Any]]:
    return [builders.deployment("web", "web", image), builders.placement("web", strategy=strategy)]


def external(*rules: ClusterRule) -> World:
    """A fleet whose External placement a run has brought to web:1, with web:2 in the repo and on no cluster."""
    world = staged(World(rules=(*rules, QUICK)), *members(*NAMES))
    world.commit(ALL, GO)
    world.settle()
    world.commit(*web("web:2", EXTERNAL))
    world.settle()
    assert rolled_out(world) == dict.fromkeys(NAMES, "web:1")
    return world


def most_down(world: World) -> int:
    """So many clusters at most were without an available Deployment at once, until the world settles."""
    seen = []
    world.settle(each=lambda: seen.append(sum(bool(world.fleet.cluster(name).unavailable()) for name in NAMES)))
    return max(seen)


def test_without_an_unfinished_run_it_goes_back_and_on_to_the_latest_snapshot_within_its_budget() -> None:
    world = external()
    world.commit(builders.placement("web", strategy=ROLLING))
    assert most_down(world) == 1
    assert world.state().faults == ()
    assert rolled_out(world) == dict.fromkeys(NAMES, "web:2")
    assert run_named(world, "go").finished
    world.commit(*web("web:3", ROLLING))
    world.settle()
    assert rolled_out(world) == dict.fromkeys(NAMES, "web:3")


def test_one_that_no_run_ever_moved_is_placed_by_the_rolling_update() -> None:
    world = staged(World(rules=(QUICK,)), *members(*NAMES))
    assert rolled_out(world) == dict.fromkeys(NAMES)
    world.commit(builders.placement("web", strategy=ROLLING))
    world.settle()
    assert rolled_out(world) == dict.fromkeys(NAMES, "web:1")


def test_with_an_unfinished_run_it_stays_external_and_says_which_until_the_run_is_over() -> None:
    world = external()
    world.commit(builders.staged_run("next", placement="web", strategy="all"))
    world.rest()
    world.commit(builders.placement("web", strategy=ROLLING))
    world.rest()
    (fault,) = world.state().faults
    assert str(fault).startswith("placements/web.yaml:")
    assert fault.field == "spec.strategy.type"
    assert fault.message == (
        "cannot go back to RollingUpdate while run next is unfinished; put External back, or end it (by removing the "
        "file, say)"
    )
    (record,) = world.state().placements.values()
    assert record.placement.strategy.external
    world.settle()
    assert run_named(world, "next").finished
    (record,) = world.state().placements.values()
    assert not record.placement.strategy.external
    assert world.state().faults == ()
    assert rolled_out(world) == dict.fromkeys(NAMES, "web:2")


@pytest.mark.parametrize("state", ["Stop", "Initialize"])
def test_a_run_that_stands_still_is_unfinished_and_one_that_is_taken_out_in_the_same_commit_is_not(state: str) -> None:
    world = external()
    still = builders.staged_run("next", placement="web", strategy="all")
    still["spec"]["state"] = state
    world.commit(still)
    world.settle()
    world.commit(builders.placement("web", strategy=ROLLING))
    world.settle()
    assert [fault.field for fault in world.state().faults] == ["spec.strategy.type"]
    assert rolled_out(world) == dict.fromkeys(NAMES, "web:1")
    world.commit(builders.placement("web", strategy=ROLLING), remove=[still])
    world.settle()
    assert world.state().faults == ()
    assert rolled_out(world) == dict.fromkeys(NAMES, "web:2")


def test_a_rolling_update_that_becomes_external_stops_after_what_has_started_and_goes_on_when_it_is_back() -> None:
    slow = ClusterRule(object=ObjectPattern(image="web:2"), available=timedelta(minutes=1))
    world = World(rules=(slow, QUICK))
    world.commit(*members(*NAMES), builders.namespace("web"), *web("web:1", ROLLING))
    world.settle()
    world.commit(*web("web:2", ROLLING))
    world.rest()
    world.commit(builders.placement("web", strategy=EXTERNAL))
    world.settle()
    assert rolled_out(world) == {"c1": "web:2", "c2": "web:1", "c3": "web:1"}
    world.commit(builders.placement("web", strategy=ROLLING))
    assert most_down(world) == 1
    assert rolled_out(world) == dict.fromkeys(NAMES, "web:2")


@pytest.mark.parametrize("at", range(1, 16))
def test_a_crash_in_between_changes_nothing_about_the_end(at: int) -> None:
    world = external()
    world.commit(builders.placement("web", strategy=ROLLING))
    world.driver.checkpoint = Killer(at)
    assert most_down(world) == 1
    assert world.crashes == 1
    assert rolled_out(world) == dict.fromkeys(NAMES, "web:2")
    (record,) = world.state().placements.values()
    assert not record.placement.strategy.external
    assert world.state().faults == ()
