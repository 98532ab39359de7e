"""The folders of inventory: what gitfleet owns on a cluster, in as many files as it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gitfleet.api import read_state, write
from gitfleet.api.inventory import InventoryEntry
from gitfleet.model.state import Inventory
from gitfleet.state import paths
from gitfleet.state.changed_files import ChangedFiles, EntryFolder, rewrite_entries
from gitfleet.state.file_kinds import Parts
from gitfleet.state.shapes.ledgers import API_VERSION
from gitfleet.state.shapes.lines import entry_line, items_bytes, read_items
from gitfleet.state.shards import inventory_address
from gitfleet.state.texts import StateText


@dataclass(frozen=True, slots=True)
class InventoryFile:
    """inventory/..."""

    cluster: str
    entries: tuple[InventoryEntry, ...]


def read_inventory(content: bytes) -> InventoryFile:
    """One file of a cluster's inventory. UnreadableText or InvalidContent."""
    cluster, items = read_items(content, "cluster", StateText.MUST_HOLD_ONE_INVENTORY)
    return InventoryFile(cluster, read_state(tuple[InventoryEntry, ...], items))


def gather_inventory(parts: Parts) -> Mapping[str, Inventory]:
    """What is owned on each cluster, by cluster."""
    files = parts.grouped(InventoryFile, lambda file: file.cluster)
    return {
        cluster: {entry.key: entry for _, file in files[cluster] for entry in file.entries} for cluster in sorted(files)
    }


def write_inventory(files: ChangedFiles, cluster: str, old: Inventory | None, new: Inventory | None) -> None:
    """Note the files that lead from one inventory of a cluster to another."""
    rewrite_entries(files, _folder(cluster), (old or {}).values(), (new or {}).values())


def _folder(cluster: str) -> EntryFolder[InventoryEntry]:
    head = {"apiVersion": API_VERSION, "cluster": cluster, "kind": "Inventory"}
    return EntryFolder(
        folder=paths.inventory_folder(cluster),
        address=inventory_address,
        order=lambda entry: (entry.placement.namespace, entry.placement.name, entry.key.order),
        render=lambda entries: items_bytes(head, (entry_line(write(entry)) for entry in entries)),
    )
