"""Live objects against their manifests, each pair compared once: whoever asks again gets the same result.

The operations carry what was found (`code` and `details`), and `observe` reads it there and compares nothing itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gitfleet.api.objects import Manifest
from gitfleet.apply.differences import find_differences
from gitfleet.apply.shapes import shape_digest
from gitfleet.model.observations import LiveObject
from gitfleet.model.operations import DifferenceDetails

_Pair = tuple[str, str, str]
"""An object's uid and resourceVersion, and the digest of its manifest."""


@dataclass(frozen=True, slots=True)
class Comparisons:
    """What was found on one cluster. It can be lost at any time and costs time only; an object without a
    resourceVersion is compared again each time."""

    _shapes: dict[_Pair, str] = field(default_factory=dict)
    _differences: dict[tuple[_Pair, bool], DifferenceDetails] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._shapes) + len(self._differences)

    def copy(self) -> Comparisons:
        """The same results, to be extended apart from these."""
        return Comparisons(dict(self._shapes), dict(self._differences))

    def shape(self, manifest: Manifest, live: LiveObject) -> str:
        """`shape_digest` of the two."""
        pair = (live.uid, live.resource_version, manifest.digest)
        known = self._shapes.get(pair) if live.resource_version else None
        if known is None:
            known = self._shapes[pair] = shape_digest(manifest.body, live.body)
        return known

    def differences(self, manifest: Manifest, live: LiveObject, *, full: bool) -> DifferenceDetails:
        """`find_differences` between the two."""
        question = ((live.uid, live.resource_version, manifest.digest), full)
        known = self._differences.get(question) if live.resource_version else None
        if known is None:
            known = self._differences[question] = find_differences(manifest.body, live.body, full=full)
        return known
