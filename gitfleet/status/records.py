"""A placement's record takes in the results of selecting and scheduling, and gets its conditions from them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from gitfleet.api.conditions import Condition, ConditionType, Reason, Status, find_condition, set_condition, type_of
from gitfleet.model.scheduling import SchedulingResult
from gitfleet.model.state import PlacementRecord
from gitfleet.status.conditions import placement_conditions
from gitfleet.status.vocabulary import SCHEDULE_PENDING, SCHEDULED


def scheduled_condition(
    record: PlacementRecord, fulfilled: bool | None, reason: Reason, message: str, now: datetime
) -> Condition:
    """The Scheduled verdict on a record's present generation; None for `fulfilled` means that nothing was decided."""
    status = {True: Status.TRUE, False: Status.FALSE, None: Status.UNKNOWN}[fulfilled]
    return Condition(
        type=SCHEDULED.value,
        status=status,
        reason=reason.value,
        message=message,
        last_transition_time=now,
        observed_generation=record.placement.generation,
    )


def with_schedule(
    record: PlacementRecord, result: SchedulingResult, schedule_key: str, now: datetime
) -> tuple[PlacementRecord, Condition | None]:
    """The record after a scheduling, and its Scheduled condition (None: as it was).

    A cycle that was aborted leaves bindings and decisions as they are and says why; it is tried again on the next
    reconcile.
    """
    if result.error is not None:
        return record, scheduled_condition(record, False, result.reason, result.error, now)
    record = replace(record, bindings=result.bindings, decisions=result.decisions, schedule_key=schedule_key)
    if result.fulfilled is None:
        return record, None
    return record, scheduled_condition(record, result.fulfilled, result.reason, result.message, now)


def with_condition(
    record: PlacementRecord, type_: ConditionType, said: tuple[Status, Reason, str] | None, now: datetime
) -> PlacementRecord:
    """The record with one condition of its own beside those of its rollout, or without it; the very same where nothing
    changed."""
    name = type_of(record.placement.key.kind, type_)
    if said is None:
        known = find_condition(record.conditions, name)
        kept = tuple(condition for condition in record.conditions if condition is not known)
        return record if known is None else replace(record, conditions=kept)
    status, reason, message = said
    condition = Condition(
        type=name,
        status=status,
        reason=reason.value,
        message=message,
        last_transition_time=now,
        observed_generation=record.placement.generation,
    )
    conditions = set_condition(record.conditions, condition)
    return record if conditions == record.conditions else replace(record, conditions=conditions)


def with_conditions(record: PlacementRecord, scheduled: Condition | None, now: datetime) -> PlacementRecord:
    """The record with its placement's conditions; without a new Scheduled verdict the last one goes on counting."""
    verdict = scheduled or record.scheduled
    if verdict is None:
        reason, message = SCHEDULE_PENDING
        verdict = scheduled_condition(record, None, reason, message, now)
    return placement_conditions(record, scheduled=verdict, now=now)
