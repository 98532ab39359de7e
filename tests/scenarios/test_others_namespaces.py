"""A Namespace that others made is left with what they have in it, whatever its manifest said in between, and however
gitfleet came to have it; one that gitfleet made goes."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.objects import ObjectKey
from gitfleet.apply.texts import ApplyText
from gitfleet.cli.plan_text import lines_of
from gitfleet.model.events import EventType
from gitfleet.status import sentence
from gitfleet.status.texts import StatusText
from tests import builders
from tests.scenarios.test_planned_steps import plan_of
from tests.scenarios.world import STATE, World, answer

PRUNE = {"gitfleet.dev/prune": "true"}
KEY = ObjectKey("", "v1", "Namespace", "", "shop")
PLACED = builders.placement("shop", strategy=builders.rolling_update())


def space(annotations: dict[str, str] | None = None) -> dict[str, Any]:
    """The manifest, with a field of its own: by that the server knows gitfleet."""
    return builders.an_object("v1", "Namespace", "shop", labels={"team": "a"}, annotations=annotations or {})


def made_by_others(world: World, labels: dict[str, str] | None = None) -> None:
    cluster = world.fleet.cluster("c1")
    cluster.apply_by_hand(builders.an_object("v1", "Namespace", "shop", labels=labels or {"theirs": "1"}))
    cluster.apply_by_hand(builders.config_map("shop", "theirs", {"a": "1"}))


def begun(
    *, there: bool = True, annotations: dict[str, str] | None = None, labels: dict[str, str] | None = None
) -> World:
    """A cluster that has the namespace, by others' hands or by gitfleet's."""
    world = World()
    world.roll_out(builders.member_cluster("c1"), builders.fleet_config(removals={"approval": "Never"}))
    if there:
        made_by_others(world, labels)
    world.roll_out(space(annotations), PLACED)
    return world


def unplaced(world: World) -> bool:
    """Whether the namespace is still there, with what others have in it, once its placement is gone."""
    world.roll_out(remove=[PLACED])
    for hold in world.state().holds.values():
        world.write(answer(hold))
    world.settle()
    assert not world.state().holds and not world.state().inventory
    there = world.live("c1", "Namespace", "shop") is not None
    assert there or world.live("c1", "ConfigMap", "theirs") is None
    return there


def test_what_others_make_between_the_intent_and_the_apply_is_theirs() -> None:
    world, seen = World(), list[str]()
    world.roll_out(builders.member_cluster("c1"))

    def between(what: str) -> None:
        if what == "intent published" and KEY in world.state().inventory.get("c1", {}) and not seen:
            seen.append(what)
            made_by_others(world)

    world.driver.checkpoint = between
    world.roll_out(space(), PLACED)
    assert seen and world.state().inventory["c1"][KEY].uid is not None
    assert unplaced(world)


@pytest.mark.parametrize("labels", [{"theirs": "1"}, {"team": "b"}], ids=["a field of theirs", "none left of theirs"])
def test_what_is_selected_again_is_still_theirs(labels: dict[str, str]) -> None:
    """A field that gitfleet's apply took from its only owner leaves no trace of that owner on the server."""
    world = begun(labels=labels)
    assert unplaced(world)
    (event,) = (event for event in world.events if event.type is EventType.RELEASED and "left" in event.fields)
    assert sentence(event) == StatusText.LEFT_NO_LONGER_MANAGED(place="shop", names=": Namespace/shop", cluster="c1")
    world.roll_out(PLACED)
    assert unplaced(world)


@pytest.mark.parametrize("at_once", [False, True], ids=["later", "at once"])
@pytest.mark.parametrize("there", [True, False], ids=["others made it", "gitfleet made it"])
def test_no_loss_makes_it_gitfleets(at_once: bool, there: bool) -> None:
    world = begun(there=there)
    world.repo.move_branch(STATE, None)
    world.restart()
    if not at_once:
        world.roll_out(space(PRUNE))
        world.roll_out(space())
    assert unplaced(world)


def test_what_others_made_anew_and_what_gitfleet_made_anew() -> None:
    world = begun()
    cluster = world.fleet.cluster("c1")
    assert world.state().inventory["c1"][KEY].taken_over
    cluster.delete_by_hand(KEY)
    world.settle()
    assert not world.state().inventory["c1"][KEY].taken_over, "gitfleet made this one"
    cluster.delete_by_hand(KEY)
    made_by_others(world)
    world.settle()
    assert world.state().inventory["c1"][KEY].taken_over
    assert unplaced(world)


def test_a_plan_says_how_what_others_made_is_deleted() -> None:
    world = begun()
    world.commit(remove=[PLACED])
    said = "\n".join(lines_of(plan_of(world)))
    assert ApplyText.DELETED_ROLL_OUT(prune="gitfleet.dev/prune") in said
