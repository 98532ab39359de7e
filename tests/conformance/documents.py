"""Cases as the documents that gitfleet reads, and the values that the product's own readers make of them.

What people write goes through the strict reader. Some cases are about what that reader refuses (a budget of zero, an
operator that does not exist): those go through the reader of the state branch, as what an older version accepted does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from gitfleet.api import read, read_state
from gitfleet.api.bindings import PREVIOUS_STATE, Binding
from gitfleet.api.clusters import CLUSTER_GROUP, MemberCluster
from gitfleet.api.objects import JsonObject, Manifest
from gitfleet.api.overrides import Override, override_type
from gitfleet.api.placements import PARENT_LABEL, PLACEMENT_GROUP, Placement, PlacementKey
from gitfleet.desired import manifests_of, parse_file
from gitfleet.formats.kinds import BUILT_IN_KINDS
from gitfleet.formats.times import time_text

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
PLACEMENT = PlacementKey("", "p")
GENERATION = 5
V1BETA1 = f"{PLACEMENT_GROUP}/v1beta1"
_Kind = TypeVar("_Kind")


def accepted(declaration: type[_Kind], body: JsonObject) -> _Kind:
    """The value of a document."""
    value, _breaks = read(declaration, body)
    return read_state(declaration, body) if value is None else value


def manifest_of(body: JsonObject) -> Manifest:
    """An object of the payload, read from a file."""
    path = "resources/object.yaml"
    (manifest,) = manifests_of(path, "", parse_file(path, json.dumps(body).encode()))
    return manifest


def named(body: JsonObject) -> dict[str, Any]:
    """An object with the name and the namespace that a file must give and some cases leave out."""
    group, _, _ = str(body["apiVersion"]).rpartition("/")
    row = BUILT_IN_KINDS.get((group, str(body["kind"])))
    namespace = {"namespace": "vectors"} if row is not None and row.namespaced else {}
    return {**body, "metadata": {"name": "vector", **namespace, **body.get("metadata", {})}}


def placement_document(policy: JsonObject | None = None, strategy: JsonObject | None = None) -> dict[str, Any]:
    """The placement `p`."""
    spec: dict[str, Any] = {"resourceSelectors": [_selector({"apiVersion": "v1", "kind": "Namespace"})]}
    spec |= {name: part for name, part in (("policy", policy), ("strategy", strategy)) if part is not None}
    return {
        "apiVersion": V1BETA1,
        "kind": "ClusterResourcePlacement",
        "metadata": {"name": PLACEMENT.name},
        "spec": spec,
    }


def placement_of(policy: JsonObject | None = None, strategy: JsonObject | None = None) -> Placement:
    """The placement `p`, read."""
    return accepted(Placement, placement_document(policy, strategy))


def affinity(required: JsonObject | None = None, preferred: Sequence[JsonObject] = ()) -> dict[str, Any]:
    """`spec.policy.affinity`."""
    inner: dict[str, Any] = {}
    if required is not None:
        inner["requiredDuringSchedulingIgnoredDuringExecution"] = required
    if preferred:
        inner["preferredDuringSchedulingIgnoredDuringExecution"] = list(preferred)
    return {"clusterAffinity": inner}


def cluster_document(name: str, *, labels: JsonObject | None = None, taints: Any = None) -> dict[str, Any]:
    """A member cluster as people write it."""
    spec = {} if taints is None else {"taints": taints}
    metadata = {"name": name, "labels": labels or {}}
    return {"apiVersion": f"{CLUSTER_GROUP}/v1beta1", "kind": "MemberCluster", "metadata": metadata, "spec": spec}


def cluster_of(case: Mapping[str, Any]) -> MemberCluster:
    """A member cluster; absent `state` means healthy."""
    document = cluster_document(case["name"], labels=case.get("labels"), taints=case.get("taints"))
    document["status"] = {
        "properties": {name: {"value": value} for name, value in (case.get("properties") or {}).items()},
        "resourceUsage": case.get("resourceUsage") or {},
        "agentStatus": _agent(case.get("state")),
    }
    cluster = accepted(MemberCluster, document)
    # Deleting the file is what makes a cluster leave: no file can say it.
    return replace(cluster, deleting=NOW) if case.get("state") == "leaving" else cluster


def _agent(state: str | None) -> list[dict[str, Any]]:
    """A member agent that joined an hour ago and sends heartbeats, as far as the cluster's `state` lets it."""
    if state == "never-joined":
        return []
    hour, six = NOW - timedelta(hours=1), NOW - timedelta(minutes=6)
    unhealthy_since = {"unhealthy": six, "flapping": NOW}.get(state or "")
    conditions = [
        _condition("Joined", "False" if state == "left" else "True", hour),
        _condition("Healthy", "False" if unhealthy_since else "True", unhealthy_since or hour),
    ]
    heartbeat = six if state == "heartbeat-stale" else NOW
    return [{"type": "MemberAgent", "conditions": conditions, "lastReceivedHeartbeat": time_text(heartbeat)}]


