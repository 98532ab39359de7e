"""Objects that placements are still to lose, written back (or relabelled) with labels that nearly are those that
some placement selects by: the removal that is under way would go on for a typing error.

Source: invariant 2 (a fault takes nothing away from a cluster), decision D31.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from gitfleet.api.faults import is_error
from gitfleet.api.labels import InvalidSelector, LabelSelector
from gitfleet.api.objects import Identity, Manifest
from gitfleet.api.placements import Placement
from gitfleet.desired.crosschecks import Refusals
from gitfleet.desired.readings import ReadObject
from gitfleet.desired.recovery import Recovery
from gitfleet.desired.request import DesiredRequest
from gitfleet.desired.taken_back import lost_by, roots_of
from gitfleet.model.near_labels import NearLabels

_Place = tuple[str, str, str]


def relabelled_refusals(request: DesiredRequest, recovery: Recovery, chosen: Mapping[Identity, ReadObject]) -> Refusals:
    """The objects (or Namespaces of objects) that a placement is to lose, whose labels this commit changed, or an
    earlier one by which they are refused already, and nearly are those of a selector that does not match them."""
    edited = {one.identity: (one, manifest) for one, manifest in _relabelled(request, recovery, chosen)}
    if not edited:
        return []
    stay = [one.value for one in chosen.values() if isinstance(one.value, Placement)]
    keys, found = {one.key for one in stay}, dict[Identity, tuple[ReadObject, Manifest]]()
    for key, record in request.accepted.placements.items():
        lost = lost_by(record, request.accepted, key in keys, in_envelopes=False)
        found |= {root: edited[root] for one in lost for root in roots_of(one) if root in edited}
    refusals: Refusals = []
    selecting = _Selecting(stay if found else ())
    for one, manifest in found.values():
        placed = recovery.placed().get(one.identity)
        then = placed.value.labels if placed is not None and isinstance(placed.value, Manifest) else {}
        if placement := selecting.nearly(then, manifest):
            name = f"{placement.key.kind} {placement.key}"
            why = f"nearly are those that {name} selects by, while its removal from clusters is under way; write those"
            sentence = f"{why}, or others that are not nearly the same"
            # Its labels are what is wrong: whoever may select it by other ones may be meant to have it.
            refusals.append((replace(one, value=""), (("metadata", "labels"), sentence)))
    return refusals


def _relabelled(
    request: DesiredRequest, recovery: Recovery, chosen: Mapping[Identity, ReadObject]
) -> Iterator[tuple[ReadObject, Manifest]]:
    """The payload that has other labels than before this commit, or was refused there already."""
    changed = request.changed or ()
    refused = {(fault.path, fault.object) for fault in request.accepted.faults if is_error(fault)}
    for one in chosen.values() if changed or refused else ():
        path = one.origin.path
        if isinstance(one.value, Manifest) and (path in changed or (path, one.label) in refused):
            before = recovery.previous(one.identity)
            had = before.value.labels if before is not None and isinstance(before.value, Manifest) else None
            if (path, one.label) in refused or had != one.value.labels:
                yield one, one.value


class _Selecting:
    """The selectors by labels of placements, by the namespace in which they look ("" for any) and their kind."""

    def __init__(self, placements: Iterable[Placement]) -> None:
        self._by_place: dict[_Place, list[tuple[Placement, LabelSelector]]] = {}
        for placement in placements:
            for one in placement.selectors:
                if one.label_selector is not None and one.name is None:
                    place = (placement.key.namespace, one.group, one.kind)
                    self._by_place.setdefault(place, []).append((placement, one.label_selector))
        self._near = {place: NearLabels([by for _, by in every]) for place, every in self._by_place.items()}

    def nearly(self, then: Mapping[str, str], now: Manifest) -> Placement | None:
        """The first placement of which a selector nearly selects an object; None where one does select it."""
        key, found = now.key, None
        for place in dict.fromkeys((home, key.group, key.kind) for home in ("", key.namespace)):
            every = self._by_place.get(place, ())
            if any(_matches(selector, now) for _, selector in every):
                return None
            numbers = self._near[place].of(then, now.labels) if every else iter(())
            found = found or next((every[number][0] for number in numbers), None)
        return found


def _matches(selector: LabelSelector, manifest: Manifest) -> bool:
    try:
        return selector.matches(manifest.labels)
    except InvalidSelector:
        return False
