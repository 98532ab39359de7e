"""A process is killed before it reports what it applied, and the next commit has a slip: what may be on the clusters
is held as what was reported there."""

from __future__ import annotations

import pytest

from gitfleet.api.objects import JsonObject
from gitfleet.simulation.cluster import SimulatedCrash
from tests import builders
from tests.builders import path_of, to_yaml
from tests.scenarios.staged_world import members
from tests.scenarios.world import World

FEW = ("c1", "c2", "c3")
WEB = builders.deployment("b", "web")
HIDDEN = path_of(WEB).rpartition("/")


def one(*names: str) -> JsonObject:
    """The placement of these namespaces."""
    return builders.placement("one", selectors=[builders.select_namespace(name) for name in names])


SLIPS: dict[str, dict[str, str | None]] = {
    "a hidden Deployment": {path_of(WEB): None, f"{HIDDEN[0]}/.{HIDDEN[2]}": to_yaml(WEB)},
    "a hidden placement": {path_of(one()): None, "placements/.one.yaml": to_yaml(one("a", "b"))},
    "a misspelt selector": {path_of(one()): to_yaml(one("a", "bb"))},
}


@pytest.mark.parametrize("at", ["intent published", "performed"])
@pytest.mark.parametrize("grows", [False, True], ids=["new", "grown"])
@pytest.mark.parametrize("slip", SLIPS)
def test_what_was_applied_and_never_reported_is_held(slip: str, grows: bool, at: str) -> None:
    world = World()
    first, second = ([builders.namespace(name), builders.deployment(name, "web")] for name in "ab")
    world.commit(*members(*FEW), *first, *((one("a"),) if grows else ()))
    world.settle()

    def die(step: str) -> None:
        if step == at:
            raise SimulatedCrash(step)

    world.driver.checkpoint = die
    world.commit(*second, one("a", "b"))
    world.reconcile()
    made = [(name, there.key) for name in FEW for there in world.fleet.cluster(name).objects()]
    world.restart()
    with world.nothing_deleted():
        world.write(SLIPS[slip])
        world.settle()
    assert world.state().holds
    assert {(name, there.key) for name in FEW for there in world.fleet.cluster(name).objects()} >= {*made}
    world.commit(*second, one("a", "b"))
    world.write({path: None for path in SLIPS[slip] if "/." in path})
    world.settle()
    assert not world.state().holds and all(world.live(name, "Deployment", "web", "b") for name in FEW)
