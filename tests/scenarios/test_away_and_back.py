"""An object that moves away and back before it is available counts for the budget of the placement that it is back in
(invariant 4): its clusters are down, though none of that placement's conditions said so while it had given it up."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.scenarios import ClusterRule
from tests import builders
from tests.scenarios.staged_world import members, placing
from tests.scenarios.world import World

CLUSTERS = tuple(f"c{number}" for number in range(1, 7))


def app(namespace: str, version: int) -> dict[str, Any]:
    return builders.deployment(namespace, "app", image=f"i:{version}")


def begun(most: int) -> tuple[World, Any]:
    """Bravo has green, whose edit is available on the first clusters and not yet on the next ones, and blue."""
    world = World(rules=(ClusterRule(available=timedelta(seconds=30)),))
    strategy = builders.rolling_update(maxUnavailable=most)
    names = ("green", "blue", "grey")
    apps = [one for name in names for one in (builders.namespace(name), app(name, 1))]
    share = builders.fleet_config(removals={"approval": "Never"})
    bravo, kilo = placing("bravo", "green", "blue", strategy=strategy), placing("kilo", "grey", strategy=strategy)
    world.roll_out(share, *members(*CLUSTERS), *apps, bravo, kilo)
    world.commit(app("green", 2))
    for seconds in (0, 31):
        world.advance(seconds=seconds)
        world.reconcile()
    return world, strategy


def down(world: World) -> set[str]:
    """The clusters on which anything that bravo has is not available."""
    inventory = world.state().inventory
    found = {(name, key) for name, cluster in world.fleet.clusters.items() for key in cluster.unavailable()}
    owned = {(name, key) for name, key in found if key in inventory[name]}
    return {name for name, key in owned if inventory[name][key].placement.name == "bravo"}


@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("passes", [1, 2, 3])
@pytest.mark.parametrize("mended", [False, True], ids=["the same", "edited again"])
def test_what_is_back_before_it_is_available_counts(most: int, passes: int, mended: bool) -> None:
    world, strategy = begun(most)
    world.commit(placing("bravo", "blue", strategy=strategy), placing("kilo", "grey", "green", strategy=strategy))
    for _ in range(passes):
        world.reconcile()
    back = placing("bravo", "green", "blue", strategy=strategy), placing("kilo", "grey", strategy=strategy)
    world.commit(*back, app("blue", 2), *([app("green", 3)] if mended else []))
    counts: set[int] = set()
    with world.nothing_deleted():
        world.settle(each=lambda: counts.add(len(down(world))))
    assert max(counts) <= 2 * most, "budgets of two placements are not added up"
    record = next(one for key, one in world.state().placements.items() if key.name == "bravo")
    assert {b.applied_snapshot for b in record.bindings} == {record.latest_resources and record.latest_resources.name}
    assert not down(world)
