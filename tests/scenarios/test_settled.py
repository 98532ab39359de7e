"""When a reconcile may say that the fleet is settled, and what a quiet fleet must still notice."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gitfleet.api.objects import ObjectKey
from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from gitfleet.loop.results import ReconcileResult
from tests import builders
from tests.scenarios.test_crashes import begin, members, payload
from tests.scenarios.world import World

SETTINGS = ObjectKey("", "v1", "ConfigMap", "web", "settings")


def settled() -> World:
    """Three clusters that have all of `web`."""
    world = World()
    begin(world)
    return world


def last(world: World) -> ReconcileResult:
    """A reconcile that died is none."""
    return world.driver.reconcile()


def test_a_fleet_that_waits_or_has_just_changed_is_not_settled() -> None:
    world = World()
    world.commit(*members(), *payload(), builders.placement("web"))
    first = last(world)
    assert first.changed and not first.settled and first.waiting
    second = last(world)
    assert not second.settled, "nothing is available yet"
    world.settle()
    assert last(world).settled


def test_a_fleet_that_only_a_person_can_help_is_not_settled() -> None:
    world = World((ClusterRule(object=ObjectPattern(kind="Deployment"), available="never"),))
    begin(world)
    world.advance(hours=1)
    world.settle()
    result = last(world)
    assert not result.changed and not result.outcomes and result.wake_at is None
    assert result.waiting and not result.settled


def test_a_fleet_that_time_alone_may_change_is_not_settled() -> None:
    """A cluster that hosts nothing has fallen silent: nobody waits for it, and it will soon count as gone."""
    world = settled()
    world.roll_out(builders.member_cluster("idle"))
    assert last(world).settled
    world.fleet.cluster("idle").reachable = False
    world.rest()
    result = last(world)
    assert not result.changed and not result.waiting and not result.outcomes
    assert result.wake_at is not None and not result.settled


def only_reported() -> World:
    """One cluster where ReportDiff compares a ConfigMap that somebody else applied."""
    world = World()
    strategy = {**builders.rolling_update(), "applyStrategy": {"type": "ReportDiff"}}
    world.commit(
        builders.member_cluster("c1"),
        builders.namespace("web"),
        builders.config_map("web", "settings", {"k": "1"}),
        builders.placement("web", policy=builders.pick_fixed("c1"), strategy=strategy),
    )
    cluster = world.fleet.cluster("c1")
    cluster.apply_by_hand(builders.namespace("web"))
    cluster.apply_by_hand(builders.config_map("web", "settings", {"k": "1"}))
    world.settle()
    return world


def differs(world: World) -> list[str]:
    """The objects that differ by the state branch."""
    return [found.key.name for found in world.bindings("web")["c1"].diffed]


def test_a_quiet_fleet_notices_a_change_of_an_object_that_it_does_not_own() -> None:
    """Objects that are only compared are in no inventory, so only the second observation of a reconcile sees them."""
    world = only_reported()
    assert last(world).settled and not differs(world)
    world.fleet.cluster("c1").mutate(SETTINGS, [{"op": "replace", "path": "/data/k", "value": "2"}])
    world.settle()
    assert differs(world) == ["settings"]


@pytest.mark.parametrize(
    "happens",
    [
        lambda world: world.silence("c1"),
        lambda world: world.fleet.cluster("c1").delete_by_hand(SETTINGS),
        lambda world: world.commit(builders.member_cluster("c4")),
        lambda world: world.commit(*payload("web:2")),
        lambda world: world.repo.move_branch("gitfleet/state", None),
    ],
    ids=["a cluster falls silent", "an object is deleted", "a cluster joins", "a commit", "the state is lost"],
)
def test_a_quiet_fleet_notices_what_happens(happens: Callable[[World], object]) -> None:
    world = settled()
    assert last(world).settled
    before = world.repo.fetch().get("gitfleet/state")
    happens(world)
    result = last(world)
    assert result.changed and not result.settled
    assert world.repo.fetch()["gitfleet/state"] != before


def test_a_quiet_fleet_decides_no_further_time() -> None:
    world = settled()
    quiet = last(world)
    assert last(world) is quiet
    world.advance(hours=10)
    assert last(world) is quiet
