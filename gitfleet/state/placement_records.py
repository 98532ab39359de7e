"""A placement's record, gathered from its files: its own, its snapshots and its bindings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from gitfleet.api import InvalidContent
from gitfleet.api.bindings import Binding, ClusterDecision
from gitfleet.api.conditions import Condition, Conditions
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.api.snapshots import PolicySnapshot, ResourceSnapshot
from gitfleet.model.state import PlacementRecord
from gitfleet.state import paths
from gitfleet.state.file_kinds import Parts
from gitfleet.state.placement_files import bindings_folder
from gitfleet.state.shapes.bindings import read_bindings
from gitfleet.state.shapes.summaries import PlacementSummary
from gitfleet.state.texts import StateText


@dataclass(frozen=True, slots=True)
class PlacementFile:
    """placements/..."""

    placement: Placement
    conditions: Conditions
    schedule_key: str
    summary: PlacementSummary | None


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """snapshots/policies/...; the latest one carries the decisions."""

    snapshot: PolicySnapshot
    scheduled: Condition | None
    decisions: tuple[ClusterDecision, ...]


@dataclass(frozen=True, slots=True)
class BindingsFile:
    """bindings/...; `ours` says whether it is written as this version writes it."""

    placement: PlacementKey
    bindings: tuple[Binding, ...]
    ours: bool


def read_bindings_file(content: bytes) -> BindingsFile:
    """One file of a placement's bindings. InvalidContent for one of several placements, or of none."""
    bindings, ours = read_bindings(content)
    owners = {binding.placement for binding in bindings}
    if len(owners) != 1:
        raise InvalidContent(StateText.MUST_HOLD_BINDINGS_ONE_PLACEMENT(count=len(owners)))
    return BindingsFile(owners.pop(), bindings, ours)


def gather_placements(parts: Parts) -> Mapping[PlacementKey, PlacementRecord]:
    """The records of all placements that have a file of their own, by key."""
    return _records(parts, (file.placement.key for _, file in parts.of(PlacementFile)))


def gather_orphans(parts: Parts) -> Mapping[PlacementKey, PlacementRecord]:
    """The records of the placements whose own file is lost, by key: only their key means anything of the placement."""
    owners = {snapshot.placement for _, snapshot in parts.of(ResourceSnapshot)}
    owners |= {file.snapshot.placement for _, file in parts.of(PolicyFile)}
    owners |= {file.placement for _, file in parts.of(BindingsFile)}
    return _records(parts, owners - {file.placement.key for _, file in parts.of(PlacementFile)})


def _records(parts: Parts, keys: Iterable[PlacementKey]) -> dict[PlacementKey, PlacementRecord]:
    files = {file.placement.key: file for _, file in parts.of(PlacementFile)}
    resources = parts.grouped(ResourceSnapshot, lambda snapshot: snapshot.placement)
    policies = parts.grouped(PolicyFile, lambda file: file.snapshot.placement)
    bindings = parts.grouped(BindingsFile, lambda file: file.placement)
    found: dict[PlacementKey, PlacementRecord] = {}
    for key in sorted(keys):
        file = files.get(key) or PlacementFile(Placement(key=key, selectors=()), (), "", None)
        decided = sorted((policy for _, policy in policies.get(key, ())), key=lambda policy: policy.snapshot.index)
        taken = sorted((snapshot for _, snapshot in resources.get(key, ())), key=lambda snapshot: snapshot.index)
        found[key] = PlacementRecord(
            placement=file.placement,
            resource_snapshots=tuple(_found_in(parts.listing, snapshot) for snapshot in taken),
            policy_snapshots=tuple(policy.snapshot for policy in decided),
            bindings=_bindings(key, dict(bindings.get(key, ())), parts),
            decisions=decided[-1].decisions if decided else (),
            conditions=file.conditions,
            schedule_key=file.schedule_key,
        )
    return found


def _bindings(key: PlacementKey, files: Mapping[str, BindingsFile], parts: Parts) -> tuple[Binding, ...]:
    entries = parts.once((path, b.cluster, b) for path, file in files.items() for b in file.bindings)
    found = sorted(entries.values(), key=lambda binding: binding.cluster)
    parts.check_split(bindings_folder(key), found, {path: file.bindings for path, file in files.items() if file.ours})
    return tuple(found)


def _found_in(listing: Mapping[str, str], snapshot: ResourceSnapshot) -> ResourceSnapshot:
    """The snapshot with its rendered documents pointing at the files of the state branch that hold them."""
    if not any(ref.rendered for ref in snapshot.documents):
        return snapshot
    places = zip(snapshot.documents, paths.document_paths(snapshot), strict=True)
    documents = tuple(replace(ref, blob=listing.get(path, "")) if ref.rendered else ref for ref, path in places)
    return replace(snapshot, documents=documents)
