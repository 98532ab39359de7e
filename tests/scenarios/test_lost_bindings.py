"""Bindings that are lost without history in the middle of a rollout: each cluster is bound to what it has, and the
rollout goes on within its budget."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from gitfleet.api.objects import JsonObject
from tests import builders
from tests.scenarios.test_garbled_state import garble, override
from tests.scenarios.world import STATE, World

NAMES = tuple(f"c{number}" for number in range(1, 7))
LOST = "bindings/web/all.yaml"


def rolling(change: JsonObject) -> World:
    """Six clusters, one at a time, and a change that has reached some of them."""
    world = World()
    strategy = builders.rolling_update(maxUnavailable=1, maxSurge=0)
    world.commit(
        *(builders.member_cluster(name) for name in NAMES),
        builders.namespace("web"), builders.deployment("web", "web", image="web:1"), override("a"),
        builders.placement("web", strategy=strategy),
    )  # fmt: skip
    world.settle()
    world.commit(change)
    before = versions(world)
    while len(moved := [name for name in NAMES if versions(world)[name] != before[name]]) < 2:
        world.reconcile()
        world.advance(seconds=1)
    assert len(moved) == 2
    return world


def versions(world: World) -> JsonObject:
    """What runs on each cluster."""
    found = {name: world.live(name, "Namespace", "web") for name in NAMES}
    return {
        name: (world.image(name), (live or {}).get("metadata", {}).get("labels", {}).get("override"))
        for name, live in found.items()
    }


CHANGES: dict[str, Callable[[], JsonObject]] = {
    "a new snapshot": lambda: builders.deployment("web", "web", image="web:2"),
    "a new override": lambda: override("b"),
}


@pytest.mark.parametrize("content", [b"\x00", None], ids=["garbled", "removed"])
@pytest.mark.parametrize("change", CHANGES)
def test_no_cluster_moves_outside_the_budget(change: str, content: bytes | None) -> None:
    world = rolling(CHANGES[change]())
    garble(world, {LOST: content}, history=False)
    world.restart()
    last = versions(world)
    with world.nothing_deleted():
        for _ in range(60):
            world.reconcile()
            now = versions(world)
            assert sum(now[name] != last[name] for name in NAMES) <= 1, (last, now)
            last = now
            world.advance(seconds=1)
        world.settle()
    assert len(set(versions(world).values())) == 1
    assert set(versions(world).values()) == {("web:2", "a") if change == "a new snapshot" else ("web:1", "b")}


def test_a_version_that_reckons_hashes_in_another_way_moves_nothing() -> None:
    """Hashes that this version would not write are no damage, and no reason for another snapshot."""
    world = rolling(override("b"))
    world.settle()
    files = world.repo.files(STATE)
    changed: dict[str, bytes | None] = {}
    for path, content in files.items():
        text = re.sub(
            rb"(resource-hash|overrideHash|policyHash)(: \"?)[A-Za-z0-9+/=]{40}", rb"\1\2" + b"QUFB" * 10, content
        )
        if text != content:
            changed[path] = text
    assert len(changed) == 4, sorted(changed)
    garble(world, changed, history=False)
    world.restart()
    with world.nothing_deleted():
        world.settle()
    state = world.state()
    assert not state.damage.any
    assert not [fault for fault in state.faults if fault.object.startswith("StateFile/")]
    assert set(files) == set(world.repo.files(STATE))
