"""What clusters are compared with and what is applied there, with what is left alone."""

from __future__ import annotations

from gitfleet import apply, workload
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.failures import Failures
from gitfleet.reconcile.workloads import movement_of


def as_before(inputs: Inputs, seen_works: apply.Works, handlers: workload.Handlers, failures: Failures) -> apply.Wanted:
    """What clusters were to have when the state before was written. What workload rollouts held then is no change."""
    held = movement_of(inputs.before, seen_works, inputs, handlers, failures).held
    return apply.Wanted(seen_works, seen_works, inputs.desired.config.ignore_differences, held)


def to_apply(decision: Decision) -> apply.Wanted:
    """What clusters are to have by a decision."""
    ignored = decision.inputs.desired.config.ignore_differences
    return apply.Wanted(decision.works, decision.seen_works, ignored, decision.held)
