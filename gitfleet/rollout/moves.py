"""What a move makes of a binding; for whatever moves bindings inside this package."""

from __future__ import annotations

from datetime import datetime

from gitfleet.api.bindings import Binding, BindingState
from gitfleet.api.conditions import (
    Condition,
    Conditions,
    ConditionType,
    Reason,
    Status,
    condition_of,
    find_condition,
    set_condition,
)
from gitfleet.api.replacing import replace
from gitfleet.model.rolling import BUDGET_EXHAUSTED, RolloutRequest
from gitfleet.rollout.texts import RolloutText

_STARTED = RolloutText.DETECTED_NEW_CHANGES_RESOURCES_STARTED()


def roll_out(request: RolloutRequest, binding: Binding, now: datetime, by: str = "") -> Binding:
    """The binding with the latest snapshot and the overrides that hold for it now, one generation later, and with
    `start_rollout`."""
    cluster_wide, namespaced = request.overrides.get(binding.cluster, ((), ()))
    generation = binding.generation + 1
    return replace(
        binding,
        state=BindingState.BOUND,
        resource_snapshot=request.latest_snapshot,
        cluster_resource_overrides=cluster_wide,
        resource_overrides=namespaced,
        apply_strategy=request.apply_strategy,
        override_labels=request.labels.get(binding.cluster, ()),
        generation=generation,
        conditions=_started(binding.conditions, generation, now, by),
    )


def start_rollout(binding: Binding, now: datetime, by: str) -> Binding:
    """RolloutStarted=True, with `now` as its time even after an earlier rollout: readiness counts from it. `by` is the
    end of its message: what rolled it out."""
    return replace(binding, conditions=_started(binding.conditions, binding.generation, now, by))


def _started(conditions: Conditions, generation: int, now: datetime, by: str) -> Conditions:
    fresh = _rollout_condition(generation, Status.TRUE, now, by)
    if find_condition(conditions, fresh.type) is None:
        return (*conditions, fresh)
    return tuple(fresh if one.type == fresh.type else one for one in conditions)


def set_rollout_started(binding: Binding, status: Status, now: datetime, why: str = "") -> Binding:
    """RolloutStarted with this status at the current generation, and `why` where it is held back for a reason that
    does not change with every cluster; the binding itself where it stands there already."""
    new = _rollout_condition(binding.generation, status, now, why)
    old = find_condition(binding.conditions, ConditionType.ROLLOUT_STARTED, generation=binding.generation)
    if old is not None and (old.status, old.message) == (new.status, new.message):
        return binding
    return replace(binding, conditions=set_condition(binding.conditions, new))


def _rollout_condition(generation: int, status: Status, now: datetime, why: str) -> Condition:
    started = status is Status.TRUE
    reason = Reason.ROLLOUT_STARTED if started else Reason.ROLLOUT_NOT_STARTED_YET
    message = f"{_STARTED}{why}" if started else why or BUDGET_EXHAUSTED
    return condition_of(ConditionType.ROLLOUT_STARTED.value, status, reason.value, message, now, generation)
