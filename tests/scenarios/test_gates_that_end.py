"""What a gate delays (a strategy External before its run, a freeze) is judged when its commit comes, and not forgotten
until the gate ends: a slip is held from that commit on, and what is meant goes with the end of the gate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitfleet.api.holds import HoldRule
from tests import builders
from tests.builders import path_of, to_yaml
from tests.scenarios.staged_world import EXTERNAL, QUICK, members
from tests.scenarios.test_gates_and_moves import (
    FEW,
    ONE,
    begun,
    frozen,
    image,
    images,
    labelled,
    owner_of_x,
)
from tests.scenarios.test_holds import answer, only_hold
from tests.scenarios.test_slips_under_pins import SLIPS, X, rules
from tests.scenarios.world import World


def run(name: str, of: str) -> dict[str, Any]:
    return builders.staged_run(name, placement=of, strategy="all")


def moved(strategy: dict[str, Any]) -> World:
    """Namespace x went from `web` to `shop`, and nothing has been rolled out of that."""
    world = begun(strategy, strategy)
    if strategy != EXTERNAL:
        world.commit(*frozen(world, "*"))
        world.settle()
    with world.nothing_deleted():
        world.commit(labelled("x", "shop"))
        world.settle()
    assert owner_of_x(world) == {"web"} and not world.state().holds
    return world


def rolled(world: World, strategy: dict[str, Any]) -> None:
    """Both placements reach what they select now, `web` first."""
    if strategy == EXTERNAL:
        for of in ("web", "shop", "web"):
            world.commit(run(f"again-{of}-{len(world.state().runs)}", of))
            world.settle()
    else:
        world.write({"freezes/f.yaml": None})
        world.settle()


MOVED_SLIPS = {name: one for name, one in SLIPS.items() if name != "its label"}


@pytest.mark.parametrize("strategy", [EXTERNAL, ONE], ids=["External", "frozen"])
@pytest.mark.parametrize("slip", MOVED_SLIPS)
def test_a_slip_in_what_moved_and_was_not_rolled_out_is_held(slip: str, strategy: dict[str, Any]) -> None:
    files, rule = MOVED_SLIPS[slip]
    world = moved(strategy)
    with world.nothing_deleted():
        world.write(files)
        world.settle()
        assert rules(world) == {rule}
        world.restart()
        rolled(world, strategy)
        world.restart()
        world.settle()
    assert images(world) == {"x:1"} and rules(world) == {rule}


@pytest.mark.parametrize("strategy", [EXTERNAL, ONE], ids=["External", "frozen"])
def test_a_slip_in_the_label_of_what_moved_and_was_not_rolled_out_is_refused_then_held(
    strategy: dict[str, Any],
) -> None:
    world = moved(strategy)
    with world.nothing_deleted():
        world.write({path_of(labelled("x", "web")): to_yaml(labelled("x", "shpo"))})
        world.settle()
        (fault,) = world.state().faults
        assert "nearly are those that ClusterResourcePlacement shop selects by" in fault.message
        world.restart()
        rolled(world, strategy)
        world.restart()
        world.settle()
        assert images(world) == {"x:1"} and rules(world) == {HoldRule.LABELS_CHANGED}
        world.commit(labelled("x", "shop"))
        world.settle()
    assert owner_of_x(world) == {"shop"} and not world.state().holds


@pytest.mark.parametrize("strategy", [EXTERNAL, ONE], ids=["External", "frozen"])
def test_what_moved_and_is_removed_on_purpose_goes_with_the_rollout(strategy: dict[str, Any]) -> None:
    world = moved(strategy)
    with world.nothing_deleted():
        world.write({X: None})
        world.settle()
    assert not world.state().holds
    rolled(world, strategy)
    assert images(world) == {None} and not world.state().holds


# Dropped from a gate in one commit, added elsewhere in another


def external(_: World) -> None:
    pass


def freeze(world: World) -> None:
    world.commit(*frozen(world, "web"))
    world.settle()


def dropped(gate: Callable[[World], None]) -> World:
    """`web`, which is External or frozen, has given up namespace x, and has it on every cluster still."""
    strategy = EXTERNAL if gate is external else ONE
    world = begun(strategy, ONE)
    world.commit(builders.placement("web", "web", "x", strategy=strategy))
    world.settle()
    gate(world)
    with world.nothing_deleted():
        world.commit(builders.placement("web", "web", strategy=strategy))
        world.settle()
    assert not world.state().holds and images(world) == {"x:1"} and owner_of_x(world) == {"web"}
    return world


GATES = {external: HoldRule.NOT_EXTERNAL, freeze: HoldRule.GATE_LOST}


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("new", [False, True], ids=["another", "a new one"])
def test_what_left_a_gate_in_an_earlier_commit_waits_where_another_placement_takes_it(
    gate: Callable[[World], None], new: bool
) -> None:
    world = dropped(gate)
    with world.nothing_deleted():
        world.commit(builders.placement("late" if new else "shop", "spare", "x", strategy=ONE))
        if new:
            world.commit(builders.placement("late", "x", strategy=ONE))
        world.settle()
        assert rules(world) == {GATES[gate]}
        world.restart()
        world.settle()
        assert images(world) == {"x:1"} and owner_of_x(world) == {"web"}
        world.write(answer(only_hold(world)))
        world.settle()
        world.commit(image("x:2"))
        world.settle()
        assert images(world) == {"x:2"} and owner_of_x(world) == {"late" if new else "shop"}
    assert not world.state().holds


@pytest.mark.parametrize("gate", GATES)
def test_taking_that_back_gives_it_up_as_before(gate: Callable[[World], None]) -> None:
    world = dropped(gate)
    with world.nothing_deleted():
        world.commit(builders.placement("shop", "spare", "x", strategy=ONE))
        world.settle()
        world.commit(builders.placement("shop", "spare", strategy=ONE))
        world.settle()
    assert not world.state().holds and images(world) == {"x:1"}


def test_what_left_a_freeze_goes_to_the_other_one_when_it_ends() -> None:
    world = dropped(freeze)
    with world.nothing_deleted():
        world.commit(builders.placement("shop", "spare", "x", strategy=ONE), image("x:2"))
        world.settle()
        assert rules(world) == {HoldRule.GATE_LOST}
        world.write({"freezes/f.yaml": None})
        world.settle()
    assert not world.state().holds and images(world) == {"x:2"} and owner_of_x(world) == {"shop"}


def test_a_frozen_placement_that_goes_whole_is_waited_for_too() -> None:
    world = begun(ONE, ONE)
    freeze(world)
    with world.nothing_deleted():
        world.commit(remove=["placements/web.yaml"])
        world.settle()
        world.commit(builders.placement("shop", "spare", "x", strategy=ONE))
        world.settle()
        world.commit(image("x:2"))
        world.settle()
        assert rules(world) == {HoldRule.GATE_LOST} and images(world) == {"x:1"}


def test_a_label_slip_in_the_commit_that_ends_a_freeze_is_held() -> None:
    world = begun(ONE, ONE)
    freeze(world)
    with world.nothing_deleted():
        world.commit(labelled("x", "shop"))
        world.settle()
        assert rules(world) == {HoldRule.GATE_LOST}
        world.commit(labelled("x", "shpo"), remove=["freezes/f.yaml"])
        world.settle()
    assert images(world) == {"x:1"} and world.state().holds


@pytest.mark.parametrize("gate", GATES)
def test_what_another_placement_selected_before_it_left_a_gate_waits_too(gate: Callable[[World], None]) -> None:
    strategy = EXTERNAL if gate is external else ONE
    world = begun(strategy, ONE)
    gate(world)
    with world.nothing_deleted():
        world.commit(builders.placement("late", "x", strategy=ONE))
        world.settle()
        world.commit(builders.placement("web", "web", strategy=strategy))
        world.settle()
    assert rules(world) == {GATES[gate]} and owner_of_x(world) == {"web"}


def test_what_a_run_has_removed_may_be_placed_by_anybody() -> None:
    world = dropped(external)
    world.commit(run("again", "web"))
    world.settle()
    assert images(world) == {None}
    world.commit(builders.placement("shop", "spare", "x", strategy=ONE))
    world.settle()
    assert not world.state().holds and owner_of_x(world) == {"shop"}


def test_what_left_a_freeze_may_go_to_another_placement_that_is_frozen_as_long() -> None:
    world = dropped(freeze)
    world.commit(*frozen(world, "shop", days=40, name="g"))
    world.commit(builders.placement("shop", "spare", "x", strategy=ONE))
    world.settle()
    assert not world.state().holds and owner_of_x(world) == {"web"}


@pytest.mark.parametrize("gate", GATES)
def test_a_slip_in_what_a_hold_of_gates_keeps_is_held_by_itself(gate: Callable[[World], None]) -> None:
    world = dropped(gate)
    with world.nothing_deleted():
        world.commit(builders.placement("shop", "spare", "x", strategy=ONE))
        world.settle()
        world.commit(builders.placement("shop", "spare", "y", strategy=ONE))
        world.settle()
        assert rules(world) == {GATES[gate], HoldRule.EMPTY_SELECTION}
        if gate is freeze:
            world.write({"freezes/f.yaml": None})
            world.settle()
            assert HoldRule.EMPTY_SELECTION in rules(world)
        world.commit(builders.placement("shop", "spare", "x", strategy=ONE))
        world.settle()
    assert images(world) == {"x:1"} and rules(world) == (set() if gate is freeze else {GATES[gate]})


@pytest.mark.parametrize("picked", [("c1", "c2", "c3"), ("c1", "c3"), ("c2",)])
def test_a_cluster_that_is_picked_again_keeps_what_waited_there_for_a_frozen_placement(picked: tuple[str, ...]) -> None:
    def placing(name: str, *namespaces: str, on: tuple[str, ...]) -> dict[str, Any]:
        return builders.placement(name, *namespaces, strategy=ONE, policy=builders.pick_fixed(*on))

    was = placing("shop", "spare", "x", on=FEW), placing("api", "web", on=picked)
    world = World(rules=(QUICK,))
    objects = [*map(builders.namespace, ("web", "x", "spare")), image("x:1")]
    world.commit(builders.fleet_config(massDelete={"maxPercent": 100}), *members(*FEW), *objects, *was)
    world.settle()
    world.commit(*frozen(world, "api"))
    world.commit(placing("shop", "spare", on=("c1", "c3")), placing("api", "web", "x", on=picked))
    world.settle()
    assert world.live("c2", "Namespace", "spare") is None and images(world) == {"x:1"}
    with world.nothing_deleted():
        world.commit(*was)
        world.settle()
    assert world.live("c2", "Namespace", "spare") is not None and images(world) == {"x:1"}
    assert owner_of_x(world) == {"shop"} and set(world.bindings("shop")) == set(FEW)
