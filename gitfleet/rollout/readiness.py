"""What a binding's conditions say at its current generation: ready, failed, or only reporting differences.

A condition that was observed for an older generation never counts: the moment a binding is updated, its old Available
stops counting, and that is what makes maxUnavailable work.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from gitfleet.api.bindings import Binding
from gitfleet.api.conditions import Condition, ConditionType, Reason, Status, find_condition, is_true
from gitfleet.api.strategies import RollingUpdate

STUCK_AFTER = timedelta(minutes=5)
"""How long "still applying" or "not yet available" is progress (decision D6); after that it counts as failed, as
KubeFleet counts it from the first moment. The length is KubeFleet's own threshold for a stuck cluster in staged
updates. Without an end, clusters that never become available could never get the fix either."""
_UNTRACKABLE = frozenset({Reason.NOT_ALL_WORK_ARE_AVAILABILITY_TRACKABLE, Reason.WORK_NOT_TRACKABLE})
_STEPS = (ConditionType.OVERRIDDEN, ConditionType.WORK_SYNCHRONIZED, ConditionType.APPLIED, ConditionType.AVAILABLE)
_PENDING = frozenset(
    {
        Reason.OVERRIDDEN_PENDING,
        Reason.WORK_NOT_SYNCHRONIZED_YET,
        Reason.APPLY_PENDING,
        Reason.RESOURCE_NOT_AVAILABLE_YET,
    }
)
_IN_PROGRESS = frozenset(
    {Reason.APPLY_IN_PROGRESS, Reason.NOT_ALL_WORK_HAVE_BEEN_APPLIED, Reason.NOT_ALL_WORK_ARE_AVAILABLE}
)


def unavailable_period(limits: RollingUpdate) -> timedelta:
    """How long resources whose availability cannot be tracked count as unavailable (unavailablePeriodSeconds)."""
    return timedelta(seconds=limits.unavailable_period_seconds)


def until_over(binding: Binding, condition: Condition, period: timedelta, now: datetime) -> timedelta:
    """What is left of a period for which `condition` must have been the same at the binding's generation: a soak time,
    or STUCK_AFTER. Zero or less: it is over. A status that is the same before and after an update keeps its old
    transition time, so the start of the rollout counts where it is later."""
    since = condition.last_transition_time
    started = find_condition(binding.conditions, ConditionType.ROLLOUT_STARTED, generation=binding.generation)
    if started is not None and started.status is Status.TRUE:
        since = max(since, started.last_transition_time)
    return period - (now - since)


@dataclass(frozen=True, slots=True)
class Readiness:
    """`ready`, or how long until time alone makes it so; `wait` None: unknown, the next change of status decides."""

    ready: bool
    wait: timedelta | None = None


def is_ready(binding: Binding, unavailable_period: timedelta, now: datetime) -> Readiness:
    """Whether a binding's resources are available (or its differences reported) at its current generation.

    What cannot be tracked counts as available `unavailable_period` after it was applied (KubeFleet isBindingReady).
    """
    if is_true(binding.conditions, ConditionType.DIFF_REPORTED, generation=binding.generation):
        return Readiness(True)
    available = find_condition(binding.conditions, ConditionType.AVAILABLE, generation=binding.generation)
    if available is None or available.status is not Status.TRUE:
        return Readiness(False)
    if available.reason not in _UNTRACKABLE:
        return Readiness(True)
    wait = until_over(binding, available, unavailable_period, now)
    return Readiness(False, wait) if wait > timedelta(0) else Readiness(True)


def failures(binding: Binding) -> tuple[Condition, ...]:
    """The conditions that are False at the current generation for another reason than that their turn has not come; and
    an apply of which nothing is known, since an object still belongs to a placement that leaves."""
    false = [c for c in binding.conditions if _is_false(c) and c.observed_generation == binding.generation]
    failed = (c for c in false if c.type in _STEPS and c.reason not in _PENDING)
    return tuple(sorted(failed, key=lambda c: _STEPS.index(ConditionType(c.type)))) if false else ()


def _is_false(condition: Condition) -> bool:
    unknown = condition.status is Status.UNKNOWN and condition.reason == Reason.APPLY_IN_PROGRESS
    return unknown or condition.status is Status.FALSE


def has_failed(binding: Binding, now: datetime, *, trying: bool = False) -> bool:
    """Whether overriding, synchronising, applying or availability failed at the current generation.

    Being in progress is not a failure (decision D6) until it has lasted STUCK_AFTER. `trying`: something is to be
    applied there at this moment. Then ApplyInProgress is no failure however old it is: a process that died before its
    report, or a cluster that was unreachable, left it behind, and nobody has observed since whether the cluster serves.
    """
    return any(
        c.reason not in _IN_PROGRESS
        or (
            until_over(binding, c, STUCK_AFTER, now) <= timedelta(0)
            and not (trying and c.reason == Reason.APPLY_IN_PROGRESS)
        )
        for c in failures(binding)
    )


def is_failure(binding: Binding) -> bool:
    """Whether a condition at the current generation is False for a reason that means failure, whatever its age."""
    return any(c.reason not in _IN_PROGRESS for c in failures(binding))


def needs_new_run(binding: Binding) -> bool:
    """Whether a run gave the binding what cannot be rendered, an override that fails, say: no later pass can."""
    return any(c.reason in (Reason.OVERRIDDEN_FAILED, Reason.SYNC_WORK_FAILED) for c in failures(binding))


def in_progress(binding: Binding, now: datetime) -> timedelta | None:
    """How long a binding that is still applying or becoming available keeps that excuse; None when it is not in
    progress (anything else, failed included)."""
    if has_failed(binding, now):
        return None
    return min((until_over(binding, c, STUCK_AFTER, now) for c in failures(binding)), default=None)


def is_diff_reported(binding: Binding) -> bool:
    """Whether a DiffReported condition of any status stands at the current generation: nothing is applied there."""
    return find_condition(binding.conditions, ConditionType.DIFF_REPORTED, generation=binding.generation) is not None
