"""What a gate delays (a strategy External before its run, a freeze) is judged when its commit comes, and not forgotten
until the gate ends: a slip is held from that commit on, and what is meant goes with the end of the gate."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.holds import HoldRule
from tests import builders
from tests.builders import path_of, to_yaml
from tests.scenarios.staged_world import EXTERNAL
from tests.scenarios.test_gates_and_moves import (
    ONE,
    begun,
    frozen,
    images,
    labelled,
    owner_of_x,
)
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


MOVED_SLIPS = {name: one for name, one in SLIPS.items() if name != "its label"} | {
    "its label": ({path_of(labelled("x", "web")): to_yaml(labelled("x", "shpo"))}, HoldRule.LABELS_CHANGED)
}


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
def test_what_moved_and_is_removed_on_purpose_goes_with_the_rollout(strategy: dict[str, Any]) -> None:
    world = moved(strategy)
    with world.nothing_deleted():
        world.write({X: None})
        world.settle()
    assert not world.state().holds
    rolled(world, strategy)
    assert images(world) == {None} and not world.state().holds
