"""Workload rollouts within one decision: how far each is, what of objects is left to them, and what they do."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from gitfleet import schedule, workload
from gitfleet.api.objects import Identity
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import RolloutRecord
from gitfleet.api.workload_rollouts import ROLLOUT_KINDS, ROLLOUTS
from gitfleet.apply import Works
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failures
from gitfleet.model.held_fields import HeldFields
from gitfleet.model.operations import Create, Operation, RolloutWrite, Update
from gitfleet.model.state import FleetState
from gitfleet.reconcile.gates import Gates

Plugins = Mapping[str, schedule.PluginFactory]


class Extensions(NamedTuple):
    """What third parties add: scheduler plug-ins by name, workload handlers by kind."""

    plugins: Plugins = schedule.BUILT_IN
    handlers: workload.Handlers = workload.BUILT_IN


def with_rollouts(
    state: FleetState,
    works: tuple[Works, Works],
    inputs: Inputs,
    handlers: workload.Handlers,
    gates: Gates,
    failures: Failures,
) -> tuple[FleetState, workload.Advance]:
    """The decided state with its workload rollouts, over the works that clusters had, and those that they
    are to have from now on."""
    wanted = inputs.desired
    if not wanted.rollouts and not state.rollouts:
        return state, workload.Advance()
    request = workload.Request(
        rollouts=wanted.rollouts,
        templates=wanted.metric_templates,
        before=state.rollouts,
        kept=_kept(wanted, state.rollouts),
        clusters=state.clusters,
        placements=state.placements,
        works=works[1],
        works_before=works[0],
        inventory=state.inventory,
        observations=inputs.observations,
        answers=inputs.answers,
        refused=inputs.refused,
        now=inputs.now,
        handlers=handlers,
        policy=wanted.config.policy,
        gate=lambda move: gates.closed(move, state, works[1]),
    )
    advance = workload.advance_workloads(request, failures)
    return replace(state, rollouts=advance.rollouts), advance


def with_advance(decision: Decision, advance: workload.Advance) -> Decision:
    """A decision with what its workload rollouts wait for, and ask, beside what its runs do."""
    calls = (*decision.calls, *advance.calls)
    told = replace(decision, waiting=advance.waiting, asks=advance.asks, asking=advance.asking)
    return replace(told, calls=calls)


def _kept(wanted: Desired, known: Collection[NamespacedName]) -> frozenset[NamespacedName]:
    """The rollouts that no commit has any more, and that may be in what cannot be read."""
    gone = [key for key in known if key not in wanted.rollouts]
    hidden = (k for k in gone if any(any(wanted.faults_hiding(kind, k, ROLLOUTS)) for kind in ROLLOUT_KINDS))
    return frozenset(gone if wanted.holds_removals else hidden)


def movement_of(
    state: FleetState,
    works: Works,
    inputs: Inputs,
    handlers: workload.Handlers,
    failures: Failures,
) -> workload.Movement:
    """What the rollouts of a state hold and do, as things are on the clusters. What one names that has an error
    and was never sound is held on all of them."""
    wanted = inputs.desired
    if not state.rollouts and not wanted.held_targets and not wanted.held_placements:
        return workload.Movement()
    moving = workload.movement(state.rollouts, works, inputs.observations, handlers, inputs.now, failures)
    policy = wanted.config.policy
    moving = workload.permitted(moving, state.rollouts, policy)
    unnamed = workload.held_for_unnamed(state.rollouts, state.placements, handlers, policy)
    faulty = _held_by_faulty(wanted, state, handlers)
    if not (unnamed or faulty or wanted.held_targets):
        return moving
    moved_by = _moved_by(state.rollouts.values())
    held = dict[str, dict[Identity, HeldFields]]()
    for name in sorted({*works, *state.inventory, *moving.held}):
        own = {o: one for o, one in unnamed.get(name, {}).items() if not moved_by.get(o, set()) - {one.rollout}}
        slips = {**own, **{one: fields for one, fields in faulty.items() if one not in moved_by}}
        # Where none of them is there yet, there are no pods that could change.
        is_there = any(key.identity in slips for key in state.inventory.get(name, {}))
        mine = moving.held.get(name, {})
        held[name] = {**(slips if is_there else {}), **wanted.held_targets, **mine}
        for one in slips.keys() & mine.keys():
            # What it moves it holds as well, and neither deletes it nor gives it other content by a slip.
            held[name][one] = replace(mine[one], stays=True, untouched=mine[one].untouched or slips[one].untouched)
    return replace(moving, held=held)


def _moved_by(records: Iterable[RolloutRecord]) -> dict[Identity, set[NamespacedName]]:
    """The rollouts that are about each workload, on any cluster."""
    found: dict[Identity, set[NamespacedName]] = {}
    for record in records:
        for status in record.clusters:
            for key in (status.target, *status.sources):
                if key is not None:
                    found.setdefault(key.identity, set()).add(record.key)
    return found


def _held_by_faulty(wanted: Desired, state: FleetState, handlers: workload.Handlers) -> Mapping[Identity, HeldFields]:
    """The workloads of placements that rollouts with an error hold."""
    found: dict[Identity, HeldFields] = {}
    for key, held in wanted.held_placements.items():
        placement = state.placements.get(key)
        if placement is not None:
            components = (held.component,) if held.component else ()
            movable = workload.movable_from(held.fields.rollout.namespace, handlers, wanted.config.policy)
            mine = workload.own_workloads(placement, components, movable)
            found = {**dict.fromkeys(mine, held.fields), **found}
    return found


def steps_beside(steps: Iterable[RolloutWrite], operations: Iterable[Operation]) -> tuple[RolloutWrite, ...]:
    """The steps on objects that nothing else is written to in this pass: over what that gives, the next one decides."""
    written = {(one.cluster, one.key.identity) for one in operations if isinstance(one, Create | Update)}
    return tuple(step for step in steps if (step.cluster, step.key.identity) not in written)


def without_unpublished(decision: Decision, published: FleetState) -> Decision:
    """The decision without the steps and calls of rollouts that could not be written as intent."""
    intended = decision.after.rollouts
    lost = {key for key in intended if published.rollouts.get(key) != intended[key]}
    if not lost:
        return decision
    return replace(decision, steps=tuple(s for s in decision.steps if s.rollout not in lost), calls=())
