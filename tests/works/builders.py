"""Short ways to write overrides, snapshots and bindings in tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from gitfleet.api.bindings import Binding, BindingState, ClusterContent
from gitfleet.api.cluster_selectors import ClusterSelectorTerm
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.labels import LabelSelector
from gitfleet.api.objects import JsonObject, Manifest, Origin, key_of
from gitfleet.api.overrides import JsonPatch, OverriddenResource, OverrideKey, OverrideRule, override_type
from gitfleet.api.placements import PlacementKey
from gitfleet.api.placing_policy import USUAL_POLICY, PlacingPolicy
from gitfleet.api.snapshots import DocumentRef, OverrideSnapshot, ResourceSnapshot
from gitfleet.formats.canonical_json import digest_of
from gitfleet.model.works import Work
from gitfleet.works import CompiledOverrides
from gitfleet.works.matching import contents_by_cluster
from gitfleet.works.render import render_work

WEB = PlacementKey("", "web")
EAST = MemberCluster(name="east", labels={"region": "eu", "tier": "gold"})
WEST = MemberCluster(name="west", labels={"region": "us"})


def content_for(
    placement: PlacementKey, taken: ResourceSnapshot, overrides: Iterable[OverrideSnapshot], cluster: MemberCluster
) -> ClusterContent:
    """What one cluster gets."""
    return contents_by_cluster(placement, taken, overrides, (cluster,)).get(cluster.name, ClusterContent())


def manifest(body: JsonObject) -> Manifest:
    key = key_of(body)
    return Manifest(key, body, digest_of(body), Origin(f"{key}.yaml", 1, "blob"))


def obj(api_version: str, kind: str, name: str, namespace: str = "", **more: Any) -> Manifest:
    metadata: dict[str, Any] = {"name": name, **more.pop("metadata", {})}
    if namespace:
        metadata["namespace"] = namespace
    return manifest({"apiVersion": api_version, "kind": kind, "metadata": metadata, **more})


NAMESPACE = obj("v1", "Namespace", "web")
SETTINGS = obj("v1", "ConfigMap", "settings", "web", data={"a": "1"})
ROLE = obj("rbac.authorization.k8s.io/v1", "ClusterRole", "reader")
SECRET = obj("v1", "Secret", "key", "web", data={"password": "aHVudGVyMg=="})


def snapshot(*manifests: Manifest, placement: PlacementKey = WEB) -> ResourceSnapshot:
    return ResourceSnapshot(
        placement=placement,
        index=0,
        hash=digest_of([m.digest for m in manifests]),
        commit="c0",
        created=datetime(2026, 1, 1, tzinfo=UTC),
        documents=tuple(DocumentRef(m.origin.path, m.origin.blob, 0, m.key) for m in manifests),
        manifests=manifests,
    )


def rule(*patches: JsonPatch, region: str | None = None, delete: bool = False) -> OverrideRule:
    """For every cluster, or for those of a region."""
    term = ClusterSelectorTerm(label_selector=LabelSelector(match_labels={"region": region or ""}))
    return OverrideRule(
        cluster_terms=(term,) if region else (), override_type="Delete" if delete else "JSONPatch", patches=patches
    )


def override(name: str, selects: Manifest, *rules: OverrideRule, ns: str = "", **more: Any) -> OverrideSnapshot:
    key = selects.key
    return OverrideSnapshot(
        override=override_type(ns)(
            key=OverrideKey(ns, name),
            resources=(OverriddenResource(key.group, key.version, key.kind, key.name),),
            rules=rules,
            **more,
        ),
        index=0,
        hash=digest_of(repr(rules)),
    )


def binding_of(cluster: MemberCluster) -> Binding:
    return Binding(
        placement=WEB,
        cluster=cluster.name,
        state=BindingState.BOUND,
        policy_snapshot="web-0",
        resource_snapshot="web-0-snapshot",
        generation=7,
    )


def render(
    manifests: Sequence[Manifest],
    overrides: Sequence[OverrideSnapshot] = (),
    cluster: MemberCluster = EAST,
    policy: PlacingPolicy = USUAL_POLICY,
) -> Work:
    binding = replace(
        binding_of(cluster),
        cluster_resource_overrides=tuple(o.reference for o in overrides if not o.override.key.namespace),
        resource_overrides=tuple(o.reference for o in overrides if o.override.key.namespace),
    )
    return render_work(binding, snapshot(*manifests), CompiledOverrides(overrides, policy), cluster)


def bodies(work: Work) -> list[JsonObject]:
    assert work.error is None
    return [m.body for m in work.manifests]
