"""Overrides: one for each resource, and at most 100 of each kind (seed 003, Override, Limits)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from gitfleet.api import Break
from gitfleet.api.objects import Identity
from gitfleet.api.overrides import Override
from gitfleet.desired.checks.commit import Commit, Refusal, noted
from gitfleet.desired.reading.files import ReadObject
from gitfleet.desired.texts import DesiredText

MAX_OVERRIDES: Final = 100
"""Most overrides of each of the two kinds."""


def override_refusals(commit: Commit) -> Iterator[Refusal]:
    """Refuse a second override of a resource, and those beyond the limit; the ones in force stay."""
    taken: dict[Identity, ReadObject] = {}
    counts: Counter[str] = Counter()
    for item, override in sorted(commit.of(Override), key=lambda pair: commit.standing(pair[0])):
        places = [(override.key.namespace, r.group, r.kind, r.name) for r in override.resources]
        notes: list[Break] = [
            (
                ("spec", override.selectors_field, index),
                DesiredText.SELECTS_RESOURCE_ALREADY_OVERRIDES(taken=taken[place].label),
            )
            for index, place in enumerate(places)
            if place in taken
        ]
        if counts[override.key.kind] >= MAX_OVERRIDES:
            notes.append(((), DesiredText.MOST_KIND_MERGE_REMOVE_SOME(max_overrides=MAX_OVERRIDES)))
        yield from noted(item, notes)
        if not notes:
            counts[override.key.kind] += 1
            taken.update((place, item) for place in places)
