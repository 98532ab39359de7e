"""What a rollout that has not reached every cluster brought: taking it back restores what was there before."""

from __future__ import annotations

from collections.abc import Iterator

from gitfleet.api.bindings import Binding, is_active
from gitfleet.api.clusters import silent_from
from gitfleet.api.objects import Identity
from gitfleet.api.placements import PlacementKey
from gitfleet.api.snapshots import ResourceSnapshot
from gitfleet.model.state import FleetState, PlacementRecord


def brought_unfinished(
    before: FleetState, after: FleetState, key: PlacementKey, kept: frozenset[Identity]
) -> dict[str, frozenset[Identity]]:
    """By cluster, the objects of a placement that came with a rollout which another of its clusters still waits for.

    That other cluster's older snapshot must be there again whole in `after` without what is only `kept`, and no
    snapshot up to it may have had the object. A cluster that does not answer waits for nothing: a rollout that went on
    without it is finished.
    """
    old, new = before.placements.get(key), after.placements.get(key)
    latest = new.latest_resources if new is not None else None
    if old is None or latest is None:
        return {}
    bound = list(_bound(old))
    stay = _identities(latest) - kept
    restored = [
        snapshot.index
        for binding, snapshot in bound
        if _identities(snapshot) <= stay and silent_from(before.clusters.get(binding.cluster)) is None
    ]
    if not restored:
        return {}
    first = min(restored)
    earlier = [_identities(snapshot) for snapshot in old.resource_snapshots if snapshot.index <= first]
    had = frozenset[Identity]().union(*earlier)
    return {binding.cluster: _identities(snapshot) - had for binding, snapshot in bound if snapshot.index > first}


def _bound(record: PlacementRecord) -> Iterator[tuple[Binding, ResourceSnapshot]]:
    """The bindings that stay, each with the snapshot that it was given."""
    for binding in filter(is_active, record.bindings):
        snapshot = record.snapshot_named(binding.resource_snapshot)
        if snapshot is not None:
            yield binding, snapshot


def _identities(snapshot: ResourceSnapshot) -> frozenset[Identity]:
    return frozenset(document.key.identity for document in snapshot.documents)
