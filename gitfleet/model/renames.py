"""Renames that people declare with `gitfleet.dev/renamed-from`, and records under the new name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from gitfleet.api.bindings import Binding
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.api.runs import ClusterUpdate, RunRecord, StageStatus
from gitfleet.api.workload_records import RolloutRecord
from gitfleet.model.state import PlacementRecord


def renamed_placements(
    before: Mapping[PlacementKey, PlacementRecord], placements: Collection[Placement]
) -> dict[PlacementKey, PlacementKey]:
    """The old names by the new ones: each new placement that names a recorded one without a file."""
    written = {placement.key for placement in placements}
    renamed: dict[PlacementKey, PlacementKey] = {}
    for placement in placements:
        old = placement.renamed_from
        if old is None or old not in before or old in written or placement.key in before:
            continue
        if old not in renamed.values():
            renamed[placement.key] = old
    return renamed


def under_name(record: PlacementRecord, key: PlacementKey) -> PlacementRecord:
    """The record with its snapshots and bindings as those of another placement. Its observations still hold."""
    return replace(
        record,
        placement=replace(record.placement, key=key),
        resource_snapshots=tuple(replace(snapshot, placement=key) for snapshot in record.resource_snapshots),
        policy_snapshots=tuple(replace(snapshot, placement=key) for snapshot in record.policy_snapshots),
        bindings=tuple(_binding(binding, record.placement.key, key) for binding in record.bindings),
        schedule_key="",
    )


def run_under_name(run: RunRecord, key: PlacementKey) -> RunRecord:
    """The run as one of another placement, with the snapshots that its clusters had before."""
    status, old = run.status, run.placement
    return replace(
        run,
        placement_name=key.name,
        status=replace(
            status,
            stages=tuple(_stage(stage, old, key) for stage in status.stages),
            deletion=None if status.deletion is None else _stage(status.deletion, old, key),
        ),
    )


def rollout_under_name(rollout: RolloutRecord, key: PlacementKey) -> RolloutRecord:
    """The workload rollout as one of the snapshots of another placement."""
    if rollout.placement_ref is None:
        return rollout
    old = rollout.placement_ref.key(rollout.key.namespace)
    clusters = (replace(cluster, revision=_snapshot(cluster.revision, old, key)) for cluster in rollout.clusters)
    return replace(rollout, placement_ref=replace(rollout.placement_ref, name=key.name), clusters=tuple(clusters))


def _binding(binding: Binding, old: PlacementKey, key: PlacementKey) -> Binding:
    resources, applied = binding.resource_snapshot, binding.applied_snapshot
    return replace(
        binding,
        placement=key,
        policy_snapshot=_snapshot(binding.policy_snapshot, old, key),
        resource_snapshot=None if resources is None else _snapshot(resources, old, key),
        applied_snapshot=None if applied is None else _snapshot(applied, old, key),
    )


def _stage(stage: StageStatus, old: PlacementKey, key: PlacementKey) -> StageStatus:
    return replace(stage, clusters=tuple(_cluster(cluster, old, key) for cluster in stage.clusters))


def _cluster(cluster: ClusterUpdate, old: PlacementKey, key: PlacementKey) -> ClusterUpdate:
    former = cluster.former
    if former is None:
        return cluster
    return replace(cluster, former=replace(former, resource_snapshot=_snapshot(former.resource_snapshot, old, key)))


def _snapshot(name: str, old: PlacementKey, key: PlacementKey) -> str:
    """The name of a snapshot, whether it is still stored or not."""
    return f"{key.name}-{name.removeprefix(f'{old.name}-')}" if name.startswith(f"{old.name}-") else name
