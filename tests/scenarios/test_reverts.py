"""A commit that is taken back while its rollout is not finished: the revert restores what was without an approval."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.bindings import is_available
from gitfleet.api.holds import HoldRule
from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from tests import builders
from tests.scenarios.staged_world import QUICK, members
from tests.scenarios.test_faulty_renames import placing
from tests.scenarios.test_renamed_placements import names, owners
from tests.scenarios.world import World

CLUSTERS = ("c1", "c2")
REFUSED = ClusterRule(object=ObjectPattern(kind="PodDisruptionBudget"), apply="fail")
ADDED = [builders.config_map("web", f"more-{number}") for number in range(30)]
BUDGET = builders.disruption_budget("web", "app")


def settled(*rules: ClusterRule) -> World:
    """Two clusters with a Namespace and eleven ConfigMaps, one updated at a time."""
    world = World(rules=rules)
    world.commit(
        *(builders.member_cluster(name) for name in CLUSTERS),
        builders.namespace("web"),
        *(builders.config_map("web", f"first-{number}") for number in range(11)),
        builders.placement("web", strategy=builders.rolling_update(maxUnavailable=1)),
    )
    world.settle()
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
    world.commit(*ADDED, BUDGET)
    world.settle()
    assert len(added_on(world)) == 1 and len(available(world)) == 1
    return world, before


def test_the_revert_of_a_commit_that_is_stuck_on_its_first_cluster_needs_no_approval() -> None:
    world, before = stuck()
    world.commit(remove=[*ADDED, BUDGET])
    world.settle()
    assert not world.state().holds
    assert placed(world) == before
    assert available(world) == list(CLUSTERS)


def test_so_does_a_revert_together_with_another_change() -> None:
    world, before = stuck()
    extra: dict[str, Any] = builders.config_map("web", "extra")
    world.commit(extra, remove=[*ADDED, BUDGET])
    world.settle()
    assert not world.state().holds
    assert placed(world) == {name: {*names, "extra"} for name, names in before.items()}


def test_what_was_there_before_the_rollout_is_still_counted() -> None:
    world, before = stuck()
    world.commit(remove=[*ADDED, BUDGET, *(builders.config_map("web", f"first-{number}") for number in range(11))])
    world.settle()
    (hold,) = world.state().holds.values()
    assert HoldRule.MASS_DELETION in {reason.rule for reason in hold.reasons}
    assert all(names >= before[name] for name, names in placed(world).items())


def test_after_a_finished_rollout_a_large_removal_is_held() -> None:
    world = settled()
    world.commit(*ADDED)
    world.settle()
    assert added_on(world) == list(CLUSTERS)
    with world.nothing_deleted():
        world.commit(remove=ADDED)
        world.settle()
    (hold,) = world.state().holds.values()
    assert hold.objects == 60


def test_a_silent_cluster_does_not_make_a_rollout_unfinished() -> None:
    world = settled()
    world.fleet.cluster("c2").reachable = False
    world.commit(*ADDED)
    world.settle()
    assert added_on(world) == ["c1"]
    with world.nothing_deleted():
        world.commit(remove=ADDED)
        world.settle()
    (hold,) = world.state().holds.values()
    assert hold.objects == 30


def test_an_object_that_was_never_applied_is_not_counted() -> None:
    """The first rollout: nothing was there before it."""
    world = World(rules=(ClusterRule(object=ObjectPattern(kind="ConfigMap"), apply="fail"),))
    world.commit(builders.member_cluster("c1"), builders.namespace("web"), *ADDED, builders.placement("web"))
    world.settle()
    assert placed(world) == {"c1": set()}
    world.commit(remove=ADDED)
    world.settle()
    assert not world.state().holds


ONLY = builders.pick_fixed("c1", "c2")


@pytest.mark.parametrize("steps", [1, 2])
def test_the_revert_of_a_split_and_a_fold_is_no_rename(steps: int) -> None:
    """One goes, and one comes that has a part of it under a policy which an edit may not give it; the rest moves to or
    from a third."""
    world = World(rules=(QUICK,))
    spaces = ("n1", "n2", "n3")
    objects = [one for name in spaces for one in (builders.namespace(name), builders.deployment(name, "app"))]
    was = placing("pa", "n2", "n3", policy=ONLY), placing("pc", "n1")
    world.commit(*members("c1", "c2", "c3"), *objects, *was)
    world.settle()
    there = found(world)
    split, fold = placing("pa", "n2", policy=ONLY), placing("store", "n3", "n1", policy=ONLY)
    if steps == 2:
        world.commit(split, placing("store", "n3", policy=ONLY))
        world.settle()
    world.commit(split, fold, remove=["placements/pc.yaml"])
    world.settle()
    assert (names(world), world.state().faults) == ({"pa", "store"}, ())
    with world.nothing_deleted():
        world.commit(*was, remove=["placements/store.yaml"])
        world.settle()
    assert (names(world), owners(world), world.state().faults) == ({"pa", "pc"}, {"pa", "pc"}, ())
    assert (found(world), world.state().holds) == (there, {})


def found(world: World) -> dict[str, set[str]]:
    """What lies on each cluster."""
    return {name: {str(one.key) for one in cluster.objects()} for name, cluster in world.fleet.clusters.items()}
