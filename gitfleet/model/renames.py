"""A placement under another name: the same record, as if it had always been called so (decision record 0021)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from gitfleet.api.bindings import Binding
from gitfleet.api.placements import PlacementKey
from gitfleet.model.state import PlacementRecord

WAITS_FOR_NAME: Final = "under a new name, and goes on as"
"""What the error says at a placement that does not have its new name yet; the document itself is sound."""


def under_name(record: PlacementRecord, key: PlacementKey) -> PlacementRecord:
    """The record with its snapshots and bindings as those of another placement. What was seen of it still holds."""
    was = record.placement.key
    resources = tuple(replace(snapshot, placement=key) for snapshot in record.resource_snapshots)
    policies = tuple(replace(snapshot, placement=key) for snapshot in record.policy_snapshots)
    names = {old.name: new.name for old, new in zip(record.resource_snapshots, resources, strict=True)}
    names |= {old.name: new.name for old, new in zip(record.policy_snapshots, policies, strict=True)}
    return replace(
        record,
        placement=replace(record.placement, key=key),
        resource_snapshots=resources,
        policy_snapshots=policies,
        bindings=tuple(_binding(binding, was, key, names) for binding in record.bindings),
        schedule_key="",
    )


def _binding(binding: Binding, was: PlacementKey, key: PlacementKey, names: Mapping[str, str]) -> Binding:
    def named(name: str) -> str:
        """A snapshot that is not kept any more has a name all the same."""
        return names.get(name) or name.replace(f"{was.name}-", f"{key.name}-", 1)

    wanted, applied = binding.resource_snapshot, binding.applied_snapshot
    return replace(
        binding,
        placement=key,
        policy_snapshot=named(binding.policy_snapshot),
        resource_snapshot=None if wanted is None else named(wanted),
        applied_snapshot=None if applied is None else named(applied),
    )
