"""Objects that move between placements: ownership follows content, at the pace of the one that takes them
(docs/removal.md, situations 50 to 58)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.scenarios import ClusterRule
from gitfleet.api.texts import ApiText
from tests import builders
from tests.scenarios.staged_world import EXTERNAL, QUICK, ROLLING, members, one_stage, placing
from tests.scenarios.test_removals import P, S, held
from tests.scenarios.world import World

Body = dict[str, Any]
FEW = ("c1", "c2", "c3")


def space(name: str, image: str = "app:1") -> list[Body]:
    return [builders.namespace(name), builders.deployment(name, "web", image)]


def fleet(*placements: Body, clusters: tuple[str, ...] = FEW, rules: tuple[ClusterRule, ...] = (QUICK,)) -> World:
    """Three namespaces with a Deployment each, and these placements on every cluster."""
    world = World(rules=rules)
    world.roll_out(*members(*clusters), *(one for name in ("x", "y", "z") for one in space(name)), *placements)
    assert not world.state().faults
    return world


def images(world: World, namespace: str = "x") -> set[str | None]:
    return {world.image_in(name, namespace) for name in world.fleet.clusters}


def owners(world: World, namespace: str = "x") -> set[str]:
    """Who owns a Deployment."""
    owned = (entry for entries in world.state().inventory.values() for entry in entries.values())
    return {str(entry.placement) for entry in owned if entry.key.namespace == namespace}


def most_down(world: World) -> int:
    """Settles; how many clusters at most were without something available."""
    seen = []
    world.settle(each=lambda: seen.append(sum(bool(one.unavailable()) for one in world.fleet.clusters.values())))
    return max(seen)


def in_namespace(name: str, strategy: Body = ROLLING) -> Body:
    """A ResourcePlacement of the Deployment of namespace x."""
    selector = {"group": "apps", "version": "v1", "kind": "Deployment", "name": "web"}
    spec = {"resourceSelectors": [selector], "strategy": strategy}
    return builders.an_object(builders.PLACEMENT_API, "ResourcePlacement", name, namespace="x", spec=spec)


def test_what_two_placements_select_goes_to_the_other_one_and_keeps_its_namespace() -> None:
    world = fleet(placing("a", "x", "y"), in_namespace("b"))
    assert owners(world) == {"a"}
    with world.nothing_deleted():
        world.roll_out(placing("a", "y"), builders.deployment("x", "web", "app:2"))
    assert (owners(world), images(world)) == ({"x/b"}, {"app:2"})
    assert held(world) == {ApiText.PLACEMENT(object="Namespace/x", placement="a"): {S, P}}


SLOW = ClusterRule(available=timedelta(seconds=30))
EIGHT = tuple(f"c{n}" for n in range(8))
QUARTER = builders.rolling_update(maxUnavailable="25%")
MOVES = {
    "between two that exist": [placing("a", "y", strategy=QUARTER), placing("b", "z", "x", strategy=QUARTER)],
    "split": [placing("a", "y", strategy=QUARTER), placing("new", "x", strategy=QUARTER)],
    "exchanged": [placing("a", "z", "y", strategy=QUARTER), placing("b", "x", strategy=QUARTER)],
    "renamed": [placing("new", "x", "y", strategy=QUARTER)],
}


@pytest.mark.parametrize("move", MOVES)
def test_a_move_with_a_new_image_goes_at_the_pace_of_the_one_that_takes(move: str) -> None:
    before = placing("a", "x", "y", strategy=QUARTER), placing("b", "z", strategy=QUARTER)
    world = fleet(*before, clusters=EIGHT, rules=(SLOW,))
    gone = [before[0]] if move == "renamed" else []
    changed = (
        [one for name in ("x", "z") for one in space(name, "app:2")] if move == "exchanged" else space("x", "app:2")
    )
    with world.nothing_deleted():
        world.commit(*MOVES[move], *changed, remove=gone)
        assert most_down(world) <= (4 if move == "exchanged" else 2)
    state = world.state()
    assert (images(world), state.holds, state.faults) == ({"app:2"}, {}, ())
    assert owners(world) == {"b" if move in ("between two that exist", "exchanged") else "new"}
    assert {str(key) for key in state.placements} == {one["metadata"]["name"] for one in MOVES[move]} | {"b"}


def test_what_moves_to_a_placement_on_fewer_clusters_goes_from_the_others() -> None:
    world = fleet(placing("a", "x", "y"), placing("b", "z", policy=builders.pick_fixed("c2", "c3")))
    world.roll_out(placing("a", "y"), placing("b", "z", "x", policy=builders.pick_fixed("c2", "c3")))
    assert [world.image_in(name, "x") is not None for name in FEW] == [False, True, True]
    assert (owners(world), held(world)) == ({"b"}, {})


def test_what_moves_to_a_file_with_an_error_stays() -> None:
    world = fleet(placing("a", "x", "y"))
    with world.nothing_deleted():
        wrong = builders.to_yaml(placing("b", "x")).replace("strategy:", "stratgy:")
        world.roll_out(files={"placements/a.yaml": builders.to_yaml(placing("a", "y")), "placements/b.yaml": wrong})
        world.roll_out(placing("b", "x"))
    assert (owners(world), held(world), world.state().faults) == ({"b"}, {}, ())


REPORTS = {**ROLLING, "applyStrategy": {"type": "ReportDiff"}}


@pytest.mark.parametrize("how", ["ReportDiff", "frozen", "External"])
def test_what_moves_to_one_that_does_not_apply_it_stays_as_it_is(how: str) -> None:
    strategy = {"ReportDiff": REPORTS, "External": EXTERNAL}.get(how, ROLLING)
    world = fleet(placing("a", "x", "y"), placing("b", "z", strategy=strategy), one_stage())
    until = (world.clock.now() + timedelta(days=9)).isoformat()
    freeze = builders.freeze("sale", until, scope={"placements": ["b"]})
    if how == "frozen":
        world.roll_out(freeze)
    with world.nothing_deleted():
        world.roll_out(placing("a", "y"), placing("b", "z", "x", strategy=strategy), *space("x", "app:2"))
        assert (images(world), owners(world), held(world)) == ({"app:1"}, {"a"}, {})
        if how == "External":
            world.commit(builders.staged_run("go", placement="b", strategy="all"))
        elif how == "frozen":
            world.commit(remove=[freeze])
        else:
            return
        world.settle()
    assert (images(world), owners(world), held(world)) == ({"app:2"}, {"b"}, {})


@pytest.mark.parametrize("how", ["freeze", "External"])
def test_what_moves_out_of_a_gated_placement_moves_with_the_other_one(how: str) -> None:
    world = fleet(placing("web", "x", "y", strategy=EXTERNAL if how == "External" else ROLLING), one_stage())
    if how == "External":
        world.commit(builders.staged_run("go", placement="web", strategy="all"))
    else:
        until = (world.clock.now() + timedelta(days=9)).isoformat()
        world.commit(builders.freeze("sale", until, scope={"placements": ["web"]}))
    world.settle()
    with world.nothing_deleted():
        strategy = EXTERNAL if how == "External" else ROLLING
        world.roll_out(placing("web", "y", strategy=strategy), placing("b", "x"), *space("x", "app:2"))
    assert (images(world), owners(world), held(world)) == ({"app:2"}, {"b"}, {})
