"""Approvals of held removals that answer nothing by a slip: each says what to write instead."""

from __future__ import annotations

from collections.abc import Iterator

from gitfleet.api import Break
from gitfleet.api.conditions import Status, find_condition
from gitfleet.api.holds import APPROVED, HOLD_PREFIX
from gitfleet.api.staged import Approval
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.near_names import is_near

_CONDITION = f'{{type: {APPROVED}, status: "True"}}'


def approval_warnings(approval: Approval) -> Iterator[Break]:
    """Why an approval answers nothing. Of a stage's, which may come without an answer, only a misspelt one counts."""
    of_hold = approval.key.name.startswith(HOLD_PREFIX)
    if of_hold and approval.key.namespace:
        yield ("kind",), DesiredText.ANSWERS_NO_HOLD()
    found = find_condition(approval.conditions, APPROVED)
    if found is not None:
        if of_hold and found.status is Status.UNKNOWN:
            at = next(n for n, condition in enumerate(approval.conditions) if condition is found)
            yield ("status", "conditions", at, "status"), DesiredText.ANSWERS_NOTHING_WRITE_TRUE_APPROVE()
        return
    misspelt = False
    for index, condition in enumerate(approval.conditions):
        if is_near(condition.type, APPROVED):
            misspelt = True
            sentence = DesiredText.NO_CONDITION_GITFLEET_READS(approved=APPROVED)
            yield ("status", "conditions", index, "type"), sentence
    if of_hold and not misspelt:
        yield (
            ("status", "conditions"),
            DesiredText.NO_CONDITION_ANSWERS_NOTHING(approved=APPROVED, condition=_CONDITION),
        )
