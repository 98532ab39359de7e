"""The clusters' part of a reconcile: what is observed of them, what they are asked, and what is done on them; and which
client serves which cluster."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from gitfleet.api.clusters import Connection, MemberCluster
from gitfleet.api.fleet import Branches
from gitfleet.errors import BadInput
from gitfleet.fleet.apply_backoff import ApplyBackoff
from gitfleet.fleet.dry_runs import DryRunCache
from gitfleet.fleet.fanout import Fanout
from gitfleet.fleet.observation_cache import ObservationCache
from gitfleet.fleet.pull_clusters import PullClusters
from gitfleet.fleet.texts import FleetText
from gitfleet.fleet.workload_rollouts import WorkloadRollouts
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import Outcome, Write
from gitfleet.payload.encrypted_secrets import EncryptedSecrets
from gitfleet.ports.clusters import ClusterClient, ClusterDirectory, ClusterReader


@dataclass(slots=True, kw_only=True)
class Clusters:
    """`observations` says which clusters a pass reads; `pull` has those with agents, None where there are none."""

    fanout: Fanout
    observations: ObservationCache
    encrypted: EncryptedSecrets
    workloads: WorkloadRollouts = field(default_factory=WorkloadRollouts)
    pull: PullClusters | None = None
    dry_runs: DryRunCache = field(init=False)
    backoff: ApplyBackoff = field(default_factory=ApplyBackoff)

    def __post_init__(self) -> None:
        self.dry_runs = DryRunCache(rollouts=self.workloads.rollouts)

    @property
    def is_due(self) -> bool:
        """Whether a branch for deliveries is not as it was left, or could not be pushed."""
        return self.pull is not None and self.pull.is_due

    @property
    def waiting(self) -> tuple[str, ...]:
        """What agents have not carried out yet, in a sentence each."""
        return self.pull.waiting if self.pull is not None else ()

    def observed(self, inputs: Inputs, heads: Mapping[str, str] | None, branches: Branches) -> Inputs:
        """The inputs with an observation of every cluster that is known, and there of everything that is owned; heads
        None asks the remote for the reports of agents."""
        clusters = {**inputs.before.clusters, **inputs.desired.clusters}
        if self.pull is not None:
            self.pull.gather(heads, branches, clusters)
        keys = self.workloads.keys(inputs.before, inputs.desired, clusters)
        inputs = self._with_observations(inputs, self.observations.observe(self.fanout, clusters, keys))
        return self.workloads.with_outcomes(inputs, self.pull.refused_steps() if self.pull is not None else ())

    def observed_again(self, inputs: Inputs, names: Collection[str]) -> Inputs:
        """The inputs with fresh observations of these clusters."""
        clusters = {**inputs.before.clusters, **inputs.desired.clusters}
        keys = self.workloads.keys(inputs.before, inputs.desired, {name: clusters[name] for name in names})
        return self._with_observations(inputs, self.observations.read_again(self.fanout, clusters, keys))

    def _with_observations(self, inputs: Inputs, observations: Mapping[str, ClusterObservation]) -> Inputs:
        clusters = {**inputs.before.clusters, **inputs.desired.clusters}
        seen = self.workloads.with_pods(self.fanout, inputs.desired, inputs.before, clusters, observations)
        return replace(inputs, observations=self.dry_runs.with_dry_runs(seen, inputs.now))

    def perform(
        self, decision: Decision, writes: tuple[Write, ...], make_sure: Callable[[], None]
    ) -> tuple[Outcome, ...]:
        """Carry out what has to be written, clusters side by side; `make_sure` raises LostRace once it is no more."""
        self.observations.forget({write.cluster for write in (*writes, *decision.steps)})
        answered: tuple[Outcome, ...] = ()
        if self.pull is not None:
            answered, writes = self.pull.perform(decision, writes, make_sure)
            decision = self.pull.without_steps(decision)
        perform = partial(self.encrypted.perform, partial(self.fanout.perform, decision.after.clusters))
        outcomes = (*answered, *self.backoff.perform(writes, self.observations.clock, perform))
        self.workloads.carry_out(self.fanout, decision, make_sure)
        return outcomes


@dataclass(frozen=True, slots=True, kw_only=True)
class ByConnection:
    """ClusterDirectory by the connection in each MemberCluster file. A cluster without connection is an error unless
    `simulate_unconnected` (demo); with `all_simulated` no real cluster is ever asked (`plan --clusters simulated`)."""

    real: ClusterDirectory
    simulated: ClusterDirectory
    pull: PullClusters | None = None
    all_simulated: bool = False
    simulate_unconnected: bool = False

    def reader(self, cluster: MemberCluster) -> ClusterReader:
        """ClusterDirectory.reader; BadInput for a cluster that nobody can reach."""
        return self._chosen(cluster).reader(cluster)

    def client(self, cluster: MemberCluster) -> ClusterClient:
        """ClusterDirectory.client; BadInput for a cluster that nobody can reach."""
        return self._chosen(cluster).client(cluster)

    def close(self) -> None:
        """Let all connections go."""
        for directory in (self.real, self.simulated):
            close = getattr(directory, "close", None)
            if close is not None:
                close()

    def _chosen(self, cluster: MemberCluster) -> ClusterDirectory:
        connection = cluster.connection
        if self.all_simulated or (connection is not None and connection.simulated):
            return self.simulated
        if connection is None or connection == Connection():
            if self.simulate_unconnected:
                return self.simulated
            place = f"{cluster.origin}: " if cluster.origin else ""
            raise BadInput(
                FleetText.MEMBERCLUSTER_NO_CONNECTION(where=place, cluster=cluster.name),
                hint=FleetText.GIVE_SPEC_CONNECTION_CONTEXT(),
            )
        if cluster.is_pulled:
            if self.pull is None:
                raise BadInput(FleetText.REACHED_OWN_AGENT(cluster=cluster.name))
            return self.pull
        return self.real
