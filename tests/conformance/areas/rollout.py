"""Vectors of the rolling update: rollout_arithmetic, rollout_plan, rollout_readiness."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from gitfleet.api.bindings import Binding, BindingState
from gitfleet.api.conditions import Condition, Status
from gitfleet.api.placements import PlacementKey, PlacementType
from gitfleet.api.strategies import ApplyStrategy, RollingUpdate
from gitfleet.model.rolling import MoveKind, RolloutRequest
from gitfleet.rollout import Counts, budget, has_failed, is_diff_reported, is_ready, plan_rollout

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
GENERATION = 5
VERBS = {MoveKind.BIND: "bind", MoveKind.UPDATE: "update", MoveKind.REMOVE: "delete"}


def condition(case: Mapping[str, Any]) -> Condition:
    """A vector's condition, of the present generation unless it is stale."""
    return Condition(
        type=case["type"],
        status=Status(case["status"]),
        reason=case["reason"],
        last_transition_time=NOW - timedelta(seconds=case.get("age_seconds", 3600)),
        observed_generation=GENERATION - 1 if case.get("stale") else GENERATION,
    )


def binding(case: Mapping[str, Any]) -> Binding:
    """A vector's binding."""
    return Binding(
        placement=PlacementKey("", "p"),
        cluster=case.get("cluster", "c"),
        state=BindingState(case.get("state", "Bound")),
        policy_snapshot="p-0",
        resource_snapshot=case.get("snapshot"),
        cluster_resource_overrides=tuple(case.get("clusterResourceOverrides", ())),
        resource_overrides=tuple(case.get("resourceOverrides", ())),
        generation=GENERATION,
        conditions=tuple(condition(c) for c in case.get("conditions", ())),
        deleting=NOW if case.get("deleting") else None,
    )


def rolling(case: Mapping[str, Any]) -> RollingUpdate:
    """A vector's limits."""
    return RollingUpdate(
        max_unavailable=case["maxUnavailable"],
        max_surge=case["maxSurge"],
        unavailable_period_seconds=case.get("unavailablePeriodSeconds", 60),
    )


def difference(expected: Any, got: Any) -> str | None:
    """None when equal, else both."""
    return None if expected == got else f"expected {expected!r}, got {got!r}"


def run_plan(case: dict[str, Any]) -> str | None:
    """op plan."""
    given, bindings = case["in"], tuple(binding(b) for b in case["in"]["bindings"])
    plan = plan_rollout(
        RolloutRequest(
            placement_type=PlacementType(given["placementType"]),
            number_of_clusters=given.get("numberOfClusters"),
            cluster_names=tuple(given.get("clusterNames", ())),
            rolling_update=rolling(given),
            apply_strategy=ApplyStrategy(),
            bindings=bindings,
            latest_snapshot=given["latest"] or None,
            overrides={b.cluster: (b.cluster_resource_overrides, b.resource_overrides) for b in bindings},
            now=NOW,
        )
    )
    got: dict[str, Any] = {
        "need_roll": plan.need_roll,
        "roll": [f"{VERBS[m.kind]} {m.cluster}" for m in plan.moves],
        "stale_not_selected": [h.cluster for h in plan.held if h.kind is not MoveKind.REMOVE],
        "up_to_date": list(plan.up_to_date),
    }
    if "wait_seconds" in case["out"]:
        got["wait_seconds"] = 0 if plan.wait is None else plan.wait.total_seconds()
    return difference(case["out"], got)


def run_budget(case: dict[str, Any]) -> str | None:
    """op budget."""
    given = case["in"]
    counts = Counts(ready=given["ready"], leaving=given["deleting"], can_be_ready=given["canBeReady"])
    answer = budget(given["target"], rolling(given), counts)
    got = {
        "max_surge_number": answer.max_surge,
        "max_to_add": answer.max_to_add,
        "max_to_remove": answer.max_to_remove,
        "max_unavailable_number": answer.max_unavailable,
    }
    return difference(case["out"], got)


def run_readiness(case: dict[str, Any]) -> str | None:
    """ops ready and classify."""
    given, tried = case["in"], binding(case["in"])
    if case["op"] == "classify":
        got: dict[str, Any] = {"diff_reported": is_diff_reported(tried), "failed": has_failed(tried, NOW)}
        return difference(case["out"], got)
    answer = is_ready(tried, timedelta(seconds=given["unavailablePeriodSeconds"]), NOW)
    got = {"ready": answer.ready}
    if not answer.ready:
        got["wait_seconds"] = None if answer.wait is None else answer.wait.total_seconds()
    return difference(case["out"], got)


AREAS: dict[str, Callable[[dict[str, Any]], str | None]] = {
    "rollout_arithmetic": run_budget,
    "rollout_plan": run_plan,
    "rollout_readiness": run_readiness,
}
