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
from gitfleet.api.faults import Fault, is_error
from gitfleet.api.placements import PlacementKey
from gitfleet.api.staged import Eviction
from gitfleet.model.decisions import Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.rolling import Frozen
from gitfleet.reconcile.texts import ReconcileText

_BUDGETS: Final = "budgets"
"""The folder of budgets by convention (contracts.md §1): a file there that cannot be read may hold any of them."""
_BUDGET: Final = "ClusterResourcePlacementDisruptionBudget"


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

    Each waits while its cluster or its placement has an error (what was refused there, such as a taint, may be what
    keeps the placement from coming back), and while the budget of its placement has one and no last good version, or a
    file cannot be read that may have it: without it there would be no limit.
    """
    errors = [fault for fault in reversed(desired.faults) if is_error(fault)]
    refused = {fault.object or fault.path.partition("/")[0]: f"{fault.path}:{fault.line}" for fault in errors}
    for name, eviction in sorted(desired.evictions.items()):
        if name in recorded or eviction.is_over:
            continue
        placement = eviction.placement_name
        own = [f"MemberCluster/{eviction.cluster_name}", f"ClusterResourcePlacement/{placement}"]
        own += [f"{_BUDGET}/{placement}", _BUDGETS] if placement not in desired.budgets else []
        wrong = next((subject for subject in own if subject in refused), None)
        why = "" if wrong is None else ReconcileText.HAS_ERRORS_CORRECT_FIRST(object=wrong, place=refused[wrong])
        yield eviction, why


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
