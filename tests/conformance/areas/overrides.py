"""Vectors of the area overrides: one object on one cluster through a list of overrides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gitfleet.api.bindings import ClusterContent
from gitfleet.api.objects import Manifest
from gitfleet.api.snapshots import DocumentRef, ResourceSnapshot
from gitfleet.snapshots import current_overrides, take_override_snapshots
from gitfleet.works import CompiledOverrides
from gitfleet.works.matching import contents_by_cluster
from gitfleet.works.render import render_work
from tests.conformance.documents import (
    NOW,
    PLACEMENT,
    binding_of,
    cluster_of,
    difference,
    manifest_of,
    named,
    override_document,
    override_of,
)
from tests.conformance.texts import text_difference


def snapshot_of(*manifests: Manifest) -> ResourceSnapshot:
    """A snapshot of `p`."""
    documents = tuple(DocumentRef(m.origin.path, "", 0, m.key) for m in manifests)
    return ResourceSnapshot(
        placement=PLACEMENT, index=0, hash="", commit="", created=NOW, documents=documents, manifests=manifests
    )


def run_overrides(case: dict[str, Any]) -> str | None:
    """The whole area."""
    given, expected = case["in"], case["out"]
    cluster, manifest = cluster_of(given["cluster"]), manifest_of(named(given["resource"]))
    # An object in a namespace is reached by cluster-wide overrides through its Namespace.
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": manifest.key.namespace}}
    target = namespace if manifest.key.namespace else given["resource"]
    read = [
        override_of(override_document(f"o{number:03}", "", {"overrideRules": rules}, target))
        for number, rules in enumerate(given["overrides"])
    ]
    wanted = {override.key: override for override in read}
    snapshots = current_overrides(wanted, take_override_snapshots(wanted, {}))
    resources = snapshot_of(manifest)
    content = contents_by_cluster(PLACEMENT, resources, snapshots, (cluster,)).get(cluster.name, ClusterContent())
    names = content.cluster_resource_overrides
    binding = binding_of({"cluster": cluster.name, "clusterResourceOverrides": names}, policy="p-0")
    work = render_work(binding, resources, CompiledOverrides(snapshots), cluster)
    if "error" in expected:
        prefix = 'ClusterResourceOverrideSnapshot "o'
        if not work.error or work.manifests or not work.error.startswith(prefix):
            return f"expected an error of an override, got {work.error!r} and {work.manifests!r}"
        return text_difference(expected["error"].strip(), [work.error])
    if work.error:
        return f"expected {expected!r}, got the error {work.error}"
    got = {"resource": work.manifests[0].body} if work.manifests else {"deleted": True}
    if "resource" in expected:
        expected = {"resource": named(expected["resource"])}
    return difference(expected, got)


AREAS: dict[str, Callable[[dict[str, Any]], str | None]] = {"overrides": run_overrides}
