"""A hold whose files were edited or deleted by hand on the state branch is asked for again, and a warning names the
file; where the content that a hold keeps was lost there, the placement stays as it is: nothing kept is deleted."""

from __future__ import annotations

import pytest

from gitfleet.api.holds import HoldRule
from gitfleet.api.objects import JsonObject
from tests import builders
from tests.builders import to_yaml
from tests.scenarios.staged_world import QUICK, members
from tests.scenarios.test_garbled_state import garble
from tests.scenarios.test_gates_and_moves import FEW, ONE
from tests.scenarios.test_holds import answer, only_hold
from tests.scenarios.test_slips_under_pins import Files
from tests.scenarios.world import STATE, World

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


NAMES = tuple(f"c{number}" for number in range(1, 7))
NEWEST = "snapshots/resources/zulu/1"


def zulu(*names: str) -> JsonObject:
    """The placement of these namespaces."""
    return builders.placement("zulu", selectors=[builders.select_namespace(name) for name in names], strategy=ONE)


def mass_deletion() -> World:
    """A namespace that only the newest snapshot has is on all clusters, and was dropped from the selection."""
    world = World(rules=(QUICK,))
    payload = [builders.namespace(name) for name in ("bread", "crane")]
    payload += [builders.deployment(name, "app") for name in ("bread", "crane")]
    world.commit(*members(*NAMES), *payload, zulu("bread"))
    world.settle()
    world.commit(zulu("bread", "crane"))
    world.settle()
    world.commit(zulu("bread"))
    world.settle()
    assert HoldRule.MASS_DELETION in {reason.rule for reason in only_hold(world).reasons}
    return world


LOSSES = {
    "the snapshot's file": (f"{NEWEST}/snapshot.yaml", None),
    "its folder": (NEWEST, None),
    "all snapshots": ("snapshots/", None),
    "garbled file of the snapshot": (f"{NEWEST}/snapshot.yaml", b"x: ["),
    "garbled copy": (f"{NEWEST}/resources/crane/deployment-app.yaml", b"x: ["),
    "lost copy": (f"{NEWEST}/resources/crane/deployment-app.yaml", None),
}


def kept(world: World) -> list[str]:
    """Where the held Deployment is."""
    return [name for name in NAMES if world.live(name, "Deployment", "app", "crane")]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("answered", [True, False])
def test_what_a_hold_keeps_stays_where_its_snapshot_is_lost(loss: str, answered: bool) -> None:
    world = mass_deletion()
    begin, new = LOSSES[loss]
    hold = only_hold(world).name
    with world.nothing_deleted():
        garble(world, {path: new for path in world.repo.files(STATE) if path.startswith(begin)}, history=False)
        world.restart()
        world.settle()
        assert f"{NEWEST}/snapshot.yaml" in {fault.path for fault in world.state().faults}
        assert only_hold(world).name == hold
        world.write({"docs/a.md": "x"})
        world.settle()
        world.restart()
        world.settle()
        assert only_hold(world).name == hold
        files = world.repo.files(STATE)
        world.restart()
        world.reconcile()
        assert world.repo.files(STATE) == files
        if not answered:
            world.write(answer(only_hold(world), approved=False))
            world.settle()
            world.commit(builders.deployment("bread", "web", image="bread:2"), zulu("bread", "crane"))
            world.settle()
    if answered:
        assert kept(world) == list(NAMES)
        world.write(answer(only_hold(world)))
        world.settle()
    else:
        assert {world.image_in(name, "bread") for name in NAMES} == {"bread:2"}
    assert kept(world) == ([] if answered else list(NAMES)) and not world.state().holds
    assert not world.state().damage.any
