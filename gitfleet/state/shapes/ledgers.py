"""The files that are gitfleet's own: the fleet's head line, the inventory, the faults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from gitfleet.api import InvalidContent, read_state, write
from gitfleet.api.annotations import At, Inline
from gitfleet.api.faults import Fault, LastGood
from gitfleet.api.fleet import ListedPlugin, MassDelete
from gitfleet.api.freeze_files import FreezeRules
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.layout import document
from gitfleet.api.objects import JsonObject
from gitfleet.api.values import Time
from gitfleet.formats.yaml_reader import Profile, read_documents
from gitfleet.state.shapes.lines import check_count, counted, entry_line, lines_bytes, read_lines
from gitfleet.state.texts import StateText

API_VERSION: Final = "gitfleet.dev/v1alpha1"


@document("status", identify=lambda _: (API_VERSION, "FleetState"))
@dataclass(frozen=True, slots=True, kw_only=True)
class FleetHead:
    """fleet.yaml: what the branch belongs to, when it was last written, the scheduler's plug-ins that decided, the
    limits of mass deletion for the next commit, and the freezes.
    `faults` is how many entries faults.yaml has, and `holds` has a digest of each hold by its name: so their loss is
    noticed."""

    observed_commit: str | None = None
    gitfleet_version: str = ""
    last_changed: Time | None = None
    scheduler_plugins: tuple[ListedPlugin, ...] = ()
    mass_delete: MassDelete = MassDelete()
    freezes: FreezeRules = FreezeRules()
    faults: int = 0
    holds: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """An older version that is used instead of the faulty file at `path`."""

    path: str
    good: Annotated[LastGood, Inline()]


@document(identify=lambda _: (API_VERSION, "FaultList"))
@dataclass(frozen=True, slots=True, kw_only=True)
class FaultList:
    """faults.yaml: every fault with its place, and which documents of older versions are used instead of what is
    faulty."""

    faults: Annotated[tuple[Fault, ...], At("items")] = ()
    held: Annotated[tuple[Held, ...], At("lastGood")] = ()


def read_head(source: Mapping[str, Any]) -> FleetHead:
    """The fleet's head line back."""
    check_kind(FleetHead(), source)
    return read_state(FleetHead, source)


def check_kind(value: FleetHead | FaultList, source: Mapping[str, Any]) -> None:
    """InvalidContent for a mapping that says that it is something else."""
    wanted = write(value)
    if any(source.get(name) != wanted[name] for name in ("apiVersion", "kind")):
        raise InvalidContent(StateText.IT_MUST_BE(wanted=wanted["kind"], api_version=API_VERSION))


def faults_object(faults: Iterable[Fault], last_good: Mapping[str, tuple[LastGood, ...]]) -> JsonObject:
    """The content of faults.yaml."""
    held = tuple(Held(path=path, good=good) for path, versions in sorted(last_good.items()) for good in versions)
    return write(FaultList(faults=tuple(faults), held=held))


@dataclass(frozen=True, slots=True)
class FaultsFile:
    """The faults, and the last good versions by path."""

    faults: tuple[Fault, ...] = ()
    last_good: Mapping[str, tuple[LastGood, ...]] = field(default_factory=dict)


def read_faults(source: Mapping[str, Any]) -> FaultsFile:
    """The faults and the last good versions back."""
    check_kind(FaultList(), source)
    found = read_state(FaultList, source)
    last_good: dict[str, tuple[LastGood, ...]] = {}
    for item in found.held:
        last_good[item.path] = (*last_good.get(item.path, ()), item.good)
    return FaultsFile(found.faults, last_good)


def inventory_bytes(cluster: str, lines: Iterable[bytes]) -> bytes:
    """One file of a cluster's inventory."""
    head, every = counted({"apiVersion": API_VERSION, "cluster": cluster, "kind": "Inventory"}, lines)
    return lines_bytes(head, "items", every)


def inventory_line(entry: InventoryEntry) -> bytes:
    """One line of an inventory file."""
    return entry_line(write(entry))


def read_inventory(content: bytes) -> tuple[str, tuple[InventoryEntry, ...], bool]:
    """The cluster, its entries, and whether the file was written as this version writes it; UnreadableText or
    InvalidContent."""
    found = read_lines(content, "items")
    if found is not None:
        source: Any = {**found[0], "items": found[1]}
    else:
        documents = read_documents(content, Profile.STATE)
        source = documents[0] if len(documents) == 1 else None
    if not isinstance(source, dict) or not isinstance(source.get("cluster"), str):
        raise InvalidContent(StateText.MUST_HOLD_ONE_INVENTORY())
    check_count(source, source.get("items"))
    return source["cluster"], read_state(tuple[InventoryEntry, ...], source.get("items") or []), found is not None
