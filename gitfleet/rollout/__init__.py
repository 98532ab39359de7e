"""rollout: which bindings move now, from one shared core for rolling updates, staged runs, evictions and budgets.

    plan_rollout(request) -> RolloutPlan                  one planning step of the rolling update
    is_ready(binding, unavailable_period, now) -> Readiness
    has_failed(binding, now) -> bool                      what it has now cannot be counted on any more
    is_diff_reported(binding) -> bool
    budget(target, limits, counts) -> Budget              the arithmetic of maxUnavailable and maxSurge
    request_for(record, overrides, now, labels, disturbed) -> RolloutRequest
    give_up, take_back, removals, release_left, next_forced_leave, owners_of, retire_bindings, without_left
                                                          placements and clusters that go as a whole
    waiting_for(record)                                   what a placement is still waiting for, in a sentence

Whatever else comes to move bindings stands on the same three modules, none of which knows the rolling update's order:

- `moves`: what a move makes of a binding. A staged run rolls out a stage's clusters with `roll_out` and
  `start_rollout`, and marks the others with `set_rollout_started`; an eviction marks one binding deleting, as a
  removal does.
- `budgets`: how many may move. An eviction is allowed while `Budget.max_to_remove` of the disruption budget is above
  zero; a stage's concurrency and the maxUnavailable of a workload's batch are limits of the same arithmetic.
- `waits`: when to plan again. A stage's soak and after-stage wait, and the time after which a cluster of a stage is
  stuck, are `until_over` of a condition; what a run, or a workload's rollout between two batches, waits for is
  `until_plan_changes` of them.

Forbidden here: choosing clusters, reading manifests, talking to clusters. Same request, same plan.

Source: kubefleet.md §3; decisions D1, D6, D13, D18.
"""

from gitfleet.rollout.budgets import Budget, Counts, budget
from gitfleet.rollout.leaving import (
    Owners,
    give_up,
    next_forced_leave,
    owners_of,
    release_left,
    removals,
    retire_bindings,
    take_back,
    without_left,
)
from gitfleet.rollout.plan import plan_rollout
from gitfleet.rollout.readiness import Readiness, has_failed, is_diff_reported, is_ready
from gitfleet.rollout.requests import request_for
from gitfleet.rollout.silence import LEFT_OUT_AFTER, silent_since
from gitfleet.rollout.waiting import waiting_for
from gitfleet.rollout.waits import STUCK_AFTER

__all__ = [
    "LEFT_OUT_AFTER",
    "STUCK_AFTER",
    "Budget",
    "Counts",
    "Owners",
    "Readiness",
    "budget",
    "give_up",
    "has_failed",
    "is_diff_reported",
    "is_ready",
    "next_forced_leave",
    "owners_of",
    "plan_rollout",
    "release_left",
    "removals",
    "request_for",
    "retire_bindings",
    "silent_since",
    "take_back",
    "waiting_for",
    "without_left",
]
