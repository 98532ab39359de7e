"""Reading and watching a cluster that is reached by its agent, as if it were any other cluster."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import Manifest, ObjectKey
from gitfleet.fleet.texts import FleetText
from gitfleet.model.observations import ClusterObservation, DryRun, LiveObject
from gitfleet.model.operations import Create, Delete, Outcome, OutcomeCode, RolloutOutcome, RolloutWrite, Update
from gitfleet.ports.watching import Watching


class PullClient:
    """ClusterClient over what an agent reported; nothing is asked of the cluster."""

    def __init__(
        self,
        cluster: MemberCluster,
        observed: Callable[[Collection[ObjectKey]], ClusterObservation],
        pods: Callable[[Sequence[ObjectKey]], Mapping[ObjectKey, tuple[LiveObject, ...]]],
    ) -> None:
        self._cluster = cluster
        self._observed = observed
        self._pods = pods

    def observe(self, keys: Collection[ObjectKey], *, probe: bool = True) -> ClusterObservation:
        """See ClusterReader; an object that was not reported yet is left out."""
        return self._observed(keys)

    def dry_run(self, questions: Sequence[tuple[Manifest, LiveObject]]) -> Sequence[DryRun]:
        """See ClusterReader: an agent is asked nothing."""
        why = FleetText.REACHED_AGENT_MAKES_NO_DRY(cluster=self._cluster.name)
        return [DryRun(live.body, None, why) for _, live in questions]

    def pods(self, workloads: Sequence[LiveObject]) -> Mapping[ObjectKey, tuple[LiveObject, ...]]:
        """See ClusterReader: those that the agent reported."""
        return self._pods([workload.key for workload in workloads])

    def perform(self, operations: Sequence[Create | Update | Delete]) -> Sequence[Outcome]:
        """See ClusterWriter: only the agent writes, what it is given by `PullClusters.perform`."""
        why = FleetText.CHANGED_AGENT_ALONE(cluster=self._cluster.name)
        return [Outcome(operation=write, ok=False, code=OutcomeCode.NOT_ASKED, message=why) for write in operations]

    def perform_steps(self, steps: Sequence[RolloutWrite]) -> Sequence[RolloutOutcome]:
        """See ClusterWriter: only the agent writes, what it is given by `PullClusters.perform`."""
        why = FleetText.CHANGED_AGENT_ALONE(cluster=self._cluster.name)
        return [RolloutOutcome(operation=step, ok=False, code=OutcomeCode.NOT_ASKED, message=why) for step in steps]

    def close(self) -> None:
        """See ClusterClient."""


@dataclass(frozen=True, slots=True)
class PullWatching:
    """Watching of pulled clusters by the commits of their reports, which stay as they are until there is another one;
    and of all others by `direct`."""

    report_of: Callable[[MemberCluster], str | None]
    direct: Watching

    def mark(self, cluster: MemberCluster, keys: Collection[ObjectKey]) -> Hashable | None:
        """See Watching."""
        return self.report_of(cluster) if cluster.is_pulled else self.direct.mark(cluster, keys)

    def unchanged(self, cluster: MemberCluster, mark: Hashable) -> bool:
        """See Watching."""
        if cluster.is_pulled:
            return self.report_of(cluster) == mark
        return self.direct.unchanged(cluster, mark)

    def keep(self, names: Collection[str]) -> None:
        """See Watching."""
        self.direct.keep(names)
