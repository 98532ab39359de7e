"""A placement that a commit only renames keeps its clusters, snapshots, budgets and gates (decision record 0021).

with_renamed        the inputs in which it has its new name already, or, while something names the old one, still that
with_former_names   the state in which those have their old names again that could not be written under their new ones
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import replace

from gitfleet import desired, rollout, works
from gitfleet.api.conditions import Status
from gitfleet.api.faults import Fault
from gitfleet.api.holds import Hold, RemovalKind
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.overrides import Override
from gitfleet.api.pins import Pin
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.api.quarantines import Quarantine, quarantine_name
from gitfleet.api.sentences import dotted
from gitfleet.api.staged import DisruptionBudget, Eviction, StagedRun
from gitfleet.formats.near_names import is_near
from gitfleet.model.decisions import Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failure, Failures, Subject, attempt
from gitfleet.model.renames import WAITS_FOR_NAME, under_name
from gitfleet.model.state import FleetState, Inventory, PlacementRecord
from gitfleet.reconcile.early import Named, naming_nothing, placement_named, with_errors_waited_for, without_early


def with_renamed(inputs: Inputs, failures: Failures) -> Inputs:
    """The same inputs where no placement was renamed, or where it could not be found out which: then that is noted, and
    what the old name has is handed over. One that fails by itself is noted, too, and keeps its old name."""
    return failures.contain(Subject("FleetState", ""), inputs, _with_renamed, inputs, failures)


def _with_renamed(inputs: Inputs, failures: Failures) -> Inputs:
    inputs = with_errors_waited_for(inputs)
    pairs = _renamed(inputs.desired, inputs.before)
    if not pairs:
        return inputs
    waiting: dict[PlacementKey, tuple[PlacementKey, str]] = {}
    ready: dict[PlacementKey, PlacementRecord] = {}
    for was, key in pairs.items():
        found = attempt(Subject.of_placement(was), _under_name, was, key, inputs)
        if isinstance(found, Failure):
            failures.note(found)
            found = found.sentence
        if isinstance(found, PlacementRecord):
            ready[was] = found
        else:
            waiting[was] = key, found
    wanted = _under_old_names(inputs.desired, inputs.before, waiting)
    records = [ready.get(was, record) for was, record in inputs.before.placements.items()]
    names = {was: record.placement.key for was, record in ready.items()}
    before = _under_names(inputs.before, records, names)
    late = {was: inputs.desired.placements[key] for was, (key, _) in waiting.items()}
    renamed = {key: was for was, key in names.items()}
    return replace(inputs, desired=wanted, before=before, renamed=renamed, waiting=late)


def _renamed(wanted: Desired, before: FleetState) -> dict[PlacementKey, PlacementKey]:
    """The new names by the old ones: a placement went and one came that selects the same, and no other of both does."""
    known = before.placements
    gone = {k: r.placement for k, r in known.items() if k not in wanted.placements and r.placement.deleting is None}
    fresh = {key: placement for key, placement in wanted.placements.items() if key not in known} if gone else {}
    found: dict[PlacementKey, PlacementKey] = {}
    _add_pairs(found, gone, fresh, _selection)
    if len(found) == len(gone) or len(found) == len(fresh):
        return found
    # Others with other names are other placements, but where one of the two names what is not there.
    emptied, held = _emptied(fresh, wanted), _emptied(_held(gone, before), wanted)
    _add_pairs(found, gone, emptied, _own_selection)
    _add_pairs(found, held, fresh, _own_selection)
    if len(found) + 1 == len(gone) == len(fresh):
        (was,), (key,) = gone.keys() - found.keys(), fresh.keys() - found.values()
        old, new = gone[was], fresh[key]
        misspelt = (key in emptied or was in held) and _is_misspelt(old, new)
        if misspelt or _has_more_or_less(old, new, wanted, before):
            found[was] = key
    return found


def _add_pairs(
    found: dict[PlacementKey, PlacementKey],
    gone: Mapping[PlacementKey, Placement],
    fresh: Mapping[PlacementKey, Placement],
    selection: Callable[[Placement], Hashable],
) -> None:
    """Add the pairs, of those that have none yet, that alone select the same."""
    going = _only_ones((one for key, one in gone.items() if key not in found), selection)
    coming = _only_ones((one for key, one in fresh.items() if key not in found.values()), selection)
    found |= {going[same]: coming[same] for same in going if same in coming}


def _held(gone: Mapping[PlacementKey, Placement], before: FleetState) -> dict[PlacementKey, Placement]:
    """Those that keep objects which they select no more, until a person answers."""
    removals = (r for hold in before.holds.values() if hold.answer is not Status.TRUE for r in hold.removals)
    keys = {removal.placement for removal in removals if removal.kind is RemovalKind.OBJECT}
    return {key: placement for key, placement in gone.items() if key in keys}


def _emptied(placements: Mapping[PlacementKey, Placement], wanted: Desired) -> dict[PlacementKey, Placement]:
    """Those that name objects of which none is there."""
    there = {(one.key.group, one.key.kind, one.key.name) for one in wanted.payload} if placements else set()
    return {
        key: placement
        for key, placement in placements.items()
        if not any((s.group, s.kind, s.name) in there for s in placement.selectors)
    }


def _only_ones(
    placements: Iterable[Placement], selection: Callable[[Placement], Hashable]
) -> dict[Hashable, PlacementKey]:
    """By what they select, those that have it for themselves."""
    found: dict[Hashable, list[PlacementKey]] = {}
    for placement in placements:
        found.setdefault(selection(placement), []).append(placement.key)
    return {same: keys[0] for same, keys in found.items() if len(keys) == 1}


def _selection(placement: Placement) -> Hashable:
    return placement.key.namespace, *sorted(map(repr, placement.selectors))


def _own_selection(placement: Placement) -> Hashable:
    """The same without the placement's own name, which a selector may have, too."""
    named = [replace(s, name=s.name.replace(placement.key.name, "")) if s.name else s for s in placement.selectors]
    return placement.key.namespace, *sorted(map(repr, named))


