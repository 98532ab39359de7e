"""Vectors of the rolling update: rollout_arithmetic, rollout_plan, rollout_readiness.

A case of rollout_plan may have `overrides`, each a list of versions (the policies of one override, oldest first; null:
the override is gone): then the bindings are held against what the latest versions say of their clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from gitfleet.api.bindings import Binding, BindingState, ClusterContent
from gitfleet.api.overrides import Override, OverrideKey
from gitfleet.api.placements import Placement
from gitfleet.api.snapshots import DocumentRef, OverrideSnapshot, ResourceSnapshot
from gitfleet.api.strategies import RollingUpdate
from gitfleet.model.rolling import MoveKind
from gitfleet.model.state import PlacementRecord
from gitfleet.rollout import is_ready, plan_rollout, request_for
from gitfleet.rollout.budgets import Counts, budget
from gitfleet.rollout.readiness import has_failed, is_diff_reported
from gitfleet.snapshots import current_overrides, take_override_snapshots
from gitfleet.works.matching import contents_by_cluster
from tests.conformance.documents import (
    NOW,
    PLACEMENT,
    binding_of,
    cluster_of,
    difference,
    manifest_of,
    override_document,
    override_of,
    placement_of,
)
from tests.rollout.builders import OPEN

VERBS = {MoveKind.BIND: "bind", MoveKind.UPDATE: "update", MoveKind.REMOVE: "delete"}
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "web"}}
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "web"}}


def binding(case: Mapping[str, Any]) -> Binding:
    """A vector's binding."""
    return binding_of(case, policy="p-0")


def placement(given: Mapping[str, Any]) -> Placement:
    """The placement with a vector's limits."""
    limits = {name: _number(given[name]) for name in ("maxUnavailable", "maxSurge")}
    if "unavailablePeriodSeconds" in given:
        limits["unavailablePeriodSeconds"] = given["unavailablePeriodSeconds"]
    policy = {name: given[name] for name in ("placementType", "numberOfClusters", "clusterNames") if name in given}
    return placement_of(policy or None, {"type": "RollingUpdate", "rollingUpdate": limits})


def _number(given: int | str) -> int | str:
    """Cases put some numbers in quotes, which no file may do: KubeFleet's webhook takes "2" for a bad percentage."""
    return int(given) if isinstance(given, str) and given.isdigit() else given


def rolling(given: Mapping[str, Any]) -> RollingUpdate:
    """A vector's limits."""
    return placement(given).strategy.rolling_update


def snapshots_of(given: Mapping[str, Any]) -> tuple[tuple[ResourceSnapshot, ...], dict[str, str]]:
    """The snapshots that a case names, the latest last, and their names here by those in the case."""
    named = {b.get("snapshot"): None for b in given["bindings"]} | {given["latest"]: None}
    named.pop(given["latest"])
    reported = [*filter(None, named), *([given["latest"]] if given["latest"] else [])]
    manifests = (manifest_of(NAMESPACE), manifest_of(CONFIG_MAP))
    taken = tuple(
        ResourceSnapshot(
            placement=PLACEMENT,
            index=index,
            hash=name,
            commit="",
            created=NOW,
            documents=tuple(DocumentRef(m.origin.path, "", 0, m.key) for m in manifests),
            manifests=manifests,
        )
        for index, name in enumerate(reported)
    )
    names = dict(zip(reported, (snapshot.name for snapshot in taken), strict=True))
    return taken if given["latest"] else (), names


def override_snapshots(given: Sequence[Mapping[str, Any]]) -> tuple[OverrideSnapshot, ...]:
    """The latest snapshots of overrides, each taken version by version."""
    known: dict[OverrideKey, tuple[OverrideSnapshot, ...]] = {}
    wanted: dict[OverrideKey, Override] = {}
    for case in given:
        for policy in case["versions"]:
            namespace = case.get("namespace", "")
            if policy is None:
                wanted.pop(OverrideKey(namespace, case["name"]))
                continue
            target = case.get("target") or (CONFIG_MAP if namespace else NAMESPACE)
            override = override_of(override_document(case["name"], namespace, policy, target, case.get("placement")))
            wanted[override.key] = override
            known |= take_override_snapshots({override.key: override}, known)
    return current_overrides(wanted, known)


def run_plan(case: dict[str, Any]) -> str | None:
    """op plan."""
    given = case["in"]
    resources, names = snapshots_of(given)
    bindings = tuple(
        binding({**b, "snapshot": names[b["snapshot"]]} if b.get("snapshot") else b) for b in given["bindings"]
    )
    if "overrides" in given:
        clusters = [cluster_of({"name": b.cluster, "labels": given["labels"].get(b.cluster)}) for b in bindings]
        current = override_snapshots(given["overrides"])
        contents = contents_by_cluster(PLACEMENT, resources[-1], current, clusters)
    else:
        contents = {b.cluster: ClusterContent.of(b) for b in bindings}
    record = PlacementRecord(placement=placement(given), resource_snapshots=resources, bindings=bindings)
    # A case gives its bindings in listing order.
    plan = plan_rollout(replace(request_for(record, contents, NOW, OPEN), bindings=bindings))
    leaving = {b.cluster for b in bindings if b.state is BindingState.UNSCHEDULED}
    got: dict[str, Any] = {
        "need_roll": plan.need_roll,
        "roll": [f"{VERBS[m.kind]} {m.cluster}" for m in plan.moves],
        "stale_not_selected": [name for name in plan.blocked if name not in leaving],
        "up_to_date": list(plan.up_to_date),
    }
    reasons = {**{move.cluster: move.reason for move in plan.moves}, **plan.blocked}
    if "reasons" in case["out"]:
        got["reasons"] = reasons
    silent = [cluster for cluster, reason in reasons.items() if not reason]
    # When KubeFleet reconciles again is its own matter: here time and observations wake a reconcile.
    expected = {key: value for key, value in case["out"].items() if key != "wait_seconds"}
    return difference(expected, got) or (f"no reason for {silent}" if silent else None)


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
