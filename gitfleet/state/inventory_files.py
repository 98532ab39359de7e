"""The folders of inventory: what gitfleet owns on a cluster, in as many files as it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gitfleet.api.inventory import InventoryEntry
from gitfleet.model.state import Inventory
from gitfleet.state import paths
from gitfleet.state.changed_files import ChangedFiles, EntryFolder, rewrite_entries
from gitfleet.state.file_kinds import Parts
from gitfleet.state.shapes.ledgers import inventory_bytes, inventory_line
from gitfleet.state.shards import inventory_address


@dataclass(frozen=True, slots=True)
class InventoryFile:
    """inventory/...; `ours` says whether it is written as this version writes it."""

    cluster: str
    entries: tuple[InventoryEntry, ...]
    ours: bool


def gather_inventory(parts: Parts) -> Mapping[str, Inventory]:
    """What is owned on each cluster, by cluster."""
    found = parts.grouped(InventoryFile, lambda file: file.cluster)
    return {cluster: _entries(cluster, dict(found[cluster]), parts) for cluster in sorted(found)}


def _entries(cluster: str, files: Mapping[str, InventoryFile], parts: Parts) -> Inventory:
    entries = parts.once((path, entry.key, entry) for path, file in files.items() for entry in file.entries)
    ours = {path: file.entries for path, file in files.items() if file.ours}
    parts.check_split(_folder(cluster), entries.values(), ours)
    return entries


def write_inventory(files: ChangedFiles, cluster: str, old: Inventory | None, new: Inventory | None) -> None:
    """Note the files that lead from one inventory of a cluster to another."""
    rewrite_entries(files, _folder(cluster), (old or {}).values(), (new or {}).values())


def _folder(cluster: str) -> EntryFolder[InventoryEntry]:
    return EntryFolder(
        folder=paths.inventory_folder(cluster),
        address=inventory_address,
        order=lambda entry: (entry.placement.namespace, entry.placement.name, entry.key.order),
        render=lambda entries: inventory_bytes(cluster, map(inventory_line, entries)),
    )