def _has_more_or_less(old: Placement, new: Placement, wanted: Desired, before: FleetState) -> bool:
    """Whether one of the two selects all that the other one does, and more. Where an edit may not make one of the
    other, and what is more moves to or from a third, it is no rename, but a split or a fold."""
    was, now = set(map(repr, old.selectors)), set(map(repr, new.selectors))
    if old.key.namespace != new.key.namespace or not (was <= now or now <= was):
        return False
    if not desired.placement_update_breaks(old, new):
        return True
    beside = wanted.placements.values() if now <= was else (one.placement for one in before.placements.values())
    return not any(
        repr(selector) in was ^ now
        for one in beside
        if one.key not in (old.key, new.key) and one.key.namespace == new.key.namespace
        for selector in one.selectors
    )


def _is_misspelt(old: Placement, new: Placement) -> bool:
    """Whether both select the same but for misspelt names: what a placement would select by them is held as an edit."""
    if old.key.namespace != new.key.namespace or len(old.selectors) != len(new.selectors):
        return False
    pairs = zip(old.selectors, new.selectors, strict=True)
    return all(
        replace(one, name=other.name) == other and is_near(one.name or "", other.name or "") for one, other in pairs
    )


def _under_name(was: PlacementKey, key: PlacementKey, inputs: Inputs) -> PlacementRecord | str:
    """The record under the new name; or what names the old one and would count for nothing under the new one, or may
    not change, and what to do."""
    return next(_naming(was, key, inputs), "") or under_name(inputs.before.placements[was], key)


def _naming(was: PlacementKey, key: PlacementKey, inputs: Inputs) -> Iterator[str]:
    wanted, before = inputs.desired, inputs.before
    for one in _files_naming(was, key, wanted):
        yield f"{one.origin or one.__class__.__name__} names {was}; name {key} there, too, or remove it"
    if named := rollout.freezes_naming(wanted.freezes, inputs.now, was, key):
        yield f"{named} names {was}; name {key} there, too"
    for run in before.runs.values():
        if run.placement == was and not run.finished and run.key in wanted.runs:
            yield f"run {run.key} of it is not over; let it end, or remove its file"
    for field, why in desired.placement_update_breaks(before.placements[was].placement, wanted.placements[key]):
        yield f"{dotted(field)} {why}"


def _files_naming(
    was: PlacementKey, key: PlacementKey, wanted: Desired
) -> Iterator[Pin | Quarantine | Override | DisruptionBudget]:
    yield from (pin for pin in wanted.pins.values() if pin.placement == was)
    yield from (one for one in wanted.quarantines.values() if one.placement == was)
    for override in wanted.overrides.values():
        if works.names_placement(override, was) and not works.names_placement(override, key):
            yield override
    budget = wanted.budgets.get(was.name)
    if budget is not None and not was.namespace and key.name not in wanted.budgets:
        yield budget


