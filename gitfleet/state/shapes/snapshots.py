"""ClusterResourceSnapshot and ClusterSchedulingPolicySnapshot, and their namespaced forms, as the seeds show them
(003, "Resource Selection" and "Placement Policy"; kubefleet.md §4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitfleet.api.bindings import ClusterDecision, ClusterScore
from gitfleet.api.conditions import Condition
from gitfleet.api.objects import JsonObject
from gitfleet.api.placements import PlacementKey
from gitfleet.api.snapshots import DocumentRef, PolicySnapshot, ResourceSnapshot
from gitfleet.formats.times import time_text
from gitfleet.formats.yaml_writer import write_documents
from gitfleet.state.paths import is_rendered
from gitfleet.state.shapes.fields import (
    LATEST_LABEL,
    PLACEMENT_LABEL,
    condition_objects,
    flag_at,
    index_at,
    int_at,
    key_fields,
    mapping_at,
    mappings_at,
    need_text,
    need_time,
    optional_mapping,
    optional_text,
    present,
    read_bytes_text,
    read_key,
    text_at,
)
from gitfleet.state.shapes.fields import bytes_text as hash_text
from gitfleet.state.shapes.lines import entry_line, lines_bytes, read_lines
from gitfleet.state.shapes.placements import api_version_of
from gitfleet.state.shapes.policies import policy_object, read_policy

RESOURCE_INDEX = "kubernetes-fleet.io/resource-index"
RESOURCE_HASH = "kubernetes-fleet.io/resource-hash"
SNAPSHOT_COUNT = "kubernetes-fleet.io/number-of-resource-snapshots"
POLICY_INDEX = "kubernetes-fleet.io/policy-index"
GENERATION = "kubernetes-fleet.io/CRP-generation"
CLUSTER_COUNT = "kubernetes-fleet.io/number-of-clusters"
_DECISIONS = "targetClusters"
"""The last field of a policy snapshot's file."""


def resource_snapshot_object(snapshot: ResourceSnapshot, *, latest: bool) -> JsonObject:
    """The snapshot with `spec.documents` in the place of `spec.selectedResources`: which document of which file."""
    key = snapshot.placement
    return {
        "apiVersion": api_version_of(key),
        "kind": "ResourceSnapshot" if key.namespace else "ClusterResourceSnapshot",
        "metadata": {
            "name": snapshot.name,
            "annotations": {RESOURCE_HASH: snapshot.hash, SNAPSHOT_COUNT: "1"},
            "creationTimestamp": time_text(snapshot.created),
            "labels": {
                LATEST_LABEL: str(latest).lower(),
                PLACEMENT_LABEL: key.name,
                RESOURCE_INDEX: str(snapshot.index),
            },
            **present(namespace=key.namespace),
        },
        "spec": {
            "commit": snapshot.commit,
            "documents": [
                {
                    **key_fields(ref.key),
                    "path": ref.path,
                    **({} if is_rendered(ref) else {"blob": ref.blob, "document": ref.document}),
                }
                for ref in snapshot.documents
            ],
        },
    }


def read_resource_snapshot(source: Mapping[str, Any]) -> ResourceSnapshot:
    """The snapshot back, its manifests not loaded."""
    metadata, spec = mapping_at(source, "metadata"), mapping_at(source, "spec")
    labels, annotations = mapping_at(metadata, "labels"), mapping_at(metadata, "annotations")
    return ResourceSnapshot(
        placement=PlacementKey(text_at(metadata, "namespace"), need_text(labels, PLACEMENT_LABEL)),
        index=index_at(labels, RESOURCE_INDEX),
        hash=need_text(annotations, RESOURCE_HASH),
        commit=need_text(spec, "commit"),
        created=need_time(metadata, "creationTimestamp"),
        documents=tuple(
            DocumentRef(
                need_text(item, "path"),
                text_at(item, "blob"),
                int_at(item, "document", 0),
                read_key(item),
                rendered="blob" not in item,
            )
            for item in mappings_at(spec, "documents")
        ),
    )


