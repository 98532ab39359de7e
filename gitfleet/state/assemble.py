"""Parsed files of the state branch put together: one fleet state, or BadInput where the files do not fit together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gitfleet.api.bindings import Binding
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.faults import Fault, LastGood
from gitfleet.api.holds import Hold
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import ObjectKey
from gitfleet.api.overrides import OverrideKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.snapshots import OverrideSnapshot, ResourceSnapshot
from gitfleet.errors import BadInput
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.state import paths
from gitfleet.state.read import (
    HINT,
    BindingsFile,
    FaultsFile,
    InventoryFile,
    ParsedStateFile,
    PlacementFile,
    PolicyFile,
    parse_state_file,
    wanted_files,
)
from gitfleet.state.shapes.ledgers import FleetHead
from gitfleet.state.shards import cluster_address, inventory_address, shards


@dataclass(frozen=True, slots=True)
class StateFile:
    """One file of the state branch: its blob id, and its content where it is needed (see `wanted_files`)."""

    blob: str
    content: bytes | None = None


@dataclass(slots=True)
class _Parts:
    """Everything found, by what it belongs to; each with the path it came from where the layout has to be checked."""

    head: FleetHead = FleetHead()
    faults: tuple[Fault, ...] = ()
    last_good: Mapping[str, tuple[LastGood, ...]] = field(default_factory=dict)
    clusters: dict[str, MemberCluster] = field(default_factory=dict)
    holds: dict[str, Hold] = field(default_factory=dict)
    placements: dict[PlacementKey, PlacementFile] = field(default_factory=dict)
    resources: dict[PlacementKey, list[ResourceSnapshot]] = field(default_factory=dict)
    policies: dict[PlacementKey, list[PolicyFile]] = field(default_factory=dict)
    overrides: dict[OverrideKey, list[OverrideSnapshot]] = field(default_factory=dict)
    bindings: dict[PlacementKey, list[tuple[str, BindingsFile]]] = field(default_factory=dict)
    inventory: dict[str, list[tuple[str, InventoryFile]]] = field(default_factory=dict)
    misplaced: set[str] = field(default_factory=set)


def assemble_state(listing: Mapping[str, str], parsed: Mapping[str, ParsedStateFile]) -> FleetState:
    """The state of a tree: `listing` is all of its paths with their blob ids, `parsed` what its state files say, by
    path.

    Manifests of snapshots are not loaded. Files that are not gitfleet's are left alone. Raises BadInput when files
    contradict each other, as they can only after an edit by hand: a part without its placement, an entry given twice.
    Entries may be spread over a folder's files in any way; where it is not the way of this version, the folder is noted
    as misplaced.
    """
    parts = _Parts()
    for path in sorted(parsed):
        _file(parts, path, parsed[path])
    _refuse_orphans(parts)
    placements = {key: _found_in(listing, _record(parts, key)) for key in sorted(parts.placements)}
    inventory = {cluster: _inventory(cluster, parts) for cluster in sorted(parts.inventory)}
    return FleetState(
        observed_commit=parts.head.observed_commit,
        scheduler_plugins=parts.head.scheduler_plugins,
        clusters=parts.clusters,
        placements=placements,
        overrides={
            key: tuple(sorted(found, key=lambda snapshot: snapshot.index))
            for key, found in sorted(parts.overrides.items())
        },
        inventory=inventory,
        misplaced=frozenset(parts.misplaced),
        faults=parts.faults,
        last_good=parts.last_good,
        holds=parts.holds,
    )


def _found_in(listing: Mapping[str, str], record: PlacementRecord) -> PlacementRecord:
    """The record with its rendered documents pointing at the files of the state branch that hold them."""
    if not any(ref.rendered for snapshot in record.resource_snapshots for ref in snapshot.documents):
        return record
    found = []
    for snapshot in record.resource_snapshots:
        places = zip(snapshot.documents, paths.document_paths(snapshot), strict=True)
        documents = tuple(replace(ref, blob=listing.get(path, "")) if ref.rendered else ref for ref, path in places)
        found.append(replace(snapshot, documents=documents))
    return replace(record, resource_snapshots=tuple(found))


def read_state(files: Mapping[str, StateFile]) -> FleetState:
    """A whole tree at once: parse what has to be parsed, then assemble. Raises BadInput as those two do."""
    parsed: dict[str, ParsedStateFile] = {}
    for path in wanted_files(files):
        content = files[path].content
        if content is None:
            raise ValueError(f"{path} was given without its content")
        parsed[path] = parse_state_file(path, content)
    return assemble_state({path: file.blob for path, file in files.items()}, parsed)


def _file(parts: _Parts, path: str, file: ParsedStateFile) -> None:
    match file:
        case FleetHead():
            parts.head = file
        case FaultsFile():
            parts.faults, parts.last_good = file.faults, file.last_good
        case MemberCluster():
            parts.clusters[file.name] = file
        case Hold():
            parts.holds[file.name] = file
        case PlacementFile():
            parts.placements[file.placement.key] = file
        case ResourceSnapshot():
            parts.resources.setdefault(file.placement, []).append(file)
        case PolicyFile():
            parts.policies.setdefault(file.snapshot.placement, []).append(file)
        case OverrideSnapshot():
            parts.overrides.setdefault(file.override.key, []).append(file)
        case BindingsFile():
            parts.bindings.setdefault(file.placement, []).append((path, file))
        case InventoryFile():
            parts.inventory.setdefault(file.cluster, []).append((path, file))


def _refuse_orphans(parts: _Parts) -> None:
    for what in (parts.resources, parts.policies, parts.bindings):
        for key in what:
            if key not in parts.placements:
                message = f"the state branch has snapshots or bindings of {key}, but no {paths.placement_path(key)}"
                raise BadInput(message, hint=HINT)


def _record(parts: _Parts, key: PlacementKey) -> PlacementRecord:
    file = parts.placements[key]
    policies = sorted(parts.policies.get(key, ()), key=lambda policy: policy.snapshot.index)
    return PlacementRecord(
        placement=file.placement,
        resource_snapshots=tuple(sorted(parts.resources.get(key, ()), key=lambda snapshot: snapshot.index)),
        policy_snapshots=tuple(policy.snapshot for policy in policies),
        bindings=_bindings(key, parts),
        decisions=policies[-1].decisions if policies else (),
        conditions=file.conditions,
        schedule_key=file.schedule_key,
    )


def _bindings(key: PlacementKey, parts: _Parts) -> tuple[Binding, ...]:
    files = dict(parts.bindings.get(key, ()))
    found = sorted((b for file in files.values() for b in file.bindings), key=lambda binding: binding.cluster)
    folder = paths.bindings_folder(key)
    if len({binding.cluster for binding in found}) != len(found):
        raise BadInput(f"the state branch's folder {folder} gives an entry twice", hint=HINT)
    wanted = shards(folder, found, lambda binding: cluster_address(binding.cluster))
    if wanted != {path: list(file.bindings) for path, file in files.items() if file.ours}:
        parts.misplaced.add(folder)
    return tuple(found)


def _inventory(cluster: str, parts: _Parts) -> dict[ObjectKey, InventoryEntry]:
    files = dict(parts.inventory[cluster])
    found = [entry for file in files.values() for entry in file.entries]
    entries = {entry.key: entry for entry in found}
    folder = paths.inventory_folder(cluster)
    if len(entries) != len(found):
        raise BadInput(f"the state branch's folder {folder} gives an entry twice", hint=HINT)
    wanted = shards(folder, found, inventory_address)
    if wanted != {path: list(file.entries) for path, file in files.items() if file.ours}:
        parts.misplaced.add(folder)
    return entries
