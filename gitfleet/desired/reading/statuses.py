"""The status that people write: what an exported run says of its beginning (decision D35), and what an approval
answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from gitfleet.api import Break
from gitfleet.api.conditions import APPROVED, answer_of
from gitfleet.api.objects import JsonObject
from gitfleet.api.staged import BEGAN_ELSEWHERE, HOLD_PREFIX, Approval, StagedRun
from gitfleet.desired.texts import DesiredText

_CONDITION: Final = f'{{type: {APPROVED}, status: "True"}}'


def with_beginning(run: StagedRun, body: JsonObject) -> StagedRun:
    """Note of a run whose status says anything that it began elsewhere. The status is read leniently: hubs write more,
    and people cut away."""
    status = body.get("status")
    is_new = not any(status.values()) if isinstance(status, Mapping) else status is None
    sentence = DesiredText.NEVER_BEGINS_HERE(began_elsewhere=BEGAN_ELSEWHERE)
    return run if is_new else replace(run, began_elsewhere=sentence)


def approval_warnings(approval: Approval) -> Iterator[Break]:
    """Yield why an approval answers nothing. The request of a stage may come without an answer."""
    of_hold = approval.key.name.startswith(HOLD_PREFIX)
    if of_hold and approval.key.namespace:
        yield ("kind",), DesiredText.ANSWERS_NO_HOLD()
    if answer_of(approval.conditions) is None and (of_hold or approval.conditions):
        sentence = DesiredText.NO_CONDITION_ANSWERS_NOTHING(approved=APPROVED, condition=_CONDITION)
        yield ("status", "conditions"), sentence