def decision_object(decision: ClusterDecision) -> JsonObject:
    """ClusterDecision; the spread score is called `priorityScore`, as in the seeds."""
    score = decision.score
    scored: dict[str, Any] = {}
    if score is not None:
        scored = {"clusterScore": {"affinityScore": score.affinity, "priorityScore": score.topology_spread}}
    return {
        "clusterName": decision.cluster,
        "selected": decision.selected,
        "reason": decision.reason,
        **scored,
        **present(refusedBy=decision.refused_by),
    }


def read_decision(source: Mapping[str, Any]) -> ClusterDecision:
    """ClusterDecision back."""
    score = optional_mapping(source, "clusterScore")
    return ClusterDecision(
        cluster=need_text(source, "clusterName"),
        selected=flag_at(source, "selected"),
        score=None
        if score is None
        else ClusterScore(int_at(score, "priorityScore", 0), int_at(score, "affinityScore", 0)),
        reason=text_at(source, "reason"),
        refused_by=optional_text(source, "refusedBy"),
    )


def policy_snapshot_object(
    snapshot: PolicySnapshot, *, latest: bool, scheduled: Condition | None, decisions: tuple[ClusterDecision, ...]
) -> JsonObject:
    """The snapshot; the latest one carries the scheduler's decisions, as in KubeFleet."""
    key = snapshot.placement
    count = {} if snapshot.number_of_clusters is None else {CLUSTER_COUNT: str(snapshot.number_of_clusters)}
    status: dict[str, Any] = {"observedCRPGeneration": snapshot.placement_generation}
    if latest:
        if scheduled is not None:
            status["conditions"] = [{**item, "type": "Scheduled"} for item in condition_objects((scheduled,))]
        status |= present(targetClusters=[decision_object(decision) for decision in decisions])
    return {
        "apiVersion": api_version_of(key),
        "kind": "SchedulingPolicySnapshot" if key.namespace else "ClusterSchedulingPolicySnapshot",
        "metadata": {
            "name": snapshot.name,
            "annotations": {GENERATION: str(snapshot.placement_generation), **count},
            "labels": {
                LATEST_LABEL: str(latest).lower(),
                PLACEMENT_LABEL: key.name,
                POLICY_INDEX: str(snapshot.index),
            },
            **present(namespace=key.namespace),
        },
        "spec": {"policy": policy_object(snapshot.policy), "policyHash": hash_text(snapshot.hash)},
        "status": status,
    }


def policy_snapshot_bytes(body: JsonObject) -> bytes:
    """The file of a policy snapshot: the object with a decision a line."""
    status = body["status"]
    decisions = status.get(_DECISIONS)
    if not decisions:
        return write_documents([body])
    head = {**body, "status": {name: value for name, value in status.items() if name != _DECISIONS}}
    return lines_bytes(head, _DECISIONS, map(entry_line, decisions), indent="  ")


def read_policy_file(content: bytes) -> JsonObject | None:
    """The object back; None for a file that this version did not write or that has no decisions."""
    found = read_lines(content, _DECISIONS, indent="  ")
    if found is None:
        return None
    head, decisions = found
    return {**head, "status": {**mapping_at(head, "status"), _DECISIONS: decisions}}


def read_policy_snapshot(source: Mapping[str, Any]) -> tuple[PolicySnapshot, tuple[ClusterDecision, ...]]:
    """The snapshot and the decisions it carries."""
    metadata, spec = mapping_at(source, "metadata"), mapping_at(source, "spec")
    labels, annotations = mapping_at(metadata, "labels"), mapping_at(metadata, "annotations")
    snapshot = PolicySnapshot(
        placement=PlacementKey(text_at(metadata, "namespace"), need_text(labels, PLACEMENT_LABEL)),
        index=index_at(labels, POLICY_INDEX),
        hash=read_bytes_text(spec, "policyHash"),
        policy=read_policy(mapping_at(spec, "policy")),
        number_of_clusters=index_at(annotations, CLUSTER_COUNT) if CLUSTER_COUNT in annotations else None,
        placement_generation=index_at(annotations, GENERATION),
    )
    decisions = mappings_at(mapping_at(source, "status"), "targetClusters")
    return snapshot, tuple(map(read_decision, decisions))
