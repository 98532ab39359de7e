"""What a move makes of a binding; for whatever moves bindings inside this package."""

from __future__ import annotations

from datetime import datetime

from gitfleet.api.bindings import Binding, BindingState, ClusterContent
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
from gitfleet.model.rolling import BUDGET_EXHAUSTED, Passage, RolloutRequest
from gitfleet.rollout.texts import RolloutText

_STARTED = RolloutText.DETECTED_NEW_CHANGES_RESOURCES_STARTED()


def roll_out(request: RolloutRequest, binding: Binding, leave: Passage, now: datetime, cause: str = "") -> Binding:
    """The binding with the latest snapshot and the content that it gets of it now, one generation later, and with
    `start_rollout`."""
    _check(leave, binding)
    content = request.contents.get(binding.cluster, ClusterContent())
    generation = binding.generation + 1
    return replace(
        binding,
        state=BindingState.BOUND,
        resource_snapshot=request.latest_snapshot,
        apply_strategy=request.apply_strategy,
        override_labels=request.labels.get(binding.cluster, ()),
        generation=generation,
        conditions=_started(binding.conditions, generation, now, cause),
        **content._asdict(),
    )


def take_off(binding: Binding, leave: Passage, now: datetime) -> Binding:
    """The binding being removed: its cluster gives up what it has."""
    _check(leave, binding)
    return replace(binding, deleting=now)


def start_rollout(binding: Binding, leave: Passage, now: datetime, cause: str) -> Binding:
    """RolloutStarted=True, with `now` as its time even after an earlier rollout: readiness counts from it. `cause` is
    the end of its message: what rolled it out."""
    _check(leave, binding)
    return replace(binding, conditions=_started(binding.conditions, binding.generation, now, cause))


def _check(leave: Passage, binding: Binding) -> None:
    if leave.cluster != binding.cluster:
        raise ValueError(f"leave to move {leave.cluster} is not for {binding.cluster}")


def _started(conditions: Conditions, generation: int, now: datetime, cause: str) -> Conditions:
    fresh = _rollout_condition(generation, Status.TRUE, now, cause)
    if find_condition(conditions, fresh.type) is None:
        return (*conditions, fresh)
    return tuple(fresh if condition.type == fresh.type else condition for condition in conditions)


def set_rollout_started(
    binding: Binding, status: Status, now: datetime, why: str = "", *, code: Reason = Reason.ROLLOUT_NOT_STARTED_YET
) -> Binding:
    """RolloutStarted with this status at the current generation, and where it is blocked why, as far as that does not
    change with every cluster; the binding itself where it stands there already."""
    new = _rollout_condition(binding.generation, status, now, why, blocked=code)
    old = find_condition(binding.conditions, ConditionType.ROLLOUT_STARTED, generation=binding.generation)
    if old is not None and (old.status, old.reason, old.message) == (new.status, new.reason, new.message):
        return binding
    return replace(binding, conditions=set_condition(binding.conditions, new))


def _rollout_condition(
    generation: int, status: Status, now: datetime, why: str, *, blocked: Reason = Reason.ROLLOUT_NOT_STARTED_YET
) -> Condition:
    started = status is Status.TRUE
    reason = Reason.ROLLOUT_STARTED if started else blocked
    message = f"{_STARTED}{why}" if started else why or BUDGET_EXHAUSTED
    return condition_of(ConditionType.ROLLOUT_STARTED.value, status, reason.value, message, now, generation)
