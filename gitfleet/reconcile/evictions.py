"""Which evictions are to be decided, and which were: a file of the config repo is decided once, as long as it is there.

    asked_for    those to be decided now, by the placement that they name
    undecided    those that wait
    decided_elsewhere  those that came with an end
    remembered   those that have an end

Decision record 0013.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gitfleet import rollout, status
from gitfleet.api.faults import Fault, Severity
from gitfleet.api.placements import PlacementKey
from gitfleet.api.staged import Eviction
from gitfleet.model.decisions import Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.rolling import Frozen
from gitfleet.reconcile.texts import ReconcileText

_BUDGETS: Final = "budgets/"
"""The folder of budgets by convention (contracts.md §1): a file there that cannot be read may hold any of them."""
_BUDGET: Final = "ClusterResourcePlacementDisruptionBudget"


def asked_for(wanted: Desired, known: Mapping[str, Eviction]) -> dict[PlacementKey, tuple[Eviction, ...]]:
    """The evictions to be decided, by the placement that they name: those that are not among the `known` ones.

    Each waits while the budget of its placement has an error and no last good version, and all do while a file cannot
    be read that may hold it: without it there would be no limit.
    """
    found: dict[PlacementKey, list[Eviction]] = {}
    for name, eviction in sorted(wanted.evictions.items()) if not wanted.holds_removals else ():
        if name not in known and not eviction.is_over:
            found.setdefault(PlacementKey("", eviction.placement_name), []).append(eviction)
    if not found:
        return {}
    errors = [fault for fault in wanted.faults if fault.severity is Severity.ERROR]
    refused = {fault.object for fault in errors}
    unread = any(fault.path.startswith(_BUDGETS) and not fault.object for fault in errors)
    return {
        key: tuple(evictions)
        for key, evictions in found.items()
        if key.name in wanted.budgets or not (unread or f"{_BUDGET}/{key.name}" in refused)
    }


def undecided(inputs: Inputs, frozen: Iterable[tuple[Eviction, Frozen]]) -> Iterator[Fault]:
    """A warning for each eviction that waits, and why; `frozen` are those of which a freeze holds the cluster."""
    yield from (status.waiting_eviction(eviction, why.reason) for eviction, why in frozen)
    wanted, known = inputs.desired, inputs.before.evictions
    asked = {eviction.name for evictions in asked_for(wanted, known).values() for eviction in evictions}
    for name, eviction in sorted(wanted.evictions.items()):
        if name not in known and name not in asked and not eviction.is_over:
            budget = ReconcileText.DISRUPTION_BUDGET_CANNOT_READ(placement_name=eviction.placement_name)
            why = ReconcileText.FILE_CONFIG_REPO_CANNOT_READ() if wanted.holds_removals else budget
            yield status.waiting_eviction(eviction, why)


def decided_elsewhere(inputs: Inputs) -> Iterator[Eviction]:
    """The ends of those that had one before they came here, as in an export of a hub: nothing is done for them."""
    for name, eviction in inputs.desired.evictions.items():
        if eviction.is_over and name not in inputs.before.evictions:
            yield rollout.evicted_elsewhere(eviction, inputs.now)


def remembered(wanted: Desired, known: Mapping[str, Eviction], decided: Iterable[Eviction]) -> Mapping[str, Eviction]:
    """The evictions with an end from now on: those of which the file is still there, and the `decided` ones; the very
    mapping of before when nothing changed. While a file cannot be read none is forgotten: it would be done again."""
    kept = {name: one for name, one in known.items() if name in wanted.evictions or wanted.holds_removals}
    fresh = {eviction.name: eviction for eviction in decided}
    if not fresh and len(kept) == len(known):
        return known
    return dict(sorted({**kept, **fresh}.items()))
