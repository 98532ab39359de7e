"""Several parts of the state branch are lost at once while a hold is open: what somebody removed comes back from
gitfleet's last commit, and what can be read nowhere leads to nothing being deleted until a person answers."""

from __future__ import annotations

from itertools import combinations

import pytest

from gitfleet.api.objects import JsonObject
from tests import builders
from tests.scenarios.staged_world import members
from tests.scenarios.test_garbled_state import garble
from tests.scenarios.test_holds import answer, only_hold
from tests.scenarios.world import STATE, World

FEW = ("c1", "c2", "c3")
PARTS = (
    "fleet.yaml", "holds/", "placements/", "bindings/", "clusters/", "inventory/", "snapshots/policies/",
    "snapshots/resources/",
)  # fmt: skip
PAIRS = [*((part,) for part in PARTS), *combinations(PARTS, 2)]


def one(*names: str) -> JsonObject:
    """The placement of these namespaces."""
    selectors = [builders.select_namespace(name) for name in names]
    return builders.placement("one", selectors=selectors, strategy=builders.rolling_update(maxUnavailable=1))


def held() -> World:
    """A selector with a typing error."""
    world = World()
    payload = [body for name in "ab" for body in (builders.namespace(name), builders.deployment(name, "web"))]
    world.commit(*members(*FEW), *payload, one("a", "b"))
    world.settle()
    world.commit(one("a", "bb"))
    world.settle()
    assert len(world.state().holds) == 1
    return world


def lose(world: World, parts: tuple[str, ...], *, history: bool) -> None:
    """Somebody removes these files and folders, and another process goes on."""
    garble(world, {path: None for path in world.repo.files(STATE) if path.startswith(parts)}, history=history)
    world.restart()
    world.settle()


@pytest.mark.parametrize("lost", PAIRS, ids="+".join)
def test_what_somebody_removed_comes_back_from_the_last_commit_of_gitfleet(lost: tuple[str, ...]) -> None:
    world = held()
    before, hold = world.repo.files(STATE), only_hold(world)
    with world.nothing_deleted():
        lose(world, lost, history=True)
        after = world.repo.files(STATE)
        ours = [path for path in before if path not in ("README.md", "fleet.yaml", "faults.yaml")]
        assert {path: after.get(path) for path in ours} == {path: before[path] for path in ours}
        (fault,) = world.state().faults
        assert f"that gitfleet wrote ({min(path for path in before if path.startswith(lost))}, say)" in fault.message
        world.commit(builders.deployment("a", "web", image="web:2"))
        world.settle()
    assert only_hold(world).removals == hold.removals and not world.state().faults
    assert {world.image_in(name, "a") for name in FEW} == {"web:2"}
    world.write(answer(only_hold(world)))
    world.settle()
    assert not any(world.live(name, "Namespace", "b") for name in FEW)


TRIPLES = [("holds/", "bindings/", "snapshots/resources/"), ("fleet.yaml", "holds/", "snapshots/resources/")]


@pytest.mark.parametrize("answers", [True, False], ids=["answered", "taken back"])
@pytest.mark.parametrize("lost", [*PAIRS, *TRIPLES], ids="+".join)
def test_nothing_goes_unasked_where_no_commit_has_what_is_lost(lost: tuple[str, ...], answers: bool) -> None:
    world = held()
    with world.nothing_deleted():
        lose(world, lost, history=False)
        world.commit(builders.deployment("a", "web", image="web:2"))
        world.settle()
        assert {removal.object.name for removal in only_hold(world).removals if removal.object} == {"b", "web"}
    if answers:
        world.write(answer(only_hold(world)))
    else:
        world.commit(one("a", "b"))
    world.settle()
    assert {world.image_in(name, "a") for name in FEW} == {"web:2"}
    theirs = "inventory/" in lost  # whose the Namespace is, nobody knows then
    assert {world.live(name, "Namespace", "b") is None for name in FEW} == {answers and not theirs}
    released = {"inventory/", "snapshots/resources/"} <= {*lost}
    assert {world.image_in(name, "b") is None for name in FEW} == {answers and not released}
    assert not world.state().holds


@pytest.mark.parametrize("lost", [("holds/",), ("fleet.yaml",), ("fleet.yaml", "holds/")], ids="+".join)
def test_where_no_commit_says_what_was_held_all_that_goes_is_asked_for(lost: tuple[str, ...]) -> None:
    world = held()
    with world.nothing_deleted():
        lose(world, lost, history=False)
        world.commit(builders.deployment("a", "web", image="web:2"))
        world.settle()
    assert {removal.object.name for removal in only_hold(world).removals if removal.object} == {"b", "web"}
    world.write(answer(only_hold(world)))
    world.settle()
    assert not any(world.live(name, "Namespace", "b") for name in FEW)
