"""What a placement is still waiting for, in a sentence."""

from __future__ import annotations

from collections.abc import Iterator

from gitfleet.api.bindings import DELETED, Binding, BindingState
from gitfleet.api.conditions import ConditionType, Status, find_condition
from gitfleet.formats.sentences import more_than_first
from gitfleet.model.rolling import RolloutPlan
from gitfleet.model.state import PlacementRecord

_STEPS = ("Overridden", "WorkSynchronized", "Applied", "Available")


def waiting_for(record: PlacementRecord, plan: RolloutPlan | None = None) -> tuple[str, ...]:
    """One sentence for each binding that has not arrived where it is to go; empty when the placement is at rest.

    With the `plan` that held bindings back the sentences say why: the conditions alone do not carry the numbers.

    A binding that failed permanently (an override that cannot be applied) is waiting too: for a change by a person.
    """
    name = str(record.placement.key)
    held = {h.cluster: h.reason for h in plan.held} if plan is not None else {}
    found = (_waiting(binding, record, held.get(binding.cluster)) for binding in record.bindings)
    return tuple(f"{name}: {sentence}" for sentences in found for sentence in sentences)


def _waiting(binding: Binding, record: PlacementRecord, held: str | None) -> Iterator[str]:
    there = _not_deleted(binding)
    if binding.deleting is not None:
        yield f"{binding.cluster} is giving up its resources" + (f" and {there}" if there else "")
        return
    started = find_condition(binding.conditions, ConditionType.ROLLOUT_STARTED, generation=binding.generation)
    if started is not None and started.status is not Status.TRUE:
        yield f"{binding.cluster} waits: {held or started.message}"
        return
    if binding.state is BindingState.UNSCHEDULED:
        yield (
            f"{binding.cluster} waits: {held}" if held else f"{binding.cluster} is no longer picked and not cleared yet"
        )
        return
    if binding.state is not BindingState.BOUND:
        if not record.placement.strategy.external:
            yield f"{binding.cluster} is {binding.state} and has not been rolled out"
        return
    if find_condition(binding.conditions, ConditionType.DIFF_REPORTED, generation=binding.generation) is not None:
        return
    for step in _STEPS:
        condition = find_condition(binding.conditions, step, generation=binding.generation)
        if condition is None:
            yield f"{binding.cluster} has not reported {step} for its newest generation"
            return
        if condition.status is not Status.TRUE:
            yield f"{binding.cluster} is not {step}: {condition.message or condition.reason}"
            return
    if there:
        yield f"{binding.cluster} {there}"


def _not_deleted(binding: Binding) -> str:
    """What its cluster has not deleted yet, as the end of a sentence; "" when there is nothing."""
    there = [failed for failed in binding.failed if failed.condition == DELETED]
    if not there:
        return ""
    return f"has not deleted {there[0].key}: {there[0].message}{more_than_first(there)}"
