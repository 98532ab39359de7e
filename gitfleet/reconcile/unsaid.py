"""What placements select of which their newest snapshot says nothing: nobody may take it from a cluster meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from gitfleet import snapshots
from gitfleet.api.conditions import Reason
from gitfleet.api.envelopes import carried_identities
from gitfleet.api.objects import Identity, Manifest
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.state import MisreadObjects, PlacementRecord
from gitfleet.model.successors import Successors
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
            latest = record.latest_resources
            unread = {one.key.identity for one in latest.documents if shared.payload.holds(one.key)} if latest else ()
            found[key] = failures.contain(subject, frozenset(), _selected, placement, shared.payload).union(unread)
        if (late := shared.inputs.waiting.get(key)) is not None:
            more = failures.contain(subject, frozenset[Identity](), _selected, late, shared.payload)
            found[key] = found.get(key, frozenset()) | more
    return found


def misread_selections(shared: Shared, failures: Failures) -> dict[PlacementKey, MisreadObjects]:
    """By placement that has an error, what its file may select; of one of which nobody can say that, what it has had:
    all of it where it leaves, else what is still in the repo."""
    found: dict[PlacementKey, MisreadObjects] = {}
    written: frozenset[Identity] | None = None
    for key, misread in shared.inputs.desired.misread.items():
        record, placement = shared.inputs.before.placements.get(key), misread.placement
        objects = frozenset[Identity]()
        if placement is not None:
            objects = failures.contain(Subject.of_placement(key), objects, _selected, placement, shared.payload)
        elif record is not None:
            objects = failures.contain(Subject.of_placement(key), objects, _had, record)
            if record.placement.deleting is None:
                written = _identities(shared.payload.objects.values()) if written is None else written
                objects &= written
        if objects := objects | misread.objects:
            found[key] = MisreadObjects(misread.path, objects)
    return found


def _had(record: PlacementRecord) -> frozenset[Identity]:
    content = Successors({}).content
    return frozenset().union(*(content(record.placement.key, one) for one in record.resource_snapshots))


def _selected(placement: Placement, payload: snapshots.PayloadIndex) -> frozenset[Identity]:
    return _identities(_each(placement, payload))


def _identities(manifests: Iterable[Manifest]) -> frozenset[Identity]:
    """Of these objects, and of what envelopes among them carry."""
    every = {manifest.key.identity: manifest for manifest in manifests}
    return frozenset(every).union(*carried_identities(every.values()).values())


def _each(placement: Placement, payload: snapshots.PayloadIndex) -> Iterator[Manifest]:
    whole = snapshots.select(placement, payload)
    parts = [replace(placement, selectors=(one,)) for one in placement.selectors] if whole.error is not None else ()
    for selection in (whole, *(snapshots.select(part, payload) for part in parts)):
        yield from selection.manifests
