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


def in_force(desired: Desired, previous: Mapping[str, Quarantine]) -> Quarantines:
    """The quarantines that hold. While a file cannot be read, what was recorded of it holds on."""
    by_placement: dict[PlacementKey, dict[str, Quarantine]] = {}
    for quarantine in recorded(desired, previous).values():
        if not quarantine.lifted:
            by_placement.setdefault(quarantine.placement, {})[quarantine.digest] = quarantine
    return by_placement


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
    quarantines = recorded(inputs.desired, before.quarantines, begun, state.placements, inputs.now)
    return replace(state, quarantines=quarantines)


def recorded(
    desired: Desired,
    previous: Mapping[str, Quarantine],
    runs: Iterable[RunRecord] = (),
    placements: Mapping[PlacementKey, PlacementRecord] | None = None,
    now: datetime | None = None,
) -> Mapping[str, Quarantine]:
    """The quarantines of the state branch, by name; the very mapping of before when nothing changed. `runs` are those
    that began to roll back in this pass. Those of runs stay as long as their placement is there (among `placements`,
    None: all are), lifted where a file says so; those of people as long as their file is."""
    written = sorted(desired.quarantines.values(), key=lambda q: q.name)
    lifted = {q.content for q in written if q.lifted}
    retained = {n: q for n, q in previous.items() if q.run or (desired.refused and n not in desired.quarantines)}
    records = placements or {}
    begun = (left_by(run, records[run.placement], now) for run in runs if run.placement in records)
    fresh = {q.name: q for q in begun if q is not None}
    present = {n: q for n, q in {**fresh, **retained}.items() if placements is None or q.placement in placements}
    taken = {q.content for q in present.values()}
    quarantines = {n: replace(q, lifted=q.content in lifted) if q.run else q for n, q in present.items()}
    for quarantine in written:
        if not quarantine.lifted and quarantine.content not in taken:
            name = quarantine.name
            if name in quarantines:  # a run's may have its name
                name = quarantine_name(quarantine.placement, quarantine.digest)
            before = previous.get(name)
            since = before.since if before is not None and before.content == quarantine.content else now
            lift = quarantine.content in lifted
            quarantines[name] = replace(quarantine, name=name, since=since, body={}, origin=None, lifted=lift)
    quarantines = dict(sorted(quarantines.items()))
    return previous if quarantines == previous else quarantines


def left_by(run: RunRecord, record: PlacementRecord, now: datetime | None) -> Quarantine | None:
    """The quarantine that a run leaves behind which rolls back; None where its snapshot is lost."""
    snapshot = staged.snapshot_for(run, record)
    if snapshot is None:
        return None
    name = quarantine_name(run.placement, snapshot.hash)
    messages = [
        c.message for c in run.status.conditions if c.type in (RunConditionType.SUCCEEDED, RunConditionType.PROGRESSING)
    ]
    why = messages[-1] if messages else ""
    return Quarantine(
        name=name,
        placement=run.placement,
        digest=snapshot.hash,
        reason=f"run {run.key}: {why}",
        run=str(run.key),
        since=now,
    )
