"""ClusterResourcePlacement and ResourcePlacement: the object with its status (kubefleet.md §1, §9), and a summary of
its bindings, so that a list of placements needs no binding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from gitfleet.api import read_state, write, write_as
from gitfleet.api.annotations import At
from gitfleet.api.bindings import is_active, is_available
from gitfleet.api.conditions import Conditions
from gitfleet.api.objects import JsonObject
from gitfleet.api.placements import Placement
from gitfleet.api.values import Time
from gitfleet.model.state import PlacementRecord
from gitfleet.state.shapes.fields import OURS, present


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementSummary:
    """How many clusters are picked, and how many of them are available; the index of the newest resource snapshot, and
    when the oldest one that is kept was taken (None: no snapshot yet)."""

    picked: Annotated[int, At("pickedClusters")]
    available: Annotated[int, At("availableClusters")]
    latest_index: Annotated[str | None, At("latestResourceIndex")] = None
    oldest_snapshot: Annotated[Time | None, At("oldestSnapshotTime")] = None


def summary_of(record: PlacementRecord) -> PlacementSummary:
    """The summary of a whole record."""
    picked = [binding for binding in record.bindings if is_active(binding)]
    latest = record.latest_resources
    return PlacementSummary(
        picked=len(picked),
        available=sum(map(is_available, picked)),
        latest_index=None if latest is None else str(latest.index),
        oldest_snapshot=None if latest is None else record.resource_snapshots[0].created,
    )


@dataclass(frozen=True, slots=True)
class PlacementFile:
    """placements/...: `origin` of the placement is not kept: the desired commit has it."""

    placement: Placement
    conditions: Conditions
    schedule_key: str
    summary: PlacementSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class _Status:
    conditions: Conditions = ()
    schedule_key: Annotated[str, At(OURS, "scheduleKey")] = ""
    summary: Annotated[PlacementSummary, At(OURS, "summary")]


@dataclass(frozen=True, slots=True, kw_only=True)
class _WithStatus:
    status: _Status


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


def read_placement(source: Mapping[str, Any]) -> PlacementFile:
    """What a placement's own file says."""
    status = read_state(_WithStatus, source).status
    return PlacementFile(read_state(Placement, source), status.conditions, status.schedule_key, status.summary)
