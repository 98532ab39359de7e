"""What a cluster that is reached by its agent says of itself, as any other cluster would."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import Manifest, ObjectKey
from gitfleet.loop.texts import LoopText
from gitfleet.model.observations import ClusterObservation, DryRun, LiveObject
from gitfleet.model.operations import Create, Delete, Outcome, OutcomeCode, RolloutOutcome, RolloutWrite, Update


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
        why = LoopText.REACHED_AGENT_MAKES_NO_DRY(cluster=self._cluster.name)
        return [DryRun(live.body, None, why) for _, live in questions]

    def pods(self, workloads: Sequence[LiveObject]) -> Mapping[ObjectKey, tuple[LiveObject, ...]]:
        """See ClusterReader: those that the agent reported."""
        return self._pods([one.key for one in workloads])

    def perform(self, operations: Sequence[Create | Update | Delete]) -> Sequence[Outcome]:
        """See ClusterWriter: only the agent writes, what it is given by `PullClusters.perform`."""
        why = LoopText.CHANGED_AGENT_ALONE(cluster=self._cluster.name)
        return [Outcome(operation=one, ok=False, code=OutcomeCode.NOT_ASKED, message=why) for one in operations]

    def perform_steps(self, steps: Sequence[RolloutWrite]) -> Sequence[RolloutOutcome]:
        """See ClusterWriter: only the agent writes, what it is given by `PullClusters.perform`."""
        why = LoopText.CHANGED_AGENT_ALONE(cluster=self._cluster.name)
        return [RolloutOutcome(operation=one, ok=False, code=OutcomeCode.NOT_ASKED, message=why) for one in steps]

    def close(self) -> None:
        """See ClusterClient."""
