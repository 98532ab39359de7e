"""Overrides of objects that nobody writes any more and whose removal is held: they stay as they were rolled out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gitfleet.api.bindings import is_active
from gitfleet.api.objects import Identity
from gitfleet.api.snapshots import OverrideSnapshot, ResourceSnapshot
from gitfleet.model.state import PlacementRecord
from gitfleet.works.matching import names_placement, targets_by_object, targets_of


@dataclass(frozen=True, slots=True)
class Unwritten:
    """The objects of a placement that stand in no file and stay because their removal is held, and every override
    snapshot that there is, those of overrides that are gone included."""

    objects: frozenset[Identity] = frozenset()
    overrides: tuple[OverrideSnapshot, ...] = ()

    def staying(
        self, record: PlacementRecord, latest: ResourceSnapshot, current: tuple[OverrideSnapshot, ...]
    ) -> tuple[frozenset[str], tuple[OverrideSnapshot, ...]]:
        """The names of the overrides that concern one of these objects, and the overrides with these as the record's
        bindings have them last: not at all where none of them has one."""
        if not self.objects:
            return frozenset(), current
        targets = {t for key, own in targets_by_object(latest).items() if key.identity in self.objects for t in own}

        def concerned(found: Iterable[OverrideSnapshot]) -> list[OverrideSnapshot]:
            mine = (o for o in found if names_placement(o.override, record.placement.key))
            return [o for o in mine if not targets.isdisjoint(targets_of(o.override))]

        bound = {
            r for b in record.bindings if is_active(b) for r in (*b.cluster_resource_overrides, *b.resource_overrides)
        }
        newest = {
            o.override.key: o for o in sorted(concerned(self.overrides), key=lambda o: o.index) if o.reference in bound
        }
        names = newest.keys() | {o.override.key for o in concerned(current)}
        rest = (o for o in current if o.override.key not in names)
        return frozenset(map(str, names)), (*rest, *newest.values())
