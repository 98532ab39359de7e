"""The state branch edited by a stranger: what nobody asked to delete is not deleted."""

from __future__ import annotations

import pytest

from tests.scenarios.test_crashes import NAMES, begin
from tests.scenarios.world import STATE, World


@pytest.mark.parametrize("restarts", [False, True])
def test_bindings_marked_as_deleted_by_hand_delete_nothing(restarts: bool) -> None:
    world = World()
    begin(world)
    objects = {name: world.fleet.cluster(name).objects() for name in NAMES}
    marked = {
        path: content.decode().replace('"metadata":{', '"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z",')
        for path, content in world.repo.files(STATE).items()
        if path.startswith("bindings/")
    }
    assert "deletionTimestamp" in "".join(marked.values())
    world.repo.commit_files(STATE, marked, world.clock.now(), "A stranger's edit")
    with world.nothing_deleted():
        if restarts:
            world.restart()
        world.settle()
    assert {name: world.fleet.cluster(name).objects() for name in NAMES} == objects
    assert all(
        binding.deleting is None for binding in world.state().placements[next(iter(world.state().placements))].bindings
    )
