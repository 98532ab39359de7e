"""What workload rollouts add to a decision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial

from gitfleet import schedule, workload
from gitfleet.apply import Works
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.failures import Failures
from gitfleet.model.operations import Create, Operation, RolloutWrite, Update
from gitfleet.model.state import FleetState
from gitfleet.reconcile.gates import Gates

Plugins = Mapping[str, schedule.PluginFactory]


def with_rollouts(
    state: FleetState,
    works: tuple[Works, Works],
    inputs: Inputs,
    rollouts: workload.Rollouts,
    gates: Gates,
    failures: Failures,
) -> tuple[FleetState, workload.Advance]:
    """The decided state with its workload rollouts, over the works that clusters had, and those that they get."""
    gate = partial(gates.passage, state=state, works=works[1])
    advance = rollouts.advance(state, *works, inputs, gate, failures)
    return replace(state, rollouts=advance.rollouts), advance


def with_advance(decision: Decision, advance: workload.Advance) -> Decision:
    """A decision with what its workload rollouts wait for, and ask, beside what its runs do."""
    calls = (*decision.calls, *advance.calls)
    return replace(decision, calls=calls, waiting=advance.waiting, asks=advance.asks, asking=advance.asking)


def steps_beside(steps: Iterable[RolloutWrite], operations: Iterable[Operation]) -> tuple[RolloutWrite, ...]:
    """The steps on objects that nothing else is written to in this pass: over what that gives, the next one decides."""
    if not (steps := tuple(steps)):
        return ()
    written = {(one.cluster, one.key.identity) for one in operations if isinstance(one, Create | Update)}
    return tuple(step for step in steps if (step.cluster, step.key.identity) not in written)
