"""CloneSet of OpenKruise: `updateStrategy.partition` is how many pods keep the older content; its controller does the
rest (apis/apps/v1alpha1/clonesets_types.go). Raising the partition brings pods of before back, from Kruise 1.0 on.
"""

from __future__ import annotations

from typing import Final, assert_never

from gitfleet.api.workload_records import RolloutMode
from gitfleet.formats.int_or_percent import is_zero, scaled
from gitfleet.model.observations import LiveObject
from gitfleet.model.rollout_fields import Fields, value_at
from gitfleet.workload.handlers.base import OneObject, has_one_revision
from gitfleet.workload.handlers.reading import (
    REPLICAS,
    asked,
    chooses_itself,
    given_back,
    is_seen,
    kept_fields,
    number,
    of_manifest,
    pods_there,
    ready_there,
    updated_there,
)
from gitfleet.workload.handlers.replicas import until_seen
from gitfleet.workload.handlers.values import Counts, Goal, Scaling, Step, Workloads

PARTITION: Final = "/spec/updateStrategy/partition"
PAUSED: Final = "/spec/updateStrategy/paused"
UNAVAILABLE: Final = "/spec/updateStrategy/maxUnavailable"
SURGE: Final = "/spec/updateStrategy/maxSurge"


class CloneSetHandler(OneObject):
    """partition, paused and maxUnavailable of its update strategy are moved."""

    def refusal(self, seen: Workloads, goal: Goal) -> str:
        """Its controller chooses the pods."""
        if goal.pod_list:
            return chooses_itself(seen)
        return super().refusal(seen, goal)

    def counts(self, seen: Workloads, goal: Goal) -> Counts:
        """By its status."""
        live = seen.target
        if goal.mode is not RolloutMode.IN_PLACE or live is None:
            return super().counts(seen, goal)
        pods, ready = pods_there(live), ready_there(live)
        upgraded = min(pods, updated_there(live.body))
        upgraded_ready = min(upgraded, ready, number(live.body, "/status/updatedReadyReplicas"))
        counts = Counts(
            upgraded=upgraded,
            upgraded_ready=upgraded_ready,
            old=pods - upgraded,
            old_ready=ready - upgraded_ready,
            observed=is_seen(live) and pods >= asked(live) and upgraded >= asked(live) - _partition(live),
        )
        return until_seen(counts, seen, goal)

    def scale(self, seen: Workloads, goal: Goal, step: Step) -> Scaling:
        """The partition, and how many pods may be missing."""
        live = seen.target
        if goal.mode is not RolloutMode.IN_PLACE or live is None:
            return super().scale(seen, goal, step)
        return Scaling(fields={live.key: _fields(seen, live, goal, step)})

    def _stands_still(self, live: LiveObject) -> bool:
        return value_at(live.body, PAUSED) is True


def _fields(seen: Workloads, live: LiveObject, goal: Goal, step: Step) -> Fields:
    present = kept_fields(live.body, (REPLICAS, PARTITION, UNAVAILABLE))
    if step is Step.RELEASE:
        return {
            REPLICAS: of_manifest(seen, REPLICAS, goal.size),
            PARTITION: 0,
            PAUSED: False,
            UNAVAILABLE: given_back(seen, UNAVAILABLE, "20%"),
        }
    if step is Step.HOLD:
        return {**present, PARTITION: asked(live), PAUSED: True}
    if step is Step.KEEP or (step is Step.REVERT and has_one_revision(live)):
        return {**present, PAUSED: True}
    match step:
        case Step.CLAIM:
            upgraded = goal.before
        case Step.REVERT:
            upgraded = 0
        case Step.FIRST | Step.SECOND:
            upgraded = goal.upgraded
        case _:
            assert_never(step)
    surge = value_at(live.body, SURGE)
    is_replaced_in_place = not isinstance(surge, int | str) or is_zero(surge)
    return {
        REPLICAS: goal.size,
        PARTITION: max(0, goal.size - upgraded),
        PAUSED: False,
        # Without a surge one pod at least has to be missing while it is replaced.
        UNAVAILABLE: max(1, goal.unavailable) if is_replaced_in_place else goal.unavailable,
    }


def _partition(live: LiveObject) -> int:
    """How many pods are to keep the older content; a percentage is rounded up."""
    value = value_at(live.body, PARTITION)
    try:
        return scaled(value, asked(live)) if isinstance(value, int | str) else 0
    except ValueError:
        return 0
