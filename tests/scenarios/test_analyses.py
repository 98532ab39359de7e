"""Staged runs that metrics let go on, end or roll back; with processes that die at every step of it."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from gitfleet.api.scenarios import MetricRule
from gitfleet.simulation.answers import SimulatedAnswers
from gitfleet.simulation.cluster import SimulatedCrash
from tests import builders
from tests.scenarios.staged_world import QUICK, SUCCEEDED, clusters_of, members, run, run_named, said, stage_of, staged
from tests.scenarios.world import World, end_of

GOOD, BAD = MetricRule(query="*", value=0.01), MetricRule(query="*", value=0.12)


def until(rule: MetricRule, seconds: float) -> MetricRule:
    """The rule as long as this after the start of the world."""
    return MetricRule(query=rule.query, value=rule.value, end=timedelta(seconds=seconds))


def world_with(*rules: MetricRule, **task: Any) -> World:
    """Two stages, of c1 and of c2 and c3, the first gated by an analysis; all had snapshot 0 before the run."""
    world = World(rules=(QUICK,), metrics=rules)
    first = builders.stage("first", match_labels={"tier": "canary"}, afterStageTasks=[builders.analysis(**task)])
    last = builders.stage("last", match_labels={"tier": "prod"}, maxConcurrency=2)
    staged(world, *members("c1", tier="canary"), *members("c2", "c3", tier="prod"))
    world.roll_out(builders.staged_strategy("all", builders.stage("all", maxConcurrency=3)), run("before"))
    world.roll_out(builders.staged_strategy("all", first, last), builders.metric_template())
    world.commit(builders.deployment("web", "web", image="web:2"), run())
    return world


def test_a_stage_that_measures_well_lets_the_run_go_on() -> None:
    world = world_with(GOOD, count=3)
    world.settle()
    assert said(world, "go") == SUCCEEDED
    (task,) = stage_of(world, "go", "first").after_tasks
    assert [(one.query, one.values, one.passed) for one in task.measurements] == [
        ('errors{cluster=~"c1"}', (0.01,), 1),
        ('errors{cluster=~"c1"}', (0.01,), 2),
        ('errors{cluster=~"c1"}', (0.01,), 3),
    ]
    moments = [one.at for one in task.measurements]
    assert [later - one for one, later in pairwise(moments)] == [timedelta(minutes=1)] * 2


def test_or_rolls_it_back() -> None:
    world = world_with(BAD, onFailure="Rollback")
    world.settle()
    assert [*said(world, "go")][-1] == "RolledBack=True UpdateRunRolledBack"
    assert clusters_of(world, "go", "first") == {"c1": "ClusterRolledBack"}
    assert clusters_of(world, "go", "last") == {"c2": "", "c3": ""}


@pytest.mark.soak("crashes")
@pytest.mark.parametrize("rules", [(GOOD,), (BAD,), (until(GOOD, 60), BAD)], ids=["good", "bad", "good, then bad"])
def test_a_crash_at_any_checkpoint_asks_the_same_again_and_comes_to_the_same(rules: tuple[MetricRule, ...]) -> None:
    calm = world_with(*rules, count=2, onFailure="Rollback")
    passed: list[str] = []
    calm.driver.checkpoint = passed.append
    calm.settle()
    (wanted,) = stage_of(calm, "go", "first").after_tasks
    for at in range(len(passed)):
        world, left = world_with(*rules, count=2, onFailure="Rollback"), [at]

        def die(step: str, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] == -1:
                raise SimulatedCrash(step)

        world.driver.checkpoint = die
        world.settle()
        assert world.crashes == 1
        assert end_of(world) == end_of(calm), f"after checkpoint {at}"
        (task,) = stage_of(world, "go", "first").after_tasks
        ids = [(one.id, one.values, one.verdict) for one in task.measurements]
        assert ids == [(one.id, one.values, one.verdict) for one in wanted.measurements]


def test_a_killed_process_leaves_a_measurement_that_the_next_one_asks_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same id, query and moment, and without a change of the state branch before the answer."""
    world, asked = world_with(GOOD), list[Any]()
    with monkeypatch.context() as silent:
        silent.setattr(SimulatedAnswers, "start", lambda self, calls: asked.extend(calls))
        world.settle()
    assert len({call.id for call in asked}) == 1
    query = asked[0]
    head = world.repo.fetch()["gitfleet/state"]
    world.restart()
    world.driver.reconcile()
    (answer,) = world.calls.answers().values()
    assert answer.id == query.id and world.repo.fetch()["gitfleet/state"] == head
    (task,) = stage_of(world, "go", "first").after_tasks
    assert [(one.id, one.query, one.at, one.verdict) for one in task.measurements] == [
        (query.id, query.query, query.at, None)
    ]
    world.settle()
    assert run_named(world, "go").finished and said(world, "go") == SUCCEEDED
