"""A Namespace that others made is left with what they have in it, whatever its manifest said in between, and however
gitfleet came to have it; one that gitfleet made goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitfleet.api.objects import ObjectKey
from gitfleet.cli.plan_text import lines_of
from gitfleet.model.events import EventType
from gitfleet.status import sentence
from gitfleet.status.texts import StatusText
from tests import builders
from tests.scenarios.test_garbled_state import garble
from tests.scenarios.test_holds import answer
from tests.scenarios.test_planned_steps import plan_of
from tests.scenarios.world import STATE, World

KEEP = {"gitfleet.dev/prune": "false"}
PRUNE = {"gitfleet.dev/prune": "true"}
HELM = {"helm.sh/resource-policy": "keep"}
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
    world.commit(builders.member_cluster("c1"), builders.fleet_config(massDelete={"maxPercent": 100}))
    world.settle()
    if there:
        made_by_others(world, labels)
    world.commit(space(annotations), PLACED)
    world.settle()
    return world


def unplaced(world: World) -> bool:
    """Whether the namespace is still there, with what others have in it, once its placement is gone."""
    world.commit(remove=[PLACED])
    world.settle()
    for hold in world.state().holds.values():
        world.write(answer(hold))
    world.settle()
    assert not world.state().holds and not world.state().inventory
    there = world.live("c1", "Namespace", "shop") is not None
    assert there or world.live("c1", "ConfigMap", "theirs") is None
    return there


@pytest.mark.parametrize(
    ("words", "stays"),
    [
        (({},), True),
        ((KEEP, {}), True),
        ((HELM, {}), True),
        (({}, HELM, {}), True),
        (({}, PRUNE, {}), True),
        (({}, PRUNE, KEEP, {}), True),
        (({}, KEEP, PRUNE), False),
        (({}, PRUNE), False),
    ],
    ids=str,
)
@pytest.mark.parametrize("there", [True, False], ids=["others made it", "gitfleet made it"])
def test_the_last_word_counts_and_where_it_comes_from(
    words: tuple[dict[str, str], ...], stays: bool, there: bool
) -> None:
    world = begun(there=there, annotations=words[0])
    for word in words[1:]:
        world.commit(space(word))
        world.settle()
    assert unplaced(world) == (stays and there)


def test_what_others_make_between_the_intent_and_the_apply_is_theirs() -> None:
    world, seen = World(), list[str]()
    world.commit(builders.member_cluster("c1"))
    world.settle()

    def between(what: str) -> None:
        if what == "intent published" and KEY in world.state().inventory.get("c1", {}) and not seen:
            seen.append(what)
            made_by_others(world)

    world.driver.checkpoint = between
    world.commit(space(), PLACED)
    world.settle()
    assert seen and world.state().inventory["c1"][KEY].uid is not None
    assert unplaced(world)


@pytest.mark.parametrize("labels", [{"theirs": "1"}, {"team": "b"}], ids=["a field of theirs", "none left of theirs"])
def test_what_is_selected_again_is_still_theirs(labels: dict[str, str]) -> None:
    """A field that gitfleet's apply took from its only owner leaves no trace of that owner on the server."""
    world = begun(labels=labels)
    assert unplaced(world)
    (event,) = (event for event in world.events if event.type is EventType.RELEASED and "left" in event.fields)
    assert sentence(event) == StatusText.LEFT_NO_LONGER_MANAGED(place="shop", names=": Namespace/shop", cluster="c1")
    world.commit(PLACED)
    world.settle()
    assert unplaced(world)


def lost(world: World) -> None:
    """The inventory is gone, and the history with it."""
    paths = [path for path in world.repo.files(STATE) if path.startswith("inventory/")]
    garble(world, dict.fromkeys(paths), history=False)


def lost_for_good(world: World) -> None:
    """Nothing is left of the branch."""
    world.repo.move_branch(STATE, None)


def of_an_earlier_version(world: World) -> None:
    """Where it comes from stands in what protects it alone."""
    files = {path: text for path, text in world.repo.files(STATE).items() if path.startswith("inventory/")}
    older = {path: text.replace(b'"takenOver":true,', b"") for path, text in files.items()}
    assert (older != files) == any(entry.taken_over for entry in world.state().inventory["c1"].values())
    garble(world, dict(older), history=True)
    assert not world.state().inventory["c1"][KEY].taken_over


@pytest.mark.parametrize("what", [lost, lost_for_good, of_an_earlier_version], ids=lambda what: what.__name__)
@pytest.mark.parametrize("at_once", [False, True], ids=["later", "at once"])
@pytest.mark.parametrize("there", [True, False], ids=["others made it", "gitfleet made it"])
def test_no_loss_makes_it_gitfleets(what: Callable[[World], None], at_once: bool, there: bool) -> None:
    world = begun(there=there)
    what(world)
    world.restart()
    if not at_once:
        world.commit(space(PRUNE))
        world.settle()
        world.commit(space())
        world.settle()
    assert unplaced(world) == (there or what is not of_an_earlier_version), "nobody knows whose it is"


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
    assert 'to have it deleted, roll it out with gitfleet.dev/prune: "true" in its manifest' in said
