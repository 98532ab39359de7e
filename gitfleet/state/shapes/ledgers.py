"""The files that are gitfleet's own: the fleet's head line, the inventory, the faults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from gitfleet.api.faults import Fault, LastGood, Severity
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import JsonObject
from gitfleet.api.placements import PlacementKey
from gitfleet.formats.yaml_reader import Profile, read_documents
from gitfleet.state.shapes.fields import (
    Misshapen,
    choice_at,
    indexes_at,
    int_at,
    key_fields,
    mapping_at,
    mappings_at,
    need_text,
    optional_text,
    present,
    read_key,
    text_at,
)
from gitfleet.state.shapes.lines import entry_line, lines_bytes, read_lines

API_VERSION: Final = "gitfleet.dev/v1alpha1"


def fleet_object(observed_commit: str | None, *, version: str, last_changed: str | None) -> JsonObject:
    """fleet.yaml: what the branch belongs to and when it was last written."""
    return {
        "apiVersion": API_VERSION,
        "kind": "FleetState",
        "status": present(gitfleetVersion=version, lastChanged=last_changed, observedCommit=observed_commit),
    }


def read_fleet(source: Mapping[str, Any]) -> str | None:
    """The observed commit."""
    return optional_text(mapping_at(source, "status"), "observedCommit")


def faults_object(faults: Iterable[Fault], last_good: Mapping[str, tuple[LastGood, ...]]) -> JsonObject:
    """faults.yaml: every fault with its place, and which documents of older versions are used instead of what is
    faulty."""
    return {
        "apiVersion": API_VERSION,
        "kind": "FaultList",
        "items": [
            {
                "path": fault.path,
                "line": fault.line,
                "message": fault.message,
                "severity": fault.severity.value,
                **present(object=fault.object, field=fault.field),
            }
            for fault in faults
        ],
        **present(
            lastGood=[
                {"path": path, **present(blob=good.blob, documents=list(good.documents), writtenIn=good.path)}
                for path, versions in sorted(last_good.items())
                for good in versions
            ]
        ),
    }


def read_faults(source: Mapping[str, Any]) -> tuple[tuple[Fault, ...], dict[str, tuple[LastGood, ...]]]:
    """The faults and the last good versions back."""
    faults = tuple(
        Fault(
            path=need_text(item, "path"),
            line=int_at(item, "line"),
            object=text_at(item, "object"),
            field=text_at(item, "field"),
            message=need_text(item, "message"),
            severity=choice_at(item, "severity", Severity),
        )
        for item in mappings_at(source, "items")
    )
    last_good: dict[str, tuple[LastGood, ...]] = {}
    for item in mappings_at(source, "lastGood"):
        path = need_text(item, "path")
        good = LastGood(text_at(item, "blob"), indexes_at(item, "documents"), text_at(item, "writtenIn"))
        last_good[path] = (*last_good.get(path, ()), good)
    return faults, last_good


def inventory_bytes(cluster: str, lines: Iterable[bytes]) -> bytes:
    """One file of a cluster's inventory."""
    return lines_bytes({"apiVersion": API_VERSION, "cluster": cluster, "kind": "Inventory"}, "items", lines)


def inventory_line(entry: InventoryEntry) -> bytes:
    """One line of an inventory file."""
    return entry_line(_entry(entry))


def _entry(entry: InventoryEntry) -> JsonObject:
    return {
        **key_fields(entry.key),
        "placement": str(entry.placement),
        **{
            name: value
            for name, value in (
                ("uid", entry.uid),
                ("appliedDigest", entry.applied_digest),
                ("shapeDigest", entry.shape_digest),
            )
            if value is not None
        },
    }


def read_inventory(content: bytes) -> tuple[str, tuple[InventoryEntry, ...], bool]:
    """The cluster, its entries, and whether the file was written as this version writes it; UnreadableText or
    Misshapen."""
    found = read_lines(content, "items")
    if found is not None:
        source: Any = {**found[0], "items": found[1]}
    else:
        documents = read_documents(content, Profile.STATE)
        source = documents[0] if len(documents) == 1 else None
    if not isinstance(source, dict):
        raise Misshapen("it must hold one inventory")
    return need_text(source, "cluster"), tuple(map(_read_entry, mappings_at(source, "items"))), found is not None


def _read_entry(source: Mapping[str, Any]) -> InventoryEntry:
    namespace, _, name = need_text(source, "placement").rpartition("/")
    return InventoryEntry(
        key=read_key(source),
        placement=PlacementKey(namespace, name),
        uid=optional_text(source, "uid"),
        applied_digest=optional_text(source, "appliedDigest"),
        shape_digest=optional_text(source, "shapeDigest"),
    )
