"""The questions that commands ask, put to a world in memory."""

from __future__ import annotations

from gitfleet.api.objects import JsonObject
from gitfleet.branches.desired_trees import DesiredTrees
from gitfleet.loop.runner import Wake
from gitfleet.loop.workspace import Workspace
from gitfleet.settings import Limits
from gitfleet.simulation.clock import ManualClock
from gitfleet.simulation.fleet import SimulatedFleet
from gitfleet.simulation.memory_cache import MemoryCache
from gitfleet.simulation.memory_repo import MemoryRepo
from gitfleet.wiring.hub import simulated_clusters
from tests.scenarios.world import driver_on


def open_workspace(
    repo: MemoryRepo, fleet: SimulatedFleet, clock: ManualClock, clusters: str = "recorded"
) -> Workspace:
    """A workspace on a remote in memory."""
    trees = DesiredTrees(repo, MemoryCache(), Limits())
    driver = driver_on(repo, trees, simulated_clusters(fleet, clock), clock)
    return Workspace(driver=driver, clock=clock, wake=Wake(), clusters=clusters, watch=lambda wake: lambda: None)


def explain(repo: MemoryRepo, fleet: SimulatedFleet, clock: ManualClock, placement: str) -> list[JsonObject]:
    """The rows of `gitfleet explain`."""
    return open_workspace(repo, fleet, clock).explain(placement, None)[1]


def waiting(repo: MemoryRepo, fleet: SimulatedFleet, clock: ManualClock) -> tuple[str, ...]:
    """What a tick that changes nothing says it is waiting for."""
    result = open_workspace(repo, fleet, clock, "live").driver.reconcile()
    assert not result.changed
    return result.waiting
