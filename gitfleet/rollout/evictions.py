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
from gitfleet.api.staged import DisruptionBudget, Eviction
from gitfleet.formats.int_or_percent import scaled
from gitfleet.model.rolling import Frozen
from gitfleet.model.state import PlacementRecord
from gitfleet.rollout.readiness import has_failed, is_diff_reported
from gitfleet.rollout.texts import RolloutText

_REASONS: Final = {
    Status.TRUE: Reason.EVICTION_EXECUTED,
    Status.FALSE: Reason.EVICTION_NOT_EXECUTED,
    Status.UNKNOWN: Reason.INTERNAL_ERROR,
}
_LOST: Final = RolloutText.STATE_BRANCH_LOST_BECAME_EVICTION()
_GENERATION: Final = 1
"""Of every eviction: its spec never changes."""
_NO_PLACEMENT: Final = RolloutText.FAILED_FIND_PLACEMENT_TARGETED_EVICTION()
_DELETING: Final = RolloutText.FOUND_DELETING_PLACEMENT_TARGETED_EVICTION()
_PICK_FIXED: Final = RolloutText.FOUND_PLACEMENT_PICKFIXED_PLACEMENT_TYPE()
_NO_BINDING: Final = RolloutText.FAILED_FIND_SCHEDULER_DECISION_PLACEMENT()
_MANY_BINDINGS: Final = RolloutText.FOUND_MORE_ONE_SCHEDULER_DECISION()
_NOT_PLACED: Final = RolloutText.EVICTION_BLOCKED_PLACEMENT_NOT_PROPAGATED()
_BEING_REMOVED: Final = RolloutText.EVICTION_ALLOWED_RESOURCES_PROPAGATED_PLACEMENT()
_FAILED: Final = RolloutText.EVICTION_ALLOWED_PLACEMENT_FAILED()
_NO_BUDGET: Final = RolloutText.EVICTION_ALLOWED_NO_BUDGET_SPECIFIED()
_NO_SUCH_BUDGET: Final = RolloutText.EVICTION_BLOCKED_MISCONFIGURED_BUDGET()


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
    record: PlacementRecord, asked: Iterable[Eviction], budget: DisruptionBudget | None, now: datetime
) -> tuple[PlacementRecord, tuple[Eviction, ...]]:
    """The record without the clusters that are evicted from it, and the evictions with what became of them.

    `asked` are undecided evictions of this placement; they are decided by name, each seeing what those before it took.
    """
    decided: list[Eviction] = []
    for eviction in sorted(asked, key=lambda one: one.name):
        found = [b for b in record.bindings if b.cluster == eviction.cluster_name]
        if invalid := _invalid(record, found):
            decided.append(_refused(eviction, invalid, now))
            continue
        binding = found[0]
        executed, message = _decide(record, binding, budget, now)
        decided.append(_valid(eviction, Status.TRUE if executed else Status.FALSE, message, now))
        if executed and binding.deleting is None:
            gone = replace(unscheduled(binding), deleting=now)
            record = replace(record, bindings=tuple(gone if b is binding else b for b in record.bindings))
    return record, tuple(decided)


def evict_nothing(asked: Iterable[Eviction], now: datetime) -> tuple[Eviction, ...]:
    """Evictions of a placement that does not exist."""
    return tuple(_refused(eviction, _NO_PLACEMENT, now) for eviction in asked)


def eviction_waits(eviction: Eviction, frozen: Frozen) -> str:
    """That an eviction is not decided while its cluster is frozen, in a sentence."""
    return f"eviction {eviction.name} of {eviction.placement_name} from {eviction.cluster_name} waits: {frozen.reason}"


def evict_no_more(eviction: Eviction, now: datetime) -> Eviction:
    """An eviction of which the state branch lost what became of it: it may have been executed, so it is not again."""
    return _valid(eviction, Status.UNKNOWN, _LOST, now)


def evicted_elsewhere(eviction: Eviction, now: datetime) -> Eviction:
    """An eviction that came with an end, which is no end of anything here."""
    said = f" ({eviction.outcome.message})" if eviction.outcome is not None and eviction.outcome.message else ""
    return _refused(eviction, f"The eviction{said} {eviction.elsewhere}", now)


def _invalid(record: PlacementRecord, found: Sequence[Binding]) -> str:
    if record.placement.deleting is not None:
        return _DELETING
    if record.placement.effective_policy.placement_type is PlacementType.PICK_FIXED:
        return _PICK_FIXED
    if len(found) > 1:
        return _MANY_BINDINGS
    return "" if found else _NO_BINDING


def _decide(
    record: PlacementRecord, binding: Binding, budget: DisruptionBudget | None, now: datetime
) -> tuple[bool, str]:
    """Whether a valid eviction is executed, and why."""
    if binding.deleting is not None:
        return True, _BEING_REMOVED
    state = binding.previous_state if binding.state is BindingState.UNSCHEDULED else binding.state
    if state is not BindingState.BOUND:
        return False, _NOT_PLACED
    if has_failed(binding, now) or is_diff_reported(binding):
        return True, _FAILED
    if budget is None:
        return True, _NO_BUDGET
    policy = record.placement.effective_policy
    if any(True for _ in budget.breaks_beside(policy.placement_type)):
        return False, _NO_SUCH_BUDGET
    found = disruptions(policy, budget, record.bindings)
    verb = "allowed" if found.allowed else "blocked"
    counts = f"availablePlacements: {found.available}, totalPlacements: {found.total}"
    sentence = RolloutText.EVICTION_SPECIFIED_BUDGET(verb=verb, counts=counts)
    return found.allowed > 0, sentence


def _refused(eviction: Eviction, message: str, now: datetime) -> Eviction:
    valid = _condition(EvictionConditionType.VALID, Status.FALSE, Reason.EVICTION_INVALID, message, now)
    return replace(eviction, conditions=(valid,))


def _valid(eviction: Eviction, executed: Status, message: str, now: datetime) -> Eviction:
    valid = _condition(
        EvictionConditionType.VALID, Status.TRUE, Reason.EVICTION_VALID, RolloutText.EVICTION_VALID(), now
    )
    ended = _condition(EvictionConditionType.EXECUTED, executed, _REASONS[executed], message, now)
    return replace(eviction, conditions=(valid, ended))


def _condition(type_: EvictionConditionType, status: Status, reason: Reason, message: str, now: datetime) -> Condition:
    return condition_of(type_.value, status, reason.value, message, now, _GENERATION)


def evicted_since(known: Mapping[str, Eviction], now: Mapping[str, Eviction]) -> frozenset[tuple[PlacementKey, str]]:
    """The placements and clusters of the evictions that were executed and are not among the `known` ones."""
    fresh = () if known is now else (one for name, one in now.items() if name not in known and one.was_executed)
    return frozenset((PlacementKey("", one.placement_name), one.cluster_name) for one in fresh)
