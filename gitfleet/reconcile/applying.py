"""What clusters are compared with and what is applied there, with what is left alone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from gitfleet import apply, observe, workload
from gitfleet.api.fleet import HealthCheck
from gitfleet.api.objects import GroupKind, JsonObject
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failures
from gitfleet.model.folder_order import FolderOrder
from gitfleet.model.observations import Availability


def as_before(inputs: Inputs, seen_works: apply.Works, rollouts: workload.Rollouts, failures: Failures) -> apply.Wanted:
    """What clusters were to have when the state before was written. What workload rollouts fields then is no change."""
    fields = rollouts.movement(inputs.before, seen_works, inputs, failures).fields
    ignored = inputs.desired.config.ignore_differences
    return apply.Wanted(seen_works, seen_works, ignored, fields, _order(inputs.desired), inputs.now)


def to_apply(decision: Decision) -> apply.Wanted:
    """What clusters are to have by a decision."""
    ignored = decision.inputs.desired.config.ignore_differences
    order = _order(decision.inputs.desired)
    now = decision.inputs.now
    return apply.Wanted(decision.works, decision.seen_works, ignored, decision.by_rollouts, order, now)


def _order(desired: Desired) -> FolderOrder:
    return FolderOrder.of(desired, partial(_is_available, desired.config.checks))


def _is_available(checks: Mapping[GroupKind, HealthCheck], body: JsonObject) -> bool:
    return observe.availability_of(body, checks).availability is not Availability.NOT_YET
