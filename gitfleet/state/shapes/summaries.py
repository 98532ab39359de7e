"""What a placement's own file says of its bindings, so that a list of placements needs no binding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from gitfleet.api.annotations import At
from gitfleet.api.bindings import is_active, is_available
from gitfleet.api.values import Time
from gitfleet.model.state import PlacementRecord


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
