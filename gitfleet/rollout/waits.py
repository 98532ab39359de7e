"""How long until time alone changes something: until resources count as available, until progress counts as stuck, and
until a plan is worth making again. For whatever moves bindings inside this package; nothing here reads a clock.

All take `now` and give lengths of time from then on. None raises.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from gitfleet.api.bindings import Binding
from gitfleet.api.conditions import Condition, ConditionType, Status, find_condition
from gitfleet.api.strategies import RollingUpdate

STUCK_AFTER = timedelta(minutes=5)
"""How long "still applying" or "not yet available" is progress (decision D6); after that it counts as failed, as
KubeFleet counts it from the first moment. The length is KubeFleet's own threshold for a stuck cluster in staged
updates. Without an end, clusters that never become available could never get the fix either."""


def unavailable_period(limits: RollingUpdate) -> timedelta:
    """How long resources whose availability cannot be tracked count as unavailable (unavailablePeriodSeconds)."""
    return timedelta(seconds=limits.unavailable_period_seconds)


def until_over(binding: Binding, condition: Condition, period: timedelta, now: datetime) -> timedelta:
    """What is left of a period for which `condition` must have held at the binding's generation: a soak time, or
    STUCK_AFTER. Zero or less: it is over."""
    return period - (now - held_since(binding, condition))


def requeue_after(limits: RollingUpdate, waits: Iterable[timedelta]) -> timedelta:
    """How long KubeFleet would wait while something is not ready: to the first of the waits that end by themselves,
    at most the unavailable period (pkg/controllers/rollout)."""
    return min((*waits, unavailable_period(limits)))


def until_plan_changes(clocks: Iterable[timedelta]) -> timedelta | None:
    """How long until time alone may change the plan; None when only a change elsewhere can."""
    return min(clocks, default=None)


def held_since(binding: Binding, condition: Condition) -> datetime:
    """When a condition began to hold for this generation: a status that is the same before and after an update keeps
    its old transition time, so the start of the rollout counts where it is later."""
    started = find_condition(binding.conditions, ConditionType.ROLLOUT_STARTED, generation=binding.generation)
    if started is None or started.status is not Status.TRUE:
        return condition.last_transition_time
    return max(condition.last_transition_time, started.last_transition_time)
