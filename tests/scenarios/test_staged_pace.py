"""`minSoak` and `startRate` of a stage on whole simulated fleets."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from gitfleet.api.conditions import find_condition
from gitfleet.api.objects import ObjectKey
from gitfleet.api.runs import RunConditionType
from gitfleet.api.scenarios import ClusterRule
from gitfleet.rollout.texts import RolloutText
from tests import builders
from tests.scenarios.staged_world import QUICK, SUCCEEDED, members, one_stage, run, said, stage_of, staged
from tests.scenarios.world import World


def moments(world: World, type_: RunConditionType) -> dict[str, datetime]:
    """When a condition of each cluster of the only stage came about."""
    found = {c.cluster: find_condition(c.conditions, type_) for c in stage_of(world, "go", "all").clusters}
    return {name: condition.last_transition_time for name, condition in found.items() if condition is not None}


@pytest.mark.parametrize("restarts", [False, True])
def test_a_cluster_counts_once_it_has_been_healthy_for_so_long(restarts: bool) -> None:
    world = staged(World(rules=(QUICK,)), *members("c1", "c2"))
    world.commit(one_stage(minSoak="5m"), run())
    world.settle(limit=timedelta(minutes=1))
    (healthy,) = moments(world, RunConditionType.SOAKING).values()
    result = world.reconcile()
    until = f"{healthy + timedelta(minutes=5):%Y-%m-%d %H:%M:%S} UTC"
    assert result is not None
    assert [s for s in result.waiting if "healthy" in s] == [
        RolloutText.RUN_WAITS_STAGE_MUST_STAY(run="go", list="c1", stage="all", until=until)
    ]
    assert "updating, 0/2 clusters, 1 soaking" in world.state_text("README.md")
    world.settle(each=world.restart if restarts else lambda: None)
    assert said(world, "go") == SUCCEEDED
    soaked, through = moments(world, RunConditionType.SOAKING), moments(world, RunConditionType.SUCCEEDED)
    assert {through[name] - soaked[name] for name in through} == {timedelta(minutes=5)}
    started = moments(world, RunConditionType.STARTED)
    assert started["c2"] == through["c1"], "a cluster that soaks keeps its slot"


def test_a_cluster_that_is_not_healthy_any_more_begins_its_soak_again() -> None:
    world = staged(World(rules=(QUICK,)), *members("c1"))
    world.commit(one_stage(minSoak="10m", stuckAfter="1h"), run())
    world.settle(limit=timedelta(minutes=5))
    first = moments(world, RunConditionType.SOAKING)["c1"]
    world.fleet.cluster("c1").delete_by_hand(ObjectKey("apps", "v1", "Deployment", "web", "web"))
    world.rest()
    (condition,) = [c for c in stage_of(world, "go", "all").clusters[0].conditions if c.type == "Soaking"]
    assert (condition.status, condition.reason) == ("False", "ClusterNotHealthy")
    world.settle()
    assert said(world, "go") == SUCCEEDED
    again, through = moments(world, RunConditionType.SOAKING)["c1"], moments(world, RunConditionType.SUCCEEDED)["c1"]
    assert (again > first, through - again) == (True, timedelta(minutes=10))


def test_what_a_cluster_had_before_the_run_is_not_its_soak() -> None:
    """It was available all the time, and with the new content only since the run (decision D24)."""
    world = staged(World(), *members("c1"))
    world.commit(one_stage(), run("before"))
    world.settle()
    world.advance(hours=3)

    world.commit(builders.deployment("web", "web", image="web:2"), one_stage(minSoak="10m"), run())
    world.settle()
    assert said(world, "go") == SUCCEEDED
    soaked, through = moments(world, RunConditionType.SOAKING)["c1"], moments(world, RunConditionType.SUCCEEDED)["c1"]
    assert soaked >= moments(world, RunConditionType.STARTED)["c1"]
    assert through - soaked == timedelta(minutes=10)


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize("rate", [1, 2, 3])
def test_no_minute_has_more_starts_than_the_rate(rate: int, restarts: bool) -> None:
    names = [f"c{n}" for n in range(7)]
    world = staged(World(rules=(ClusterRule(available=timedelta(seconds=7)),)), *members(*names))
    world.commit(one_stage(startRate=rate, maxConcurrency=7), run())
    world.rest()
    result = world.reconcile()
    assert result is not None
    later = moments(world, RunConditionType.STARTED)["c0"] + timedelta(minutes=1)
    sentence = "run go waits: " + RolloutText.STAGE_STARTS_MOST_MINUTE(
        stage="all", start_rate=rate, later=f"{later:%Y-%m-%d %H:%M:%S} UTC"
    )
    assert [s for s in result.waiting if "a minute" in s] == [sentence]
    world.settle(each=world.restart if restarts else lambda: None)
    assert said(world, "go") == SUCCEEDED
    started = sorted(moments(world, RunConditionType.STARTED).values())
    windows = [sum(moment <= other < moment + timedelta(minutes=1) for other in started) for moment in started]
    assert max(windows) == rate
    assert started[-1] - started[0] == timedelta(minutes=(len(names) - 1) // rate)


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("startRate", 0, "must be at least 1"),
        ("startRate", "2", "must be a whole number"),
        ("minSoak", "soon", "must be"),
    ],
)
def test_a_pace_that_cannot_be_kept_is_refused_at_the_door(field: str, value: object, sentence: str) -> None:
    world = staged(World(rules=(QUICK,)), *members("c1"))
    world.commit(one_stage(**{field: value}))
    world.rest()
    (fault,) = world.state().faults
    assert fault.path == "strategies/all.yaml" and f"stages[0].{field}" in str(fault)
    assert sentence in str(fault)
