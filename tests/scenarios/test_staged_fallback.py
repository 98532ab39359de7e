"""`onFailure: Rollback` on whole simulated fleets: the clusters that a run updated get back what they had."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from gitfleet.rollout.texts import RolloutText
from tests import builders
from tests.scenarios.staged_world import (
    FAILED,
    QUICK,
    SUCCEEDED,
    clusters_of,
    members,
    message,
    rolled_out,
    run,
    run_named,
    said,
    staged,
)
from tests.scenarios.test_crashes import Killer
from tests.scenarios.world import World, end_of

ENDED = [*FAILED, "RolledBack=True UpdateRunRolledBack"]
WHY = "stage prod: " + RolloutText.NOT_FINISH_MORE_MAXFAILURES_ALLOWS(stuck="p2", most="0")
OLD = {"c1": "web:1", "c2": "web:1", "p1": "web:1", "p2": "web:1", "p3": "web:1"}


def bad_on(*clusters: str) -> ClusterRule:
    """web:2 never gets ready there."""
    return ClusterRule(names=clusters, object=ObjectPattern(image="web:2"), available="never")


def strategy(**prod: Any) -> dict[str, Any]:
    """Stage `canary` of c1 and c2, then, after an approval, `prod` of p1, p2 and p3."""
    canary = builders.stage("canary", match_labels={"env": "canary"}, maxConcurrency=2)
    fields = {"stuckAfter": "1m", "onFailure": "Rollback", **prod}
    return builders.staged_strategy("all", canary, builders.stage("prod", match_labels={"env": "prod"}, **fields))


def world_with_old(*rules: ClusterRule, **prod: Any) -> World:
    """Every cluster has web:1, and a run of web:2 begins."""
    clusters = [*members("c1", "c2", env="canary"), *members("p1", "p2", "p3", env="prod")]
    world = staged(World(rules=(*rules, QUICK)), *clusters)
    world.roll_out(strategy(), run("old"))
    assert rolled_out(world) == OLD
    world.commit(builders.deployment("web", "web", image="web:2"), strategy(**prod), run("new"))
    return world


def settled_under_watch(world: World) -> dict[str, int]:
    """Settles the world; how many clusters of each stage at most, and of both, were rolling back at the same time."""
    most = {"canary": 0, "prod": 0, "both": 0}

    def count() -> None:
        found = {
            stage: list(clusters_of(world, "new", stage).values()).count("ClusterRollingBack")
            for stage in ("canary", "prod")
        }
        for stage, now in {**found, "both": sum(found.values())}.items():
            most[stage] = max(most[stage], now)

    world.settle(each=count)
    return most


def until_it_rolls_back(world: World) -> int:
    """Time passes until the run begins to roll back; after how many ticks, one each five seconds, it does."""
    for ticks in range(1, 100):
        world.advance(seconds=5)
        world.reconcile()
        if "Progressing=True UpdateRunRollingBack" in said(world, "new"):
            return ticks
    raise AssertionError(said(world, "new"))


def test_the_clusters_that_a_run_updated_get_back_what_they_had() -> None:
    world = world_with_old(bad_on("p2"))
    with world.nothing_deleted():
        assert settled_under_watch(world) == {"canary": 2, "prod": 1, "both": 2}, "maxConcurrency is 2 and 1"
    assert (said(world, "new"), rolled_out(world)) == (ENDED, OLD)
    assert message(world, "new", "Succeeded") == (f"{WHY}; " + RolloutText.WENT_BACK_BEFORE(names="c1, c2, p1..."))
    assert {b.resource_snapshot for b in world.bindings("web").values()} == {"web-0-snapshot"}
    assert clusters_of(world, "new", "prod") == {"p1": "ClusterRolledBack", "p2": "ClusterRolledBack", "p3": ""}
    result = world.driver.reconcile()
    assert [sentence for sentence in result.waiting if "rolls back" in sentence] == []


def test_a_fix_goes_forward_while_a_run_goes_back() -> None:
    world = world_with_old(bad_on("p2"))
    world.settle(limit=timedelta(seconds=90))
    world.roll_out(builders.deployment("web", "web", image="web:3"), run("fix"))
    assert said(world, "fix") == SUCCEEDED
    assert run_named(world, "new").finished
    assert set(rolled_out(world).values()) == {"web:3"}


def test_a_placement_that_is_gone_ends_the_rollback() -> None:
    world = world_with_old(bad_on("p2"))
    world.settle(limit=timedelta(seconds=90))
    world.roll_out(remove=["placements/web.yaml"])
    assert said(world, "new")[:3] == FAILED


def about_to_roll_back() -> World:
    """A process that knows nothing meets p2 a moment before it has taken too long."""
    world = world_with_old(bad_on("p2"))
    world.settle(limit=timedelta(seconds=75))
    assert run_named(world, "new").status.conditions[-1].reason == "UpdateRunStarted"
    assert clusters_of(world, "new", "prod") == {
        "p1": "ClusterUpdatingSucceeded",
        "p2": "ClusterUpdatingStarted",
        "p3": "",
    }
    world.happenings.clear()
    world.restart()
    return world


@pytest.mark.soak("crashes")
def test_a_rollback_ends_the_same_wherever_the_process_dies() -> None:
    world = about_to_roll_back()
    passed: list[str] = []
    world.driver.checkpoint = passed.append
    world.settle()
    wanted, operations = end_of(world), sum(h.what in ("apply", "delete") for h in world.happenings)
    assert (said(world, "new"), rolled_out(world), operations > 3) == (ENDED, OLD, True)
    for at in range(1, len(passed) + 1):
        world = about_to_roll_back()
        world.driver.checkpoint = Killer(at)
        world.settle()
        assert (world.crashes, said(world, "new"), end_of(world)) == (1, ENDED, wanted), at
    for after in range(operations + 1):
        world = about_to_roll_back()
        world.fleet.crash.arm(after)
        world.settle()
        assert (said(world, "new"), end_of(world)) == (ENDED, wanted), after
        assert len(world.state().quarantines) == 1, after


def test_a_rollback_goes_on_in_a_freeze() -> None:
    world = world_with_old(bad_on("p2"))
    until_it_rolls_back(world)
    world.roll_out(builders.freeze("all", "2099-01-01T00:00:00Z"))
    assert (said(world, "new"), rolled_out(world)) == (ENDED, OLD)
