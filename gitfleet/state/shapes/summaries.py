"""What a placement's own file says of its bindings, so that a list of placements needs no binding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gitfleet.api.bindings import is_active, is_available
from gitfleet.api.objects import JsonObject
from gitfleet.formats.times import time_text
from gitfleet.model.state import PlacementRecord
from gitfleet.state.shapes.fields import int_at, optional_mapping, optional_text, optional_time, present


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementSummary:
    """How many clusters are picked, and how many of them are available; the index of the newest resource snapshot, and
    when the oldest one that is kept was taken (None: no snapshot yet)."""

    picked: int
    available: int
    latest_index: str | None = None
    oldest_snapshot: datetime | None = None


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


def summary_object(summary: PlacementSummary) -> JsonObject:
    """The summary as the file holds it."""
    return {
        "availableClusters": summary.available,
        "pickedClusters": summary.picked,
        **present(
            latestResourceIndex=summary.latest_index,
            oldestSnapshotTime=summary.oldest_snapshot and time_text(summary.oldest_snapshot),
        ),
    }


def read_summary(ours: Mapping[str, Any]) -> PlacementSummary | None:
    """The summary back; None in a file of an earlier version."""
    source = optional_mapping(ours, "summary")
    if source is None:
        return None
    return PlacementSummary(
        picked=int_at(source, "pickedClusters"),
        available=int_at(source, "availableClusters"),
        latest_index=optional_text(source, "latestResourceIndex"),
        oldest_snapshot=optional_time(source, "oldestSnapshotTime"),
    )
