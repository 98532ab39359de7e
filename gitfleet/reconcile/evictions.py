"""Which evictions are to be decided, and which were: a file of the config repo is decided once, as long as it is there.
So runs and evictions of a placement that has an error in the same commit wait.

    with_errors_waited_for    the inputs without those
    asked_for    those to be decided now, by the placement that they name
    undecided    those that wait
    decided_elsewhere  those that came with an end
    remembered   those that have an end

Decision record 0013.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from gitfleet import rollout, status
from gitfleet.api.faults import Fault, is_error, warning_of
from gitfleet.api.placements import PlacementKey
from gitfleet.api.runs import placement_of
from gitfleet.api.staged import EVICTION, Eviction, StagedRun
from gitfleet.api.values import NamespacedName
from gitfleet.model.decisions import Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Subject
from gitfleet.model.rolling import Frozen
from gitfleet.reconcile.texts import ReconcileText

_BUDGETS: Final = "budgets/"
"""The folder of budgets by convention (contracts.md §1): a file there that cannot be read may hold any of them."""
_BUDGET: Final = "ClusterResourcePlacementDisruptionBudget"
_NAMING_FIELD: Final = "spec.placementName"


def asked_for(desired: Desired, recorded: Mapping[str, Eviction]) -> dict[PlacementKey, tuple[Eviction, ...]]:
    """The evictions to be decided, by the placement that they name: those that are not among the `recorded` ones and do
    not wait."""
    by_placement: dict[PlacementKey, list[Eviction]] = {}
    for eviction, why in _open(desired, recorded):
        if not why:
            by_placement.setdefault(PlacementKey("", eviction.placement_name), []).append(eviction)
    return {key: tuple(evictions) for key, evictions in by_placement.items()}


def undecided(inputs: Inputs, frozen: Iterable[tuple[Eviction, Frozen]]) -> Iterator[Fault]:
    """A warning for each eviction that waits, and why; `frozen` are those of which a freeze holds the cluster."""
    yield from (status.waiting_eviction(eviction, why.reason) for eviction, why in frozen)
    for eviction, why in _open(inputs.desired, inputs.before.evictions):
        if why:
            yield status.waiting_eviction(eviction, why)


def _open(desired: Desired, recorded: Mapping[str, Eviction]) -> Iterator[tuple[Eviction, str]]:
    """The evictions that are not decided yet, each with why it waits, "" where it does not.

    Each waits while the budget of its placement has an error and no last good version, and all do while a file cannot
    be read that may hold it: without it there would be no limit. It waits, too, while its cluster or its placement has
    an error: what was refused there, such as a taint, may be what keeps the placement from coming back.
    """
    evictions = [e for name, e in sorted(desired.evictions.items()) if name not in recorded and not e.is_over]
    errors = list(filter(is_error, desired.faults))
    refused = {fault.object: f"{fault.path}:{fault.line}" for fault in reversed(errors)}
    unread = any(fault.path.startswith(_BUDGETS) and not fault.object for fault in errors)
    for eviction in evictions:
        placement = eviction.placement_name
        own = (f"MemberCluster/{eviction.cluster_name}", f"ClusterResourcePlacement/{placement}")
        wrong = next((name for name in own if name in refused), None)
        if placement not in desired.budgets and (unread or f"{_BUDGET}/{placement}" in refused):
            yield eviction, ReconcileText.DISRUPTION_BUDGET_CANNOT_READ(placement_name=placement)
        elif wrong is not None:
            yield eviction, ReconcileText.HAS_ERRORS_CORRECT_FIRST(object=wrong, place=refused[wrong])
        else:
            yield eviction, ""


def decided_elsewhere(inputs: Inputs) -> Iterator[Eviction]:
    """The ends of those that had one before they came here, as in an export of a hub: nothing is done for them."""
    for name, eviction in inputs.desired.evictions.items():
        if eviction.is_over and name not in inputs.before.evictions:
            yield rollout.evicted_elsewhere(eviction, inputs.now)


def remembered(desired: Desired, old: Mapping[str, Eviction], decided: Iterable[Eviction]) -> Mapping[str, Eviction]:
    """The evictions with an end from now on: those of which the file is still there, and the `decided` ones; the very
    mapping of before when nothing changed. While a file cannot be read none is forgotten: it would be done again."""
    present = {name: eviction for name, eviction in old.items() if name in desired.evictions or desired.refused}
    fresh = {eviction.name: eviction for eviction in decided}
    if not fresh and len(present) == len(old):
        return old
    return dict(sorted({**present, **fresh}.items()))


def with_errors_waited_for(inputs: Inputs) -> Inputs:
    """The inputs without new runs and evictions of a placement that has an error and was never accepted, each with a
    warning that it waits, and with no other one that the placement is not there."""
    desired, before = inputs.desired, inputs.before
    objects, waits = dict(desired.objects), list[Fault]()
    for folder, recorded in (("runs", before.runs), ("evictions", before.evictions)):
        written = desired.objects.get(folder, {})
        late = {name: why for name in written if name not in recorded and (why := _why_late(written[name], inputs))}
        waits += late.values()
        objects[folder] = {name: value for name, value in written.items() if name not in late}
    if not waits:
        return inputs
    waiting = {(fault.path, fault.object, _NAMING_FIELD) for fault in waits}
    faults = [fault for fault in desired.faults if (fault.path, fault.object, fault.field) not in waiting]
    return replace(inputs, desired=replace(desired, objects=objects, faults=tuple(sorted((*faults, *waits)))))


def _why_late(written: StagedRun | Eviction, inputs: Inputs) -> Fault | None:
    """The warning that a run or an eviction waits for a placement that was never accepted and may be there yet."""
    if isinstance(written, StagedRun):
        key, subject = placement_of(written), Subject.of_run(written.key)
    else:
        key, subject = PlacementKey("", written.placement_name), Subject(EVICTION, written.name)
    if key in inputs.desired.placements or key in inputs.before.placements:
        return None
    for place in inputs.desired.faults_hiding(key.kind, NamespacedName(key.namespace, key.name), "placements"):
        why = f"waits until the error at {place} is corrected, as {key.kind} {key} may be there"
        return warning_of(written.origin, f"{subject.kind}/{subject.name}", why)
    return None
