"""The status that people write: what an exported run says of its beginning (decision D35), and what an approval
answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from gitfleet.api import Break
from gitfleet.api.conditions import APPROVED, Status, find_condition
from gitfleet.api.objects import JsonObject
from gitfleet.api.runs import RunConditionType
from gitfleet.api.staged import BEGAN_ELSEWHERE, HOLD_PREFIX, Approval, StagedRun
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.near_names import is_near
from gitfleet.formats.yaml_scalars import shown

_CONDITION: Final = f'{{type: {APPROVED}, status: "True"}}'
_WAITING: Final = (RunConditionType.INITIALIZED, "Unknown")
_ENDS: Final = {"True": "succeeded", "False": "failed"}


def with_beginning(run: StagedRun, body: JsonObject) -> StagedRun:
    """Add where the run began by the status of its document. The status is read leniently: hubs write more, and people
    cut away."""
    status = body.get("status")
    if _is_new(status):
        return run
    parts = status if isinstance(status, Mapping) else {}
    conditions = dict(map(_condition, _mappings(parts.get("conditions"))))
    index = parts.get("resourceSnapshotIndexUsed")
    has_begun = bool(parts.get("stagesStatus") or index or conditions.keys() & set(RunConditionType))
    otherwise = "began" if has_begun else DesiredText.MAY_HAVE_BEGUN()
    how = _ENDS.get(conditions.get(RunConditionType.SUCCEEDED, ""), otherwise)
    snapshot = DesiredText.SNAPSHOT_HUB(index=shown(str(index))) if index else ""
    sentence = DesiredText.NEVER_BEGINS_HERE(how=how, began_elsewhere=BEGAN_ELSEWHERE, snapshot=snapshot)
    return replace(run, began_elsewhere=sentence)


def approval_warnings(approval: Approval) -> Iterator[Break]:
    """Yield why an approval answers nothing. The request of a stage may come without an answer."""
    of_hold = approval.key.name.startswith(HOLD_PREFIX)
    if of_hold and approval.key.namespace:
        yield ("kind",), DesiredText.ANSWERS_NO_HOLD()
    answer = find_condition(approval.conditions, APPROVED)
    location = ("status", "conditions")
    if answer is None:
        similar = [index for index, condition in enumerate(approval.conditions) if is_near(condition.type, APPROVED)]
        for index in similar:
            yield (*location, index, "type"), DesiredText.NO_CONDITION_GITFLEET_READS(approved=APPROVED)
        if of_hold and not similar:
            yield location, DesiredText.NO_CONDITION_ANSWERS_NOTHING(approved=APPROVED, condition=_CONDITION)
    elif of_hold and answer.status is Status.UNKNOWN:
        index = approval.conditions.index(answer)
        yield (*location, index, "status"), DesiredText.ANSWERS_NOTHING_WRITE_TRUE_APPROVE()


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


def _condition(condition: JsonObject) -> tuple[str, str]:
    return str(condition.get("type")), str(condition.get("status"))


def _mappings(value: object) -> list[JsonObject]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
