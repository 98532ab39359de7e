"""rollout: which bindings move now, from one shared core for rolling updates, staged runs, evictions and budgets.

    plan_rollout(request) -> RolloutPlan                  one planning step of the rolling update
    is_ready(binding, unavailable_period, now) -> Readiness
    has_failed(binding, now) -> bool                      what it has now cannot be counted on any more
    is_diff_reported(binding) -> bool
    budget(target, limits, counts) -> Budget              the arithmetic of maxUnavailable and maxSurge
    scaled(limit, target) -> int                          "25%" of 3 = 1 (rounded up)
    retire_bindings(bindings, inventory) -> bindings      those given up vanish once nothing of theirs is left
    waiting_for(record) -> sentences                      what a placement still waits for

Forbidden here: choosing clusters, looking at manifests, talking to clusters. Same request, same plan.

Source: kubefleet.md §3; decisions D1, D6, D13, D18.
"""

from gitfleet.rollout.limits import Budget, Counts, budget, scaled
from gitfleet.rollout.plan import plan_rollout
from gitfleet.rollout.readiness import STUCK_AFTER, Readiness, has_failed, is_diff_reported, is_ready
from gitfleet.rollout.retire import retire_bindings
from gitfleet.rollout.waiting import waiting_for

__all__ = [
    "STUCK_AFTER",
    "Budget",
    "Counts",
    "Readiness",
    "budget",
    "has_failed",
    "is_diff_reported",
    "is_ready",
    "plan_rollout",
    "retire_bindings",
    "scaled",
    "waiting_for",
]
