"""A placement becomes External, and cannot become RollingUpdate again (decision D21)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from gitfleet.desired.texts import DesiredText
from tests import builders
from tests.scenarios.staged_world import EXTERNAL, members, rolled_out, run_named, staged
from tests.scenarios.world import World

QUICK = ClusterRule(available=timedelta(seconds=10))
NAMES = ("c1", "c2", "c3")
ROLLING = builders.rolling_update(maxUnavailable=1)
BACK = builders.placement("web", strategy=ROLLING)
FIRST = builders.stage("first", match_labels={"stage": "first"}, approval=True)
ALL = builders.staged_strategy("all", FIRST, builders.stage("rest", match_labels={"stage": "rest"}, onFailure="Stop"))
OLD, NEW = dict.fromkeys(NAMES, "web:1"), dict.fromkeys(NAMES, "web:2")
PARTLY = {**OLD, "c1": "web:2"}


def web(image: str, strategy: dict[str, Any]) -> list[dict[str, Any]]:
    return [builders.deployment("web", "web", image), builders.placement("web", strategy=strategy)]


def run(name: str) -> dict[str, Any]:
    return builders.staged_run(name, placement="web", strategy="all")


def answer_stage(world: World, name: str) -> None:
    world.roll_out(builders.approval(name, "first"))


def external() -> World:
    """A fleet whose External placement a run has brought to web:1, with web:2 in the repo and on no cluster."""
    world = staged(World(rules=(QUICK,)), *members("c1", stage="first"), *members("c2", "c3", stage="rest"))
    world.roll_out(ALL, run("go"))
    answer_stage(world, "go")
    world.roll_out(*web("web:2", EXTERNAL))
    assert rolled_out(world) == OLD
    assert run_named(world, "go").finished
    return world


@pytest.mark.parametrize("unfinished", [False, True])
def test_external_cannot_be_left(unfinished: bool) -> None:
    world = external()
    if unfinished:
        world.commit(run("next"))
        world.rest()
    world.roll_out(BACK)
    world.restart()
    world.settle()
    (fault,) = world.state().faults
    assert (fault.path, fault.field) == ("placements/web.yaml", "spec.strategy.type")
    after = DesiredText.REMOVE_OBJECT_ONE_COMMIT_ADD()
    assert fault.message == DesiredText.CANNOT_CHANGE_FROM(before="External", after="RollingUpdate", recreate=after)
    (record,) = world.state().placements.values()
    assert record.placement.strategy.external
    assert rolled_out(world) == (PARTLY if unfinished else OLD)
    world.roll_out(builders.placement("web", strategy=EXTERNAL))
    assert world.state().faults == ()
    if not unfinished:
        world.roll_out(run("next"))
    answer_stage(world, "next")
    assert rolled_out(world) == NEW


def test_a_rolling_update_that_becomes_external_stops_after_what_has_started() -> None:
    slow = ClusterRule(object=ObjectPattern(image="web:2"), available=timedelta(minutes=1))
    world = World(rules=(slow, QUICK))
    world.roll_out(*members(*NAMES), builders.namespace("web"), *web("web:1", ROLLING))
    world.commit(*web("web:2", ROLLING))
    world.rest()
    world.roll_out(builders.placement("web", strategy=EXTERNAL))
    assert rolled_out(world) == PARTLY
