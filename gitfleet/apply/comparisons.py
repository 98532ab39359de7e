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
from gitfleet.apply.ignored import Ignored
from gitfleet.apply.rollout_fields import with_manifest_values
from gitfleet.apply.shapes import shape_digest
from gitfleet.apply.texts import ApplyText
from gitfleet.model.observations import DryRun, DryRuns, LiveObject
from gitfleet.model.operations import DifferenceDetails, Keep
from gitfleet.model.rollout_fields import RolloutFields
from gitfleet.model.works import Work

Pair = tuple[str, str]
"""An object's uid, and the digest of its manifest."""
_Pointers = tuple[str, ...]
"""Of the fields that a rollout sets in it."""


class _Result(NamedTuple):
    """The differences in a content, under a dry run; whether some of them are of fields that the cluster alone has."""

    live: JsonObject
    dry_run: DryRun | None
    details: DifferenceDetails
    only_there: bool


@dataclass(frozen=True, slots=True)
class WorkInPlace:
    """A work of which every object was in place: for each manifest the operation, and the inventory entry that it was
    judged by. The operations have the manifests and the live objects. `by_rollouts` is what rollouts set in them."""

    work: Work
    operations: tuple[Keep, ...]
    entries: tuple[InventoryEntry | None, ...]
    by_rollouts: Mapping[Identity, RolloutFields]


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

    _shapes: dict[tuple[Pair, _Pointers], tuple[JsonObject, str]] = field(default_factory=dict)
    _differences: dict[tuple[Pair, _Pointers, bool, bool], _Result] = field(default_factory=dict)
    in_place: dict[PlacementKey, WorkInPlace] = field(default_factory=dict)
    """The works that the plan made last found wholly in place."""

    def __len__(self) -> int:
        return len(self._shapes) + len(self._differences)

    def copy(self, ignored: Ignored, dry_runs: DryRuns) -> Comparisons:
        """The same results, to be extended apart from these, under other rules and dry runs."""
        return Comparisons(ignored, dry_runs, {}, dict(self._shapes), dict(self._differences), dict(self.in_place))

    def shape(self, manifest: Manifest, live: LiveObject) -> str:
        """`shape_digest` of the two."""
        fields = self.ignored.rollout_values(manifest.key)
        question = (live.uid, manifest.digest), tuple(fields)
        result = self._shapes.get(question)
        if result is None or not _same(result[0], live.body):
            body, _ = self.ignored.compared(manifest.key, manifest.body, live.body)
            observed = with_manifest_values(fields, manifest.body, live.body)
            result = self._shapes[question] = live.body, shape_digest(body, observed)
        return result[1]

    def differences(
        self, manifest: Manifest, live: LiveObject, *, full: bool, applied: bool = False
    ) -> DifferenceDetails:
        """`find_differences` between the two, `full` ones less what the server filled in; `applied` where gitfleet
        applied this manifest to this object."""
        pair = (live.uid, manifest.digest)
        dry_run = self._dry_run(pair, live) if full else None
        question = pair, tuple(self.ignored.rollout_values(manifest.key)), full, applied
        result = self._differences.get(question)
        if result is None or result.dry_run is not dry_run or not _same(result.live, live.body):
            body, observed = self.ignored.compared(manifest.key, manifest.body, live.body)
            made = dry_run.body if dry_run is not None else None
            completed = with_filled_in(body, observed, made, applied=applied) if full else body
            details = find_differences(completed, observed, full=full)
            only_there = full and bool(details) and details != find_differences(body, observed)
            result = self._differences[question] = _Result(live.body, dry_run, details, only_there)
        if result.only_there and dry_run is None:
            self.questions[pair] = manifest, live
        return result.details

    def doubt(self, manifest: Manifest, live: LiveObject) -> str:
        """Why differences may be the server's own; "" where it told them apart."""
        pair = (live.uid, manifest.digest)
        dry_run = self._dry_run(pair, live)
        if pair not in self.questions and (dry_run is None or dry_run.body is not None):
            return ""
        return ApplyText.SERVER_FILLED_COUNTS_WELL(error=dry_run.error if dry_run is not None else _NO_ANSWER)

    def _dry_run(self, pair: Pair, live: LiveObject) -> DryRun | None:
        """What the server made of the manifest over this content."""
        dry_run = self.dry_runs.get(pair)
        return dry_run if dry_run is not None and dry_run.is_about(live.body) else None


def _same(previous: JsonObject, body: JsonObject) -> bool:
    """Mostly they are one value, which `==` would go through as a whole."""
    return previous is body or previous == body
