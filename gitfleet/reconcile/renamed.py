"""A placement that a commit only renames keeps its clusters, snapshots, budgets and gates (decision record 0021).

with_renamed   the inputs in which it has its new name already, or, while something names the old one, still that
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gitfleet import rollout, works
from gitfleet.api.conditions import Status
from gitfleet.api.faults import Fault
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.overrides import Override
from gitfleet.api.pins import Pin
from gitfleet.api.placements import Placement, PlacementKey, ResourceSelector
from gitfleet.api.quarantines import Quarantine, quarantine_name
from gitfleet.api.staged import DisruptionBudget
from gitfleet.model.decisions import Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.renames import under_name
from gitfleet.model.state import FleetState, Inventory


def with_renamed(inputs: Inputs) -> Inputs:
    """The same inputs where no placement was renamed."""
    pairs = _renamed(inputs.desired, inputs.before)
    if not pairs:
        return inputs
    waiting = {was: (key, why) for was, key in pairs.items() if (why := _still_named(was, key, inputs))}
    ready = {was: key for was, key in pairs.items() if was not in waiting}
    wanted = _under_old_names(inputs.desired, inputs.before, waiting)
    names = {key: was for was, key in ready.items()}
    return replace(inputs, desired=wanted, before=_under_new_names(inputs.before, ready), renamed=names)


def _renamed(wanted: Desired, before: FleetState) -> dict[PlacementKey, PlacementKey]:
    """The new names by the old ones: one placement went, one came, and nobody else went or came with its selection."""
    known = before.placements
    gone = {k: r.placement for k, r in known.items() if k not in wanted.placements and r.placement.deleting is None}
    if not gone:
        return {}
    fresh = {key: placement for key, placement in wanted.placements.items() if key not in known}
    found = {}
    for was, old in gone.items():
        same = [key for key, new in fresh.items() if _is_renamed(was, old, key, new)]
        if len(same) == 1 and sum(_is_renamed(k, one, same[0], fresh[same[0]]) for k, one in gone.items()) == 1:
            found[was] = same[0]
    return found


def _is_renamed(was: PlacementKey, old: Placement, key: PlacementKey, new: Placement) -> bool:
    """Whether both select the same, also where the name was replaced in the selectors, too."""
    if was.namespace != key.namespace:
        return False
    also = [_renamed_selector(selector, was, key) for selector in old.selectors]
    return _are_same(new.selectors, old.selectors) or _are_same(new.selectors, also)


def _are_same(some: Sequence[ResourceSelector], others: Sequence[ResourceSelector]) -> bool:
    return len(some) == len(others) and all(one in others for one in some)


def _renamed_selector(selector: ResourceSelector, was: PlacementKey, key: PlacementKey) -> ResourceSelector:
    return replace(selector, name=selector.name.replace(was.name, key.name)) if selector.name else selector


def _still_named(was: PlacementKey, key: PlacementKey, inputs: Inputs) -> str:
    """What names the old name and would count for nothing under the new one, and what to do; "" for nothing."""
    return next(_naming(was, key, inputs), "")


def _naming(was: PlacementKey, key: PlacementKey, inputs: Inputs) -> Iterator[str]:
    wanted, before = inputs.desired, inputs.before
    for one in _files_naming(was, key, wanted):
        yield f"{one.origin or one.__class__.__name__} names {was}; name {key} there, too, or remove it"
    if named := rollout.freezes_naming(wanted.freezes, inputs.now, was, key):
        yield f"{named} names {was}; name {key} there, too"
    for run in before.runs.values():
        if run.placement == was and not run.finished and run.key in wanted.runs:
            yield f"run {run.key} of it is not over; let it end, or remove its file"
    for name, hold in before.holds.items():
        if hold.answer is not Status.TRUE and any(removal.placement == was for removal in hold.removals):
            yield f"{name} waits for an answer; answer it (approvals/{name}.yaml), or take back what it holds"


def _files_naming(
    was: PlacementKey, key: PlacementKey, wanted: Desired
) -> Iterator[Pin | Quarantine | Override | DisruptionBudget]:
    yield from (pin for pin in wanted.pins.values() if pin.placement == was)
    yield from (one for one in wanted.quarantines.values() if one.placement == was and not one.lifted)
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
    placements, faults = dict(wanted.placements), list(wanted.faults)
    for was, (key, why) in waiting.items():
        origin = placements.pop(key).origin
        placements[was] = before.placements[was].placement
        path, line = (origin.path, origin.line) if origin is not None else ("", 1)
        message = f"is {was.kind} {was} under a new name, and goes on as {was} for now, because {why}"
        faults.append(Fault(path, line, f"{key.kind}/{key}", "metadata.name", message))
    return replace(wanted, objects={**wanted.objects, "placements": placements}, faults=tuple(sorted(faults)))


def _under_new_names(before: FleetState, names: Mapping[PlacementKey, PlacementKey]) -> FleetState:
    """The state in which those placements always had their new names."""
    if not names:
        return before
    records = [under_name(r, names[k]) if k in names else r for k, r in before.placements.items()]
    return replace(
        before,
        placements={record.placement.key: record for record in sorted(records, key=lambda r: r.placement.key)},
        inventory={cluster: _owned(entries, names) for cluster, entries in before.inventory.items()},
        quarantines={one.name: one for one in (_quarantine(q, names) for q in before.quarantines.values())},
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
