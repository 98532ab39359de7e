"""Workload rollouts as they were accepted last: what may not change while one runs (seed 004, Operational features),
and the rollout that goes on in place of one with an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from gitfleet.api import Break, write
from gitfleet.api.annotations import below
from gitfleet.api.rollout_plans import RolloutBatch, RolloutPlan
from gitfleet.api.workload_records import RolloutRecord
from gitfleet.api.workload_rollouts import AppRollout, RolloutTrait, WorkloadRollout
from gitfleet.desired.texts import DesiredText

_FIXED: Final = DesiredText.CANNOT_CHANGE_WHILE_ROLLOUT_RUNS()


def rollout_of(record: RolloutRecord) -> WorkloadRollout:
    """The rollout that was accepted last, as it would be written."""
    made = _rollout_of(record)
    return replace(made, body=write(made))


def _rollout_of(record: RolloutRecord) -> WorkloadRollout:
    if record.target_ref is not None:
        return RolloutTrait(
            key=record.key,
            kind=record.kind,
            target_ref=record.target_ref,
            source_ref=record.source_ref,
            rollout_plan=record.rollout_plan,
            clusters=record.clusters_selector,
            order=record.order,
        )
    if record.placement_ref is None:
        raise ValueError(DesiredText.RECORD_NAMES_NEITHER_WORKLOAD_NOR(record=record.key))
    return AppRollout(
        key=record.key,
        kind=record.kind,
        placement_ref=record.placement_ref,
        target_revision=record.target_revision,
        source_revision=record.source_revision,
        component_list=record.component_list,
        rollout_plan=record.rollout_plan,
        clusters=record.clusters_selector,
        order=record.order,
    )


def rollout_update_breaks(old: RolloutRecord, new: WorkloadRollout) -> list[Break]:
    """What an edit of a rollout that runs on a cluster may not do: `lastBatchToRollout` only grows, `rolloutBatches`
    only change after it, and metrics, `paused` and `revertOnDelete` change freely. One with another target is another
    rollout, and so is one that was removed, and one that still ends with other workloads, or runs for another revision,
    than it names."""
    is_running = any(one.is_running and not one.named and old.is_taken_up(one) for one in old.clusters)
    if old.removing or not is_running or _target(_rollout_of(old)) != _target(new):
        return []
    return list(_breaks(old, new))


def _target(rollout: WorkloadRollout) -> object:
    match rollout:
        case RolloutTrait():
            return rollout.target.identity
        case AppRollout():
            return rollout.target_revision


def _breaks(old: RolloutRecord, new: WorkloadRollout) -> Iterator[Break]:
    pairs: dict[str, tuple[object, object]] = {
        "clusters": (old.clusters_selector, new.clusters),
        "order": (old.order, new.order),
    }
    match new:
        case RolloutTrait():
            sources = tuple(reference.key(old.key.namespace) for reference in old.source_ref)
            pairs["sourceRef"] = (sources, new.sources)
        case AppRollout():
            pairs["placementRef"] = (old.placement_ref, new.placement_ref)
            pairs["sourceRevision"] = (old.source_revision, new.source_revision)
            pairs["componentList"] = (old.component_list, new.component_list)
    yield from ((("spec", name), _FIXED) for name, (before, after) in pairs.items() if before != after)
    written = (new.body.get("spec") or {}).get("rolloutPlan")
    name = "batchPartition" if isinstance(written, Mapping) and "batchPartition" in written else "lastBatchToRollout"
    yield from below(("spec", "rolloutPlan"), list(_of_plan(old.rollout_plan, new.rollout_plan, name)))


def _of_plan(old: RolloutPlan, new: RolloutPlan, partition_name: str) -> Iterator[Break]:
    pairs: dict[str, tuple[object, object]] = {
        "rolloutStrategy": (old.rollout_strategy, new.rollout_strategy),
        "targetSize": (old.target_size, new.target_size),
        "numBatches": (_number(old), _number(new)),
        "rolloutWebhooks": (old.webhooks, new.webhooks),
    }
    yield from (((name,), _FIXED) for name, (before, after) in pairs.items() if before != after)
    partition = _partition(old)
    if _partition(new) < partition:
        yield (partition_name,), DesiredText.ONLY_RAISED_WHILE_ROLLOUT_RUNS(partition=partition)
    if bool(old.batches) != bool(new.batches):
        return
    for number, before in enumerate(old.batches[: partition + 1]):
        if number >= len(new.batches):
            yield ("rolloutBatches",), DesiredText.NEEDS_BATCH_NOT_GO_WHILE(number=number)
        elif _without_metrics(before) != _without_metrics(new.batches[number]):
            sentence = DesiredText.NOT_AFTER_BATCH_LASTBATCHTOROLLOUT(partition=partition)
            yield ("rolloutBatches", number), DesiredText.PUT_BACK_CHANGE_TARGET(sentence=sentence)


def _number(plan: RolloutPlan) -> int:
    """`numBatches`, as it counts where it is absent; 0 beside `rolloutBatches`."""
    return 0 if plan.batches else plan.number_of_batches


def _partition(plan: RolloutPlan) -> int:
    """The number of the batch after which the rollout waits, or ends."""
    return plan.number_of_batches - 1 if plan.last_batch is None else plan.last_batch


def _without_metrics(batch: RolloutBatch) -> RolloutBatch:
    return replace(batch, canary_metric=())
