"""Bindings and clusters that are given up as a whole: a placement that was deleted, a cluster that leaves the fleet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from gitfleet.model.bindings import Binding, PinnedLabels
from gitfleet.model.clusters import MemberCluster
from gitfleet.model.placements import DeletePropagation, PlacementKey
from gitfleet.model.rolling import RolloutRequest
from gitfleet.model.state import Inventory, PlacementRecord
from gitfleet.rollout.retire import owns_anything

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
    latest = record.latest_resources
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
    )


def give_up(record: PlacementRecord, clusters: Mapping[str, MemberCluster], now: datetime) -> PlacementRecord:
    """The record with its bindings by cluster name, those marked deleting that no budget protects any more.

    All of a placement that was deleted (KubeFleet deletes them at once), and those on a cluster that is leaving or
    gone: that is no rollout of ours. A cluster that still gives resources up gets no second binding of the same
    placement: it is picked again when the first one is gone.
    """
    giving_up = {b.cluster for b in record.bindings if b.deleting is not None}
    kept: list[Binding] = []
    for binding in record.bindings:
        if binding.deleting is None and binding.cluster in giving_up:
            continue
        cluster = clusters.get(binding.cluster)
        leaves = record.placement.deleting is not None or cluster is None or cluster.deleting is not None
        kept.append(replace(binding, deleting=now) if leaves and binding.deleting is None else binding)
    ordered = tuple(sorted(kept, key=lambda binding: binding.cluster))
    if ordered == record.bindings:
        return record
    dropped = len(ordered) < len(record.bindings)
    return replace(record, bindings=ordered, schedule_key="" if dropped else record.schedule_key)


def references_of(records: Iterable[PlacementRecord]) -> frozenset[str]:
    """The override snapshots that any binding names."""
    return frozenset(
        reference
        for record in records
        for binding in record.bindings
        for reference in (*binding.cluster_resource_overrides, *binding.resource_overrides)
    )


def has_left(
    cluster: MemberCluster, records: Mapping[PlacementKey, PlacementRecord], inventory: Mapping[str, Inventory]
) -> bool:
    """Whether a leaving cluster has settled everything: no binding and no owned object is left."""
    if cluster.deleting is None or inventory.get(cluster.name):
        return False
    return not any(binding.cluster == cluster.name for record in records.values() for binding in record.bindings)


def removal_policies(
    cluster: MemberCluster, records: Mapping[PlacementKey, PlacementRecord], inventory: Inventory
) -> dict[PlacementKey, DeletePropagation]:
    """Which placements give up what they own on a cluster, and how: Delete prunes it, Abandon lets it stay.

    A cluster that leaves decides for all of its placements by its own deleteOptions.
    """
    policies: dict[PlacementKey, DeletePropagation] = {}
    for key in {entry.placement for entry in inventory.values()}:
        record = records.get(key)
        bindings = [b for b in record.bindings if b.cluster == cluster.name] if record else []
        if any(binding.deleting is None for binding in bindings):
            continue
        if cluster.deleting is not None:
            policies[key] = cluster.delete_propagation_policy
        elif record is not None and owns_anything(key, inventory):
            policies[key] = record.placement.strategy.delete_propagation_policy
    return policies
