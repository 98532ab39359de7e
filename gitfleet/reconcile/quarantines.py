"""Which content is quarantined: what people write, and what runs that rolled back leave behind.

in_force   the quarantines that hold in this pass, by placement
recorded   those that the state branch keeps
left_by    the one of a run that rolls back
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from gitfleet.api.placements import PlacementKey
from gitfleet.api.quarantines import Quarantine, quarantine_name
from gitfleet.api.runs import RunConditionType, RunRecord
from gitfleet.model.decisions import Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.rollout import staged

Quarantines = Mapping[PlacementKey, Mapping[str, Quarantine]]
"""By placement and digest."""


def in_force(wanted: Desired, known: Mapping[str, Quarantine]) -> Quarantines:
    """The quarantines that hold. While a file cannot be read, what was recorded of it holds on."""
    found: dict[PlacementKey, dict[str, Quarantine]] = {}
    for one in recorded(wanted, known).values():
        if not one.lifted:
            found.setdefault(one.placement, {})[one.digest] = one
    return found


def with_quarantines(state: FleetState, inputs: Inputs) -> FleetState:
    """The state with the quarantines that it is to keep."""
    before = inputs.before
    # Only once: a run's snapshot may be other content after its placement was removed and added again. Both are written
    # with one commit, so that no crash leaves the one without the other.
    begun = [
        run
        for key, run in state.runs.items()
        if run.fell_back and not (key in before.runs and before.runs[key].fell_back)
    ]
    found = recorded(inputs.desired, before.quarantines, begun, state.placements, inputs.now)
    return replace(state, quarantines=found)


def with_rollbacks_undone(after: FleetState, before: FleetState, written: FleetState) -> FleetState:
    """The state `after` a decision, where the runs and placements whose quarantine could not be `written` are as they
    were: then the next pass rolls back, and no rollback is without its quarantine."""
    lost = [one for name, one in after.quarantines.items() if one.run and name not in written.quarantines]
    names, keys = {one.run for one in lost}, {one.placement for one in lost} & before.placements.keys()
    runs = {key: run for key, run in before.runs.items() if str(key) in names}
    if not runs:
        return after
    placements = {**after.placements, **{key: before.placements[key] for key in keys}}
    return replace(after, runs={**after.runs, **runs}, placements=placements)


def recorded(
    wanted: Desired,
    known: Mapping[str, Quarantine],
    runs: Iterable[RunRecord] = (),
    placements: Mapping[PlacementKey, PlacementRecord] | None = None,
    now: datetime | None = None,
) -> Mapping[str, Quarantine]:
    """The quarantines of the state branch, by name; the very mapping of before when nothing changed. `runs` are those
    that began to roll back in this pass. Those of runs stay as long as their placement is there (among `placements`,
    None: all are), lifted where a file says so; those of people as long as their file is."""
    written = sorted(wanted.quarantines.values(), key=lambda one: one.name)
    lifted = {one.content for one in written if one.lifted}
    kept = {n: one for n, one in known.items() if one.run or (wanted.holds_removals and n not in wanted.quarantines)}
    records = placements or {}
    left = (left_by(run, records[run.placement], now) for run in runs if run.placement in records)
    fresh = {one.name: one for one in left if one is not None}
    mine = {n: one for n, one in {**fresh, **kept}.items() if placements is None or one.placement in placements}
    taken = {one.content for one in mine.values()}
    found = {n: replace(one, lifted=one.content in lifted) if one.run else one for n, one in mine.items()}
    for one in written:
        if not one.lifted and one.content not in taken:
            # A run's may have its name.
            name = one.name if one.name not in found else quarantine_name(one.placement, one.digest)
            before = known.get(name)
            since = before.since if before is not None and before.content == one.content else now
            found[name] = replace(one, name=name, since=since, body={}, origin=None, lifted=one.content in lifted)
    found = dict(sorted(found.items()))
    return known if found == known else found


def left_by(run: RunRecord, record: PlacementRecord, now: datetime | None) -> Quarantine | None:
    """The quarantine that a run leaves behind which rolls back; None where its snapshot is lost."""
    snapshot = staged.snapshot_for(run, record)
    if snapshot is None:
        return None
    name = quarantine_name(run.placement, snapshot.hash)
    said = [
        c.message for c in run.status.conditions if c.type in (RunConditionType.SUCCEEDED, RunConditionType.PROGRESSING)
    ]
    why = said[-1] if said else ""
    return Quarantine(
        name=name,
        placement=run.placement,
        digest=snapshot.hash,
        reason=f"run {run.key}: {why}",
        run=str(run.key),
        since=now,
    )
