"""What a cluster has according to the inventory, where nobody observed it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import Identity, JsonObject, Manifest, ObjectKey
from gitfleet.apply.ignored import NOTHING_IGNORED, Ignored
from gitfleet.apply.shapes import shape_digest
from gitfleet.formats.managed_fields import FIELD_MANAGER
from gitfleet.model.observations import ClusterObservation, LiveObject
from gitfleet.model.state import Inventory
from gitfleet.model.works import Work


def as_recorded(
    cluster: str, inventory: Inventory, works: Iterable[Work], ignored: Ignored = NOTHING_IGNORED
) -> tuple[ClusterObservation, dict[ObjectKey, InventoryEntry]]:
    """The cluster as if it answered and had what `inventory` says was applied, and the inventory to compare it with.

    An object that was never applied is not there. One that was is as its manifest in `works` says, where that is the
    manifest that was applied; otherwise nothing but its name is known.
    """
    applied: dict[tuple[Identity, str | None], Manifest] = {
        (manifest.key.identity, manifest.digest): manifest for work in works for manifest in work.manifests
    }
    live: dict[ObjectKey, LiveObject | None] = {}
    entries: dict[ObjectKey, InventoryEntry] = {}
    for key, entry in inventory.items():
        if entry.uid is None:
            live[key], entries[key] = None, entry
            continue
        manifest = applied.get((key.identity, entry.applied_digest))
        found = LiveObject(key, _with_uid(manifest.body if manifest is not None else {}, key, entry.uid))
        live[key] = found
        if manifest is not None:
            wanted, _ = ignored.compared(key, manifest.body, found.body)
            entry = replace(entry, shape_digest=shape_digest(wanted, found.body))
        entries[key] = entry
    return ClusterObservation(cluster=cluster, reachable=True, live=live), entries


def _with_uid(body: JsonObject, key: ObjectKey, uid: str) -> JsonObject:
    applied = {"manager": FIELD_MANAGER, "operation": "Apply"}
    metadata = {**(body.get("metadata") or {}), "name": key.name, "uid": uid, "managedFields": [applied]}
    if key.namespace:
        metadata["namespace"] = key.namespace
    version = f"{key.group}/{key.version}" if key.group else key.version
    return {"apiVersion": version, "kind": key.kind, **body, "metadata": metadata}
