"""What must be read of clusters for workload rollouts, beside what placements own there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import ObjectKey
from gitfleet.api.workload_records import RolloutRecord
from gitfleet.api.workload_rollouts import RolloutTrait, WorkloadRollout
from gitfleet.workload.cases import needs_pods
from gitfleet.workload.handlers import Handlers


def keys_to_observe(
    wanted: Iterable[WorkloadRollout], records: Iterable[RolloutRecord], clusters: Mapping[str, MemberCluster]
) -> dict[str, set[ObjectKey]]:
    """The workloads that rollouts name, by cluster: where they were found, and on every cluster that the rollout
    selects itself."""
    found: dict[str, set[ObjectKey]] = {}
    for record in records:
        for status in record.clusters:
            if status.cluster in clusters and status.target is not None:
                found.setdefault(status.cluster, set()).update((status.target, *status.sources, *status.named))
    for rollout in wanted:
        if not isinstance(rollout, RolloutTrait) or rollout.clusters is None:
            continue
        for name, cluster in clusters.items():
            if rollout.clusters.matches(cluster.labels):
                found.setdefault(name, set()).update((rollout.target, *rollout.sources))
    return found


def pods_to_observe(records: Iterable[RolloutRecord], handlers: Handlers) -> dict[str, set[ObjectKey]]:
    """The workloads whose pods must be read, by cluster."""
    found: dict[str, set[ObjectKey]] = {}
    for record in records:
        for status in record.clusters:
            target = status.target
            if target is not None and needs_pods(status, handlers.get(target.group_kind)):
                found.setdefault(status.cluster, set()).add(target)
    return found
