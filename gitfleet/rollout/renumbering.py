"""Clusters whose content a new snapshot leaves as it is: a variant was edited that they do not have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from gitfleet.api.bindings import Binding, ClusterContent, is_active, raised
from gitfleet.api.folders import ChosenVariants
from gitfleet.api.snapshots import SnapshotVariants
from gitfleet.model.state import PlacementRecord


def renumbered(record: PlacementRecord, contents: Mapping[str, ClusterContent]) -> PlacementRecord:
    """The record in which such clusters have the newest snapshot: nothing moves there, so no budget is used."""
    latest = record.latest_resources
    if latest is None or not latest.folders:
        return record
    snapshots = {snapshot.name: SnapshotVariants(snapshot) for snapshot in record.resource_snapshots}

    @cache
    def digests_of(snapshot: str, variants: ChosenVariants) -> list[str] | None:
        manifests = snapshots[snapshot].of(variants).manifests
        return None if manifests is None else [manifest.digest for manifest in manifests]

    def is_same(binding: Binding, target: ClusterContent) -> bool:
        snapshot = record.snapshot_named(binding.resource_snapshot)
        if snapshot is None or snapshot is latest or not is_active(binding):
            return False
        actual = ClusterContent.of(binding)
        before, after = digests_of(snapshot.name, actual.variants), digests_of(latest.name, target.variants)
        return actual.overrides == target.overrides and before is not None and before == after

    bindings: list[Binding] = []
    for binding in record.bindings:
        target = contents.get(binding.cluster, ClusterContent())
        if is_same(binding, target):
            applied = latest.name if binding.applied_snapshot == binding.resource_snapshot else binding.applied_snapshot
            binding = replace(
                raised(binding), resource_snapshot=latest.name, applied_snapshot=applied, variants=target.variants
            )
        bindings.append(binding)
    return replace(record, bindings=tuple(bindings))
