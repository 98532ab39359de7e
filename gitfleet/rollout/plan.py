"""One planning step of the rolling update (KubeFleet pkg/controllers/rollout/controller.go)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gitfleet.api.bindings import Binding, BindingState
from gitfleet.api.conditions import Status
from gitfleet.model.rolling import Held, Move, MoveKind, RolloutPlan, RolloutRequest
from gitfleet.rollout import reasons
from gitfleet.rollout.budgets import Budget, budget, target_of
from gitfleet.rollout.candidates import Classes, classify, staleness
from gitfleet.rollout.moves import roll_out, set_rollout_started
from gitfleet.rollout.silence import cut_off, unbound_left_out
from gitfleet.rollout.texts import RolloutText
from gitfleet.rollout.waits import requeue_after, until_plan_changes


def plan_rollout(request: RolloutRequest) -> RolloutPlan:
    """Which bindings are bound, updated or removed now, and what the bindings are after that.

    In this order: updates of failed bindings, and of those whose snapshot was lost before it
    was applied, which need no budget; removals, then updates, both within maxUnavailable;
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
    moving = {*picked.failed, *picked.unfinished, *picked.removes, *picked.updates, *picked.binds}
    held = _held_by_silence(request, classes, silent) if silent else _held(request, classes, limits, picked)
    return RolloutPlan(
        moves=_moves(request, picked),
        held=tuple(h for _, h in held),
        up_to_date=tuple(request.bindings[i].cluster for i in classes.up_to_date),
        need_roll=classes.need_roll,
        wait=requeue_after(request.rolling_update, classes.waits) if classes.is_waiting else None,
        bindings=_after(request, classes, moving, {i for i, _ in held}),
        clock=until_plan_changes(classes.clocks) if classes.need_roll else None,
        asks=(request.refused,) if request.refused and (classes.refused_updates or classes.blocked_binds) else (),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Picked:
    """The positions that move now, in the order of the fields."""

    failed: Sequence[int] = ()
    unfinished: Sequence[int] = ()
    removes: Sequence[int] = ()
    updates: Sequence[int] = ()
    binds: Sequence[int] = ()


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
    def make(positions: Sequence[int], kind: MoveKind, why: Callable[[Binding], str], failed: bool) -> list[Move]:
        chosen = [request.bindings[i] for i in positions]
        return [Move(cluster=b.cluster, kind=kind, reason=why(b), failed=failed) for b in chosen]

    def change(binding: Binding) -> str:
        return staleness(request, binding) or ""

    def failed(binding: Binding) -> str:
        return reasons.failed_update(binding, change(binding))

    def unfinished(binding: Binding) -> str:
        return reasons.unfinished_update(binding, change(binding))

    return (
        *make(picked.failed, MoveKind.UPDATE, failed, True),
        *make(picked.unfinished, MoveKind.UPDATE, unfinished, False),
        *make(picked.removes, MoveKind.REMOVE, lambda _: RolloutText.CLUSTER_NO_LONGER_PICKED(), False),
        *make(picked.updates, MoveKind.UPDATE, change, False),
        *make(
            picked.binds,
            MoveKind.BIND,
            lambda _: RolloutText.GOES_OUT_NEW_CLUSTER(latest_snapshot=request.latest_snapshot),
            False,
        ),
    )


def _held(request: RolloutRequest, classes: Classes, limits: Budget, picked: _Picked) -> tuple[tuple[int, Held], ...]:
    """Positions and reasons of the bindings that would move and do not: removals, updates, binds."""

    def hold(positions: Sequence[int], moving: Sequence[int], kind: MoveKind, reason: str) -> list[tuple[int, Held]]:
        gone = frozenset(moving)
        waiting = [i for i in positions if i not in gone]
        return [(i, Held(cluster=request.bindings[i].cluster, kind=kind, reason=reason)) for i in waiting]

    def clusters(positions: Sequence[int]) -> list[str]:
        return [request.bindings[i].cluster for i in positions]

    down = clusters([*picked.removes, *picked.updates])
    removal = reasons.held_take_down(request, classes, limits, down, "removal")
    update = reasons.held_take_down(request, classes, limits, down, "update")
    bind = reasons.held_bind(request, classes, limits, clusters(picked.binds))
    return (
        *hold(classes.removes, picked.removes, MoveKind.REMOVE, removal),
        *hold(classes.updates, [*picked.unfinished, *picked.updates], MoveKind.UPDATE, update),
        *hold(classes.binds, picked.binds, MoveKind.BIND, bind),
        *hold(classes.blocked_binds, (), MoveKind.BIND, reasons.blocked_bind(request)),
        *((i, _held_by_freeze(request, request.bindings[i])) for i in classes.frozen),
        *hold(classes.refused_updates, (), MoveKind.UPDATE, request.refused),
        *((i, _waiting_for_answer(request.bindings[i])) for i in classes.waiting_for_answer),
    )


def _held_by_freeze(request: RolloutRequest, binding: Binding) -> Held:
    return Held(cluster=binding.cluster, kind=_kind_of(binding), reason=request.frozen[binding.cluster].reason)


def _waiting_for_answer(binding: Binding) -> Held:
    return Held(cluster=binding.cluster, kind=_kind_of(binding), reason=reasons.left_out(binding))


def _held_by_silence(request: RolloutRequest, classes: Classes, silent: Sequence[str]) -> tuple[tuple[int, Held], ...]:
    """Positions and reasons when nothing moves, because most of the placement's clusters are silent at once."""
    reason = reasons.cut_off(silent, len({binding.cluster for binding in request.bindings}))
    up_to_date = frozenset(classes.up_to_date)
    waiting = [(i, b) for i, b in enumerate(request.bindings) if b.deleting is None and i not in up_to_date]
    return tuple((i, Held(cluster=b.cluster, kind=_kind_of(b), reason=reason)) for i, b in waiting)


def _kind_of(binding: Binding) -> MoveKind:
    """How a binding would move."""
    match binding.state:
        case BindingState.SCHEDULED:
            return MoveKind.BIND
        case BindingState.BOUND:
            return MoveKind.UPDATE
        case BindingState.UNSCHEDULED:
            return MoveKind.REMOVE


def _after(request: RolloutRequest, classes: Classes, moving: set[int], held: set[int]) -> tuple[Binding, ...]:
    up_to_date, left_out = set(classes.up_to_date), set(classes.waiting_for_answer)
    silent = reasons.MOST_ARE_SILENT if cut_off(request) else ""
    frozen = {i: request.frozen[request.bindings[i].cluster].reason for i in classes.frozen}
    out: list[Binding] = []
    for i, binding in enumerate(request.bindings):
        if i in moving and binding.state is BindingState.UNSCHEDULED:
            out.append(replace(binding, deleting=request.now))
        elif i in moving:
            out.append(roll_out(request, binding, request.now))
        elif i in up_to_date:
            out.append(set_rollout_started(binding, Status.TRUE, request.now))
        elif i in held and binding.state is not BindingState.UNSCHEDULED:
            why = silent or (reasons.left_out(binding) if i in left_out else frozen.get(i, request.refused))
            out.append(set_rollout_started(binding, Status.FALSE, request.now, why))
        else:
            out.append(binding)
    return tuple(out)
