"""What a placement may not have of the objects that it selects, by the fleet's policy (decision D37).

A commit is judged when it is read. Left for here is what depends on the placement: what lies in the envelopes that it
selects, and objects that stay in the payload only because they are placed already.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gitfleet.api.envelopes import EnvelopeError, is_envelope, objects_in
from gitfleet.api.objects import Manifest, ObjectKey
from gitfleet.api.placements import Placement
from gitfleet.api.placing_policy import PlacingPolicy
from gitfleet.api.snapshots import ResourceSnapshot
from gitfleet.snapshots.strip import strip


def denial_of(
    placement: Placement, selected: Iterable[Manifest], policy: PlacingPolicy, latest: ResourceSnapshot | None
) -> str:
    """What is selected and may not be placed, and the rule that says so; "" when all may. What the latest snapshot has
    in the same version stays, whatever the rules say now."""
    for manifest in selected:
        if (sentence := _denial(placement, manifest, policy)) and not _is_in(manifest, latest):
            return sentence
    return ""


def _denial(placement: Placement, manifest: Manifest, policy: PlacingPolicy) -> str:
    for key, entry in _objects(manifest):
        if (note := policy.denial(key, str(placement.key))) is not None:
            (*_, field), sentence = note
            where = f"{key} in {manifest.key}" if entry else str(key)
            return f"{where} ({manifest.origin}): its {field} {sentence}"
    return ""


def _objects(manifest: Manifest) -> Iterator[tuple[ObjectKey, str]]:
    """The object, and what lies in it where it is an envelope, after the name of its entry."""
    yield manifest.key, ""
    if is_envelope(manifest):
        try:
            for entry, key in objects_in(manifest, {}):
                yield key, entry
        except EnvelopeError:
            return  # nothing of it is placed, and the work says why


def _is_in(manifest: Manifest, latest: ResourceSnapshot | None) -> bool:
    documents = zip(latest.documents, latest.manifests or (), strict=False) if latest is not None else ()
    digest = strip(manifest).digest
    return any(d.key.identity == manifest.key.identity and known.digest == digest for d, known in documents)
