"""Short ways to write payloads and placements in tests."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from gitfleet.api.objects import GroupKind, JsonObject, Manifest, Origin, key_of
from gitfleet.api.placements import Placement, PlacementKey, ResourceSelector, SelectionScope
from gitfleet.formats.canonical_json import digest_of
from gitfleet.model.state import PlacementRecord
from gitfleet.snapshots import PayloadIndex, take_snapshots
from gitfleet.snapshots.index import index_payload
from gitfleet.snapshots.take import SnapshotResult

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ANNOTATION = "kubernetes-fleet.io/envelope-configmap"
NAMESPACED = {
    GroupKind("", "Namespace"): False,
    GroupKind("", "ConfigMap"): True,
    GroupKind("", "Secret"): True,
    GroupKind("apps", "Deployment"): True,
    GroupKind("rbac.authorization.k8s.io", "ClusterRole"): False,
}


def manifest(body: JsonObject, *, blob: str | None = None, document: int = 0) -> Manifest:
    key, digest = key_of(body), digest_of(body)
    return Manifest(key, body, digest, Origin(f"resources/{key}.yaml", 1, digest if blob is None else blob, document))


def obj(api_version: str, kind: str, name: str, namespace: str = "", **more: Any) -> Manifest:
    metadata: dict[str, Any] = {"name": name, **more.pop("metadata", {})}
    if namespace:
        metadata["namespace"] = namespace
    return manifest({"apiVersion": api_version, "kind": kind, "metadata": metadata, **more})


def namespace(name: str, **labels: str) -> Manifest:
    return obj("v1", "Namespace", name, metadata={"labels": labels} if labels else {})


def config(name: str, ns: str, value: str = "1", **labels: str) -> Manifest:
    return obj("v1", "ConfigMap", name, ns, data={"k": value}, metadata={"labels": labels} if labels else {})


def role(name: str, **labels: str) -> Manifest:
    return obj("rbac.authorization.k8s.io/v1", "ClusterRole", name, metadata={"labels": labels} if labels else {})


def envelope(name: str, ns: str, *inner: Manifest) -> Manifest:
    """A ConfigMap that carries other objects."""
    texts = {f"{number}.yaml": json.dumps(m.body) for number, m in enumerate(inner)}
    return obj("v1", "ConfigMap", name, ns, data=texts, metadata={"annotations": {ANNOTATION: "true"}})


def index(*manifests: Manifest, **more: Any) -> PayloadIndex:
    return index_payload(manifests, NAMESPACED, **more)


def pick(kind: str, name: str | None = None, **more: Any) -> ResourceSelector:
    group = {"ClusterRole": "rbac.authorization.k8s.io", "Deployment": "apps"}.get(kind, "")
    return ResourceSelector(group=group, version="v1", kind=kind, name=name, **more)


def pick_namespace(name: str, scope: str = "NamespaceWithResources") -> ResourceSelector:
    return pick("Namespace", name, selection_scope=SelectionScope(scope))


def placement(*selectors: ResourceSelector, name: str = "web", ns: str = "", **more: Any) -> Placement:
    return Placement(key=PlacementKey(ns, name), selectors=selectors, **more)


def record_of(subject: Placement, answer: SnapshotResult, **more: Any) -> PlacementRecord:
    return PlacementRecord(
        placement=subject,
        resource_snapshots=answer.resource_snapshots,
        policy_snapshots=answer.policy_snapshots,
        **more,
    )


def take(
    subject: Placement, payload: PayloadIndex, before: PlacementRecord | None = None, **more: Any
) -> SnapshotResult:
    return take_snapshots(subject, payload, before, commit=more.pop("commit", "c0"), now=NOW, **more)
