"""What could not be published as intent is not done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from gitfleet.model.decisions import Decision
from gitfleet.model.failures import Failure
from gitfleet.model.operations import Operation
from gitfleet.model.state import FleetState
from gitfleet.reconcile.renamed import with_former_names
from gitfleet.reconcile.workloads import without_unpublished

K = TypeVar("K")


def withhold(
    decision: Decision, operations: tuple[Operation, ...], published: FleetState, failures: tuple[Failure, ...]
) -> tuple[Decision, tuple[Operation, ...]]:
    """The decision as it was `published`, and the operations behind it: what could not be written as intent, for a
    placement or a cluster, is not done there."""
    if published is decision.after:
        return decision, operations
    decision = without_unpublished(decision, published)
    placements = _differing(decision.after.placements, published.placements)
    intended = with_former_names(decision.after, published, decision.inputs.renamed, published)
    clusters = _differing(intended.clusters, published.clusters) | _differing(intended.inventory, published.inventory)
    works = {
        name: tuple(work for work in found if work.placement not in placements)
        for name, found in decision.works.items()
        if name not in clusters
    }
    kept = tuple(o for o in operations if o.placement not in placements and o.cluster not in clusters)
    held = replace(decision, after=published, works=works, failures=decision.failures + failures)
    return held, kept


def _differing(one: Mapping[K, object], other: Mapping[K, object]) -> set[K]:
    return {key for key in {*one, *other} if one.get(key) != other.get(key)}
