"""ClusterResourcePlacement and ResourcePlacement: the object with its status (kubefleet.md §1, §9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from gitfleet.api import read_state, write, write_as
from gitfleet.api.annotations import At
from gitfleet.api.conditions import Conditions
from gitfleet.api.objects import JsonObject
from gitfleet.api.placements import Placement
from gitfleet.model.state import PlacementRecord
from gitfleet.state.shapes.fields import OURS, present
from gitfleet.state.shapes.summaries import PlacementSummary, summary_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementFileStatus:
    """What the status of a placement's own file says that is read again."""

    conditions: Conditions = ()
    schedule_key: Annotated[str, At(OURS, "scheduleKey")] = ""
    summary: Annotated[PlacementSummary | None, At(OURS, "summary")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _WithStatus:
    status: PlacementFileStatus = PlacementFileStatus()


def placement_file_object(record: PlacementRecord) -> JsonObject:
    """What the placement's own file holds: the object with its conditions and a summary of its bindings. What each
    binding says stands in the binding alone."""
    return placement_object(
        record, present(conditions=write_as(Conditions, record.conditions)), write(summary_of(record))
    )


def placement_object(record: PlacementRecord, status: JsonObject, summary: JsonObject | None = None) -> JsonObject:
    """The object as `kubectl get -o yaml` would show it; `status` is KubeFleet's, to which gitfleet's own part is
    added."""
    body = write(record.placement)
    ours = present(scheduleKey=record.schedule_key, summary=summary)
    return {**body, "status": {**status, **present(**{OURS: ours})}}


def read_placement(source: Mapping[str, Any]) -> tuple[Placement, Conditions, str, PlacementSummary | None]:
    """The placement, its conditions, the schedule key, and the summary of its bindings (None in a file of an earlier
    version). `origin` is not kept: the desired commit has it."""
    status = read_state(_WithStatus, source).status
    return read_state(Placement, source), status.conditions, status.schedule_key, status.summary
