"""The manifests that were applied last, which are those in git: found by what the inventory recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import Identity, Manifest
from gitfleet.api.placements import PlacementKey
from gitfleet.model.state import PlacementRecord
from gitfleet.model.works import Work

_Index = dict[tuple[Identity, str], Manifest]


class AppliedManifests:
    """Looks them up in one cluster's works before a change, then in the snapshots that are loaded: a cluster that was
    not reached for a while has an older one."""

    def __init__(self, works: Sequence[Work], records: Mapping[PlacementKey, PlacementRecord]) -> None:
        self._works = works
        self._records = records
        self._rendered: _Index | None = None
        self._selected: dict[PlacementKey, _Index] = {}

    def __call__(self, entry: InventoryEntry) -> Manifest | None:
        """The manifest of the digest that an entry has; None when it is not known any more."""
        if entry.applied_digest is None:
            return None
        if self._rendered is None:
            self._rendered = _index(manifest for work in self._works for manifest in work.manifests)
        wanted = entry.key.identity, entry.applied_digest
        found = self._rendered.get(wanted)
        if found is None and entry.placement in self._records:
            if entry.placement not in self._selected:
                snapshots = self._records[entry.placement].resource_snapshots
                self._selected[entry.placement] = _index(m for s in snapshots for m in s.manifests or ())
            found = self._selected[entry.placement].get(wanted)
        return found


def _index(manifests: Iterator[Manifest]) -> _Index:
    return {(manifest.key.identity, manifest.digest): manifest for manifest in manifests}
