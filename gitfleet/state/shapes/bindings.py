"""ClusterResourceBinding and ResourceBinding, as the seed shows them (003, "Placement Decisions")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitfleet.api.bindings import Binding, BindingState, DivergedObject, FailedObject
from gitfleet.api.objects import JsonObject
from gitfleet.api.placements import PLACEMENT_GROUP, ApplyStrategy, PlacementKey
from gitfleet.state.shapes.fields import (
    PLACEMENT_LABEL,
    choice_at,
    condition_objects,
    int_at,
    key_fields,
    mapping_at,
    mappings_at,
    need_text,
    need_time,
    optional_mapping,
    optional_text,
    optional_time,
    present,
    read_conditions,
    read_key,
    text_at,
    texts_at,
    time_text,
)
from gitfleet.state.shapes.snapshots import decision_object, read_decision
from gitfleet.state.shapes.strategies import apply_strategy_object, read_apply_strategy

PREVIOUS_STATE = "kubernetes-fleet.io/previous-binding-state"
API_VERSION = f"{PLACEMENT_GROUP}/v1beta1"


def binding_object(binding: Binding) -> JsonObject:
    """The object as `kubectl get -o yaml` would show it; the default apply strategy is left out."""
    key = binding.placement
    previous = binding.previous_state
    strategy = binding.apply_strategy
    return {
        "apiVersion": API_VERSION,
        "kind": "ResourceBinding" if key.namespace else "ClusterResourceBinding",
        "metadata": {
            "name": binding.name,
            "generation": binding.generation,
            "labels": {PLACEMENT_LABEL: key.name},
            **present(
                namespace=key.namespace,
                annotations=previous and {PREVIOUS_STATE: previous.value},
                deletionTimestamp=binding.deleting and time_text(binding.deleting),
            ),
        },
        "spec": {
            "state": binding.state.value,
            "targetCluster": binding.cluster,
            "schedulingPolicySnapshotName": binding.policy_snapshot,
            **_absent_or(resourceSnapshotName=binding.resource_snapshot),
            **present(
                clusterDecision=binding.decision and decision_object(binding.decision),
                clusterResourceOverrideSnapshots=list(binding.cluster_resource_overrides),
                resourceOverrideSnapshots=references_object(binding.resource_overrides),
                overrideLabels=[{"key": key, **_absent_or(value=value)} for key, value in binding.override_labels],
                applyStrategy=None if strategy == ApplyStrategy() else apply_strategy_object(strategy),
            ),
        },
        **present(status=_status(binding)),
    }


def _absent_or(**fields: str | None) -> dict[str, str]:
    return {name: value for name, value in fields.items() if value is not None}


def _status(binding: Binding) -> JsonObject:
    return {
        **present(
            conditions=condition_objects(binding.conditions),
            failedPlacements=failed_objects(binding.failed),
            driftedPlacements=diverged_objects(binding.drifted, "Drift"),
            diffedPlacements=diverged_objects(binding.diffed, "Diff"),
        ),
        **_absent_or(appliedResourceSnapshotName=binding.applied_snapshot),
    }


def references_object(references: tuple[str, ...]) -> list[JsonObject]:
    """`namespace/name` as KubeFleet's NamespacedName."""
    split = [reference.rpartition("/") for reference in references]
    return [{"name": name, **({"namespace": namespace} if slash else {})} for namespace, slash, name in split]


def _read_references(source: Mapping[str, Any], key: str) -> tuple[str, ...]:
    return tuple(
        f"{need_text(item, 'namespace')}/{need_text(item, 'name')}" if "namespace" in item else need_text(item, "name")
        for item in mappings_at(source, key)
    )


def failed_objects(failed: tuple[FailedObject, ...]) -> list[JsonObject]:
    """FailedResourcePlacement."""
    return [
        {
            **key_fields(item.key),
            "condition": {
                "type": item.condition,
                "status": "False",
                "reason": item.reason,
                "message": item.message,
            },
        }
        for item in failed
    ]


def _read_failed(source: Mapping[str, Any]) -> FailedObject:
    condition = mapping_at(source, "condition")
    return FailedObject(
        key=read_key(source),
        condition=need_text(condition, "type"),
        reason=text_at(condition, "reason"),
        message=text_at(condition, "message"),
    )


def diverged_objects(diverged: tuple[DivergedObject, ...], word: str) -> list[JsonObject]:
    """DriftedResourcePlacement or DiffedResourcePlacement; `word` is Drift or Diff."""
    return [
        {
            **key_fields(item.key),
            "observationTime": time_text(item.observed),
            f"first{_past(word)}ObservedTime": time_text(item.first_observed),
            f"observed{word}s": [
                {"path": path, **_absent_or(valueInMember=member, valueInHub=hub)} for path, member, hub in item.details
            ],
        }
        for item in diverged
    ]


def _past(word: str) -> str:
    return "Drifted" if word == "Drift" else "Diffed"


def _read_diverged(source: Mapping[str, Any], word: str) -> DivergedObject:
    return DivergedObject(
        key=read_key(source),
        details=tuple(
            (need_text(item, "path"), optional_text(item, "valueInMember"), optional_text(item, "valueInHub"))
            for item in mappings_at(source, f"observed{word}s")
        ),
        observed=need_time(source, "observationTime"),
        first_observed=need_time(source, f"first{_past(word)}ObservedTime"),
    )


def read_binding(source: Mapping[str, Any]) -> Binding:
    """The binding back."""
    metadata, spec, status = (mapping_at(source, part) for part in ("metadata", "spec", "status"))
    annotations = mapping_at(metadata, "annotations")
    decision = optional_mapping(spec, "clusterDecision")
    return Binding(
        placement=PlacementKey(
            text_at(metadata, "namespace"), need_text(mapping_at(metadata, "labels"), PLACEMENT_LABEL)
        ),
        cluster=need_text(spec, "targetCluster"),
        state=choice_at(spec, "state", BindingState),
        policy_snapshot=text_at(spec, "schedulingPolicySnapshotName"),
        previous_state=choice_at(annotations, PREVIOUS_STATE, BindingState) if PREVIOUS_STATE in annotations else None,
        resource_snapshot=optional_text(spec, "resourceSnapshotName"),
        cluster_resource_overrides=texts_at(spec, "clusterResourceOverrideSnapshots"),
        resource_overrides=_read_references(spec, "resourceOverrideSnapshots"),
        apply_strategy=read_apply_strategy(mapping_at(spec, "applyStrategy")),
        decision=None if decision is None else read_decision(decision),
        generation=int_at(metadata, "generation", 1),
        conditions=read_conditions(status),
        failed=tuple(map(_read_failed, mappings_at(status, "failedPlacements"))),
        drifted=tuple(_read_diverged(item, "Drift") for item in mappings_at(status, "driftedPlacements")),
        diffed=tuple(_read_diverged(item, "Diff") for item in mappings_at(status, "diffedPlacements")),
        applied_snapshot=optional_text(status, "appliedResourceSnapshotName"),
        deleting=optional_time(metadata, "deletionTimestamp"),
        override_labels=tuple(
            (need_text(item, "key"), optional_text(item, "value")) for item in mappings_at(spec, "overrideLabels")
        ),
    )
