"""Vectors of evictions and disruption budgets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gitfleet.api.bindings import Binding
from gitfleet.api.conditions import Condition, Status
from gitfleet.api.placements import Placement
from gitfleet.api.staged import DisruptionBudget, Eviction
from gitfleet.model.state import PlacementRecord
from gitfleet.rollout import disruptions, evict, evict_nothing
from tests.conformance.documents import NOW, PLACEMENT, V1BETA1, accepted, binding_of, difference, placement_of
from tests.rollout.builders import OPEN

AVAILABLE = {"type": "Available", "status": "True", "reason": "AllWorkAreAvailable"}


def placement(given: Mapping[str, Any]) -> Placement:
    """A case's placement."""
    return placement_of({"placementType": given["type"], **{k: v for k, v in given.items() if k != "type"}})


def bindings(given: Mapping[str, Any]) -> tuple[Binding, ...]:
    """A case's bindings; `available` stands for a condition, and its absence for none."""
    cases = [{**b, "conditions": [AVAILABLE]} if b.get("available") else b for b in given["bindings"]]
    return tuple(binding_of(case, policy="p-0") for case in cases)


def budget(given: Mapping[str, Any]) -> DisruptionBudget:
    """A case's budget."""
    document = {
        "apiVersion": V1BETA1,
        "kind": "ClusterResourcePlacementDisruptionBudget",
        "metadata": {"name": PLACEMENT.name},
        "spec": given["budget"],
    }
    return accepted(DisruptionBudget, document)


def eviction(given: Mapping[str, Any]) -> Eviction:
    """A case's eviction."""
    document = {
        "apiVersion": V1BETA1,
        "kind": "ClusterResourcePlacementEviction",
        "metadata": {"name": "e"},
        "spec": {"placementName": PLACEMENT.name, "clusterName": given["target"]},
    }
    return accepted(Eviction, document)


def run_eviction(case: dict[str, Any]) -> str | None:
    """op decide."""
    given = case["in"]
    before = bindings(given)
    if given["placement"] is None:
        (decided,), after = evict_nothing([eviction(given)], NOW), before
    else:
        record = PlacementRecord(placement=placement(given["placement"]), bindings=before)
        limit = budget(given) if "budget" in given else None
        record, (decided,) = evict(record, [eviction(given)], limit, NOW, OPEN)
        after = record.bindings
    said = decided.executed or decided.valid
    got: dict[str, Any] = {
        "binding_deleted": [b.deleting for b in before] != [b.deleting for b in after],
        "message": said and said.message,
        "valid": _is_true(decided.valid),
    }
    got |= {"executed": _is_true(decided.executed)} if decided.executed else {}
    return difference(case["out"], got)


def _is_true(condition: Condition | None) -> bool:
    return condition is not None and condition.status is Status.TRUE


def run_budget(case: dict[str, Any]) -> str | None:
    """op allowed."""
    given = case["in"]
    found = disruptions(placement(given["placement"]).effective_policy, budget(given), bindings(given))
    got = {"allowed": found.allowed > 0, "available": found.available, "total": found.total}
    return difference(case["out"], got)


AREAS: Mapping[str, Callable[[dict[str, Any]], str | None]] = {
    "eviction": run_eviction,
    "disruption_budget": run_budget,
}
