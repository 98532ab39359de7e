"""Evictions: a placement is taken off a cluster once, as far as its disruption budget allows.

Source: KubeFleet pkg/controllers/clusterresourceplacementeviction (checks, their order, reasons and messages); seed 003
on evictions and budgets. Decision record 0013 has what git makes different.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from gitfleet.api.bindings import Binding, BindingState, is_available, unscheduled
from gitfleet.api.conditions import Condition, EvictionConditionType, Reason, Status, condition_of
from gitfleet.api.placements import PlacementKey, PlacementPolicy, PlacementType
from gitfleet.api.staged import DECIDED_ELSEWHERE, DisruptionBudget, Eviction
from gitfleet.formats.int_or_percent import scaled
from gitfleet.model.rolling import Frozen, MoveKind, PlacementGate, wait_for
from gitfleet.model.state import PlacementRecord, changed
from gitfleet.rollout.moves import take_off
from gitfleet.rollout.readiness import has_failed, is_diff_reported
from gitfleet.rollout.texts import RolloutText

_GENERATION: Final = 1
"""Of every eviction: its spec never changes."""


@dataclass(frozen=True, slots=True)
class Disruptions:
    """How many clusters may be evicted now, with `available` of the `total` bindings available."""

    allowed: int
    available: int
    total: int


def disruptions(policy: PlacementPolicy, budget: DisruptionBudget, bindings: Sequence[Binding]) -> Disruptions:
    """What a budget allows: percentages are of numberOfClusters, rounded up, and of nothing for PickAll.

    A binding counts as available by its Available condition at its current generation, and no more once it is being
    removed: a second eviction in the same pass sees the first one. Bindings that are missing are not unavailable
    (KubeFleet isEvictionAllowed).
    """
    desired = policy.number_of_clusters or 0
    available = sum(binding.deleting is None and is_available(binding) for binding in bindings)
    if budget.max_unavailable is not None:
        allowed = scaled(budget.max_unavailable, desired) - (len(bindings) - available)
    else:
        allowed = available - scaled(budget.min_available or 0, desired)
    return Disruptions(max(0, allowed), available, len(bindings))


def evict(
    record: PlacementRecord,
    evictions: Iterable[Eviction],
    budget: DisruptionBudget | None,
    now: datetime,
    gate: PlacementGate,
) -> tuple[PlacementRecord, tuple[Eviction, ...]]:
    """The record without the clusters that are evicted from it, and the evictions with what became of them.

    `evictions` are undecided ones of this placement; they are decided by name, each seeing what those before it took.
    One on whose cluster nothing may start is left undecided.
    """
    decided: list[Eviction] = []
    for eviction in sorted(evictions, key=lambda eviction: eviction.name):
        leave = gate.passage(eviction.cluster_name, MoveKind.REMOVE)
        if isinstance(leave, Frozen):
            continue
        bindings = [b for b in record.bindings if b.cluster == eviction.cluster_name]
        if invalid := _invalid(record, bindings):
            decided.append(_refused(eviction, invalid, now))
            continue
        binding = bindings[0]
        executed, message = _decide(record, binding, budget, now)
        decided.append(_valid(eviction, message, now, executed=executed))
        if executed and binding.deleting is None:
            unbound = take_off(unscheduled(binding), leave, now)
            record = replace(record, bindings=tuple(unbound if b is binding else b for b in record.bindings))
    return record, tuple(decided)


def evict_nothing(evictions: Iterable[Eviction], now: datetime) -> tuple[Eviction, ...]:
    """Evictions of a placement that does not exist."""
    why = RolloutText.FAILED_FIND_PLACEMENT_TARGETED_EVICTION()
    return tuple(_refused(eviction, why, now) for eviction in evictions)


def eviction_waits(eviction: Eviction, frozen: Frozen) -> str:
    """That an eviction is not decided while its cluster is frozen, in a sentence."""
    name = f"eviction {eviction.name} of {eviction.placement_name} from {eviction.cluster_name}"
    return wait_for(frozen.reason, f"{name} waits: {frozen.reason}")


def evicted_elsewhere(eviction: Eviction, now: datetime) -> Eviction:
    """An eviction that came with an end, which is no end of anything here."""
    message = f" ({eviction.outcome.message})" if eviction.outcome is not None and eviction.outcome.message else ""
    return _refused(eviction, f"The eviction{message} {DECIDED_ELSEWHERE}", now)


def _invalid(record: PlacementRecord, bindings: Sequence[Binding]) -> str:
    if record.placement.deleting is not None:
        return RolloutText.FOUND_DELETING_PLACEMENT_TARGETED_EVICTION()
    if record.placement.effective_policy.placement_type is PlacementType.PICK_FIXED:
        return RolloutText.FOUND_PLACEMENT_PICKFIXED_PLACEMENT_TYPE()
    if len(bindings) > 1:
        return RolloutText.FOUND_MORE_ONE_SCHEDULER_DECISION()
    return "" if bindings else RolloutText.FAILED_FIND_SCHEDULER_DECISION_PLACEMENT()


def _decide(
    record: PlacementRecord, binding: Binding, budget: DisruptionBudget | None, now: datetime
) -> tuple[bool, str]:
    """Whether a valid eviction is executed, and why."""
    if binding.deleting is not None:
        return True, RolloutText.EVICTION_ALLOWED_RESOURCES_PROPAGATED_PLACEMENT()
    state = binding.previous_state if binding.state is BindingState.UNSCHEDULED else binding.state
    if state is not BindingState.BOUND:
        return False, RolloutText.EVICTION_BLOCKED_PLACEMENT_NOT_PROPAGATED()
    if has_failed(binding, now) or is_diff_reported(binding):
        return True, RolloutText.EVICTION_ALLOWED_PLACEMENT_FAILED()
    if budget is None:
        return True, RolloutText.EVICTION_ALLOWED_NO_BUDGET_SPECIFIED()
    policy = record.placement.effective_policy
    if any(True for _ in budget.breaks_beside(policy.placement_type)):
        return False, RolloutText.EVICTION_BLOCKED_MISCONFIGURED_BUDGET()
    limits = disruptions(policy, budget, record.bindings)
    verb = "allowed" if limits.allowed else "blocked"
    counts = f"availablePlacements: {limits.available}, totalPlacements: {limits.total}"
    sentence = RolloutText.EVICTION_SPECIFIED_BUDGET(verb=verb, counts=counts)
    return limits.allowed > 0, sentence


def _refused(eviction: Eviction, message: str, now: datetime) -> Eviction:
    valid = _condition(EvictionConditionType.VALID, Status.FALSE, Reason.EVICTION_INVALID, message, now)
    return replace(eviction, conditions=(valid,))


def _valid(eviction: Eviction, message: str, now: datetime, *, executed: bool) -> Eviction:
    fine = RolloutText.EVICTION_VALID()
    valid = _condition(EvictionConditionType.VALID, Status.TRUE, Reason.EVICTION_VALID, fine, now)
    status, reason = Status.FALSE, Reason.EVICTION_NOT_EXECUTED
    if executed:
        status, reason = Status.TRUE, Reason.EVICTION_EXECUTED
    ended = _condition(EvictionConditionType.EXECUTED, status, reason, message, now)
    return replace(eviction, conditions=(valid, ended))


def _condition(type_: EvictionConditionType, status: Status, reason: Reason, message: str, now: datetime) -> Condition:
    return condition_of(type_.value, status, reason.value, message, now, _GENERATION)


def evicted_since(before: Mapping[str, Eviction], now: Mapping[str, Eviction]) -> frozenset[tuple[PlacementKey, str]]:
    """The placements and clusters of the evictions that were executed and are not among those `before`."""
    fresh = (eviction for _, old, eviction in changed(before, now) if old is None)
    executed = (eviction for eviction in fresh if eviction is not None and eviction.was_executed)
    return frozenset((PlacementKey("", eviction.placement_name), eviction.cluster_name) for eviction in executed)
