"""The question to the rolling update, from a placement's record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from gitfleet.api.bindings import PinnedLabels
from gitfleet.api.conditions import Status
from gitfleet.api.quarantines import Quarantine
from gitfleet.model.rolling import RolloutRequest
from gitfleet.model.state import PlacementRecord

OverridesByCluster = Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]


def request_for(
    record: PlacementRecord,
    overrides: OverridesByCluster,
    now: datetime,
    labels: Mapping[str, PinnedLabels] | None = None,
    disturbed: frozenset[str] = frozenset(),
) -> RolloutRequest:
    """The question to the rolling update for one placement, bindings in listing order (by name, as KubeFleet lists)."""
    policy = record.placement.effective_policy
    latest, lost = record.latest_resources, frozenset(record.lost_snapshots)
    unapplied = (
        b for b in record.bindings if b.resource_snapshot in lost and b.applied_snapshot != b.resource_snapshot
    )
    return RolloutRequest(
        placement_type=policy.placement_type,
        number_of_clusters=policy.number_of_clusters,
        cluster_names=policy.cluster_names,
        rolling_update=record.placement.strategy.rolling_update,
        apply_strategy=record.placement.strategy.apply_strategy,
        bindings=tuple(sorted(record.bindings, key=lambda binding: binding.name)),
        latest_snapshot=latest.name if latest else None,
        overrides=overrides,
        now=now,
        labels=labels or {},
        disturbed=disturbed,
        unapplied=frozenset(binding.cluster for binding in unapplied),
    )


def recorded_refusal(record: PlacementRecord, quarantines: Iterable[Quarantine]) -> str:
    """`refusal_of`, of all quarantines that are recorded."""
    key = record.placement.key
    return refusal_of(record, {one.digest: one for one in quarantines if one.placement == key and not one.lifted})


def refusal_of(record: PlacementRecord, quarantines: Mapping[str, Quarantine]) -> str:
    """Why the newest snapshot of a placement must not go to any cluster; "" where it may."""
    if record.pinned is not None and record.pinned.status is Status.FALSE:
        return record.pinned.message
    latest = record.latest_resources
    one = quarantines.get(latest.hash) if latest is not None else None
    return f"snapshot {latest.index} {one.sentence}" if latest is not None and one is not None else ""
