"""A workload with an autoscaler under a rollout: while its pods move, the autoscaler is bounded to the size that the
rollout has set (decision D47)."""

from __future__ import annotations

from gitfleet.api.objects import JsonObject
from gitfleet.model.held_fields import ABSENT, Fields, FieldValue, value_at
from gitfleet.workload.handlers import Counts, Goal, Scaling, Step, WorkloadHandler, Workloads
from gitfleet.workload.handlers.reading import REPLICAS


def scaling_of(handler: WorkloadHandler, seen: Workloads, goal: Goal, step: Step) -> Scaling:
    """What a handler wants, and the bounds of autoscalers: free before anything moves, and once all is done."""
    scaling = handler.scale(seen, goal, step)
    if step is Step.HOLD or not seen.scalers:
        return scaling
    sizes = {key.identity: fields.get(REPLICAS) for key, fields in scaling.fields.items()}
    fields = dict(scaling.fields)
    is_over = step is Step.RELEASE or (step is Step.REVERT and _is_back(handler.counts(seen, goal), goal))
    for one in seen.scalers:
        size = sizes.get(one.workload)
        if is_over:
            fields[one.live.key] = _bounds(one.manifest, None)
        elif isinstance(size, int):
            fields[one.live.key] = _bounds(one.manifest, size)
    return Scaling(fields=fields, pods=scaling.pods)


def _is_back(counts: Counts, goal: Goal) -> bool:
    had = max(0, goal.original - sum(goal.source_sizes)) if goal.source_sizes else 0
    return counts.observed and counts.upgraded <= had


def _bounds(manifest: JsonObject, size: int | None) -> Fields:
    """The bounds of an autoscaler; without a size those of its manifest, of which a server fills in the lower one."""
    filled_in: FieldValue = 1
    least, most = "/spec/minReplicas", "/spec/maxReplicas"
    if manifest.get("kind") == "ScaledObject":
        least, most, filled_in = "/spec/minReplicaCount", "/spec/maxReplicaCount", ABSENT
    if size is not None:
        return {least: max(1, size), most: max(1, size)}
    written = value_at(manifest, least)
    return {least: filled_in if written is ABSENT else written, most: value_at(manifest, most)}
