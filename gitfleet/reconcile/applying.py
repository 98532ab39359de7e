"""What clusters are compared with and what is applied there, with what is left alone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from gitfleet import apply, observe, workload
from gitfleet.api.fleet import HealthCheck
from gitfleet.api.objects import GroupKind, JsonObject
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.failures import Failures
from gitfleet.model.folder_order import FolderOrder
from gitfleet.model.observations import Availability
from gitfleet.model.rollout_fields import RolloutFieldsByCluster


def as_before(inputs: Inputs, seen_works: apply.Works, rollouts: workload.Rollouts, failures: Failures) -> apply.Wanted:
    """What clusters were to have when the state before was written. What workload rollouts fields then is no change."""
    return _wanted(
        inputs, seen_works, seen_works, rollouts.movement(inputs.before, seen_works, inputs, failures).fields
    )


def to_apply(decision: Decision) -> apply.Wanted:
    """What clusters are to have by a decision."""
    return _wanted(decision.inputs, decision.works, decision.seen_works, decision.by_rollouts)


def _wanted(
    inputs: Inputs, works: apply.Works, seen_works: apply.Works, by_rollouts: RolloutFieldsByCluster
) -> apply.Wanted:
    config = inputs.desired.config
    order = FolderOrder.of(inputs.desired, partial(_is_available, config.checks))
    return apply.Wanted(works, seen_works, config.ignore_differences, by_rollouts, order, inputs.now)


def _is_available(checks: Mapping[GroupKind, HealthCheck], body: JsonObject) -> bool:
    return observe.availability_of(body, checks).availability is not Availability.NOT_YET
