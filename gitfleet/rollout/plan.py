"""One planning step of the rolling update (KubeFleet pkg/controllers/rollout/controller.go)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from gitfleet.api.bindings import Binding, BindingState
from gitfleet.api.conditions import Reason, Status
from gitfleet.model.rolling import Frozen, Move, MoveKind, Passage, RolloutPlan, RolloutRequest
from gitfleet.rollout import reasons
from gitfleet.rollout.budgets import Budget, budget, target_of
from gitfleet.rollout.candidates import Classes, classify, staleness
from gitfleet.rollout.moves import roll_out, set_rollout_started, take_off
from gitfleet.rollout.silence import cut_off, unbound_left_out
from gitfleet.rollout.texts import RolloutText


def plan_rollout(request: RolloutRequest) -> RolloutPlan:
    """Which bindings are bound, updated or removed now, and what the bindings are after that.

    In this order: updates of failed bindings, which need no budget; removals, then updates, both within maxUnavailable;
    binds within maxSurge. An update of a binding that is still in progress takes nothing down, so it goes out as long
    as the floor holds without it. Clusters that have been silent for long are left out, and nothing moves while most of
    them are silent (decision D32). Never raises; External placements have no business here (kubefleet.md §7).
    """
    classes = classify(request)
    left_out = classes.left_out + unbound_left_out(request)
    target = target_of(request, len(classes.targeted) + classes.left_out, left_out)
    limits = budget(target, request.rolling_update, classes.counts)
    silent = cut_off(request)
    picked = _Picked() if silent else _pick(classes, limits)
    blocked = _blocked_by_silence(request, classes, silent) if silent else _blocked(request, classes, limits, picked)
    return RolloutPlan(
        moves=_moves(request, picked),
        blocked={request.bindings[i].cluster: reason for i, reason in blocked.items()},
        up_to_date=tuple(request.bindings[i].cluster for i in classes.up_to_date),
        need_roll=classes.need_roll,
        bindings=_after(request, classes, picked.all, blocked),
        clock=min(classes.clocks, default=None) if classes.need_roll else None,
        asks=_asks(request, classes),
    )


def _frozen(request: RolloutRequest, position: int) -> Frozen:
    return request.gate.frozen[request.bindings[position].cluster]


def _asks(request: RolloutRequest, classes: Classes) -> tuple[str, ...]:
    """What only a person can end."""
    refused = classes.refused_updates or classes.blocked_binds
    frozen = [_frozen(request, i) for i in classes.frozen]
    sentences = [request.gate.refused if refused else "", *(wait.reason for wait in frozen if wait.asks)]
    return tuple(dict.fromkeys(filter(None, sentences)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Picked:
    """The positions that move now, in the order of the fields."""

    failed: Sequence[int] = ()
    unfinished: Sequence[int] = ()
    removes: Sequence[int] = ()
    updates: Sequence[int] = ()
    binds: Sequence[int] = ()

    @property
    def all(self) -> frozenset[int]:
        return frozenset((*self.failed, *self.unfinished, *self.removes, *self.updates, *self.binds))


def _pick(classes: Classes, limits: Budget) -> _Picked:
    unfinished = classes.unfinished_updates if limits.max_to_remove >= 0 else []
    needs_none = frozenset(unfinished)
    budgeted = [i for i in classes.updates if i not in needs_none]
    removes = classes.removes[: max(0, limits.max_to_remove)]
    return _Picked(
        failed=classes.failed_updates,
        unfinished=unfinished,
        removes=removes,
        updates=budgeted[: max(0, limits.max_to_remove - len(removes))],
        binds=classes.binds[: max(0, limits.max_to_add)],
    )


def _moves(request: RolloutRequest, picked: _Picked) -> tuple[Move, ...]:
    latest = request.latest_snapshot

    def change(binding: Binding) -> str:
        return staleness(request, binding) or ""

    kinds: tuple[tuple[Sequence[int], MoveKind, Callable[[Binding], str]], ...] = (
        (picked.failed, MoveKind.UPDATE, lambda b: reasons.failed_update(b, change(b))),
        (picked.unfinished, MoveKind.UPDATE, lambda b: RolloutText.TAKES_BACK_NOT_AVAILABLE(change=change(b))),
        (picked.removes, MoveKind.REMOVE, lambda _: RolloutText.CLUSTER_NO_LONGER_PICKED()),
        (picked.updates, MoveKind.UPDATE, change),
        (picked.binds, MoveKind.BIND, lambda _: RolloutText.GOES_OUT_NEW_CLUSTER(latest_snapshot=latest)),
    )
    return tuple(
        Move(cluster=binding.cluster, kind=kind, reason=why(binding), failed=positions is picked.failed)
        for positions, kind, why in kinds
        for binding in (request.bindings[i] for i in positions)
    )


def _blocked(request: RolloutRequest, classes: Classes, limits: Budget, picked: _Picked) -> dict[int, str]:
    """The bindings that would move and do not, by position, each with the reason: removals, updates, binds."""

    down, moving = [request.bindings[i].cluster for i in (*picked.removes, *picked.updates)], picked.all
    waiting = (
        (classes.removes, reasons.take_down_blocked(request, classes, limits, down, "removal")),
        (classes.updates, reasons.take_down_blocked(request, classes, limits, down, "update")),
        (classes.binds, reasons.bind_blocked(request, classes, limits)),
        (classes.blocked_binds, reasons.blocked_bind(request)),
        *(([i], _frozen(request, i).reason) for i in classes.frozen),
        (classes.refused_updates, request.gate.refused),
        *(([i], reasons.left_out(request.bindings[i])) for i in classes.waiting_for_answer),
    )
    return {i: reason for positions, reason in waiting for i in positions if i not in moving}


def _blocked_by_silence(request: RolloutRequest, classes: Classes, silent: Sequence[str]) -> dict[int, str]:
    """The same when nothing moves, because most of the placement's clusters are silent at once."""
    reason = reasons.cut_off(silent, len({binding.cluster for binding in request.bindings}))
    waiting = (i for i, b in enumerate(request.bindings) if b.deleting is None and i not in classes.up_to_date)
    return dict.fromkeys(waiting, reason)


