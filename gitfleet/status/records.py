"""A placement's record takes in the results of selecting and scheduling, and gets its conditions from them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final

from gitfleet.api.conditions import Condition, ConditionType, Reason, Status, find_condition, set_condition, type_of
from gitfleet.formats.sentences import named_briefly
from gitfleet.model.decisions import Decision
from gitfleet.model.scheduling import SchedulingResult
from gitfleet.model.state import FleetState, PlacementRecord, keep
from gitfleet.status.conditions import placement_conditions
from gitfleet.status.texts import StatusText
from gitfleet.status.vocabulary import SCHEDULE_PENDING, SCHEDULED

_MOST_NAMED: Final = 3


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
    record: PlacementRecord, type_: ConditionType, content: tuple[Status, Reason, str] | None, now: datetime
) -> PlacementRecord:
    """The record with one condition of its own beside those of its rollout, or without it; the very same where nothing
    changed."""
    name = type_of(record.placement.key.kind, type_)
    if content is None:
        existing = find_condition(record.conditions, name)
        remaining = tuple(condition for condition in record.conditions if condition is not existing)
        return record if existing is None else replace(record, conditions=remaining)
    status, reason, message = content
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


def with_kept(decision: Decision) -> FleetState:
    """The decided state in which every placement that stays as its last good version was says so, and no other."""
    inputs, state, placements = decision.inputs, decision.after, dict(decision.after.placements)
    for key, record in state.placements.items():
        content = None
        if paths := inputs.desired.retained.get(key):
            files = named_briefly(paths, _MOST_NAMED)
            content = Status.TRUE, Reason.KEPT, StatusText.GOES_ACCEPTED_LAST_UNTIL_ERRORS(files=files)
        marked = with_condition(record, ConditionType.KEPT, content, inputs.now)
        if content is not None or marked is not record:
            placements[key] = keep(inputs.before.placements.get(key, record), marked)
    return replace(state, placements=placements)
