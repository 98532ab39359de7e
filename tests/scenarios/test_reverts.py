"""A commit that is taken back while its rollout is not finished."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.bindings import is_available
from gitfleet.api.holds import HoldRule
from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from tests import builders
from tests.scenarios.staged_world import QUICK, members, placing
from tests.scenarios.world import World, answer, only_hold

CLUSTERS = ("c1", "c2")
REFUSED = ClusterRule(object=ObjectPattern(kind="PodDisruptionBudget"), apply="fail")
ADDED = [builders.config_map("web", f"more-{number}") for number in range(30)]
BUDGET = builders.disruption_budget("web", "app")


def settled(*rules: ClusterRule) -> World:
    """Two clusters with a Namespace and eleven ConfigMaps, one updated at a time."""
    world = World(rules=rules)
    world.roll_out(
        *(builders.member_cluster(name) for name in CLUSTERS),
        builders.namespace("web"),
        *(builders.config_map("web", f"first-{number}") for number in range(11)),
        builders.placement("web", strategy=builders.rolling_update(maxUnavailable=1)),
    )
    return world


def placed(world: World) -> dict[str, set[str]]:
    """The names of the ConfigMaps of each cluster."""
    return {
        name: {found.key.name for found in cluster.objects() if found.key.kind == "ConfigMap"}
        for name, cluster in world.fleet.clusters.items()
    }


def available(world: World) -> list[str]:
    return [name for name, binding in world.bindings("web").items() if is_available(binding)]


def added_on(world: World) -> list[str]:
    """The clusters that have what the second commit added."""
    return [name for name, names in placed(world).items() if "more-0" in names]


def stuck() -> tuple[World, dict[str, set[str]]]:
    """A commit whose rollout does not get past its first cluster, and what was placed before it."""
    world = settled(REFUSED)
    before = placed(world)
    world.roll_out(*ADDED, BUDGET)
    assert len(added_on(world)) == 1 and len(available(world)) == 1
    return world, before


def test_the_revert_of_a_commit_that_is_stuck_on_its_first_cluster_is_held_and_stops_nothing() -> None:
    world, before = stuck()
    extra: dict[str, Any] = builders.config_map("web", "extra")
    world.roll_out(extra, remove=[*ADDED, BUDGET])
    assert {rule for one in only_hold(world).removals for rule in one.rules} == {HoldRule.MASS_REMOVAL}
    assert len(added_on(world)) == 1 and available(world) == list(CLUSTERS)
    world.roll_out(files=answer(only_hold(world)))
    assert placed(world) == {name: {*names, "extra"} for name, names in before.items()}


ONLY = builders.pick_fixed("c1", "c2")


@pytest.mark.parametrize("steps", [1, 2])
def test_the_revert_of_a_split_and_a_fold_moves_everything_back(steps: int) -> None:
    """One goes, and one comes that has a part of it under a policy which an edit may not give it; the rest moves to or
    from a third."""
    world = World(rules=(QUICK,))
    spaces = ("n1", "n2", "n3")
    objects = [one for name in spaces for one in (builders.namespace(name), builders.deployment(name, "app"))]
    was = placing("pa", "n2", "n3", policy=ONLY), placing("pc", "n1")
    never = builders.fleet_config(removals={"approval": "Never"})
    world.roll_out(never, *members("c1", "c2", "c3"), *objects, *was)
    there = found(world)
    split, fold = placing("pa", "n2", policy=ONLY), placing("store", "n3", "n1", policy=ONLY)
    if steps == 2:
        world.roll_out(split, placing("store", "n3", policy=ONLY))
    world.roll_out(split, fold, remove=["placements/pc.yaml"])
    assert (names(world), world.state().faults) == ({"pa", "store"}, ())
    world.roll_out(*was, remove=["placements/store.yaml"])
    assert (names(world), owners(world), world.state().faults) == ({"pa", "pc"}, {"pa", "pc"}, ())
    assert (found(world), world.state().holds) == (there, {})


def names(world: World) -> set[str]:
    """The placements that there are."""
    return {str(key) for key in world.state().placements}


def owners(world: World) -> set[str]:
    """The placements that own anything."""
    return {str(entry.placement) for owned in world.state().inventory.values() for entry in owned.values()}


def found(world: World) -> dict[str, set[str]]:
    """What lies on each cluster."""
    return {name: {str(one.key) for one in cluster.objects()} for name, cluster in world.fleet.clusters.items()}
