"""A world some of whose clusters are reached by agents: hub and agents share nothing but the git remote."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gitfleet.agent.agent import Agent, AgentStep
from gitfleet.api.clusters import Connection, MemberCluster
from gitfleet.branches.steps import Step, SteppedWriter
from gitfleet.errors import LostRace
from gitfleet.fleet.clusters import ByConnection
from gitfleet.fleet.fanout import Fanout
from gitfleet.fleet.pull_client import PullWatching
from gitfleet.fleet.pull_clusters import PullClusters
from gitfleet.loop.driver import Driver
from gitfleet.payload.encrypted_secrets import EncryptedSecrets
from gitfleet.simulation.cluster import SimulatedCrash
from gitfleet.wiring.hub import simulated_clusters
from tests.builders import member_cluster
from tests.scenarios.world import World, nothing


def pulled_cluster(name: str, **connection: Any) -> dict[str, Any]:
    """A member that is reached by its agent."""
    return member_cluster(name, connection={"pull": True, **connection})


@dataclass(slots=True)
class PullWorld(World):
    """`agents` are the processes that are alive on the clusters, `cut_off` those that do not reach the remote."""

    agents: dict[str, Agent] = field(default_factory=dict)
    cut_off: set[str] = field(default_factory=set)
    agent_step: Callable[[str, AgentStep], None] = lambda cluster, step: None
    agent_crashes: int = 0

    def start(self, checkpoint: Callable[[str], None] = nothing) -> Driver:
        """A hub that knows nothing but the remote."""
        driver = World.start(self, checkpoint)
        driver.clusters.pull = PullClusters.on(self.repo, self.clock)
        if self.watching is not None:
            driver.clusters.observations.watching = PullWatching(driver.clusters.pull.report_of, self.watching)
        pull = driver.clusters.pull
        if pull is not None:
            pull.writer = SteppedWriter(
                pull.writer, Step.DELIVERY_PUSH, Step.DELIVERY_PUSHED, lambda step: driver.checkpoint(step)
            )
        simulated = self.directory()
        chosen = ByConnection(real=simulated, simulated=simulated, pull=driver.clusters.pull, simulate_unconnected=True)
        driver.clusters.fanout = Fanout(directory=chosen, executor=None)
        return driver

    def start_agent(self, name: str) -> Agent:
        """An agent that knows nothing but the remote."""
        agent = Agent(
            cluster=MemberCluster(name=name, connection=Connection(simulated=True)),
            repo=self.repo,
            writer=self.repo,
            directory=simulated_clusters(self.fleet, self.clock),
            clock=self.clock,
            encrypted=EncryptedSecrets(lambda oids: self.repo.read_blobs(oids, limit=1 << 20), None),
            mask_key=lambda: b"key",
            version="test",
            checkpoint=lambda step: self.agent_step(name, step),
        )
        self.agents[name] = agent
        return agent

    def report(self, name: str) -> bool:
        """One pass of an agent; whether it reported anything. A crash leaves another one alive."""
        if name in self.cut_off:
            return False
        try:
            return self.agents[name].reconcile().reported
        except SimulatedCrash:
            self.agent_crashes += 1
            self.start_agent(name)
        except LostRace:
            pass
        return True

    def turn(self) -> bool:
        """One pass of the hub and one of each agent; whether anything moved."""
        result = self.reconcile()
        moved = result is None or result.changed
        for name in sorted(self.agents):
            moved = self.report(name) or moved
        return moved

    def turns(self, seconds: float = 5.0, most: int = 60) -> int:
        """Turns, with time between them, until three in a row move nothing; how many that took."""
        quiet = 0
        for number in range(most):
            quiet = 0 if self.turn() else quiet + 1
            if quiet == 3:
                return number
            self.advance(seconds=seconds)
        raise AssertionError(f"still moving after {most} turns")
