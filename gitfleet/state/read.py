"""The state branch read back into values (contracts.md §2): one file at a time, then put together.

`parse_state_file` depends on path and content alone, so a caller keeps its results by (path, blob id) and parses only
what changed; `assemble_state` is a cheap pass over all parsed files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from gitfleet.api import InvalidContent, read_state
from gitfleet.api.bindings import Binding, ClusterDecision
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.conditions import Condition, Conditions
from gitfleet.api.faults import Fault, LastGood
from gitfleet.api.holds import Hold
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import JsonObject
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.api.snapshots import OverrideSnapshot, PolicySnapshot, ResourceSnapshot
from gitfleet.errors import BadInput
from gitfleet.formats.canonical_json import NotJson, canonical_json, parse_json
from gitfleet.formats.yaml_reader import Profile, UnreadableText, read_documents
from gitfleet.state import paths
from gitfleet.state.shapes.bindings import read_bindings
from gitfleet.state.shapes.ledgers import FleetHead, read_faults, read_head, read_inventory
from gitfleet.state.shapes.overrides import read_override
from gitfleet.state.shapes.placements import read_placement
from gitfleet.state.shapes.snapshots import read_policy_file, read_policy_snapshot, read_resource_snapshot
from gitfleet.state.shapes.summaries import PlacementSummary

HINT: Final = (
    "gitfleet alone writes this branch; bring the file back with `git revert` of the commit that edited it, or ask for "
    "a fresh start by deleting the branch"
)


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


@dataclass(frozen=True, slots=True)
class InventoryFile:
    """inventory/..."""

    cluster: str
    entries: tuple[InventoryEntry, ...]
    ours: bool


@dataclass(frozen=True, slots=True)
class FaultsFile:
    """faults.yaml"""

    faults: tuple[Fault, ...]
    last_good: Mapping[str, tuple[LastGood, ...]]


ParsedStateFile: TypeAlias = (
    FleetHead
    | PlacementFile
    | MemberCluster
    | ResourceSnapshot
    | PolicyFile
    | OverrideSnapshot
    | BindingsFile
    | InventoryFile
    | FaultsFile
    | Hold
)
"""What one file of the state branch says."""

_KINDS: Final[Mapping[str, re.Pattern[str]]] = {
    "fleet": re.compile(r"fleet\.yaml"),
    "faults": re.compile(r"faults\.yaml"),
    "placements": re.compile(r"placements/(?:[^/]+/)?[^/]+\.yaml"),
    "clusters": re.compile(r"clusters/[^/]+\.yaml"),
    "holds": re.compile(r"holds/[^/]+\.yaml"),
    "resources": re.compile(r"snapshots/resources/[^/]+/[0-9]+/snapshot\.yaml"),
    "policies": re.compile(r"snapshots/policies/[^/]+/[0-9]+\.yaml"),
    "overrides": re.compile(r"snapshots/overrides/[^/]+/[0-9]+\.yaml"),
    "bindings": re.compile(r"bindings/[^/]+/(?:all|[0-9a-f]+)\.yaml"),
    "inventory": re.compile(r"inventory/[^/]+/(?:all|[0-9a-f]+)\.yaml"),
}


_IN_LINES: Final = ("bindings", "inventory")
CACHED_FORM: Final = "state-2"
"""Names the cached form in the keys of a cache: another form, another name."""
_CACHED: Final = b"\x00"
"""What a cached form begins with, and no YAML does."""


def state_file_kind(path: str) -> str | None:
    """What a path of the state branch holds: a word such as `placements` or `bindings`, None for a file that is not
    read (README.md, linked manifests, last good files, and whatever else lies there)."""
    for kind, pattern in _KINDS.items():
        if pattern.fullmatch(path):
            return kind
    return None


def is_state_file(path: str) -> bool:
    """Whether `parse_state_file` has to be asked about a path."""
    return state_file_kind(path) is not None


def holds_state(listing: Iterable[str]) -> bool:
    """Whether a tree is one of a state branch; clusters and placements alone are a config repo's."""
    return any(state_file_kind(path) not in (None, "clusters", "placements") for path in listing)


