"""What placements say of themselves that go on as they were, or stay while they leave: for whom, or until when."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gitfleet.api.conditions import ConditionType, Reason, Status, find_condition, type_of
from gitfleet.api.placements import PlacementKey
from gitfleet.formats.sentences import named_briefly
from gitfleet.model.decisions import Decision
from gitfleet.model.rolling import RolloutPlan
from gitfleet.model.state import FleetState, keep
from gitfleet.status.records import with_condition
from gitfleet.status.texts import StatusText

_MOST_NAMED = 3


def with_kept(decision: Decision) -> FleetState:
    """The decided state in which every placement that is kept for something says so, and no other."""
    inputs, state, placements = decision.inputs, decision.after, dict(decision.after.placements)
    for key, record in state.placements.items():
        said = "; ".join(_sentences(key, decision))
        if not said and find_condition(record.conditions, type_of(key.kind, ConditionType.KEPT)) is None:
            continue
        marked = with_condition(
            record, ConditionType.KEPT, (Status.TRUE, Reason.KEPT, said) if said else None, inputs.now
        )
        placements[key] = keep(inputs.before.placements.get(key, record), marked)
    return replace(state, placements=placements)


def _sentences(key: PlacementKey, decision: Decision) -> Iterator[str]:
    inputs = decision.inputs
    if paths := inputs.desired.kept.get(key):
        files = named_briefly(paths, _MOST_NAMED)
        yield StatusText.GOES_ACCEPTED_LAST_UNTIL_ERRORS(files=files)
    if (late := inputs.waiting.get(key)) is not None:
        where = f" at {late.origin.path}:{late.origin.line}" if late.origin is not None else ""
        yield StatusText.GOES_UNDER_NAME_UNTIL_CALLED(late=late.key, where=where)
    plan = decision.plans.get(key)
    if decision.after.placements[key].placement.deleting is not None and plan is not None:
        yield from _stays(plan, decision)


def _stays(plan: RolloutPlan, decision: Decision) -> Iterator[str]:
    """By placement that takes over what a leaving one has, where it stays for that one."""
    clusters: dict[PlacementKey, list[str]] = {}
    for held in plan.held:
        if held.awaits is not None:
            clusters.setdefault(held.awaits, []).append(held.cluster)
    for other, names in sorted(clusters.items()):
        where = named_briefly(sorted(names), _MOST_NAMED)
        record, misread = decision.after.placements.get(other), decision.inputs.desired.misread.get(other)
        if misread is not None and (record is None or record.placement.deleting is not None):
            yield StatusText.STAYS_UNTIL_ERRORS_CORRECTED(where=where, misread=misread.path)
        else:
            yield StatusText.STAYS_UNTIL_OBJECTS_GITFLEET_EXPLAIN(where=where, other=other.kind, other_2=other)
