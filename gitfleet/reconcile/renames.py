"""The takeover of a record by the placement that names it in `gitfleet.dev/renamed-from` (decision record 0045)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gitfleet.api.holds import Hold
from gitfleet.api.placements import PlacementKey
from gitfleet.api.quarantines import Quarantine, quarantine_name
from gitfleet.api.runs import RunRecord, placement_of
from gitfleet.api.workload_records import RolloutRecord
from gitfleet.model.decisions import Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.renames import renamed_placements, rollout_under_name, run_under_name, under_name
from gitfleet.model.state import Inventory

Names = Mapping[PlacementKey, PlacementKey]
"""The new names by the old ones."""


def with_renames(inputs: Inputs) -> Inputs:
    """The inputs whose state has the records of renamed placements under their new names."""
    before, desired = inputs.before, inputs.desired
    renamed = renamed_placements(before.placements, desired.placements.values())
    if not renamed:
        return inputs
    names = {old: key for key, old in renamed.items()}
    placements = {names.get(key, key): record for key, record in before.placements.items()}
    placements |= {key: under_name(before.placements[old], key) for key, old in renamed.items()}
    quarantines = [_quarantine(quarantine, names) for quarantine in before.quarantines.values()]
    before = replace(
        before,
        placements=dict(sorted(placements.items())),
        inventory={cluster: _inventory(owned, names) for cluster, owned in before.inventory.items()},
        quarantines={quarantine.name: quarantine for quarantine in quarantines},
        holds={name: _hold(hold, names) for name, hold in before.holds.items()},
        runs={key: _run(run, desired, names) for key, run in before.runs.items()},
        rollouts={key: _rollout(rollout, names) for key, rollout in before.rollouts.items()},
    )
    return replace(inputs, before=before)


def _inventory(owned: Inventory, names: Names) -> Inventory:
    if all(entry.placement not in names for entry in owned.values()):
        return owned
    return {key: replace(entry, placement=names.get(entry.placement, entry.placement)) for key, entry in owned.items()}


def _quarantine(quarantine: Quarantine, names: Names) -> Quarantine:
    """The quarantine of a run; one that a person wrote says itself what it is for."""
    key = names.get(quarantine.placement) if quarantine.run else None
    if key is None:
        return quarantine
    return replace(quarantine, placement=key, name=quarantine_name(key, quarantine.digest))


def _hold(hold: Hold, names: Names) -> Hold:
    removals = (
        replace(removal, placement=names.get(removal.placement, removal.placement)) if removal.placement else removal
        for removal in hold.removals
    )
    return replace(hold, removals=tuple(sorted(removals, key=lambda removal: removal.id)))


def _run(run: RunRecord, desired: Desired, names: Names) -> RunRecord:
    """A run that is over and whose file has the old name keeps it: under another one it would begin again."""
    key, file = names.get(run.placement), desired.runs.get(run.key)
    if key is None or (file is not None and placement_of(file) != key):
        return run
    return run_under_name(run, key)


def _rollout(rollout: RolloutRecord, names: Names) -> RolloutRecord:
    reference = rollout.placement_ref
    key = names.get(reference.key(rollout.key.namespace)) if reference is not None else None
    return rollout if key is None else rollout_under_name(rollout, key)
