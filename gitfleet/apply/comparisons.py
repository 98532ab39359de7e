"""Live objects against their manifests, each pair compared once while the object's content stays: whoever asks again
gets the same result. A work that was wholly in place is not planned again object by object either, as long as nothing
of it changed.

The operations carry what was found (`code` and `details`), and `observe` reads it there and compares nothing itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import Identity, JsonObject, Manifest
from gitfleet.api.placements import PlacementKey
from gitfleet.apply.differences import find_differences
from gitfleet.apply.filled_in import with_filled_in
from gitfleet.apply.held import as_wanted
from gitfleet.apply.ignored import Ignored
from gitfleet.apply.shapes import shape_digest
from gitfleet.apply.texts import ApplyText
from gitfleet.model.held_fields import HeldFields
from gitfleet.model.observations import DryRun, DryRuns, LiveObject
from gitfleet.model.operations import DifferenceDetails, Keep
from gitfleet.model.works import Work

Pair = tuple[str, str]
"""An object's uid, and the digest of its manifest."""
_Held = tuple[str, ...]
"""The pointers of what is held of it."""


class _Found(NamedTuple):
    """The differences in a content, under a dry run; whether some of them are of fields that the cluster alone has."""

    live: JsonObject
    dry_run: DryRun | None
    details: DifferenceDetails
    only_there: bool


@dataclass(frozen=True, slots=True)
class WorkInPlace:
    """A work of which every object was in place: for each manifest the operation, and the inventory entry that it was
    judged by. The operations have the manifests and the live objects. `held` is what rollouts hold of them."""

    work: Work
    operations: tuple[Keep, ...]
    entries: tuple[InventoryEntry | None, ...]
    held: Mapping[Identity, HeldFields]


Question = tuple[Manifest, LiveObject]
"""What the server would make of a manifest, over an object."""
_NO_ANSWER: Final = ApplyText.SERVER_NOT_ASKED_YET()


@dataclass(frozen=True, slots=True)
class Comparisons:
    """What was found on one cluster by the same rules, each with the content that it was found in: a resourceVersion
    alone does not say that it is the same. It can be lost at any time and costs time only.

    `questions` are those pairs of which only a dry run tells what the server filled in; until `dry_runs` has it, all
    that is on the cluster alone counts."""

    ignored: Ignored = Ignored()
    dry_runs: DryRuns = field(default_factory=dict)
    questions: dict[Pair, Question] = field(default_factory=dict)

    _shapes: dict[tuple[Pair, _Held], tuple[JsonObject, str]] = field(default_factory=dict)
    _differences: dict[tuple[Pair, _Held, bool, bool], _Found] = field(default_factory=dict)
    in_place: dict[PlacementKey, WorkInPlace] = field(default_factory=dict)
    """The works that the plan made last found wholly in place."""

    def __len__(self) -> int:
        return len(self._shapes) + len(self._differences)

    def copy(self, ignored: Ignored, dry_runs: DryRuns) -> Comparisons:
        """The same results, to be extended apart from these, with other dry runs, and where other fields are held."""
        return Comparisons(ignored, dry_runs, {}, dict(self._shapes), dict(self._differences), dict(self.in_place))

    def shape(self, manifest: Manifest, live: LiveObject) -> str:
        """`shape_digest` of the two."""
        held = self.ignored.held_of(manifest.key)
        asked = (live.uid, manifest.digest), tuple(held)
        known = self._shapes.get(asked)
        if known is None or not _same(known[0], live.body):
            wanted, _ = self.ignored.compared(manifest.key, manifest.body, live.body)
            known = self._shapes[asked] = live.body, shape_digest(wanted, as_wanted(held, manifest.body, live.body))
        return known[1]

    def differences(
        self, manifest: Manifest, live: LiveObject, *, full: bool, applied: bool = False
    ) -> DifferenceDetails:
        """`find_differences` between the two, `full` ones less what the server filled in; `applied` where gitfleet
        applied this manifest to this object."""
        pair = (live.uid, manifest.digest)
        dry_run = self._dry_run(pair, live) if full else None
        asked = pair, tuple(self.ignored.held_of(manifest.key)), full, applied
        known = self._differences.get(asked)
        if known is None or known.dry_run is not dry_run or not _same(known.live, live.body):
            wanted, there = self.ignored.compared(manifest.key, manifest.body, live.body)
            made = dry_run.body if dry_run is not None else None
            completed = with_filled_in(wanted, there, made, applied=applied) if full else wanted
            details = find_differences(completed, there, full=full)
            only_there = full and bool(details) and details != find_differences(wanted, there)
            known = self._differences[asked] = _Found(live.body, dry_run, details, only_there)
        if known.only_there and dry_run is None:
            self.questions[pair] = manifest, live
        return known.details

    def doubt(self, manifest: Manifest, live: LiveObject) -> str:
        """The end of a sentence about differences that may be the server's own; "" where it told them apart."""
        pair = (live.uid, manifest.digest)
        dry_run = self._dry_run(pair, live)
        if pair not in self.questions and (dry_run is None or dry_run.body is not None):
            return ""
        return ApplyText.SERVER_FILLED_COUNTS_WELL(error=dry_run.error if dry_run is not None else _NO_ANSWER)

    def _dry_run(self, pair: Pair, live: LiveObject) -> DryRun | None:
        """What the server made of the manifest over this content."""
        found = self.dry_runs.get(pair)
        return found if found is not None and found.is_about(live.body) else None


def _same(known: JsonObject, body: JsonObject) -> bool:
    """Mostly they are one value, which `==` would go through as a whole."""
    return known is body or known == body
