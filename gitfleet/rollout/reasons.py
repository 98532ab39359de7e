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


def take_down_blocked(
    request: RolloutRequest, classes: Classes, limits: Budget, first: Sequence[str], kind: str
) -> str:
    """Why no (further) cluster is taken down for an update or a removal; `first` are those that are taken down now."""
    limit = _limit("maxUnavailable", request.rolling_update.max_unavailable, limits.max_unavailable)
    available = len(classes.ready) - classes.leaving
    state = f"{available} of {limits.target} clusters {_are(available)} available"
    must = RolloutText.LEAST_MUST_STAY(floor=limits.floor)
    unready = (request.bindings[i] for i in classes.targeted if i not in classes.ready)
    waiting = first or [b.cluster for b in unready if b.state is BindingState.BOUND and b.deleting is None]
    awaited = [f"{names(waiting)} {_are(len(waiting))} available"] if waiting else []
    if (missing := limits.target - len(classes.targeted)) > 0:
        awaited.append(RolloutText.CAN_BE_PICKED(count=counted(missing, "more cluster")))
    until = f" until {' or '.join(awaited)}" if awaited else ""
    return RolloutText.ALLOWS_NO_FURTHER(state=state, must=must, limit=limit, what=kind, until=until)


def bind_blocked(request: RolloutRequest, classes: Classes, limits: Budget) -> str:
    """Why no (further) cluster is bound."""
    limit = _limit("maxSurge", request.rolling_update.max_surge, limits.max_surge)
    used, most = classes.can_be_ready, limits.target + limits.max_surge
    state = RolloutText.RESOURCES_MOST(count=counted(used, "cluster"), verb=agreeing(used, "has", "have"), most=most)
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
