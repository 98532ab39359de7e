"""The status that people write: what an exported run says of its beginning (decision D35), and what an approval
answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from gitfleet.api import Break
from gitfleet.api.conditions import APPROVED, answer_of
from gitfleet.api.objects import JsonObject
from gitfleet.api.runs import RunConditionType
from gitfleet.api.staged import BEGAN_ELSEWHERE, HOLD_PREFIX, Approval, StagedRun
from gitfleet.desired.texts import DesiredText

_CONDITION: Final = f'{{type: {APPROVED}, status: "True"}}'
_WAITING: Final = (RunConditionType.INITIALIZED, "Unknown")


def with_beginning(run: StagedRun, body: JsonObject) -> StagedRun:
    """Note of a run whose status says anything that it began elsewhere. The status is read leniently: hubs write more,
    and people cut away."""
    sentence = DesiredText.NEVER_BEGINS_HERE(began_elsewhere=BEGAN_ELSEWHERE)
    return run if _is_new(body.get("status")) else replace(run, began_elsewhere=sentence)


def approval_warnings(approval: Approval) -> Iterator[Break]:
    """Yield why an approval answers nothing. The request of a stage may come without an answer."""
    of_hold = approval.key.name.startswith(HOLD_PREFIX)
    if of_hold and approval.key.namespace:
        yield ("kind",), DesiredText.ANSWERS_NO_HOLD()
    if answer_of(approval.conditions) is None and (of_hold or approval.conditions):
        sentence = DesiredText.NO_CONDITION_ANSWERS_NOTHING(approved=APPROVED, condition=_CONDITION)
        yield ("status", "conditions"), sentence


def _is_new(status: object) -> bool:
    """Whether nothing was done yet: the status is empty, or has Initialized Unknown alone. Anything else was written
    when the run began, or later."""
    if not isinstance(status, Mapping):
        return status is None
    conditions = status.get("conditions", [])
    is_empty = all(part in ({}, [], "", None) for name, part in status.items() if name != "conditions")
    return is_empty and isinstance(conditions, list) and all(map(_is_waiting, conditions))


def _is_waiting(condition: object) -> bool:
    return isinstance(condition, Mapping) and (condition.get("type"), condition.get("status")) == _WAITING
