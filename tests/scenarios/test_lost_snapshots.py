"""A process is killed in the middle of a rollout, and the snapshot that it rolled out is lost for good: the placement
goes on by itself within its budget."""

from __future__ import annotations

from typing import Final

import pytest

from gitfleet.simulation.cluster import SimulatedCrash
from tests import builders
from tests.scenarios.staged_world import QUICK, members
from tests.scenarios.test_garbled_state import garble
from tests.scenarios.world import STATE, World

FEW: Final = ("c1", "c2", "c3")


def die_at(world: World, step: str) -> None:
    """The process is killed in its next reconcile."""

    def checkpoint(at: str) -> None:
        if at == step:
            raise SimulatedCrash(at)

    world.driver.checkpoint = checkpoint
    assert world.reconcile() is None


@pytest.mark.parametrize("step", ["intent published", "performed"])
@pytest.mark.parametrize("new", [False, True], ids=["update", "new placement"])
@pytest.mark.parametrize("edited", [False, True])
def test_a_snapshot_that_is_lost_before_it_was_applied_is_taken_and_rolled_out_again(
    step: str, new: bool, edited: bool
) -> None:
    world = World(rules=(QUICK,))
    web = builders.placement("web", strategy=builders.rolling_update(maxUnavailable=1))
    world.commit(*members(*FEW), builders.namespace("web"), builders.deployment("web", "web", image="web:1"), web)
    if not new:
        world.settle()
        world.commit(builders.deployment("web", "web", image="web:2"))
    die_at(world, step)
    newest = f"snapshots/resources/web/{0 if new else 1}/"
    lost = [path for path in world.repo.files(STATE) if path.startswith(newest)]
    assert lost
    garble(world, dict.fromkeys(lost), history=False)
    world.restart()
    if edited:
        world.commit(builders.deployment("web", "web", image="web:3"))
    with world.nothing_deleted():
        world.settle()
    assert {world.image(name) for name in FEW} == {"web:3" if edited else "web:1" if new else "web:2"}
