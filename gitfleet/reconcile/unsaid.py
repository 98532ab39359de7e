"""What placements select of which their newest snapshot says nothing: nobody may take it from a cluster meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from gitfleet import snapshots
from gitfleet.api.conditions import Reason
from gitfleet.api.objects import Identity
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.state import PlacementRecord
from gitfleet.reconcile.shared import Shared


def unsaid_selections(
    records: Mapping[PlacementKey, PlacementRecord], shared: Shared, failures: Failures
) -> dict[PlacementKey, frozenset[Identity]]:
    """By placement, of those that are pinned, that could not be decided in this pass, or whose selection cannot be used
    as a whole: then what each selector picks; and of those whose new name waits, what they are to select under it."""
    found: dict[PlacementKey, frozenset[Identity]] = {}
    for key, record in records.items():
        placement = shared.inputs.desired.placements.get(key)
        subject = Subject.of_placement(key)
        scheduled = record.scheduled
        unusable = scheduled is not None and scheduled.reason == Reason.INVALID_RESOURCE_SELECTORS
        if placement is not None and (record.pinned is not None or unusable or subject in failures):
            found[key] = failures.contain(subject, frozenset(), _selected, placement, shared.payload)
        if (late := shared.inputs.waiting.get(key)) is not None:
            more = failures.contain(subject, frozenset[Identity](), _selected, late, shared.payload)
            found[key] = found.get(key, frozenset()) | more
    return found


def _selected(placement: Placement, payload: snapshots.PayloadIndex) -> frozenset[Identity]:
    return frozenset(_each(placement, payload))


def _each(placement: Placement, payload: snapshots.PayloadIndex) -> Iterator[Identity]:
    whole = snapshots.select(placement, payload)
    parts = [replace(placement, selectors=(one,)) for one in placement.selectors] if whole.error is not None else ()
    for selection in (whole, *(snapshots.select(part, payload) for part in parts)):
        yield from (manifest.key.identity for manifest in selection.manifests)
