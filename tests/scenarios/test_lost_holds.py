"""A hold whose files were edited or deleted by hand on the state branch is asked for again, and a warning names the
file: nothing that it kept is deleted."""

from __future__ import annotations

import pytest

from gitfleet.api.holds import HoldRule
from tests import builders
from tests.builders import to_yaml
from tests.scenarios.staged_world import QUICK, members
from tests.scenarios.test_garbled_state import garble
from tests.scenarios.test_gates_and_moves import FEW, ONE
from tests.scenarios.test_holds import answer, only_hold
from tests.scenarios.test_slips_under_pins import Files
from tests.scenarios.world import World

DATA = "resources/web/configmap-data.yaml"
NEW = "placements/new.yaml"


def held(*, pinned: bool = False) -> World:
    """A commit took a ConfigMap away beside an error; nothing else would hold that."""
    world = World(rules=(QUICK,))
    data = builders.config_map("web", "data")
    world.commit(*members(*FEW), builders.namespace("web"), data, builders.placement("web", strategy=ONE))
    world.settle()
    if pinned:
        (found,) = (record.resource_snapshots[-1] for record in world.state().placements.values())
        world.commit(builders.pin("web", found.index, found.hash))
        world.settle()
    files: Files = {DATA: None, NEW: to_yaml(builders.placement("new", strategy=ONE)).replace("RollingUpdate", "Roll")}
    world.write(files)
    world.settle()
    assert {reason.rule for reason in only_hold(world).reasons} == {HoldRule.UNCLEAR_COMMIT}
    return world


EDITS = {
    "gone": None,
    "another object": (b"name: data", b"name: date"),
    "another file to correct": (b"errorIn: placements/new.yaml", b"errorIn: placements/web.yaml"),
    "no text": b"\x00",
}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("pinned", [False, True])
@pytest.mark.parametrize("moved_on", [False, True])
def test_a_hold_that_was_edited_or_deleted_is_asked_for_again(edit: str, pinned: bool, moved_on: bool) -> None:
    world = held(pinned=pinned)
    if moved_on:
        world.write({"docs/a.md": "x"})
        world.settle()
    (own,) = (path for path in world.repo.files("gitfleet/state") if path.startswith("holds/"))
    change = EDITS[edit]
    text = world.repo.files("gitfleet/state")[own]
    new = text.replace(*change) if isinstance(change, tuple) else change
    assert new != text
    with world.nothing_deleted():
        garble(world, {own: new}, history=False)
        world.restart()
        world.settle()
        found = {fault.path for fault in world.state().faults}
        assert own in found and not world.state().damage.any
        world.restart()
        world.settle()
        if pinned:
            world.write({"pins/web.yaml": None})
            world.settle()
        world.write({"docs/b.md": "x"})
        world.settle()
    assert all(world.live(name, "ConfigMap", "data") for name in FEW)
    world.write(answer(only_hold(world)))
    world.settle()
    assert not any(world.live(name, "ConfigMap", "data") for name in FEW) and not world.state().holds
