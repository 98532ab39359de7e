"""What a commit takes from a placement that a Pin keeps at older content is judged when that commit comes: a slip is
held from then on, and what is meant goes with the end of the pin."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.holds import HoldRule
from tests import builders
from tests.builders import path_of, to_yaml
from tests.scenarios.test_gates_and_moves import (
    ONE,
    WEB,
    begun,
    image,
    images,
    labelled,
    snapshot,
)
from tests.scenarios.test_holds import answer, only_hold
from tests.scenarios.world import World

X = path_of(image("x:1"))
TEXT = to_yaml(image("x:1"))
PIN = "pins/web.yaml"
Files = dict[str, str | None]
NAMED = builders.placement("web", "web", "x", strategy=ONE)


def rules(world: World) -> set[HoldRule]:
    return {reason.rule for hold in world.state().holds.values() for reason in hold.reasons}


def pinned(*more: dict[str, Any]) -> World:
    """Three clusters on which `web` is pinned to what it has, x:1."""
    world = begun(ONE, ONE)
    if more:
        world.commit(*more)
        world.settle()
    found = snapshot(world)
    world.commit(builders.pin("web", found.index, found.hash))
    world.settle()
    assert world.state().placements[WEB].is_pinned and not world.state().holds
    return world


SLIPS: dict[str, tuple[Files, HoldRule]] = {
    "a letter of its name": ({X: TEXT.replace("name: web", "name: wbe")}, HoldRule.LIKELY_TYPO),
    "a letter of its name, in another file": (
        {X: None, "resources/x/other.yaml": TEXT.replace("name: web", "name: wbe")},
        HoldRule.LIKELY_TYPO,
    ),
    ".bak": ({X: None, f"{X}.bak": TEXT}, HoldRule.IGNORED_FILE),
    ".txt": ({X: None, f"{X}.txt": TEXT}, HoldRule.IGNORED_FILE),
    "an ignore rule": ({".gitfleetignore": f"/{X}\n"}, HoldRule.IGNORED_FILE),
    "an error beside it": ({X: None, "placements/new.yaml": "kind: [\n"}, HoldRule.UNCLEAR_COMMIT),
    "its label": ({path_of(labelled("x", "web")): to_yaml(labelled("x", "wbe"))}, HoldRule.LABELS_CHANGED),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_under_a_pin_is_held_from_its_commit_on_and_stays_at_the_end_of_the_pin(slip: str) -> None:
    files, rule = SLIPS[slip]
    world = pinned()
    with world.nothing_deleted():
        world.write(files)
        world.settle()
        assert rules(world) == {rule}
        world.restart()
        world.write({"docs/notes.md": "text"})
        world.settle()
        world.write({PIN: None})
        world.settle()
        world.restart()
        world.settle()
    assert images(world) == {"x:1"} and rule in rules(world)


def test_a_slip_of_the_kind_under_a_pin_is_an_error_and_stays_at_the_end_of_the_pin() -> None:
    world = pinned()
    with world.nothing_deleted():
        world.write({X: TEXT.replace("Deployment", "Deploymnt")})
        world.settle()
        world.write({PIN: None})
        world.settle()
    assert images(world) == {"x:1"} and world.state().faults


@pytest.mark.parametrize("slip", SLIPS)
@pytest.mark.parametrize("ended_first", [False, True])
def test_a_slip_that_is_corrected_leaves_no_hold(slip: str, ended_first: bool) -> None:
    files, _ = SLIPS[slip]
    world = pinned()
    was = {path: text.decode() for path, text in world.repo.files("main").items()}
    world.write(files)
    world.settle()
    ends: list[Files] = [{PIN: None}, {path: was.get(path) for path in files}]
    for one in ends if ended_first else reversed(ends):
        world.write(one)
        world.settle()
    deleted = {str(happening.key) for happening in world.happenings if happening.what == "delete"}
    assert deleted <= {"Deployment/x/wbe"}
    assert images(world) == {"x:1"} and not world.state().holds


def test_an_approval_under_a_pin_lets_it_go_at_the_end_of_the_pin() -> None:
    world = pinned()
    with world.nothing_deleted():
        world.write(SLIPS[".bak"][0])
        world.settle()
        world.write(answer(only_hold(world)))
        world.settle()
        world.write({"docs/notes.md": "text"})
        world.settle()
    world.write({PIN: None})
    world.settle()
    assert images(world) == {None} and not world.state().holds


def test_what_is_removed_on_purpose_under_a_pin_is_not_held_and_goes_at_its_end() -> None:
    world = pinned()
    with world.nothing_deleted():
        world.write({X: None})
        world.settle()
        assert not world.state().holds
        world.write({"placements/new.yaml": "kind: [\n"})
        world.settle()
        assert not world.state().holds
        world.write({"placements/new.yaml": None})
        world.settle()
    world.write({PIN: None})
    world.settle()
    assert images(world) == {None} and not world.state().holds


@pytest.mark.parametrize("selector", ["y", None])
def test_a_selector_that_goes_under_a_pin(selector: str | None) -> None:
    world = pinned(NAMED)
    with world.nothing_deleted():
        world.commit(builders.placement("web", *filter(None, ("web", selector)), strategy=ONE))
        world.settle()
        assert rules(world) == ({HoldRule.EMPTY_SELECTION} if selector else set())
        world.write({"placements/new.yaml": "kind: [\n"})
        world.settle()
        assert rules(world) == ({HoldRule.EMPTY_SELECTION} if selector else set())
        world.write({"placements/new.yaml": None})
        world.settle()
    world.write({PIN: None})
    world.settle()
    assert images(world) == ({"x:1"} if selector else {None})
    assert rules(world) == ({HoldRule.EMPTY_SELECTION} if selector else set())