def _condition(type_: str, status: str, since: datetime, reason: str = "Vector") -> dict[str, Any]:
    return {"type": type_, "status": status, "reason": reason, "lastTransitionTime": time_text(since)}


def binding_of(case: Mapping[str, Any], *, policy: str, decision: JsonObject | None = None) -> Binding:
    """A binding of `p` as the state branch has it."""
    metadata: dict[str, Any] = {"labels": {PARENT_LABEL: PLACEMENT.name}, "generation": GENERATION}
    if case.get("previousState"):
        metadata["annotations"] = {PREVIOUS_STATE: case["previousState"]}
    if case.get("deleting"):
        metadata["deletionTimestamp"] = time_text(NOW)
    spec = {
        "targetCluster": case.get("cluster", "c"),
        "state": case.get("state", "Bound"),
        "schedulingPolicySnapshotName": policy,
        "clusterResourceOverrideSnapshots": list(case.get("clusterResourceOverrides", ())),
        "resourceOverrideSnapshots": [_reference(text) for text in case.get("resourceOverrides", ())],
    }
    spec |= {"resourceSnapshotName": case["snapshot"]} if case.get("snapshot") else {}
    spec |= {"clusterDecision": decision} if decision else {}
    conditions = [_observed(condition) for condition in case.get("conditions", ())]
    document = {"apiVersion": V1BETA1, "kind": "ClusterResourceBinding", "metadata": metadata, "spec": spec}
    return read_state(Binding, {**document, "status": {"conditions": conditions}})


def _reference(text: str) -> dict[str, str]:
    namespace, _, name = text.rpartition("/")
    return {"name": name, "namespace": namespace}


def _observed(case: Mapping[str, Any]) -> dict[str, Any]:
    """A condition, of the present generation unless it is stale."""
    since = NOW - timedelta(seconds=case.get("age_seconds", 3600))
    generation = GENERATION - 1 if case.get("stale") else GENERATION
    return {**_condition(case["type"], case["status"], since, case["reason"]), "observedGeneration": generation}


def override_document(
    name: str, namespace: str, policy: JsonObject, target: JsonObject, placement: str | None = None
) -> dict[str, Any]:
    """An override of one object, cluster-wide without a namespace; of one placement or of any."""
    kind, field = ("ResourceOverride", "resourceSelectors") if namespace else _CLUSTER_WIDE
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    spec = {field: [_selector(target)], "policy": policy, **({"placement": {"name": placement}} if placement else {})}
    return {"apiVersion": V1BETA1, "kind": kind, "metadata": metadata, "spec": spec}


_CLUSTER_WIDE = ("ClusterResourceOverride", "clusterResourceSelectors")


def override_of(document: Mapping[str, Any]) -> Override:
    """An override, read."""
    return accepted(override_type(document["metadata"].get("namespace", "")), document)


def _selector(target: JsonObject) -> dict[str, Any]:
    group, _, version = str(target["apiVersion"]).rpartition("/")
    named = {"name": target["metadata"]["name"]} if "metadata" in target else {}
    return {"group": group, "version": version, "kind": target["kind"], **named}


def difference(expected: object, got: object) -> str | None:
    """None when equal, else both."""
    return None if expected == got else f"expected {expected!r}, got {got!r}"
