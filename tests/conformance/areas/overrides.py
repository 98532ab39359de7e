"""Vectors of the area overrides: one object on one cluster through a list of overrides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from gitfleet.api.annotations import Absent
from gitfleet.api.bindings import Binding, BindingState
from gitfleet.api.cluster_selectors import ClusterSelectorTerm
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.labels import LabelRequirement, LabelSelector
from gitfleet.api.objects import Manifest, Origin, key_of
from gitfleet.api.overrides import JsonPatch, OverriddenResource, OverrideKey, OverrideRule, override_type
from gitfleet.api.placements import PlacementKey
from gitfleet.api.snapshots import DocumentRef, OverrideSnapshot, ResourceSnapshot
from gitfleet.formats.canonical_json import digest_of
from gitfleet.works import CompiledOverrides, render_work

PLACEMENT = PlacementKey("", "p")


def label_selector(given: Mapping[str, Any] | None) -> LabelSelector | None:
    """metav1.LabelSelector"""
    if given is None:
        return None
    expressions = given.get("matchExpressions") or ()
    return LabelSelector(
        match_labels=given.get("matchLabels") or {},
        match_expressions=tuple(
            LabelRequirement(e["key"], e["operator"], tuple(e.get("values") or ())) for e in expressions
        ),
    )


def override_rule(given: Mapping[str, Any]) -> OverrideRule:
    """One rule as people write it."""
    selector = given.get("clusterSelector")
    terms = None if selector is None else selector.get("clusterSelectorTerms") or ()
    return OverrideRule(
        cluster_terms=None
        if terms is None
        else tuple(ClusterSelectorTerm(label_selector=label_selector(t.get("labelSelector"))) for t in terms),
        override_type=given.get("overrideType") or "JSONPatch",
        patches=tuple(
            JsonPatch(p["op"], p["path"], p.get("value", Absent.ABSENT)) for p in given.get("jsonPatchOverrides") or ()
        ),
    )


def run_overrides(case: dict[str, Any]) -> str | None:
    """The whole area."""
    given = case["in"]
    body = given["resource"]
    key = key_of(body)
    manifest = Manifest(key, body, digest_of(body), Origin("vector.yaml", 1))
    # An object in a namespace is reached by cluster-wide overrides through its Namespace.
    target = (
        OverriddenResource("", "v1", "Namespace", key.namespace)
        if key.namespace
        else OverriddenResource(key.group, key.version, key.kind, key.name)
    )
    overrides = {}
    for number, rules in enumerate(given["overrides"]):
        override = override_type("")(
            key=OverrideKey("", f"o{number:03}"), resources=(target,), rules=tuple(override_rule(r) for r in rules)
        )
        snapshot = OverrideSnapshot(override=override, index=0, hash=digest_of(rules))
        overrides[snapshot.reference] = snapshot
    binding = Binding(
        placement=PLACEMENT,
        cluster=given["cluster"]["name"],
        state=BindingState.BOUND,
        policy_snapshot="p-0",
        cluster_resource_overrides=tuple(overrides),
    )
    resources = ResourceSnapshot(
        placement=PLACEMENT,
        index=0,
        hash="",
        commit="",
        created=datetime(2026, 1, 1, tzinfo=UTC),
        documents=(DocumentRef("vector.yaml", "", 0, key),),
        manifests=(manifest,),
    )
    cluster = MemberCluster(name=given["cluster"]["name"], labels=given["cluster"].get("labels") or {})
    work = render_work(binding, resources, CompiledOverrides(overrides.values()), cluster)
    expected = case["out"]
    if "error" in expected:
        return None if work.error and not work.manifests else f"expected an error, got {work.manifests!r}"
    if work.error:
        return f"expected {expected!r}, got the error {work.error}"
    got = {"resource": work.manifests[0].body} if work.manifests else {"deleted": True}
    return None if got == expected else f"expected {expected!r}, got {got!r}"


AREAS: dict[str, Callable[[dict[str, Any]], str | None]] = {"overrides": run_overrides}
