"""A placement is removed in one commit, and another one of its name is written in a later one: it may have whatever
policy, though the removal is held, or waits for an error (record 0021)."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from gitfleet.api.placements import PlacementKey
from gitfleet.desired.texts import DesiredText
from tests import builders
from tests.builders import to_yaml
from tests.scenarios.test_faulty_renames import placing
from tests.scenarios.test_unclear_commits import NOPE, Files, at, placed, wrong
from tests.scenarios.world import World

ON_TWO = builders.pick_fixed("c1", "c2")
FREEZE = builders.freeze("spring", "2026-03-01T00:00:00Z", scope={"placements": ["web"]})
REMOVALS: dict[str, Files] = {
    "held for a gate": {at("web"): None, at("shop"): to_yaml(placing("shop", "n1", "web"))},
    "held beside an error": {at("web"): None, "resources/bad.yaml": "kind: [\n"},
    "kept for the error of another one": {at("web"): None, at("store"): wrong(placing("store", "web"))},
    "kept for a file that cannot be read": {at("web"): None, at("store"): "kind: [\n"},
}
AGAIN = to_yaml(placing("web", "web"))


def removed(how: str) -> World:
    """web has a policy, and a commit takes it away, while it goes on."""
    world = placed(placing("web", "web", policy=ON_TWO), placing("shop", "n1"))
    if how == "held for a gate":
        world.commit(FREEZE)
        world.settle()
    world.write(REMOVALS.get(how, {at("web"): None}))
    if how == "leaves":
        world.reconcile()
    else:
        world.settle()
    assert PlacementKey("", "web") in world.state().placements
    return world


def errors(world: World) -> list[str]:
    return [str(fault) for fault in world.state().faults if fault.path == at("web")]


@pytest.mark.parametrize("how", REMOVALS)
def test_a_name_whose_removal_has_not_happened_yet_has_whatever_policy(how: str) -> None:
    world = removed(how)
    with world.nothing_deleted():
        world.write({at("web"): AGAIN, at("shop"): to_yaml(placing("shop", "n1"))})
        world.settle()
        assert errors(world) == []
        assert world.state().placements[PlacementKey("", "web")].placement.policy is None
        world.write({"resources/bad.yaml": None, at("store"): None, "freezes/spring.yaml": None})
        world.settle()
    assert (world.state().holds, world.state().faults) == ({}, ())
    assert [bool(world.live(name, "Deployment", "app", "web")) for name in ("c1", "c2", "c3")] == [True] * 3


EDITS: dict[str, tuple[Files, Files]] = {
    "an edit": ({}, {at("web"): AGAIN}),
    "to another file": ({}, {at("web"): None, "placements/other.yaml": AGAIN}),
    "after an error": ({at("web"): AGAIN.replace("spec:\n", NOPE)}, {at("web"): AGAIN}),
    "after what cannot be read": ({at("web"): "kind: [\n"}, {at("web"): AGAIN}),
    ("to another file that " + DesiredText.COULD_NOT_READ()): (
        {at("web"): None, "placements/other.yaml": f"kind: [\n{AGAIN}"},
        {"placements/other.yaml": AGAIN},
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_may_not_change_it(edit: str) -> None:
    world = placed(placing("web", "web", policy=ON_TWO))
    for texts in EDITS[edit]:
        world.write(texts)
        world.settle()
    assert [fault.field for fault in world.state().faults] == ["spec.policy"]
    assert world.state().placements[PlacementKey("", "web")].placement.policy is not None


@pytest.mark.parametrize("between", [False, True])
@pytest.mark.parametrize("how", ["held for a gate", "held beside an error", "leaves"])
def test_a_name_that_is_used_again_with_an_error_first_has_whatever_policy(how: str, between: bool) -> None:
    world = removed(how)
    with nullcontext() if how == "leaves" else world.nothing_deleted():
        world.write({at("web"): AGAIN.replace("spec:\n", NOPE), at("shop"): to_yaml(placing("shop", "n1"))})
        world.settle()
        if between:
            world.write({"docs/a.md": "text"})
            world.settle()
        world.write({at("web"): AGAIN})
        world.settle()
        assert errors(world) == []
        assert world.state().placements[PlacementKey("", "web")].placement.policy is None
