"""What the status of an exported run says: that it began on another hub (decision D35)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gitfleet.api.objects import JsonObject
from gitfleet.api.runs import RunConditionType
from gitfleet.api.staged import BEGAN_ELSEWHERE, StagedRun
from gitfleet.desired.texts import DesiredText
from gitfleet.formats.yaml_scalars import shown


def with_beginning(run: StagedRun, value: JsonObject) -> StagedRun:
    """The run, with what the status of its document says of where it began. It is read leniently: hubs write more, and
    people cut away."""
    status = value.get("status")
    if _is_new(status):
        return run
    parts = status if isinstance(status, Mapping) else {}
    given = parts.get("conditions")
    conditions = [one for one in given if isinstance(one, Mapping)] if isinstance(given, list) else []
    said = {str(one.get("type")): str(one.get("status")) for one in conditions}
    index = parts.get("resourceSnapshotIndexUsed")
    is_clear = bool(parts.get("stagesStatus") or index or said.keys() & set(RunConditionType))
    ends = {"True": "succeeded", "False": "failed"}
    how = ends.get(said.get(RunConditionType.SUCCEEDED, ""), "began" if is_clear else DesiredText.MAY_HAVE_BEGUN())
    snapshot = DesiredText.SNAPSHOT_HUB(index=shown(str(index))) if index else ""
    sentence = DesiredText.NEVER_BEGINS_HERE(how=how, began_elsewhere=BEGAN_ELSEWHERE, snapshot=snapshot)
    return replace(run, began_elsewhere=sentence)


def _is_new(status: object) -> bool:
    """Whether a status says that nothing was done yet: it is empty, or has Initialized Unknown alone. Whatever else it
    has was written as the run began, or may have been."""
    if not isinstance(status, Mapping):
        return status is None
    conditions = status.get("conditions", [])
    is_empty = all(part in ({}, [], "", None) for name, part in status.items() if name != "conditions")
    return is_empty and isinstance(conditions, list) and all(map(_is_waiting, conditions))


def _is_waiting(condition: object) -> bool:
    return isinstance(condition, Mapping) and (condition.get("type"), condition.get("status")) == (
        RunConditionType.INITIALIZED,
        "Unknown",
    )
