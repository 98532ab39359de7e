"""Removals of an unclear commit: while it has an error, what it takes away may be meant to stay.

Source: invariant 2 (a fault takes nothing away from a cluster).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from gitfleet.api.faults import MOST_IN_ALL, Fault, is_error
from gitfleet.api.holds import Hold, HoldReason, HoldRule, Removal, RemovalKind
from gitfleet.api.objects import Identity
from gitfleet.api.placements import Placement
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.removals.causes import Causes, itself
from gitfleet.removals.placed import Cell, Overridden
from gitfleet.removals.selected import matches
from gitfleet.removals.shares import Finding

_MOST_NAMED: Final = 10
"""So many errors of one commit are named as reasons."""
_BY_NAME: Final = (RemovalKind.OBJECT, RemovalKind.PLACEMENT)
"""What a placement with an error may be meant to have."""


def unclear(places: Sequence[Fault], removals: Sequence[Removal], known: Collection[Fault]) -> Iterator[Finding]:
    """A finding for each place of a commit that may say that something stays: objects and placements wait for each,
    clusters and what overrides delete only for places that are not `known` from an earlier commit."""
    new_first = sorted(places, key=known.__contains__)
    for place in new_first[:_MOST_NAMED]:
        waiting = tuple(removal for removal in removals if removal.kind in _BY_NAME or place not in known)
        if not waiting:
            continue
        if is_error(place):
            yield _of_error(place.path, place.line, waiting)
        else:
            message = f"{place.path} {place.message}, so that what goes may be meant to stay"
            yield Finding(HoldReason(rule=HoldRule.UNCLEAR_COMMIT, message=message, unread=place.path), waiting)


def of_kept_payload(desired: Desired, asked: Mapping[Removal, Collection[Cell]], causes: Causes) -> Iterator[Finding]:
    """A finding for each file with an error, of whatever commit, of which what goes on as it was accepted last goes
    with what is removed, be it its envelope or Namespace: nobody can say what that has become, so another placement
    may be meant to have it."""
    kept, waiting = desired.kept_payload, dict[str, dict[Removal, None]]()
    for removal, cells in asked.items() if kept else ():
        for _, identity in cells if removal.kind in _BY_NAME else ():
            for path in filter(None, map(kept.get, causes.placed_for(removal.placement, identity))):
                waiting.setdefault(path, {})[removal] = None
    named = {place.path for place in desired.unclear}
    for path in sorted(waiting.keys() - named)[:_MOST_NAMED]:
        line = min((fault.line for fault in desired.faults if fault.path == path and is_error(fault)), default=1)
        yield _of_error(path, line, tuple(waiting[path]))


def of_misnamed(desired: Desired, asked: Mapping[Removal, Collection[Cell]], causes: Causes) -> Iterator[Finding]:
    """A finding for each file, of whatever commit, that is not read for its name, or says nothing any more, and has (or
    had) what goes, or has a placement of a new name that would select that."""
    known = {place.path for place in desired.unclear}
    for path, file in sorted(desired.misnamed.items()):
        waiting = dict[Removal, None]()
        for removal, cells in asked.items() if path not in known and (file.placements or file.objects) else ():
            key, identities = removal.placement, {one for _, one in cells} if removal.kind in _BY_NAME else ()
            is_there = itself(removal) in file.objects
            is_there |= any(not file.objects.isdisjoint(causes.placed_for(key, one)) for one in identities)
            if is_there or any(_would_select(file.placements, removal, one, causes) for one in identities):
                waiting[removal] = None
        if waiting:
            message = f"{path} {file.why}, so that what goes may be meant to stay"
            yield Finding(HoldReason(rule=HoldRule.UNCLEAR_COMMIT, message=message, unread=path), tuple(waiting))


def _would_select(placements: Iterable[Placement], removal: Removal, identity: Identity, causes: Causes) -> bool:
    roots = causes.placed_for(removal.placement, identity)
    written = [manifest for one in roots if (manifest := causes.written.get(one)) is not None]
    mine = (one for one in placements if one.key.namespace in ("", identity[2]))
    return any(matches(selector, manifest) for one in mine for selector in one.selectors for manifest in written)


def _of_error(path: str, line: int, waiting: tuple[Removal, ...]) -> Finding:
    message = (
        f"{path}:{line} has an error, so that what goes may be meant to stay; correct it, and this is decided again"
    )
    return Finding(HoldReason(rule=HoldRule.UNCLEAR_COMMIT, message=message, error_in=path), waiting)


def changed_meanwhile(ended: Iterable[Hold], removals: Sequence[Removal], observed: str | None) -> Iterator[Finding]:
    """A finding for each hold that has ended by itself after commits that came while it was there: what they changed of
    what it kept was judged by nobody. `observed` is the commit that was reconciled last."""
    for hold in ended:
        ids = {removal.id for removal in hold.removals} if hold.commit != observed else ()
        if waiting := tuple(one for one in removals if one.id in ids):
            message = f"{hold.name} has kept it, and commits that came since may have changed what goes"
            yield Finding(HoldReason(rule=HoldRule.UNCLEAR_COMMIT, message=message), waiting)


def deleted_still(ended: Iterable[Hold], after: FleetState, overridden: Overridden) -> Iterator[Removal]:
    """What overrides delete of that which holds kept that have ended by themselves: it is new to nobody else, since the
    overrides are in force."""
    for removal in (removal for hold in ended for removal in hold.removals):
        key, gone = removal.placement, removal.object
        if removal.kind is not RemovalKind.OVERRIDDEN or key is None or key not in after.placements or gone is None:
            continue
        if gone.identity in overridden(key, removal.cluster):
            yield removal


def without_corrected(
    holds: Mapping[str, Hold], faults: Sequence[Fault], read_again: Collection[str]
) -> dict[str, Hold]:
    """The holds without those that waited for nothing but errors which the newest commit has no more, and files out of
    sight that are `read_again`: their removals are judged again."""
    wrong = {fault.path for fault in faults if is_error(fault)}
    if len(faults) > MOST_IN_ALL:
        return dict(holds)
    return {name: hold for name, hold in holds.items() if not _is_corrected(hold, wrong, read_again)}


def _is_corrected(hold: Hold, wrong: Collection[str], read_again: Collection[str]) -> bool:
    if hold.answer is not None or not hold.reasons:
        return False
    return all(one.unread in read_again or (one.error_in and one.error_in not in wrong) for one in hold.reasons)
