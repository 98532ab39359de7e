"""Runs and evictions of a placement that is not there yet, as its file has an error or its old name must go first: they
wait, since one that is decided too early has failed for good."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gitfleet.api.faults import Fault, Severity
from gitfleet.api.placements import PlacementKey
from gitfleet.api.runs import placement_of
from gitfleet.api.staged import EVICTION, Eviction, StagedRun
from gitfleet.model.decisions import Inputs
from gitfleet.model.desired import NAMES_NO_PLACEMENT, Desired
from gitfleet.model.state import FleetState

Named = tuple[str, str]
"""A file, and the name of an object in it."""


def with_errors_waited_for(inputs: Inputs) -> Inputs:
    """The inputs without what names a placement that has an error and was never accepted."""
    wanted, known = inputs.desired, inputs.before.placements
    late = {
        key: f"until the errors in {misread.path} are corrected, as {key.kind} {key} may be there"
        for key, misread in wanted.misread.items()
        if key not in wanted.placements and key not in known
    }
    return replace(inputs, desired=without_early(wanted, inputs.before, late)) if late else inputs


def without_early(wanted: Desired, before: FleetState, late: Mapping[PlacementKey, str]) -> Desired:
    """What people want without the new runs and evictions of `late` placements, each with a warning that it waits for
    what is said of the placement, and with no other one that the placement is not there."""
    objects, faults, waiting = dict(wanted.objects), [], set[Named]()
    for kind, known in (("runs", before.runs), ("evictions", before.evictions)):
        asked = {name: one for name, one in wanted.objects.get(kind, {}).items() if name not in known}
        early = {name: key for name, one in asked.items() if (key := placement_named(one)) in late}
        if early:
            objects[kind] = {name: one for name, one in wanted.objects[kind].items() if name not in early}
            waits = [_waits(asked[name], str(name), key, late[key]) for name, key in early.items()]
            waiting |= {named_by(fault) for fault in waits}
            faults += waits
    return replace(wanted, objects=objects, faults=tuple(sorted((*naming_nothing(wanted, waiting), *faults))))


def placement_named(asked: StagedRun | Eviction) -> PlacementKey:
    """The placement of a run or an eviction."""
    return placement_of(asked) if isinstance(asked, StagedRun) else PlacementKey("", asked.placement_name)


def naming_nothing(wanted: Desired, there: set[Named]) -> list[Fault]:
    """The errors and warnings of a commit, but that objects `there` name a placement that is not in the repo."""
    return [f for f in wanted.faults if not (f.message.startswith(NAMES_NO_PLACEMENT) and named_by(f) in there)]


def named_by(fault: Fault) -> Named:
    """Where the object of a fault is, and its name."""
    return fault.path, fault.object.partition("/")[2]


def _waits(asked: StagedRun | Eviction, name: str, key: PlacementKey, why: str) -> Fault:
    path, line = (asked.origin.path, asked.origin.line) if asked.origin is not None else ("", 1)
    scope = "Cluster" if isinstance(asked, StagedRun) and not key.namespace else ""
    kind = f"{scope}StagedUpdateRun" if isinstance(asked, StagedRun) else EVICTION
    return Fault(path, line, f"{kind}/{name}", "", f"waits {why}", Severity.WARNING)
