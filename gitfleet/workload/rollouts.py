"""Workload rollouts with their handlers, behind the seam."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.workload_records import ClusterRolloutStatus
from gitfleet.api.workload_rollouts import RolloutTrait
from gitfleet.model.decisions import Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failures
from gitfleet.model.state import FleetState
from gitfleet.workload.advance import advance_workloads
from gitfleet.workload.cases import needs_pods
from gitfleet.workload.finding import named_snapshots
from gitfleet.workload.handlers import Handlers
from gitfleet.workload.lookup import Request
from gitfleet.workload.movement import movement
from gitfleet.workload.seam import Advance, Gate, Movement, Rollouts, Works


class HandledRollouts(Rollouts):
    """Rollouts of the workloads that handlers know."""

    def __init__(self, handlers: Handlers) -> None:
        self._handlers = handlers

    def snapshots_in_use(self, desired: Desired, before: FleetState) -> dict[PlacementKey, frozenset[str]]:
        return named_snapshots(desired.rollouts.values(), before.rollouts.values())

    def keys_to_observe(
        self, desired: Desired, before: FleetState, clusters: Mapping[str, MemberCluster]
    ) -> dict[str, set[ObjectKey]]:
        """Where they were found, and on every cluster that a rollout selects itself."""
        keys = defaultdict[str, set[ObjectKey]](set)
        for status in _statuses(before):
            if status.cluster in clusters and status.target is not None:
                keys[status.cluster].update((status.target, *status.sources, *status.named))
        for rollout in desired.rollouts.values():
            if isinstance(rollout, RolloutTrait) and rollout.clusters is not None:
                for name in (name for name, cluster in clusters.items() if rollout.clusters.matches(cluster.labels)):
                    keys[name].update((rollout.target, *rollout.sources))
        return keys

    def pods_to_observe(self, before: FleetState) -> dict[str, set[ObjectKey]]:
        keys = defaultdict[str, set[ObjectKey]](set)
        for status in _statuses(before):
            if status.target is not None and needs_pods(status, self._handlers.get(status.target.group_kind)):
                keys[status.cluster].add(status.target)
        return keys

    def advance(
        self, state: FleetState, works_before: Works, works: Works, inputs: Inputs, gate: Gate, failures: Failures
    ) -> Advance:
        return advance_workloads(Request(state, works_before, works, inputs, self._handlers, gate), failures)

    def movement(self, state: FleetState, works: Works, inputs: Inputs, failures: Failures) -> Movement:
        return movement(state.rollouts, works, inputs, self._handlers, failures)


def _statuses(state: FleetState) -> Iterator[ClusterRolloutStatus]:
    return (status for record in state.rollouts.values() for status in record.clusters)
