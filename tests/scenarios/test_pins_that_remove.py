"""What a Pin to an older snapshot takes away: it goes, since a person asked for it, unless its commit has an error or
takes the same object away in another way, by what may be a slip (decision record 0020)."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.holds import HoldRule
from tests import builders
from tests.builders import path_of, repo_files_for, to_yaml
from tests.scenarios.staged_world import EXTERNAL, QUICK, members, one_stage
from tests.scenarios.test_gates_and_moves import FEW, ONE, WEB, image, images
from tests.scenarios.test_slips_under_pins import Files, rules
from tests.scenarios.world import World

X = path_of(image("x:1"))
TEXT = to_yaml(image("x:1"))
BROKEN: Files = {"placements/new.yaml": "kind: [\n"}
WEB_FILE, SHOP_FILE = "placements/web.yaml", "placements/shop.yaml"


def placed(name: str, *namespaces: str, strategy: dict[str, Any] = ONE) -> dict[str, Any]:
    return builders.placement(name, *namespaces, strategy=strategy)


def begun(shop: dict[str, Any]) -> World:
    """Three clusters on which `web` has the namespaces web and x, by its snapshot 1, and `shop` has spare."""
    world = World(rules=(QUICK,))
    namespaces = (builders.namespace(name) for name in ("web", "x", "spare"))
    objects = (*namespaces, builders.deployment("web", "web"), image("x:1"), builders.config_map("spare", "s"))
    world.commit(*members(*FEW), *objects, one_stage(), placed("web", "web"), placed("shop", "spare", strategy=shop))
    world.settle()
    world.commit(placed("web", "web", "x"))
    world.settle()
    assert images(world) == {"x:1"}
    return world


def pin(world: World, number: int, placement: str = "web") -> dict[str, Any]:
    """A Pin of what is `web` now to one of its snapshots."""
    found = world.state().placements[WEB].resource_snapshots[number]
    return builders.pin(placement, found.index, found.hash, name="web")


def files(*bodies: dict[str, Any]) -> Files:
    return {**repo_files_for(*bodies)}


def renamed(*namespaces: str) -> Files:
    return {WEB_FILE: None, **files(placed("web2", *namespaces))}


HELD: dict[str, tuple[str, Files, HoldRule]] = {
    "an error": ("web", BROKEN, HoldRule.UNCLEAR_COMMIT),
    "a rename that waits for the pin": ("web", renamed("web", "x"), HoldRule.UNCLEAR_COMMIT),
    "a move with a slip": (
        "web",
        files(placed("web", "web"), placed("shop", "spare", "xx")),
        HoldRule.EMPTY_SELECTION,
    ),
    "a rename, and a move with a slip": (
        "web2",
        {**renamed("web"), **files(placed("shop", "spare", "xx"))},
        HoldRule.EMPTY_SELECTION,
    ),
    "an object out of sight": ("web", {X: None, f"{X}.bak": TEXT}, HoldRule.IGNORED_FILE),
    "a letter of a name": ("web", {X: TEXT.replace("name: web", "name: wbe")}, HoldRule.LIKELY_TYPO),
}


@pytest.mark.parametrize("beside", HELD)
def test_what_a_pin_takes_away_is_held_beside(beside: str) -> None:
    named, edits, rule = HELD[beside]
    world = begun(ONE)
    with world.nothing_deleted():
        world.write({**files(pin(world, 0, named)), **edits})
        world.settle()
        world.restart()
        world.settle()
    assert images(world) == {"x:1"} and rule in rules(world)


GOES: dict[str, tuple[str, Files]] = {
    "nothing": ("web", {}),
    "a rename": ("web2", renamed("web", "x")),
    "the removal of the file": ("web", {X: None}),
}


@pytest.mark.parametrize("beside", GOES)
def test_what_a_pin_takes_away_goes_beside(beside: str) -> None:
    named, edits = GOES[beside]
    world = begun(ONE)
    world.write({**files(pin(world, 0, named)), **edits})
    world.settle()
    assert images(world) == {None} and not world.state().holds
    assert {world.image(name) for name in FEW} == {"web:1"}


def test_it_goes_once_the_error_beside_the_pin_is_corrected() -> None:
    world = begun(ONE)
    world.write({**files(pin(world, 0)), **BROKEN})
    world.settle()
    world.write(dict.fromkeys(BROKEN))
    world.settle()
    assert images(world) == {None} and not world.state().holds


def test_a_pin_and_a_rename_delete_nothing_that_another_placement_wants() -> None:
    world = begun(ONE)
    with world.nothing_deleted():
        edits = {**renamed("web"), **files(placed("shop", "spare", "x"))}
        world.write({**files(pin(world, 0, "web2")), **edits})
        world.settle()
    assert images(world) == {"x:1"} and not world.state().holds


SLIPS: dict[str, Files] = {
    "of a selector": files(placed("shop", "spare", "xx", strategy=EXTERNAL)),
    "that drops it": files(placed("shop", "spare", strategy=EXTERNAL)),
    "of its file": {SHOP_FILE: None, f"{SHOP_FILE}.bak": to_yaml(placed("shop", "spare", "x", strategy=EXTERNAL))},
}


@pytest.mark.parametrize("slip", SLIPS)
@pytest.mark.parametrize("is_pinned", [True, False])
def test_what_is_kept_for_a_placement_with_a_slip_stays_while_its_keeper_is_renamed_with_an_error(
    slip: str, is_pinned: bool
) -> None:
    world = begun(EXTERNAL)
    world.commit(placed("web", "web"), placed("shop", "spare", "x", strategy=EXTERNAL))
    world.settle()
    if is_pinned:
        world.commit(pin(world, -1))
        world.settle()
    new = to_yaml(placed("web2", "web"))
    with world.nothing_deleted():
        world.write({WEB_FILE: None, "placements/web2.yaml": new.replace("RollingUpdate", "Roll"), **SLIPS[slip]})
        world.settle()
    if slip == "that drops it":
        return
    with world.nothing_deleted():
        world.write({"placements/web2.yaml": new})
        world.settle()
    assert images(world) == {"x:1"} and rules(world)
