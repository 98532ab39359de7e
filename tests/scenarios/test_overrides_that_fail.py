"""An override that cannot be applied takes nothing away: what it concerns stays as it is until a person corrects it."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.conditions import find_condition
from gitfleet.formats.json_values import JsonObject
from tests import builders
from tests.scenarios.test_crashes import NAMES, begin
from tests.scenarios.world import World


def failing_override(zone: str | None = None, namespace: str = "web") -> JsonObject:
    """A ClusterResourceOverride whose patch names a field that the namespace has not."""
    patch = {"op": "remove", "path": "/metadata/annotations/not-there"}
    rule = builders.override_rule(patch, labels={"zone": zone} if zone else None)
    return builders.override("broken", f"Namespace/{namespace}", rule)


@pytest.mark.parametrize("zone", [None, "c2"])
@pytest.mark.parametrize("restarts", [False, True])
def test_on_a_settled_fleet_it_deletes_nothing(zone: str | None, restarts: bool) -> None:
    world = World()
    begin(world)
    objects = {name: world.fleet.cluster(name).objects() for name in NAMES}
    with world.nothing_deleted():
        world.commit(failing_override(zone))
        for _ in range(3):
            if restarts:
                world.restart()
            world.settle()
    assert {name: world.fleet.cluster(name).objects() for name in NAMES} == objects
    assert all(world.state().inventory[name] for name in NAMES)
    failed = [b for b in world.bindings("web").values() if is_false(b.conditions, "Overridden")]
    assert [b.cluster for b in failed] == ["c1" if zone is None else zone], "one cluster was tried, the others wait"

    with world.nothing_deleted():
        world.roll_out(remove=[failing_override()])
    assert not [b for b in world.bindings("web").values() if is_false(b.conditions, "Overridden")]


def test_a_cluster_that_leaves_by_abandon_meanwhile_keeps_what_it_has() -> None:
    world = World()
    begin(world)
    world.roll_out(failing_override("c2"))
    with world.nothing_deleted():
        world.roll_out(remove=[builders.member_cluster("c2")])
    assert world.image("c2") == "web:1"
    assert "c2" not in world.state().inventory


def is_false(conditions: Any, type_: str) -> bool:
    found = find_condition(conditions, type_)
    return found is not None and found.status.value == "False"
