"""What clusters are compared with and what is applied there, with what is left alone; what could not be published as
intent is not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from gitfleet import apply, observe, workload
from gitfleet.api.fleet import HealthCheck
from gitfleet.api.objects import GroupKind, JsonObject
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failure, Failures
from gitfleet.model.folder_order import FolderOrder
from gitfleet.model.observations import Availability
from gitfleet.model.operations import Operation
from gitfleet.model.state import FleetState, K, changed
from gitfleet.reconcile.workloads import without_unpublished


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


def withhold(
    decision: Decision, operations: tuple[Operation, ...], published: FleetState, failures: tuple[Failure, ...]
) -> tuple[Decision, tuple[Operation, ...]]:
    """The decision as it was `published`, and the operations behind it: what could not be written as intent, for a
    placement or a cluster, is not done there."""
    if published is decision.after:
        return decision, operations
    decision = without_unpublished(decision, published)
    placements = _differing(decision.after.placements, published.placements)
    clusters = _differing(decision.after.clusters, published.clusters)
    clusters |= _differing(decision.after.inventory, published.inventory)
    works = {
        name: tuple(work for work in cluster_works if work.placement not in placements)
        for name, cluster_works in decision.works.items()
        if name not in clusters
    }
    remaining = tuple(o for o in operations if o.placement not in placements and o.cluster not in clusters)
    withheld = replace(decision, after=published, works=works, failures=decision.failures + failures)
    return withheld, remaining


def _differing(old: Mapping[K, object], new: Mapping[K, object]) -> set[K]:
    return {key for key, before, after in changed(old, new) if before != after}
