"""Why a binding moves or waits, in one sentence with the numbers (invariant 5)."""

from __future__ import annotations

from collections.abc import Sequence

from gitfleet.api.bindings import Binding, BindingState, is_active
from gitfleet.api.values import IntOrPercent
from gitfleet.formats.sentences import agreeing, counted, named_briefly
from gitfleet.model.rolling import RolloutRequest
from gitfleet.rollout.budgets import Budget
from gitfleet.rollout.candidates import Classes
from gitfleet.rollout.readiness import failures

_NAMED = 3
"""How many clusters a sentence names before it counts the rest."""


MOST_ARE_SILENT = "More than half of the placement's clusters do not answer, so nothing moves"
"""Without names and numbers, which would change every binding with every cluster."""


def names(clusters: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b, c and 7 more`."""
    return named_briefly(clusters, _NAMED)


def failed_update(binding: Binding, change: str) -> str:
    """An update that needs no budget."""
    found = failures(binding)
    if not found:
        return (
            f"{change}; {binding.resource_snapshot} is lost, and was not applied there, so the update needs no budget"
        )
    worst = found[0]
    return f"{change}; {worst.type} is False there ({worst.reason}), so the update needs no budget"


def unfinished_update(binding: Binding, change: str) -> str:
    """An update that needs no budget because it takes nothing down and the others suffice."""
    found = failures(binding)
    if not found:
        return f"{change}; what it takes back is not available there, so no further cluster becomes unavailable"
    worst = found[0]
    return f"{change}; {worst.type} is still False there ({worst.reason}), so no further cluster becomes unavailable"


def held_take_down(request: RolloutRequest, classes: Classes, limits: Budget, first: Sequence[str], what: str) -> str:
    """Why no (further) cluster is taken down for an update or a removal; `first` are those that are taken down now."""
    limit = _limit("maxUnavailable", request.rolling_update.max_unavailable, limits.max_unavailable)
    available = len(classes.ready) - classes.leaving
    state = f"{available} of {limits.target} clusters {_are(available)} available"
    must = f"at least {limits.floor} must stay so"
    if first:
        return f"{state} and {must}: {limit} lets {names(first)} go first"
    bindings = request.bindings
    waiting = [
        bindings[i].cluster
        for i in classes.targeted
        if i not in classes.ready and bindings[i].state is BindingState.BOUND and bindings[i].deleting is None
    ]
    missing = limits.target - len(classes.targeted)
    more = [f"{counted(missing, 'more cluster')} can be picked"] if missing > 0 else []
    found = [*([f"{names(waiting)} {_are(len(waiting))} available"] if waiting else []), *more]
    until = f" until {' or '.join(found)}" if found else ""
    remedy = _clearing(request, classes, limits, available) if what == "removal" else ""
    return f"{state} and {must}: {limit} allows no further {what}{until}{remedy}"


def _clearing(request: RolloutRequest, classes: Classes, limits: Budget, available: int) -> str:
    """What a person can do where none of the clusters that are to be cleared is available: their removal needs budget
    all the same (vector roll-not-ready-unscheduled-needs-budget-too)."""
    idle = [request.bindings[i].cluster for i in classes.removes]
    if not classes.ready.isdisjoint(classes.removes):
        return ""
    enough = limits.target - available + len(idle)
    them = agreeing(len(idle), "it", "them")
    return f"; {names(idle)} {_are(len(idle))} not available either: maxUnavailable {enough} clears {them}"


def held_bind(request: RolloutRequest, classes: Classes, limits: Budget, first: Sequence[str]) -> str:
    """Why no (further) cluster is bound; `first` are those that are bound now."""
    limit = _limit("maxSurge", request.rolling_update.max_surge, limits.max_surge)
    held, most = classes.can_be_ready, limits.target + limits.max_surge
    state = f"{counted(held, 'cluster')} {agreeing(held, 'has', 'have')} the resources and at most {most} may"
    if first:
        return f"{state}: {limit} lets {names(first)} go first"
    going = [b.cluster for b in request.bindings if not is_active(b)]
    until = f" until {names(going)} {_are(len(going))} cleared" if going else ""
    return f"{state}: {limit} allows no further cluster{until}"


def left_out(binding: Binding) -> str:
    """Why a cluster that has been silent for long is not moved."""
    return f"{binding.cluster} does not answer: the rollout goes on without it and reaches it when it answers again"


def cut_off(silent: Sequence[str], of: int) -> str:
    """Why nothing moves while most clusters are silent."""
    do = agreeing(len(silent), "does", "do")
    return (
        f"{len(silent)} of {of} clusters {do} not answer ({names(silent)}): with more than half of them silent at once "
        "the cause may be the network of gitfleet itself, so nothing moves until enough answer"
    )


def blocked_bind(request: RolloutRequest) -> str:
    """Why a bind has to wait for something else than a budget."""
    if request.refused:
        return request.refused
    if request.latest_snapshot is None:
        return "there is no resource snapshot yet"
    return "what an earlier placement left on the cluster is still being removed"


def _limit(name: str, written: IntOrPercent, number: int) -> str:
    return f"{name} {written}" if str(written) == str(number) else f"{name} {written} ({number})"


def _are(count: int) -> str:
    return agreeing(count, "is", "are")
