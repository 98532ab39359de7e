"""What a rollout wants of its workloads now: the step and the goal of a status."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import assert_never

from gitfleet.api.objects import ObjectKey
from gitfleet.api.rollout_plans import RolloutPlan
from gitfleet.api.workload_records import RELEASED, ClusterRolloutStatus, RolloutMode
from gitfleet.workload.autoscaled import scaling_of
from gitfleet.workload.batches import Batch, UnusablePlan, batches_of, named_pods
from gitfleet.workload.fields import pending
from gitfleet.workload.handlers import Goal, Step, WorkloadHandler, Workloads
from gitfleet.workload.phases import Phase, phase_of


def batches_for(plan: RolloutPlan, status: ClusterRolloutStatus) -> tuple[Batch, ...]:
    """The batches of a rollout whose sizes are known; UnusablePlan where they do not add up."""
    scales = status.mode is RolloutMode.SCALE
    return batches_of(plan, abs(status.target_size - status.original_size) if scales else status.target_size)


def batch_sizes(plan: RolloutPlan, status: ClusterRolloutStatus) -> tuple[int, ...]:
    """How many pods each batch changes; none where that is not known yet, or the batches do not add up."""
    try:
        return tuple(one.upgraded - one.before for one in batches_for(plan, status)) if status.mode is not None else ()
    except UnusablePlan:
        return ()


def goal_of(
    plan: RolloutPlan,
    status: ClusterRolloutStatus,
    now: datetime,
    batch: int | None = None,
    known: tuple[Batch, ...] = (),
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
    batches = known or batches_for(plan, status)
    one = batches[min(number, len(batches) - 1)]
    upgraded = one.upgraded
    if number == status.current_batch:
        reached = status.upgraded_replicas
        reached = abs(reached - status.original_size) if status.mode is RolloutMode.SCALE else reached
        upgraded = max(one.upgraded_at(status.batch_started, now), min(one.upgraded, reached))
    unavailable = one.unavailable(plan.rollout_strategy, max(status.original_size, status.target_size))
    return replace(
        goal,
        before=max(one.before, least),
        upgraded=max(upgraded, least),
        unavailable=unavailable,
        pod_list=named_pods(batches, one.number),
    )


def step_of(status: ClusterRolloutStatus) -> tuple[Step, int] | None:  # noqa: C901 - one case for one phase
    """The step of a status, and the number of the batch whose goal counts; None where nothing is held."""
    phase, batch = phase_of(status.rolling_state, status.batch_rolling_state), status.current_batch
    if status.let_go == RELEASED:
        return (Step.RELEASE, -1)
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
    wanted = step_of(status)
    if wanted is None:
        return ()
    step, batch = wanted
    scaling = scaling_of(handler, seen, goal_of(plan, status, now, batch), step)
    return (*(live.key for live, _ in pending(scaling, seen)), *(pod.key for pod in scaling.pods))
