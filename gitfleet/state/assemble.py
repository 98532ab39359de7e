"""Parsed files of the state branch put together: one fleet state, and as its damage what does not fit into it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from gitfleet.api.bindings import Binding
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.faults import Fault, LastGood
from gitfleet.api.holds import Hold
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import ObjectKey
from gitfleet.api.overrides import OverrideKey
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.api.snapshots import OverrideSnapshot, ResourceSnapshot
from gitfleet.errors import BadInput
from gitfleet.model.state import Damage, FleetState, PlacementRecord
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

K = TypeVar("K")
V = TypeVar("V")


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
    twice: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unusable:
    """The files of a commit that could not be read, each with the reason, and the commits whose version of some of them
    was read instead."""

    commit: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    restored: Mapping[str, str] = field(default_factory=dict)


def assemble_state(
    listing: Mapping[str, str], parsed: Mapping[str, ParsedStateFile], unusable: Unusable | None = None
) -> FleetState:
    """The state of a tree: `listing` is all of its paths with their blob ids, `parsed` what its state files say, by
    path.

    Manifests of snapshots are not loaded. Files that are not gitfleet's are left alone. Never raises: where files
    contradict each other, as they can only after an edit by hand (a part without its placement, an entry given twice),
    the state's damage says so, as it does of what is `unusable`. Entries may be spread over a folder's files in any
    way; where it is not the way of this version, the folder is noted as misplaced.
    """
    unusable = unusable or Unusable()
    parts = _Parts()
    for path in sorted(parsed):
        _file(parts, path, parsed[path])
    placements = {key: _found_in(listing, _record(parts, key)) for key in sorted(parts.placements)}
    owners = {*parts.resources, *parts.policies, *parts.bindings}
    orphans = {key: _found_in(listing, _record(parts, key)) for key in sorted(owners - parts.placements.keys())}
    inventory = {cluster: _inventory(cluster, parts) for cluster in sorted(parts.inventory)}
    return FleetState(
        observed_commit=parts.head.observed_commit,
        scheduler_plugins=parts.head.scheduler_plugins,
        mass_delete=parts.head.mass_delete,
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
        damage=Damage(
            commit=unusable.commit,
            files={**unusable.files, **parts.twice},
            restored=unusable.restored,
            orphans=orphans,
        ),
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
    """A whole tree at once: parse what has to be parsed, then assemble. BadInput where anything cannot be used."""
    parsed: dict[str, ParsedStateFile] = {}
    for path in wanted_files(files):
        content = files[path].content
        if content is None:
            raise ValueError(f"{path} was given without its content")
        parsed[path] = parse_state_file(path, content)
    return refuse_damage(assemble_state({path: file.blob for path, file in files.items()}, parsed))


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


def lost_faults(parsed: Mapping[str, ParsedStateFile]) -> bool:
    """Whether faults.yaml has not as many entries as the fleet's head says."""
    head, faults = parsed.get(paths.FLEET), parsed.get(paths.FAULTS)
    found = len(faults.faults) + len(faults.last_good) if isinstance(faults, FaultsFile) else 0
    return isinstance(head, FleetHead) and head.faults > found


def refuse_damage(state: FleetState) -> FleetState:
    """The very state; BadInput for one that holds only a part of what was there, naming what cannot be used."""
    for path, reason in state.damage.files.items():
        raise BadInput(f"the state branch's file {path} cannot be used: {reason}", hint=HINT)
    for key in state.damage.orphans:
        message = f"the state branch has snapshots or bindings of {key}, but no {paths.placement_path(key)}"
        raise BadInput(message, hint=HINT)
    return state


def _record(parts: _Parts, key: PlacementKey) -> PlacementRecord:
    file = parts.placements.get(key) or PlacementFile(Placement(key=key, selectors=()), (), "", None)
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
    entries = _once(((path, b.cluster, b) for path, file in files.items() for b in file.bindings), parts)
    found = sorted(entries.values(), key=lambda binding: binding.cluster)
    folder = paths.bindings_folder(key)
    wanted = shards(folder, found, lambda binding: cluster_address(binding.cluster))
    if wanted != {path: list(file.bindings) for path, file in files.items() if file.ours}:
        parts.misplaced.add(folder)
    return tuple(found)


def _once(entries: Iterable[tuple[str, K, V]], parts: _Parts) -> dict[K, V]:
    """Entries of (path, key, value) by key; where one is given twice, the first path counts."""
    found: dict[K, V] = {}
    for path, key, value in entries:
        if found.setdefault(key, value) is not value:
            parts.twice[path] = f"the state branch's folder {path.rpartition('/')[0]} gives an entry twice"
    return found


def _inventory(cluster: str, parts: _Parts) -> dict[ObjectKey, InventoryEntry]:
    files = dict(parts.inventory[cluster])
    entries = _once(((path, entry.key, entry) for path, file in files.items() for entry in file.entries), parts)
    folder = paths.inventory_folder(cluster)
    wanted = shards(folder, entries.values(), inventory_address)
    if wanted != {path: list(file.entries) for path, file in files.items() if file.ours}:
        parts.misplaced.add(folder)
    return entries
