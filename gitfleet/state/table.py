"""Every kind of file of the state branch, one declaration each (contracts.md §2).

A kind whose values have a file each is one row here (`own_file`), its declaration in `api` or `state/shapes`, and the
field of its name in FleetState. Rows are written in their order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeVar

from gitfleet.api import read_state
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.holds import Hold
from gitfleet.api.quarantines import Quarantine
from gitfleet.api.runs import ApprovalRequest, RunRecord
from gitfleet.api.snapshots import OverrideSnapshot, ResourceSnapshot
from gitfleet.api.staged import Eviction
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import RolloutRecord
from gitfleet.state import paths
from gitfleet.state.file_kinds import FileKind, StateField, own_file
from gitfleet.state.hold_files import RemovalsFile, gather_holds, read_hold, read_removals, removals_folder, write_hold
from gitfleet.state.inventory_files import InventoryFile, gather_inventory, read_inventory, write_inventory
from gitfleet.state.override_files import gather_overrides, read_override, write_overrides
from gitfleet.state.placement_files import gather_placements, write_placement
from gitfleet.state.shapes.bindings import BindingsFile, read_bindings
from gitfleet.state.shapes.fields import document
from gitfleet.state.shapes.ledgers import FaultList, FleetHead
from gitfleet.state.shapes.placements import PlacementFile, read_placement
from gitfleet.state.shapes.snapshots import PolicyFile, policy_document, read_policy_snapshot, read_resource_snapshot

F = TypeVar("F")


def _only_file(name: str, declaration: type[F]) -> FileKind[F]:
    read, pattern = partial(read_state, declaration), re.compile(rf"{name}\.yaml")
    return FileKind(name=name, pattern=pattern, type=declaration, open=document, read=read)


KINDS: Final[tuple[FileKind[Any], ...]] = (
    _only_file("fleet", FleetHead),
    _only_file("faults", FaultList),
    own_file("clusters", MemberCluster),
    replace(
        own_file("holds", Hold),
        read=read_hold,
        fills=StateField(gather=gather_holds, write=write_hold),
    ),
    FileKind(
        name="removals",
        pattern=re.compile(r"holds/[^/]+/(?:all|[0-9a-f]+)\.yaml"),
        type=RemovalsFile,
        open=bytes,
        read=read_removals,
        place=lambda file: removals_folder(file.hold),
        sharded=True,
    ),
    own_file("runs", RunRecord, key=NamespacedName),
    own_file("approvals", ApprovalRequest, key=NamespacedName),
    own_file("quarantines", Quarantine),
    FileKind(
        name="overrides",
        pattern=re.compile(r"snapshots/overrides/[^/]+/[0-9]+\.yaml"),
        type=OverrideSnapshot,
        open=document,
        read=read_override,
        place=lambda snapshot: paths.override_path(snapshot.override.key, snapshot.index),
        fills=StateField(gather=gather_overrides, write=write_overrides),
    ),
    FileKind(
        name="inventory",
        pattern=re.compile(r"inventory/[^/]+/(?:all|[0-9a-f]+)\.yaml"),
        type=InventoryFile,
        open=bytes,
        read=read_inventory,
        place=lambda file: paths.inventory_folder(file.cluster),
        sharded=True,
        fills=StateField(gather=gather_inventory, write=write_inventory),
    ),
    FileKind(
        name="placements",
        pattern=re.compile(r"placements/(?:[^/]+/)?[^/]+\.yaml"),
        type=PlacementFile,
        open=document,
        read=read_placement,
        place=lambda file: paths.placement_path(file.placement.key),
        fills=StateField(gather=gather_placements, write=write_placement),
    ),
    own_file("rollouts", RolloutRecord, key=NamespacedName),
    own_file("evictions", Eviction),
    FileKind(
        name="resources",
        pattern=re.compile(r"snapshots/resources/[^/]+/[0-9]+/snapshot\.yaml"),
        type=ResourceSnapshot,
        open=document,
        read=read_resource_snapshot,
        place=paths.snapshot_path,
    ),
    FileKind(
        name="policies",
        pattern=re.compile(r"snapshots/policies/[^/]+/[0-9]+\.yaml"),
        type=PolicyFile,
        open=policy_document,
        read=read_policy_snapshot,
        place=lambda file: paths.policy_path(file.snapshot.placement, file.snapshot.index),
    ),
    FileKind(
        name="bindings",
        pattern=re.compile(r"bindings/[^/]+/(?:all|[0-9a-f]+)\.yaml"),
        type=BindingsFile,
        open=bytes,
        read=read_bindings,
        place=lambda file: paths.bindings_folder(file.placement),
        sharded=True,
    ),
)


def state_fields() -> Iterator[tuple[str, StateField[Any, Any]]]:
    """The fields of FleetState that are filled and written key by key, by name, in the order of writing."""
    return ((kind.name, kind.fills) for kind in KINDS if kind.fills is not None)


def kind_of(path: str) -> FileKind[Any] | None:
    """What a path of the state branch holds; None for a file that is not read (README.md, linked manifests, last good
    files, and whatever else lies there)."""
    return next((kind for kind in KINDS if kind.pattern.fullmatch(path)), None)


def kind_that_says(type_: type[F]) -> FileKind[F]:
    """The kind whose files say values of a type."""
    return next(kind for kind in KINDS if kind.type is type_)
