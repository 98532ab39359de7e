"""Who takes over what a placement has, or selects by its selectors, and what nobody takes over of one that goes."""

from __future__ import annotations

from dataclasses import dataclass

from gitfleet.api.holds import Removal, RemovalKind
from gitfleet.api.placements import PlacementKey, ResourceSelector
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.removals.going import content_of
from gitfleet.removals.placed import Losses
from gitfleet.removals.selected import selectors_in_force


@dataclass(frozen=True, slots=True)
class Takers:
    """The placements of a decision that others give something to; `approved` removals are answered for."""

    before: FleetState
    after: FleetState
    losses: Losses
    approved: frozenset[str]

    def of(self, key: PlacementKey) -> tuple[PlacementRecord, ...]:
        """The placements that stay and want placed objects of another one on the same clusters, or have a selector in
        common with what it was."""
        old, wanting = self.before.placements.get(key), self.losses.successors_of(key)
        selectors = old.placement.selectors if old is not None else ()
        return tuple(
            record
            for other, record in self.after.placements.items()
            if other != key and (other in wanting or (self._stays(record) and self._shares(record, key, selectors)))
        )

    def _stays(self, record: PlacementRecord) -> bool:
        return record.placement.deleting is None and record.placement.key not in self.losses.kept.placements

    def _shares(self, record: PlacementRecord, key: PlacementKey, selectors: tuple[ResourceSelector, ...]) -> bool:
        placement = record.placement
        return placement.key.namespace == key.namespace and any(one in selectors for one in placement.selectors)

    def gained(self, record: PlacementRecord, old: PlacementRecord) -> tuple[ResourceSelector, ...]:
        """The selectors by which a placement takes over from another one: all of itself, else those that the other one
        had, and new ones."""
        mine, others = record.placement, old.placement.selectors
        if mine.key == old.placement.key:
            return mine.selectors
        known = selectors_in_force(self.before.placements.get(mine.key))
        return tuple(one for one in mine.selectors if one in others or one not in known)

    def rest(self, removal: Removal, old: PlacementRecord, takers: tuple[PlacementRecord, ...]) -> tuple[Removal, ...]:
        """The objects of a placement that goes (`removal`) which none of the others selects, each as an object that
        goes from a placement which stays."""
        keys, latest = {one.placement.key for one in takers}, old.latest_resources
        lost = {identity for _, identity in self.losses.of(removal)}
        every = (
            Removal(kind=RemovalKind.OBJECT, placement=removal.placement, object=one)
            for _, one in (content_of(latest) if latest is not None else ())
            if one.identity in lost and not any(self.losses.selects(key, one.identity) for key in keys)
        )
        return tuple(one for one in every if one.id not in self.approved)
