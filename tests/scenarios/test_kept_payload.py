"""An object goes on as it was accepted last, as its file has an error: which placement it belongs to now can be read
nowhere, so a later commit that would take it away waits for the correction (invariant 2)."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.holds import HoldRule
from tests import builders
from tests.builders import path_of, to_yaml
from tests.scenarios.test_faulty_renames import placing
from tests.scenarios.test_holds import answer, only_hold
from tests.scenarios.test_unclear_commits import Files, at, placed
from tests.scenarios.world import World


def labelled(group: str) -> str:
    return to_yaml(builders.namespace("k", labels={"g": group}))


def by_label(name: str, group: str, *names: str) -> dict[str, Any]:
    placement = placing(name, *names)
    labels = {"matchLabels": {"g": group}}
    placement["spec"]["resourceSelectors"].append(
        {"group": "", "version": "v1", "kind": "Namespace", "labelSelector": labels}
    )
    return placement


AT_K = path_of(builders.namespace("k"))
MOVED = labelled("b")
ERRORS: dict[str, Files] = {
    "a kind of no version": {AT_K: MOVED.replace("apiVersion: v1", "apiVersion: v1x")},
    "a label that is no text": {AT_K: MOVED.replace("g: b", "g: [b]")},
    "no YAML": {AT_K: f"kind: [\n{MOVED}"},
    "another ending": {AT_K: None, f"{AT_K[:-5]}.YAML": MOVED},
}
LATER: dict[str, Files] = {
    "its placement is removed": {at("web"): None},
    "its selector is dropped": {at("web"): to_yaml(placing("web", "web"))},
    "others take over the rest": {at("web"): None, at("store"): to_yaml(by_label("store", "b", "n1", "web"))},
}


def spoilt(error: str) -> World:
    """web has k by a label, which an edit changes to that of store, with an error."""
    k = builders.namespace("k", labels={"g": "a"}), builders.deployment("k", "app")
    world = placed(by_label("web", "a", "web"), by_label("store", "b", "n1"), more=k)
    world.write(ERRORS[error])
    world.settle()
    assert (world.state().holds, bool(world.state().faults)) == ({}, True)
    return world


@pytest.mark.parametrize("later", LATER)
@pytest.mark.parametrize("error", ERRORS)
def test_a_later_commit_takes_nothing_away_of_which_the_file_has_an_error(error: str, later: str) -> None:
    world = spoilt(error)
    start = len(world.happenings)
    world.write(LATER[later])
    world.settle()
    assert {reason.rule for reason in only_hold(world).reasons} == {HoldRule.UNCLEAR_COMMIT}
    world.restart()
    world.settle()
    world.write({**dict.fromkeys(ERRORS[error]), AT_K: MOVED})
    world.settle()
    gone = {one.key for one in world.happenings[start:] if one.what == "delete"}
    assert not [key for key in gone if "k" in (key.name, key.namespace)]
    assert (world.state().holds, world.state().faults) == ({}, ())
    owner = {str(entry.placement) for key, entry in world.state().inventory["c1"].items() if key.name == "k"}
    assert owner == {"store"}


@pytest.mark.parametrize("error", ERRORS)
def test_it_is_selected_by_its_old_label_and_a_new_name(error: str) -> None:
    """web is folded into store, which names what it is to have, and the label is taken away with an error: store has it
    once, and all else that it names."""
    k = builders.namespace("k", labels={"g": "b"}), builders.deployment("k", "app")
    world = placed(placing("web", "web"), by_label("store", "b", "n1"), more=k)
    start = len(world.happenings)
    world.write({**ERRORS[error], at("web"): None, at("store"): to_yaml(by_label("store", "b", "n1", "web", "k"))})
    world.settle()
    assert "more than once" not in str(world.state().placements)
    world.write({**dict.fromkeys(ERRORS[error]), AT_K: labelled("none")})
    world.settle()
    for hold in world.state().holds.values():
        world.write(answer(hold))
    world.settle()
    assert [one.key for one in world.happenings[start:] if one.what == "delete"] == []
    owners = {str(entry.placement) for entry in world.state().inventory["c1"].values()}
    assert (world.state().faults, owners) == ((), {"store"})


def test_what_goes_beside_it_does_not_wait() -> None:
    world = spoilt("no YAML")
    world.write({path_of(builders.deployment("web", "app")): None})
    world.settle()
    assert (world.state().holds, world.live("c1", "Deployment", "app", "web")) == ({}, None)


def test_a_person_may_let_it_go_and_so_does_a_commit_that_removes_the_file_with_the_error() -> None:
    for approved in (False, True):
        world = spoilt("no YAML")
        world.write({at("web"): None})
        world.settle()
        hold = only_hold(world)
        world.write(answer(hold) if approved else {AT_K: None, path_of(builders.deployment("k", "app")): None})
        world.settle()
        assert (world.state().holds, world.live("c1", "Namespace", "k")) == ({}, None)
