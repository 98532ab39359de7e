"""Live objects against their manifests, each pair compared once while the object's content stays: whoever asks again
gets the same result. A work that was wholly in place is not planned again object by object either, as long as nothing
of it changed.

The operations carry what was found (`code` and `details`), and `observe` reads it there and compares nothing itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import JsonObject, Manifest
from gitfleet.api.placements import PlacementKey
from gitfleet.apply.differences import find_differences
from gitfleet.apply.ignored import Ignored
from gitfleet.apply.shapes import shape_digest
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import DifferenceDetails, Keep
from gitfleet.model.works import Work

_Pair = tuple[str, str]
"""An object's uid, and the digest of its manifest."""


@dataclass(frozen=True, slots=True)
class WorkInPlace:
    """A work of which every object was in place: for each manifest the operation, and the inventory entry that it was
    judged by. The operations have the manifests and the live objects."""

    work: Work
    operations: tuple[Keep, ...]
    entries: tuple[InventoryEntry | None, ...]


@dataclass(frozen=True, slots=True)
class Comparisons:
    """What was found on one cluster by the same rules, each with the content that it was found in: a resourceVersion
    alone does not say that it is the same. It can be lost at any time and costs time only."""

    ignored: Ignored = Ignored()

    _shapes: dict[_Pair, tuple[JsonObject, str]] = field(default_factory=dict)
    _differences: dict[tuple[_Pair, bool], tuple[JsonObject, DifferenceDetails]] = field(default_factory=dict)
    in_place: dict[PlacementKey, WorkInPlace] = field(default_factory=dict)
    """The works that the plan made last found wholly in place."""

    def __len__(self) -> int:
        return len(self._shapes) + len(self._differences)

    def copy(self) -> Comparisons:
        """The same results, to be extended apart from these."""
        return Comparisons(self.ignored, dict(self._shapes), dict(self._differences), dict(self.in_place))

    def shape(self, manifest: Manifest, live: LiveObject) -> str:
        """`shape_digest` of the two."""
        pair = (live.uid, manifest.digest)
        known = self._shapes.get(pair)
        if known is None or not _same(known[0], live.body):
            wanted, _ = self.ignored.compared(manifest.key, manifest.body, live.body)
            known = self._shapes[pair] = live.body, shape_digest(wanted, live.body)
        return known[1]

    def differences(self, manifest: Manifest, live: LiveObject, *, full: bool) -> DifferenceDetails:
        """`find_differences` between the two."""
        question = ((live.uid, manifest.digest), full)
        known = self._differences.get(question)
        if known is None or not _same(known[0], live.body):
            wanted, there = self.ignored.compared(manifest.key, manifest.body, live.body)
            known = self._differences[question] = live.body, find_differences(wanted, there, full=full)
        return known[1]


def _same(known: JsonObject, body: JsonObject) -> bool:
    """Mostly they are one value, which `==` would go through as a whole."""
    return known is body or known == body
