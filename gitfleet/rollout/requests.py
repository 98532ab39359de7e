"""The question to the rolling update, from a placement's record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from gitfleet.api.bindings import ClusterContent, PinnedLabels
from gitfleet.api.conditions import ConditionType, Reason, Status, find_condition
from gitfleet.api.quarantines import Quarantine
from gitfleet.model.rolling import Frozen, PlacementGate, RolloutRequest
from gitfleet.model.state import PlacementRecord

ContentsByCluster = Mapping[str, ClusterContent]


def request_for(
    record: PlacementRecord,
    contents: ContentsByCluster,
    now: datetime,
    gate: PlacementGate,
    labels: Mapping[str, PinnedLabels] | None = None,
    disturbed: frozenset[str] = frozenset(),
) -> RolloutRequest:
    """The question to the rolling update for one placement, bindings in listing order (by name, as KubeFleet lists)."""
    policy = record.placement.effective_policy
    latest = record.latest_resources
    return RolloutRequest(
        placement_type=policy.placement_type,
        number_of_clusters=policy.number_of_clusters,
        cluster_names=policy.cluster_names,
        rolling_update=record.placement.strategy.rolling_update,
        apply_strategy=record.placement.strategy.apply_strategy,
        bindings=tuple(sorted(record.bindings, key=lambda binding: binding.name)),
        latest_snapshot=latest.name if latest else None,
        contents=contents,
        now=now,
        gate=gate,
        labels=labels or {},
        disturbed=disturbed,
    )


def recorded_refusal(record: PlacementRecord, quarantines: Iterable[Quarantine]) -> str:
    """`refusal_of`, of all quarantines that are recorded."""
    key = record.placement.key
    return refusal_of(record, {q.digest: q for q in quarantines if q.placement == key and not q.lifted})


def recorded_waits(record: PlacementRecord) -> dict[str, Frozen]:
    """The clusters on which a folder of a placement waits for another one, as it was recorded last."""
    code, waits = Reason.DEPENDENCY_NOT_AVAILABLE, dict[str, Frozen]()
    for binding in record.bindings:
        started = find_condition(binding.conditions, ConditionType.ROLLOUT_STARTED, generation=binding.generation)
        if started is not None and (started.status, started.reason) == (Status.FALSE, code):
            waits[binding.cluster] = Frozen(started.message, None, code=code)
    return waits


def refusal_of(record: PlacementRecord, quarantines: Mapping[str, Quarantine]) -> str:
    """Why the newest snapshot of a placement must not go to any cluster; "" where it may."""
    if record.pinned is not None and record.pinned.status is Status.FALSE:
        return record.pinned.message
    latest = record.latest_resources
    quarantine = quarantines.get(latest.hash) if latest is not None else None
    return f"snapshot {latest.index} {quarantine.sentence}" if latest is not None and quarantine is not None else ""
