"""A hold is about a placement, whatever that is called: what is taken back under another name is held no more."""

from __future__ import annotations

from typing import Any

import pytest

from tests import builders
from tests.scenarios.staged_world import EXTERNAL, QUICK, members, one_stage, rolled_out
from tests.scenarios.test_holds import answer, only_hold
from tests.scenarios.test_renamed_placements import ROLLING, names, owners, picked, untouched
from tests.scenarios.world import World

CLUSTERS = tuple(f"c{number}" for number in range(6))


def placing(name: str, namespace: str = "web", *, strategy: dict[str, Any] = ROLLING, **parts: Any) -> dict[str, Any]:
    return builders.placement(name, selectors=[builders.select_namespace(namespace)], strategy=strategy, **parts)


def settled(placement: dict[str, Any]) -> World:
    world = World(rules=(QUICK,))
    world.commit(
        *members(*CLUSTERS, tier="gold"),
        builders.namespace("web"),
        builders.deployment("web", "web"),
        placement,
        *(one_stage(), builders.staged_run("go", placement="web", strategy="all")),
    )
    world.settle()
    assert picked(world) == set(CLUSTERS) and not world.state().holds
    return world


Parts = dict[str, Any]
FIXED: Parts = {"policy": builders.pick_fixed(*CLUSTERS)}
HELD: dict[str, tuple[Parts, Parts]] = {
    "a label that no cluster has": (
        {"policy": builders.pick_n(6, match_labels={"tier": "gold"})},
        {"policy": builders.pick_n(6, match_labels={"tier": "gld"})},
    ),
    "one cluster instead of six": (FIXED, {"policy": builders.pick_fixed("c0")}),
    "a namespace that is not there": ({}, {"namespace": "webb"}),
    "the new name in the selector, too": ({}, {"namespace": "shop"}),
    "no stages any more": ({"strategy": EXTERNAL}, {"strategy": ROLLING}),
}


@pytest.mark.parametrize("case", HELD)
def test_a_rename_that_is_held_is_taken_back_by_a_revert(case: str) -> None:
    before, after = HELD[case]
    world = settled(placing("web", **before))
    new = placing("shop", **after)
    more = [builders.config_map("web", "unreviewed", {"k": "v"})] if case == "no stages any more" else []
    untouched(world, lambda: world.commit(new, *more, remove=["placements/web.yaml"]))
    assert only_hold(world).name.startswith("hold-shop-")
    untouched(world, lambda: world.commit(placing("web", **before), remove=[new, *more]))
    assert (names(world), owners(world)) == ({"web"}, {"web"})
    assert not world.state().holds
    assert [fault for fault in world.state().faults if fault.severity == "error"] == []


def test_a_placement_that_is_written_back_under_another_name_is_removed_no_more() -> None:
    world = settled(placing("web"))
    untouched(world, lambda: world.commit(remove=["placements/web.yaml"]))
    assert only_hold(world).name.startswith("hold-web-")
    untouched(world, lambda: world.commit(placing("shop")))
    assert (names(world), owners(world), world.state().holds) == ({"shop"}, {"shop"}, {})


@pytest.mark.parametrize("at_once", [True, False])
def test_an_answer_counts_for_the_placement_under_its_next_name(at_once: bool) -> None:
    world = settled(placing("web", **FIXED))
    untouched(world, lambda: world.commit(placing("web", policy=builders.pick_fixed("c0"))))
    hold = only_hold(world)
    if at_once:
        world.write(answer(hold))
        world.reconcile()
    world.commit(placing("shop", policy=builders.pick_fixed("c0")), remove=["placements/web.yaml"])
    world.settle()
    if not at_once:
        assert only_hold(world).name == hold.name
        assert (names(world), picked(world)) == ({"shop"}, set(CLUSTERS))
        world.write(answer(hold))
        world.settle()
    assert (names(world), owners(world), picked(world)) == ({"shop"}, {"shop"}, {"c0"})
    assert not world.state().holds


def test_a_rejected_removal_stays_held_under_the_next_name() -> None:
    world = settled(placing("web", **FIXED))
    world.commit(placing("web", policy=builders.pick_fixed("c0")))
    world.settle()
    hold = only_hold(world)
    world.write(answer(hold, approved=False))
    untouched(
        world, lambda: world.commit(placing("shop", policy=builders.pick_fixed("c0")), remove=["placements/web.yaml"])
    )
    assert (names(world), only_hold(world).name, picked(world)) == ({"shop"}, hold.name, set(CLUSTERS))
    world.commit(builders.deployment("web", "web", image="web:2"))
    world.settle()
    assert rolled_out(world) == dict.fromkeys(CLUSTERS, "web:2")