def _after(
    request: RolloutRequest, classes: Classes, moving: Collection[int], blocked: Mapping[int, str]
) -> tuple[Binding, ...]:
    now, up_to_date, notes = request.now, set(classes.up_to_date), _notes(request, classes)
    out: list[Binding] = []
    for i, binding in enumerate(request.bindings):
        is_removed = binding.state is BindingState.UNSCHEDULED
        kind = MoveKind.REMOVE if is_removed else MoveKind.UPDATE
        leave = request.gate.passage(binding.cluster, kind) if i in moving else None
        if isinstance(leave, Passage):
            binding = take_off(binding, leave, now) if is_removed else roll_out(request, binding, leave, now)
        elif i in up_to_date:
            binding = set_rollout_started(binding, Status.TRUE, now)
        elif i in blocked and not is_removed:
            why, code = notes.get(i, (request.gate.refused, Reason.ROLLOUT_NOT_STARTED_YET))
            binding = set_rollout_started(binding, Status.FALSE, now, why, code=code)
        out.append(binding)
    return tuple(out)


def _notes(request: RolloutRequest, classes: Classes) -> dict[int, tuple[str, Reason]]:
    """What bindings that do not move say themselves, by position: nothing that changes with every cluster."""
    code = Reason.ROLLOUT_NOT_STARTED_YET
    if cut_off(request):
        return dict.fromkeys(range(len(request.bindings)), (reasons.MOST_ARE_SILENT, code))
    silent = {i: (reasons.left_out(request.bindings[i]), code) for i in classes.waiting_for_answer}
    frozen = {i: (wait.reason, wait.code) for i in classes.frozen for wait in (_frozen(request, i),)}
    return {**silent, **frozen}
