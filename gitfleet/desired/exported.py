"""What the status of an exported run says: that it began on another hub (decision D35)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gitfleet.api.objects import JsonObject
from gitfleet.api.runs import RunConditionType
from gitfleet.api.staged import BEGAN_ELSEWHERE, StagedRun
from gitfleet.formats.yaml_scalars import shown


def with_beginning(run: StagedRun, value: JsonObject) -> StagedRun:
    """The run, with what the status of its document says of where it began. It is read leniently: hubs write more, and
    people cut away."""
    status = value.get("status")
    if not isinstance(status, Mapping):
        return run
    given = status.get("conditions")
    conditions = [one for one in given if isinstance(one, Mapping)] if isinstance(given, list) else []
    said = {str(one.get("type")): str(one.get("status")) for one in conditions}
    stages, index = status.get("stagesStatus"), status.get("resourceSnapshotIndexUsed")
    decided = said.get(RunConditionType.INITIALIZED, "Unknown") != "Unknown" or RunConditionType.SUCCEEDED in said
    if not decided and not stages and not index:
        return run
    ends = {"True": "succeeded", "False": "failed"}
    how = ends.get(said.get(RunConditionType.SUCCEEDED, ""), "began")
    snapshot = f" with snapshot {shown(str(index))} of that hub" if index else ""
    sentence = f"it {how} {BEGAN_ELSEWHERE}{snapshot}, so it never begins here; add a new run, without status"
    return replace(run, began_elsewhere=sentence)
