"""What a rollout wants of its workloads now: the step and the goal of a status."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate, pairwise
from typing import Any, assert_never

from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.api.rollout_plans import RolloutBatch, RolloutPlan, RolloutStrategy
from gitfleet.api.workload_records import RELEASED, ClusterRolloutStatus, RolloutMode
from gitfleet.formats.int_or_percent import scaled
from gitfleet.model.observations import LiveObject
from gitfleet.model.rollout_fields import ABSENT, Fields, FieldValue, parts_of, value_at
from gitfleet.workload.handlers import Counts, Goal, Scaling, Step, WorkloadHandler, Workloads
from gitfleet.workload.handlers.reading import REPLICAS
from gitfleet.workload.phases import Phase, phase_of
from gitfleet.workload.texts import WorkloadText

_EMPTY = RolloutBatch()


class UnusablePlan(Exception):
    """A plan that does not go with a workload; one sentence says why."""


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch: how many pods have the newer content before and after it, and what the plan says of it."""

    number: int
    before: int
    upgraded: int
    plan: RolloutBatch

    def unavailable(self, strategy: RolloutStrategy, size: int) -> int:
        """How many of `size` pods may be not ready meanwhile. A strategy that takes pods away first needs one at least:
        as many as the batch has where the plan does not say."""
        limit = self.plan.max_unavailable
        if limit is not None:
            return scaled(limit, size)
        return self.upgraded - self.before if strategy is RolloutStrategy.DECREASE_FIRST else 0

    def upgraded_at(self, began: datetime | None, now: datetime) -> int:
        """How many pods may have the newer content by now, where they follow each other at an interval: the first at
        once."""
        interval = self.plan.instance_interval
        if not interval or began is None:
            return self.upgraded
        return min(self.upgraded, self.before + 1 + int(max(0.0, (now - began).total_seconds()) // interval))

    def next_at(self, began: datetime | None, now: datetime) -> float | None:
        """After how many seconds the next pod may follow; None where there is none to wait for."""
        interval = self.plan.instance_interval
        if not interval or began is None or self.upgraded_at(began, now) >= self.upgraded:
            return None
        return interval - max(0.0, (now - began).total_seconds()) % interval


def batches_of(plan: RolloutPlan, span: int) -> tuple[Batch, ...]:
    """The batches of a rollout that changes `span` pods. UnusablePlan where the plan's batches do not add up to it."""
    counts = list(_listed(plan, span) if plan.batches else _even(plan.num_batches or 1, span))
    if sum(counts) != span:
        raise UnusablePlan(WorkloadText.BATCHES_PLAN_PODS(sum=sum(counts), span=span))
    plans = plan.batches or (_EMPTY,) * len(counts)
    ends = pairwise(accumulate(counts, initial=0))
    return tuple(Batch(n, before, end, plans[n]) for n, (before, end) in enumerate(ends))


def last_batch(plan: RolloutPlan, batches: tuple[Batch, ...]) -> int:
    """The number of the batch after which the rollout waits, or ends."""
    last = len(batches) - 1
    return last if plan.last_batch is None else min(plan.last_batch, last)


def named_pods(batches: tuple[Batch, ...], number: int) -> tuple[str, ...]:
    """The names of the pods that have the newer content after a batch, where batches name them."""
    return tuple(name for batch in batches[: number + 1] for name in batch.plan.pod_list)


def _even(number: int, span: int) -> Iterator[int]:
    """An even split; the remainder goes to the last ones."""
    least, more = divmod(span, number)
    return (least + (index >= number - more) for index in range(number))


def _listed(plan: RolloutPlan, span: int) -> Iterator[int]:
    """As listed: percents are rounded up, and a percent in the last batch takes what is left."""
    remaining = span
    for number, batch in enumerate(plan.batches):
        is_last = number == len(plan.batches) - 1
        if batch.pod_list:
            count = len(batch.pod_list)
        elif isinstance(batch.replicas, str):
            count = remaining if is_last else min(remaining, scaled(batch.replicas, span))
        else:
            count = batch.replicas or 0
        remaining -= count
        yield count


def batches_for(plan: RolloutPlan, status: ClusterRolloutStatus) -> tuple[Batch, ...]:
    """The batches of a rollout whose sizes are known; UnusablePlan where they do not add up."""
    scales = status.mode is RolloutMode.SCALE
    return batches_of(plan, abs(status.target_size - status.original_size) if scales else status.target_size)


def batch_sizes(plan: RolloutPlan, status: ClusterRolloutStatus) -> tuple[int, ...]:
    """How many pods each batch changes; none where that is not known yet, or the batches do not add up."""
    try:
        batches = batches_for(plan, status) if status.mode is not None else ()
    except UnusablePlan:
        return ()
    return tuple(batch.upgraded - batch.before for batch in batches)


def goal_of(
    plan: RolloutPlan,
    status: ClusterRolloutStatus,
    now: datetime,
    batch: int | None = None,
    made: tuple[Batch, ...] = (),
) -> Goal:
    """What the present batch, or another one, is to reach by now. -1 is what was there before the first. `known` are
    the batches where they were made already. What a batch has reached is never taken back, whatever the clock says."""
    number = status.current_batch if batch is None else batch
    goal = Goal(
        mode=status.mode or RolloutMode.IN_PLACE,
        strategy=plan.rollout_strategy,
        original=status.original_size,
        size=status.target_size,
        source_sizes=status.source_sizes,
    )
    least = status.started_with
    if number < 0:
        return replace(goal, before=least, upgraded=least)
    batches = made or batches_for(plan, status)
    present = batches[min(number, len(batches) - 1)]
    upgraded = present.upgraded
    if number == status.current_batch:
        reached = status.upgraded_replicas
        reached = abs(reached - status.original_size) if status.mode is RolloutMode.SCALE else reached
        upgraded = max(present.upgraded_at(status.batch_started, now), min(present.upgraded, reached))
    unavailable = present.unavailable(plan.rollout_strategy, max(status.original_size, status.target_size))
    return replace(
        goal,
        before=max(present.before, least),
        upgraded=max(upgraded, least),
        unavailable=unavailable,
        pod_list=named_pods(batches, present.number),
    )


def step_of(status: ClusterRolloutStatus) -> tuple[Step, int] | None:  # noqa: C901 - one case for one phase
    """The step of a status, and the number of the batch whose goal counts; None where nothing is held."""
    phase, batch = phase_of(status.rolling_state, status.batch_rolling_state), status.current_batch
    if status.let_go == RELEASED:  # the number of pods is the manifest's again; other fields are given back by a step
        return (Step.RELEASE, -1) if status.mode is RolloutMode.IN_PLACE else None
    match phase:
        case Phase.VERIFYING_SPEC:
            return (Step.HOLD, -1)
        case Phase.INITIALIZING:
            return (Step.CLAIM, -1)
        case Phase.BATCH_INITIALIZING:
            return (Step.CLAIM, -1) if batch == 0 else (Step.SECOND, batch - 1)
        case Phase.BATCH_IN_ROLLING:
            return (Step.SECOND if status.half else Step.FIRST, batch)
        case Phase.BATCH_VERIFYING | Phase.BATCH_FINALIZING | Phase.BATCH_READY:
            return (Step.SECOND, batch)
        case Phase.FINALISING:
            return (Step.RELEASE, batch)
        case Phase.SUCCEEDED:
            return None if status.mode is RolloutMode.IN_PLACE else (Step.RELEASE, batch)
        case Phase.BATCH_VERIFY_FAILED | Phase.FAILING | Phase.FAILED | Phase.ABANDONING | Phase.ABANDONED:
            if status.mode is None:
                return (Step.HOLD, -1)
            return (Step.REVERT if status.revert else Step.KEEP, batch)
    assert_never(phase)


def left_to_change(
    plan: RolloutPlan, status: ClusterRolloutStatus, handler: WorkloadHandler, seen: Workloads, now: datetime
) -> tuple[ObjectKey, ...]:
    """The objects that have not yet all that the state wants of them."""
    chosen = step_of(status)
    if chosen is None:
        return ()
    step, batch = chosen
    scaling = scaling_of(handler, seen, goal_of(plan, status, now, batch), step)
    return (*(live.key for live, _ in pending(scaling, seen)), *(pod.key for pod in scaling.pods))


def scaling_of(handler: WorkloadHandler, seen: Workloads, goal: Goal, step: Step) -> Scaling:
    """What a handler wants, and the bounds of autoscalers: free before anything moves, and once all is done."""
    scaling = handler.scale(seen, goal, step)
    if step is Step.HOLD or not seen.scalers:
        return scaling
    sizes = {key.identity: fields.get(REPLICAS) for key, fields in scaling.fields.items()}
    fields = dict(scaling.fields)
    is_over = step is Step.RELEASE or (step is Step.REVERT and _is_back(handler.counts(seen, goal), goal))
    for scaler in seen.scalers:
        size = sizes.get(scaler.workload)
        if is_over:
            fields[scaler.live.key] = _bounds(scaler.manifest, None)
        elif isinstance(size, int):
            fields[scaler.live.key] = _bounds(scaler.manifest, size)
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


def differing(body: JsonObject, fields: Fields) -> dict[str, FieldValue]:
    """The fields of an object that have another value than they are to have."""
    return {pointer: value for pointer, value in fields.items() if not _same(value_at(body, pointer), value)}


def _same(live: FieldValue, target: FieldValue) -> bool:
    # What is false, and what is not there, is the same for a server that leaves out what is false; 0 is not: where no
    # maxUnavailable is there, it is 25%.
    return live == target or (_is_off(live) and _is_off(target))


def _is_off(value: FieldValue) -> bool:
    return value is ABSENT or value is False


def merge_patch(fields: Mapping[str, FieldValue], body: JsonObject) -> JsonObject:
    """The JSON merge patch (RFC 7396) that gives fields of an object these values; what is to be absent is null."""
    patch: dict[str, Any] = {}
    for pointer, value in fields.items():
        *parents, last = parts_of(pointer)
        node = patch
        for parent in parents:
            node = node.setdefault(parent, {})
        node[last] = None if value is ABSENT else _replacing(value_at(body, pointer), value)
    return patch


def _replacing(live: FieldValue, target: FieldValue) -> FieldValue:
    """What a merge patch says for a value to take the place of another one."""
    if not isinstance(live, Mapping) or not isinstance(target, Mapping):
        return target
    removed = {name: None for name in live if name not in target}
    changed = {name: _replacing(live.get(name), value) for name, value in target.items() if live.get(name) != value}
    return {**removed, **changed}


def pending(scaling: Scaling, seen: Workloads) -> Iterator[tuple[LiveObject, dict[str, FieldValue]]]:
    """The live workloads, and what is read with them, with the fields that they are still to get."""
    for live in (seen.target, *seen.sources, *seen.pods, *(scaler.live for scaler in seen.scalers)):
        if live is None:
            continue
        fields = next((f for key, f in scaling.fields.items() if key.identity == live.key.identity), {})
        if changes := differing(live.body, fields):
            yield live, changes


def key_text(key: ObjectKey) -> str:
    """What names a workload in a status."""
    return f"{key.kind}/{key.name}"
