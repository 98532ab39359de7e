"""What a move makes of a binding; for whatever moves bindings inside this package."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from gitfleet.api.bindings import Binding, BindingState
from gitfleet.api.conditions import (
    Condition,
    ConditionType,
    Reason,
    Status,
    condition_of,
    find_condition,
    set_condition,
)
from gitfleet.model.rolling import RolloutRequest

_STARTED = "Detected the new changes on the resources and started the rollout process"
# The numbers stand in Held.reason; here they would rewrite every held binding whenever one cluster changes.
_NOT_STARTED = "The rollout strategy holds the latest resources back for now"


def roll_out(request: RolloutRequest, binding: Binding) -> Binding:
    """The binding with the latest snapshot and the overrides that hold for it now, one generation later."""
    cluster_wide, namespaced = request.overrides.get(binding.cluster, ((), ()))
    return replace(
        binding,
        state=BindingState.BOUND,
        resource_snapshot=request.latest_snapshot,
        cluster_resource_overrides=cluster_wide,
        resource_overrides=namespaced,
        apply_strategy=request.apply_strategy,
        override_labels=request.labels.get(binding.cluster, ()),
        generation=binding.generation + 1,
    )


def start_rollout(binding: Binding, now: datetime, by: str = "") -> Binding:
    """RolloutStarted=True, with `now` as its time even after an earlier rollout: readiness counts from it. `by` is the
    end of its message: what rolled it out."""
    conditions = binding.conditions
    fresh = _rollout_condition(binding, Status.TRUE, now, by)
    kept = set_condition(conditions, fresh)
    return replace(binding, conditions=tuple(fresh if c.type == fresh.type else c for c in kept))


def set_rollout_started(binding: Binding, status: Status, now: datetime, why: str = "") -> Binding:
    """RolloutStarted with this status at the current generation, and `why` where it is held back for a reason that
    does not change with every cluster; the binding itself where it stands there already."""
    new = _rollout_condition(binding, status, now, why)
    old = find_condition(binding.conditions, ConditionType.ROLLOUT_STARTED, generation=binding.generation)
    if old is not None and (old.status, old.message) == (new.status, new.message):
        return binding
    return replace(binding, conditions=set_condition(binding.conditions, new))


def _rollout_condition(binding: Binding, status: Status, now: datetime, why: str) -> Condition:
    started = status is Status.TRUE
    reason = Reason.ROLLOUT_STARTED if started else Reason.ROLLOUT_NOT_STARTED_YET
    message = f"{_STARTED}{why}" if started else why or _NOT_STARTED
    return condition_of(ConditionType.ROLLOUT_STARTED.value, status, reason.value, message, now, binding.generation)
