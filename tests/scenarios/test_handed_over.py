"""A placement that takes over what another one had, and may not begin yet: that stays until the new one has it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.holds import HoldRule
from gitfleet.loop.texts import LoopText
from tests import builders
from tests.scenarios.staged_world import EXTERNAL, QUICK, members, one_stage, rolled_out, staged
from tests.scenarios.test_crashes import Killer
from tests.scenarios.test_holds import only_hold
from tests.scenarios.test_overrides_that_fail import failing_override
from tests.scenarios.test_pins import pinned, released
from tests.scenarios.world import World

ROLLING = builders.rolling_update(maxUnavailable=1)
Files = list[dict[str, Any]]


def shop(strategy: dict[str, Any] = ROLLING) -> dict[str, Any]:
    """What `web` selects and more."""
    return builders.placement("shop", "web", "spare", strategy=strategy)


def rename(world: World, *also: dict[str, Any], strategy: dict[str, Any] = ROLLING) -> None:
    """Beside another new one: which of the two has only another name cannot be said."""
    other = builders.namespace("other"), builders.placement("other")
    world.commit(shop(strategy), builders.namespace("spare"), *other, *also, remove=["placements/web.yaml"])


def owners(world: World) -> set[str]:
    """The placements that own anything of what `web` had."""
    owned = (entry for entries in world.state().inventory.values() for entry in entries.values())
    return {str(entry.placement) for entry in owned if entry.key.name not in ("spare", "other")}


def handed_over(world: World) -> None:
    """The new one has everything, and nothing was deleted on the way."""
    world.settle()
    assert owners(world) == {"shop"} and {str(key) for key in world.state().placements} == {"other", "shop"}


def test_of_several_that_take_over_the_one_of_the_first_object_is_named() -> None:
    """In whatever process, whatever its hashes."""
    world, spaces = World(), [f"space-{letter}" for letter in "abcdefghijkl"]
    every = [builders.select_namespace(space) for space in spaces]
    world.commit(*members("c1"), *map(builders.namespace, spaces), builders.placement("web", selectors=every))
    world.settle()
    world.commit(
        *(builders.placement(f"to-{space}", space, strategy=EXTERNAL) for space in spaces),
        remove=["placements/web.yaml"],
    )
    world.settle()
    result = world.reconcile()
    assert result is not None and "until ClusterResourcePlacement to-space-a has its objects" in result.asks[0]


def a_pin(world: World) -> Files:
    pin = pinned(world, 0)
    world.commit(pin)
    world.settle()
    return [{**pin, "spec": {**pin["spec"], "placement": "shop"}}]


def no_pin(world: World) -> None:
    world.commit(remove=["pins/web.yaml"])


def a_freeze(world: World) -> Files:
    until = (world.clock.now() + timedelta(days=300)).isoformat()
    return [builders.freeze("sale", until, scope={"placements": ["shop"]})]


def no_freeze(world: World) -> None:
    world.commit(remove=["freezes/sale.yaml"])


WAITS = "web stays on c1, c2 and c3" + LoopText.UNTIL_OBJECTS(other="ClusterResourcePlacement", other_2="shop")
GATES = {"pin": (a_pin, no_pin), "freeze": (a_freeze, no_freeze)}


@pytest.mark.parametrize("gate", GATES)
def test_what_may_not_begin_under_its_new_name_stays_under_the_old_one(gate: str) -> None:
    close, open_ = GATES[gate]
    world = released("web:2")
    closed = close(world)
    with world.nothing_deleted():
        rename(world, *closed)
        world.settle()
        world.restart()
        world.settle()
        before = rolled_out(world)
        assert len(before) == 3 and None not in before.values() and owners(world) == {"web"}
        result = world.reconcile()
        frozen = gate == "freeze"
        assert result is not None and (result.settled, result.frozen) == (not frozen, frozen)
        assert not any(line.startswith("web") for line in result.waiting)
        assert (WAITS in result.asks) is not frozen
        assert all(line.startswith(("pins/web.yaml:1 ", "shop: ", WAITS)) for line in result.asks)
        open_(world)
        handed_over(world)


@pytest.mark.parametrize("crash_at", [None, 3, 4, 5])
def test_one_whose_override_cannot_be_applied_under_its_new_name_stays_under_the_old_one(crash_at: int | None) -> None:
    world = released("web:2")
    with world.nothing_deleted():
        rename(world, dict(failing_override()))
        if crash_at is not None:
            world.driver.checkpoint = Killer(crash_at)
        world.settle()
        assert rolled_out(world) == dict.fromkeys(("c1", "c2", "c3"), "web:2") and owners(world) == {"web"}
        world.commit(remove=[failing_override()])
        handed_over(world)


def test_a_renamed_external_placement_is_handed_over_by_the_run_of_its_new_name() -> None:
    world = staged(World(rules=(QUICK,)), *members("c1", "c2", "c3"))
    world.commit(one_stage(), builders.staged_run("go", placement="web", strategy="all"))
    world.settle()
    with world.nothing_deleted():
        rename(world, strategy=EXTERNAL)
        world.settle()
        assert owners(world) == {"web"} and not world.state().holds
        result = world.reconcile()
        assert result is not None and (result.settled, result.waiting) == (True, ())
        assert result.asks == ((f"{WAITS}" + LoopText.WAITS_RUN_ADD_ONE_GITFLEET(other="shop")),)
        world.commit(builders.staged_run("on", placement="shop", strategy="all"))
        handed_over(world)


def test_a_rename_that_loses_external_is_held_as_the_loss_alone_is() -> None:
    world = staged(World(rules=(QUICK,)), *members("c1", "c2", "c3"))
    world.commit(one_stage(), builders.staged_run("go", placement="web", strategy="all"))
    world.settle()
    before = rolled_out(world)
    rename(world, builders.deployment("web", "web", image="web:9"))
    world.settle()
    assert [reason.rule for reason in only_hold(world).reasons] == [HoldRule.NOT_EXTERNAL]
    assert rolled_out(world) == before and owners(world) == {"web"}
