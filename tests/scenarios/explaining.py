"""The questions that commands ask, put to a world in memory."""

from __future__ import annotations

from gitfleet.api.objects import JsonObject
from gitfleet.loop.driver import Driver
from gitfleet.loop.fanout import Fanout
from gitfleet.loop.runner import Wake
from gitfleet.loop.state_branch import StateBranch
from gitfleet.loop.state_trees import StateTrees
from gitfleet.loop.trees import DesiredTrees
from gitfleet.loop.workspace import Workspace
from gitfleet.settings import Limits
from gitfleet.simulation.clock import ManualClock
from gitfleet.simulation.fleet import SimulatedFleet
from gitfleet.simulation.memory_cache import MemoryCache
from gitfleet.simulation.memory_repo import MemoryRepo
from gitfleet.wiring import simulated_clusters


def open_workspace(
    repo: MemoryRepo, fleet: SimulatedFleet, clock: ManualClock, clusters: str = "recorded"
) -> Workspace:
    """A workspace on a remote in memory."""
    trees = DesiredTrees(repo, MemoryCache(), Limits())
    driver = Driver(
        reader=repo,
        states=StateBranch(repo, repo, StateTrees(repo, trees, Limits())),
        desired_trees=trees,
        fanout=Fanout(directory=simulated_clusters(fleet, clock), executor=None),
        clock=clock,
        version="test",
    )
    return Workspace(driver=driver, clock=clock, wake=Wake(), clusters=clusters, watch=lambda wake: lambda: None)


def explain(repo: MemoryRepo, fleet: SimulatedFleet, clock: ManualClock, placement: str) -> list[JsonObject]:
    """The rows of `gitfleet explain`."""
    return open_workspace(repo, fleet, clock).explain(placement, None)[1]


def waiting(repo: MemoryRepo, fleet: SimulatedFleet, clock: ManualClock) -> tuple[str, ...]:
    """What a tick that changes nothing says it is waiting for."""
    result = open_workspace(repo, fleet, clock, "live").driver.reconcile()
    assert not result.changed
    return result.waiting
