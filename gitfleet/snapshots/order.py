"""The order of the objects in a snapshot: dependencies before what needs them (KubeFleet resourceSortOrder)."""

from __future__ import annotations

from gitfleet.api.objects import Manifest, ObjectKey
from gitfleet.formats.kinds import LAST_RANK, snapshot_rank

OrderKey = tuple[int, str, str]


def snapshot_order(key: ObjectKey) -> OrderKey:
    """The sorting key of an object: known kinds by rank (the group does not count) and then by group and version,
    unknown kinds last by group, version and kind; ties by `namespace/name`."""
    rank, text = _kind_order(key.group, key.version, key.kind)
    return (rank, text, f"{key.namespace}/{key.name}")


def order_of(manifest: Manifest) -> OrderKey:
    """`snapshot_order` of a manifest."""
    return snapshot_order(manifest.key)


def _kind_order(group: str, version: str, kind: str) -> tuple[int, str]:
    rank = snapshot_rank(kind)
    if rank == LAST_RANK:
        return (rank, f"{group}/{version}, Kind={kind}")
    return (rank, f"{group}/{version}" if group else version)