def wanted_files(listing: Iterable[str]) -> tuple[str, ...]:
    """The paths of a listing whose content is needed."""
    return tuple(path for path in listing if is_state_file(path))


def too_large(path: str, limit: int) -> BadInput:
    """What is said of a file that is too large to be read."""
    return BadInput(
        f"the state branch's file {path} is larger than {limit // 2**20} MiB, and is not read for that", hint=HINT
    )


def cached_form(path: str, content: bytes) -> bytes | None:
    """The same file in a form that `parse_state_file` reads several times faster, to be kept by blob id; None where the
    file is read fast as it is, or is broken."""
    if state_file_kind(path) in _IN_LINES:
        return None
    try:
        document = read_policy_file(content) if state_file_kind(path) == "policies" else None
        return _CACHED + canonical_json(document or _document(content))
    except (UnreadableText, InvalidContent, TypeError):
        return None


def parse_state_file(path: str, content: bytes) -> ParsedStateFile:
    """What one file, or its cached form, says. Fields that this version does not know are ignored.

    Raises BadInput, naming the path and what to do, when the file is broken or is not what its path says.
    """
    kind = state_file_kind(path)
    if kind is None:
        raise ValueError(f"{path} is no file that the state is read from")
    try:
        parsed = _parse(kind, content)
        expected = _expected_path(parsed, path)
    except (UnreadableText, InvalidContent, NotJson, BadInput) as error:
        raise BadInput(f"the state branch's file {path} cannot be used: {error}", hint=HINT) from error
    if expected is not None and expected != path:
        raise BadInput(f"the state branch's file {path} holds what belongs in {expected}", hint=HINT)
    return parsed


def _parse(kind: str, content: bytes) -> ParsedStateFile:
    match kind:
        case "inventory":
            return InventoryFile(*read_inventory(content))
        case "bindings":
            bindings, ours = read_bindings(content)
            owners = {binding.placement for binding in bindings}
            if len(owners) != 1:
                raise InvalidContent(f"it must hold the bindings of one placement and holds those of {len(owners)}")
            return BindingsFile(owners.pop(), bindings, ours)
        case "placements":
            return PlacementFile(*read_placement(_only(content)))
        case "clusters":
            return read_state(MemberCluster, _only(content))
        case "holds":
            return read_state(Hold, _only(content))
        case "resources":
            return read_resource_snapshot(_only(content))
        case "policies":
            return PolicyFile(*read_policy_snapshot(read_policy_file(content) or _only(content)))
        case "overrides":
            return read_override(_only(content))
        case "faults":
            return FaultsFile(*read_faults(_only(content)))
        case _:
            return read_head(_only(content))


def _only(content: bytes) -> JsonObject:
    return _mapping(parse_json(content[1:])) if content.startswith(_CACHED) else _document(content)


def _document(content: bytes) -> JsonObject:
    documents = read_documents(content, Profile.STATE)
    if len(documents) != 1:
        raise InvalidContent(f"it must hold one document and holds {len(documents)}")
    return _mapping(documents[0])


def _mapping(document: Any) -> JsonObject:
    if not isinstance(document, dict):
        raise InvalidContent("it must hold a mapping")
    return document


def _expected_path(parsed: ParsedStateFile, path: str) -> str | None:
    """Where the content belongs, None for the two files of the whole fleet. Any file of a folder of many entries will
    do."""
    match parsed:
        case PlacementFile():
            return paths.placement_path(parsed.placement.key)
        case MemberCluster():
            return paths.cluster_path(parsed.name)
        case Hold():
            return paths.hold_path(parsed.name)
        case ResourceSnapshot():
            return f"{paths.resource_snapshot_folder(parsed.placement, parsed.index)}/{paths.SNAPSHOT_FILE}"
        case PolicyFile():
            return paths.policy_path(parsed.snapshot.placement, parsed.snapshot.index)
        case OverrideSnapshot():
            return paths.override_path(parsed.override.key, parsed.index)
        case BindingsFile():
            return f"{paths.bindings_folder(parsed.placement)}/{path.rpartition('/')[2]}"
        case InventoryFile():
            return f"{paths.inventory_folder(parsed.cluster)}/{path.rpartition('/')[2]}"
        case FleetHead() | FaultsFile():
            return None
