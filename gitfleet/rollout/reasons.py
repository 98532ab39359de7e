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
from gitfleet.rollout.texts import RolloutText

_NAMED = 3
"""How many clusters a sentence names before it counts the rest."""


MOST_ARE_SILENT = RolloutText.MORE_HALF_PLACEMENT_CLUSTERS_NOT()
"""Without names and numbers, which would change every binding with every cluster."""


def names(clusters: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b, c and 7 more`."""
    return named_briefly(clusters, _NAMED)


def failed_update(binding: Binding, change: str) -> str:
    """An update that needs no budget."""
    worst = failures(binding)[0]
    return RolloutText.FALSE_UPDATE_NEEDS_NO_BUDGET(change=change, worst=worst.type, reason=worst.reason)


def unfinished_update(binding: Binding, change: str) -> str:
    """An update that needs no budget because it takes nothing down and the others suffice."""
    failed = failures(binding)
    if not failed:
        return RolloutText.TAKES_BACK_NOT_AVAILABLE(change=change)
    worst = failed[0]
    return RolloutText.STILL_FALSE_NO_FURTHER_CLUSTER(change=change, worst=worst.type, reason=worst.reason)


def take_down_blocked(
    request: RolloutRequest, classes: Classes, limits: Budget, first: Sequence[str], kind: str
) -> str:
    """Why no (further) cluster is taken down for an update or a removal; `first` are those that are taken down now."""
    limit = _limit("maxUnavailable", request.rolling_update.max_unavailable, limits.max_unavailable)
    available = len(classes.ready) - classes.leaving
    state = f"{available} of {limits.target} clusters {_are(available)} available"
    must = RolloutText.LEAST_MUST_STAY(floor=limits.floor)
    if first:
        return RolloutText.LETS_GO_FIRST(state=state, must=must, limit=limit, first=names(first))
    bindings = request.bindings
    waiting = [
        bindings[i].cluster
        for i in classes.targeted
        if i not in classes.ready and bindings[i].state is BindingState.BOUND and bindings[i].deleting is None
    ]
    missing = limits.target - len(classes.targeted)
    more = [RolloutText.CAN_BE_PICKED(count=counted(missing, "more cluster"))] if missing > 0 else []
    awaited = [*([f"{names(waiting)} {_are(len(waiting))} available"] if waiting else []), *more]
    until = f" until {' or '.join(awaited)}" if awaited else ""
    remedy = _clearing(request, classes, limits, available) if kind == "removal" else ""
    return RolloutText.ALLOWS_NO_FURTHER(state=state, must=must, limit=limit, what=kind, until=until, remedy=remedy)


def _clearing(request: RolloutRequest, classes: Classes, limits: Budget, available: int) -> str:
    """What a person can do where none of the clusters that are to be cleared is available: their removal needs budget
    all the same (vector roll-not-ready-unscheduled-needs-budget-too)."""
    idle = [request.bindings[i].cluster for i in classes.removes]
    if not classes.ready.isdisjoint(classes.removes):
        return ""
    enough = limits.target - available + len(idle)
    them = agreeing(len(idle), "it", "them")
    return RolloutText.NOT_AVAILABLE_EITHER(idle=names(idle), are=_are(len(idle)), enough=enough, them=them)


def bind_blocked(request: RolloutRequest, classes: Classes, limits: Budget, first: Sequence[str]) -> str:
    """Why no (further) cluster is bound; `first` are those that are bound now."""
    limit = _limit("maxSurge", request.rolling_update.max_surge, limits.max_surge)
    used, most = classes.can_be_ready, limits.target + limits.max_surge
    state = RolloutText.RESOURCES_MOST(count=counted(used, "cluster"), verb=agreeing(used, "has", "have"), most=most)
    if first:
        return RolloutText.LETS_GO_FIRST_2(state=state, limit=limit, first=names(first))
    going = [b.cluster for b in request.bindings if not is_active(b)]
    until = f" until {names(going)} {_are(len(going))} cleared" if going else ""
    return RolloutText.ALLOWS_NO_FURTHER_CLUSTER(state=state, limit=limit, until=until)


def left_out(binding: Binding) -> str:
    """Why a cluster that has been silent for long is not moved."""
    return RolloutText.NOT_ANSWER_ROLLOUT_GOES_WITHOUT(cluster=binding.cluster)


def cut_off(silent: Sequence[str], of: int) -> str:
    """Why nothing moves while most clusters are silent."""
    do = agreeing(len(silent), "does", "do")
    return RolloutText.CLUSTERS_NOT_ANSWER(count=len(silent), of=of, do=do, silent=names(silent))


def blocked_bind(request: RolloutRequest) -> str:
    """Why a bind has to wait for something else than a budget."""
    if request.gate.refused:
        return request.gate.refused
    if request.latest_snapshot is None:
        return RolloutText.NO_RESOURCE_SNAPSHOT_YET()
    return RolloutText.EARLIER_PLACEMENT_LEFT_CLUSTER_STILL()


def _limit(name: str, written: IntOrPercent, number: int) -> str:
    return f"{name} {written}" if str(written) == str(number) else f"{name} {written} ({number})"


def _are(count: int) -> str:
    return agreeing(count, "is", "are")
