"""A placement's record takes in the results of selecting and scheduling, and gets its conditions from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from gitfleet.api.conditions import (
    Condition,
    Conditions,
    ConditionType,
    Reason,
    Status,
    condition_of,
    set_condition,
    type_of,
)
from gitfleet.api.placements import PlacementKey
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


Content = tuple[Status, Reason, str]
"""Status, reason and message of a condition."""


def told(conditions: Conditions, type_: str, content: Content | None, generation: int, now: datetime) -> Conditions:
    """The conditions with one of a type, or without it."""
    if content is None:
        return tuple(condition for condition in conditions if condition.type != type_)
    status, reason, message = content
    return set_condition(conditions, condition_of(type_, status, reason.value, message, now, generation))


def with_condition(
    record: PlacementRecord, type_: ConditionType, content: Content | None, now: datetime
) -> PlacementRecord:
    """The record with one condition of its own beside those of its rollout, or without it; the very same where nothing
    changed."""
    name = type_of(record.placement.key.kind, type_)
    conditions = told(record.conditions, name, content, record.placement.generation, now)
    return record if conditions == record.conditions else replace(record, conditions=conditions)


def with_each(
    state: FleetState, before: FleetState, type_: ConditionType, contents: Mapping[PlacementKey, Content], now: datetime
) -> FleetState:
    """The state in which the placements of `contents` have a condition, and no other; the very same where nothing
    changed."""
    changed: dict[PlacementKey, PlacementRecord] = {}
    for key, record in state.placements.items():
        marked = with_condition(record, type_, contents.get(key), now)
        if key in contents or marked is not record:
            changed[key] = keep(before.placements.get(key, record), marked)
    return replace(state, placements={**state.placements, **changed}) if changed else state


def with_conditions(record: PlacementRecord, scheduled: Condition | None, now: datetime) -> PlacementRecord:
    """The record with its placement's conditions; without a new Scheduled verdict the last one goes on counting."""
    verdict = scheduled or record.scheduled
    if verdict is None:
        reason, message = SCHEDULE_PENDING
        verdict = scheduled_condition(record, None, reason, message, now)
    return placement_conditions(record, scheduled=verdict, now=now)


def with_kept(decision: Decision) -> FleetState:
    """The decided state in which every placement that stays as its last good version was says so, and no other."""
    contents: dict[PlacementKey, Content] = {}
    for key, paths in decision.inputs.desired.retained.items():
        files = named_briefly(paths, _MOST_NAMED)
        contents[key] = Status.TRUE, Reason.KEPT, StatusText.GOES_ACCEPTED_LAST_UNTIL_ERRORS(files=files)
    return with_each(decision.after, decision.inputs.before, ConditionType.KEPT, contents, decision.inputs.now)
