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
    """The evictions to be decided, by the placement that they name: those that are not among the `known` ones and do
    not wait."""
    found: dict[PlacementKey, list[Eviction]] = {}
    for eviction, why in _open(wanted, known):
        if not why:
            found.setdefault(PlacementKey("", eviction.placement_name), []).append(eviction)
    return {key: tuple(evictions) for key, evictions in found.items()}


def undecided(inputs: Inputs, frozen: Iterable[tuple[Eviction, Frozen]]) -> Iterator[Fault]:
    """A warning for each eviction that waits, and why; `frozen` are those of which a freeze holds the cluster."""
    yield from (status.waiting_eviction(eviction, why.reason) for eviction, why in frozen)
    for eviction, why in _open(inputs.desired, inputs.before.evictions):
        if why:
            yield status.waiting_eviction(eviction, why)


def _open(wanted: Desired, known: Mapping[str, Eviction]) -> Iterator[tuple[Eviction, str]]:
    """The evictions that are not decided yet, each with why it waits, "" where it does not.

    Each waits while the budget of its placement has an error and no last good version, and all do while a file cannot
    be read that may hold it: without it there would be no limit. It waits, too, while its cluster or its placement has
    an error: what was refused there, such as a taint, may be what keeps the placement from coming back.
    """
    evictions = [e for name, e in sorted(wanted.evictions.items()) if name not in known and not e.is_over]
    errors = [fault for fault in wanted.faults if fault.severity is Severity.ERROR] if evictions else []
    refused = {fault.object: f"{fault.path}:{fault.line}" for fault in reversed(errors)}
    unread = any(fault.path.startswith(_BUDGETS) and not fault.object for fault in errors)
    for eviction in evictions:
        placement = eviction.placement_name
        own = (f"MemberCluster/{eviction.cluster_name}", f"ClusterResourcePlacement/{placement}")
        wrong = next((name for name in own if name in refused), None)
        if wanted.holds_removals:
            yield eviction, ReconcileText.FILE_CONFIG_REPO_CANNOT_READ()
        elif placement not in wanted.budgets and (unread or f"{_BUDGET}/{placement}" in refused):
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


def remembered(wanted: Desired, known: Mapping[str, Eviction], decided: Iterable[Eviction]) -> Mapping[str, Eviction]:
    """The evictions with an end from now on: those of which the file is still there, and the `decided` ones; the very
    mapping of before when nothing changed. While a file cannot be read none is forgotten: it would be done again."""
    kept = {name: one for name, one in known.items() if name in wanted.evictions or wanted.holds_removals}
    fresh = {eviction.name: eviction for eviction in decided}
    if not fresh and len(kept) == len(known):
        return known
    return dict(sorted({**kept, **fresh}.items()))