def _under_old_names(
    wanted: Desired, before: FleetState, waiting: Mapping[PlacementKey, tuple[PlacementKey, str]]
) -> Desired:
    """What people want with the placements that must keep their old names for now, as they were accepted last."""
    if not waiting:
        return wanted
    there = {named for was, (key, _) in waiting.items() for named in _named_in(was, key, wanted)}
    placements, faults, late_names = dict(wanted.placements), naming_nothing(wanted, there), list[Fault]()
    for was, (key, why) in waiting.items():
        origin = placements.pop(key).origin
        placements[was] = before.placements[was].placement
        path, line = (origin.path, origin.line) if origin is not None else ("", 1)
        message = f"is {was.kind} {was} {WAITS_FOR_NAME} {was} for now, because {why}"
        late_names.append(Fault(path, line, f"{key.kind}/{key}", "metadata.name", message))
    objects = {**wanted.objects, "placements": placements}
    late = {
        key: f"until {key.kind} {key} has its new name; the error there says what to change"
        for key, _ in waiting.values()
    }
    every, unclear = tuple(sorted((*faults, *late_names))), (*wanted.unclear, *late_names)
    return without_early(replace(wanted, objects=objects, faults=every, unclear=unclear), before, late)


def _named_in(was: PlacementKey, key: PlacementKey, wanted: Desired) -> Iterator[Named]:
    """What names a placement by the name that it keeps for now."""
    for one in _files_naming(was, key, wanted):
        if one.origin is not None:
            yield one.origin.path, str(one.key) if isinstance(one, Override) else one.name
    every: list[StagedRun | Eviction] = [*wanted.runs.values(), *wanted.evictions.values()]
    for asked in every:
        if placement_named(asked) == was and asked.origin is not None:
            yield asked.origin.path, str(asked.key) if isinstance(asked, StagedRun) else asked.name


def with_former_names(
    after: FleetState, before: FleetState, names: Mapping[PlacementKey, PlacementKey], written: FleetState
) -> FleetState:
    """The state `after` a decision, where placements that had other names `before` (`names`: by the new name, the old
    one) and could not be `written` under the new ones alone, with their quarantines, are as they were: then the next
    pass renames them, and neither name loses anything."""
    found = written.placements
    lost = {one.placement for name, one in after.quarantines.items() if name not in written.quarantines}
    late = {key: was for key, was in names.items() if key not in found or was in found or key in lost}
    others = [record for key, record in after.placements.items() if key not in late]
    return _under_names(after, [*others, *(before.placements[was] for was in late.values())], late)


def _under_names(
    before: FleetState, records: Iterable[PlacementRecord], names: Mapping[PlacementKey, PlacementKey]
) -> FleetState:
    """The state with these records, where what names have had others had always."""
    if not names:
        return before
    return replace(
        before,
        placements={record.placement.key: record for record in sorted(records, key=lambda r: r.placement.key)},
        inventory={cluster: _owned(entries, names) for cluster, entries in before.inventory.items()},
        quarantines={one.name: one for one in (_quarantine(q, names) for q in before.quarantines.values())},
        holds={name: _hold(hold, names) for name, hold in before.holds.items()},
    )


def _owned(entries: Inventory, names: Mapping[PlacementKey, PlacementKey]) -> Inventory:
    if all(entry.placement not in names for entry in entries.values()):
        return entries
    return {key: _owner(entry, names) for key, entry in entries.items()}


def _owner(entry: InventoryEntry, names: Mapping[PlacementKey, PlacementKey]) -> InventoryEntry:
    return replace(entry, placement=names[entry.placement]) if entry.placement in names else entry


def _quarantine(one: Quarantine, names: Mapping[PlacementKey, PlacementKey]) -> Quarantine:
    key = names.get(one.placement) if one.run else None
    return one if key is None else replace(one, placement=key, name=quarantine_name(key, one.digest))


def _hold(hold: Hold, names: Mapping[PlacementKey, PlacementKey]) -> Hold:
    """A removal is of the placement, however it is called: an answer stands, and what is taken back is held no more."""
    found = {was: names[was] for removal in hold.removals if (was := removal.placement) is not None and was in names}
    if not found:
        return hold
    removals = (replace(r, placement=found[r.placement]) if r.placement in found else r for r in hold.removals)
    reasons = hold.reasons
    for was, key in found.items():
        called = re.compile(rf"([Pp]lacement) {re.escape(str(was))}(?![\w/-]|\.\w)")
        reasons = tuple(replace(one, message=called.sub(rf"\1 {key}", one.message)) for one in reasons)
    return replace(hold, reasons=reasons, removals=tuple(sorted(removals, key=lambda removal: removal.id)))
