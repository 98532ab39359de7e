"""What a rollout that has not reached every cluster brought: to take it back restores what was there before."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from gitfleet.api.bindings import Binding, is_active
from gitfleet.api.clusters import silent_from
from gitfleet.api.holds import Removal, RemovalKind
from gitfleet.api.objects import Identity
from gitfleet.api.placements import PlacementKey
from gitfleet.api.snapshots import ResourceSnapshot
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.removals.kept import Kept
from gitfleet.removals.placed import Cell


@dataclass(frozen=True, slots=True)
class Brought:
    """The placed objects that came with unfinished rollouts, by placement, each with the commit that brought it."""

    commits: Mapping[PlacementKey, Mapping[Cell, str]]

    @classmethod
    def between(
        cls, before: FleetState, after: FleetState, kept: Kept, removals: Iterable[Removal], failures: Failures
    ) -> Brought:
        """Of the placements that some objects are removed of. One that cannot be read has none, and that is noted."""
        keys = {one.placement for one in removals if one.kind is RemovalKind.OBJECT and one.placement is not None}
        found = {
            key: failures.contain(
                Subject.of_placement(key),
                {},
                brought_unfinished,
                before,
                after,
                key,
                kept.objects.get(key, frozenset()),
            )
            for key in sorted(keys)
        }
        return cls(found)

    def without(
        self, asked: Mapping[Removal, frozenset[Cell]], only: Collection[str] | None = None
    ) -> dict[Removal, frozenset[Cell]]:
        """What removals take away besides them, or besides those that came with `only` these commits."""
        return {
            removal: frozenset(cell for cell in cells if not self._is_brought(removal, cell, only))
            for removal, cells in asked.items()
        }

    def _is_brought(self, removal: Removal, cell: Cell, only: Collection[str] | None) -> bool:
        if removal.kind is not RemovalKind.OBJECT or removal.placement is None:
            return False
        commit = self.commits.get(removal.placement, {}).get(cell)
        return commit is not None and (only is None or commit in only)


def brought_unfinished(
    before: FleetState, after: FleetState, key: PlacementKey, kept: frozenset[Identity]
) -> dict[Cell, str]:
    """The objects of a placement that came with a rollout which another of its clusters still waits for, each with the
    commit of its first snapshot.

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
    first, commits = min(restored), dict[Identity, str]()
    had = frozenset[Identity]()
    for snapshot in old.resource_snapshots:
        if snapshot.index <= first:
            had |= _identities(snapshot)
        else:
            commits = dict.fromkeys(_identities(snapshot), snapshot.commit) | commits
    return {
        (binding.cluster, identity): commits[identity]
        for binding, snapshot in bound
        if snapshot.index > first
        for identity in _identities(snapshot) - had
    }


def _bound(record: PlacementRecord) -> Iterator[tuple[Binding, ResourceSnapshot]]:
    """The bindings that stay, each with the snapshot that it was given."""
    for binding in filter(is_active, record.bindings):
        snapshot = record.snapshot_named(binding.resource_snapshot)
        if snapshot is not None:
            yield binding, snapshot


def _identities(snapshot: ResourceSnapshot) -> frozenset[Identity]:
    return frozenset(document.key.identity for document in snapshot.documents)
