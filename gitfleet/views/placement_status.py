"""`status` of a placement as KubeFleet shows it: conditions, observedResourceIndex, placementStatuses,
selectedResources, all put together from its bindings and snapshots."""

from __future__ import annotations

from typing import Any, Final

from gitfleet.api import write, write_as
from gitfleet.api.bindings import DELETED, DiffedObject, DriftedObject, FailedObject, References
from gitfleet.api.conditions import Conditions, ConditionType, Reason, Status
from gitfleet.api.objects import JsonObject
from gitfleet.formats.times import time_text
from gitfleet.model.state import PlacementRecord
from gitfleet.state import present
from gitfleet.status import (
    SCHEDULED,
    ClusterProgress,
    cluster_progress,
    has_overrides,
    observed_snapshot,
    unmet_count,
)

MOST_CLUSTERS: Final = 1000
"""KubeFleet keeps at most 1000 decisions; of more clusters the file shows those that are not through first. The
bindings have all."""


def status_object(record: PlacementRecord) -> JsonObject:
    """PlacementStatus."""
    chosen = cluster_progress(record)
    shown = _shown(chosen)
    snapshot = record.snapshot_named(observed_snapshot(record))
    return present(
        conditions=write_as(Conditions, record.conditions),
        observedResourceIndex=None if snapshot is None else str(snapshot.index),
        placementStatuses=[_cluster(record, progress) for progress in shown] + _unmet(record, len(chosen)),
        selectedResources=[] if snapshot is None else [write(key) for key in snapshot.keys],
    )


def _shown(chosen: tuple[ClusterProgress, ...]) -> tuple[ClusterProgress, ...]:
    if len(chosen) <= MOST_CLUSTERS:
        return chosen
    trouble = [progress for progress in chosen if progress.steps[-1].status is not Status.TRUE]
    fine = [progress for progress in chosen if progress.steps[-1].status is Status.TRUE]
    return tuple(sorted([*trouble, *fine][:MOST_CLUSTERS], key=lambda progress: progress.cluster))


def _cluster(record: PlacementRecord, progress: ClusterProgress) -> JsonObject:
    binding = progress.binding
    fields: dict[str, Any] = {"clusterName": progress.cluster, "conditions": _conditions(record, progress)}
    if binding is None:
        leaving = (former.failed for former in record.bindings if former.cluster == progress.cluster)
        undeleted = tuple(failed for failed in next(leaving, ()) if failed.condition == DELETED)
        return fields | present(failedPlacements=write_as(tuple[FailedObject, ...], undeleted))
    # The snapshot the cluster really has, not the latest one (decision D23).
    fields |= present(observedResourceIndex=record.snapshot_index(binding.applied_snapshot))
    if has_overrides(progress):
        fields |= present(
            applicableClusterResourceOverrides=list(binding.cluster_resource_overrides),
            applicableResourceOverrides=write_as(References, binding.resource_overrides),
        )
    last = progress.steps[-1]
    # What an earlier generation left behind says nothing of one that nobody has reported on yet.
    reported = [step.step.type for step in progress.steps if step.status is not Status.UNKNOWN]
    at_apply = ConditionType.APPLIED in reported
    failing = at_apply and last.status is Status.FALSE
    diffed = failing or (last.step.type is ConditionType.DIFF_REPORTED and last.status is Status.TRUE)
    failing = failing or any(failed.condition == DELETED for failed in binding.failed)
    return fields | present(
        failedPlacements=write_as(tuple[FailedObject, ...], binding.failed) if failing else [],
        diffedPlacements=write_as(tuple[DiffedObject, ...], binding.diffed) if diffed else [],
        driftedPlacements=write_as(tuple[DriftedObject, ...], binding.drifted) if at_apply else [],
    )


def _conditions(record: PlacementRecord, progress: ClusterProgress) -> list[JsonObject]:
    decision = progress.binding.decision if progress.binding and progress.binding.decision else None
    if decision is None:
        decision = next((d for d in record.decisions if d.cluster == progress.cluster), None)
    message = decision.reason if decision else ""
    reported = [_condition(record, SCHEDULED, Status.TRUE, Reason.SCHEDULED, message)]
    for step in progress.steps:
        since = time_text(step.since) if step.since else ""
        reported.append(_condition(record, step.step.type, step.status, step.reason, step.message, since))
    return reported


def _condition(
    record: PlacementRecord, type_: ConditionType, status: Status, reason: str, message: str, since: str = ""
) -> JsonObject:
    return {
        "lastTransitionTime": since or _time_of(record, type_),
        "message": message,
        "observedGeneration": record.placement.generation,
        "reason": str(reason),
        "status": status.value,
        "type": type_.value,
    }


def _time_of(record: PlacementRecord, type_: ConditionType) -> str:
    """When the placement's own condition of the type changed last, for what no binding dates."""
    condition = record.condition(type_) or record.scheduled
    if condition is not None:
        return time_text(condition.last_transition_time)
    created = [snapshot.created for snapshot in record.resource_snapshots[:1]]
    return time_text(created[0]) if created else "1970-01-01T00:00:00Z"


def _unmet(record: PlacementRecord, chosen: int) -> list[JsonObject]:
    """Entries for the clusters that are missing: why one was refused, without its name, as in KubeFleet."""
    refused = [decision for decision in record.decisions if not decision.selected]
    return [
        {"conditions": [_condition(record, SCHEDULED, Status.FALSE, Reason.SCHEDULE_FAILED, decision.reason)]}
        for decision in refused[: unmet_count(record, chosen)]
    ]
