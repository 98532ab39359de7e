"""ClusterResourceBinding and ResourceBinding, as the seed shows them (003, "Placement Decisions"): one object, and the
files that hold a placement's, an object a line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from gitfleet.api.bindings import Binding, BindingState, DivergedObject, FailedObject
from gitfleet.api.objects import JsonObject
from gitfleet.api.placements import PLACEMENT_GROUP, ApplyStrategy, PlacementKey
from gitfleet.formats.times import time_text
from gitfleet.formats.yaml_reader import Profile, read_documents
from gitfleet.state.shapes.fields import (
    PLACEMENT_LABEL,
    KnownConditions,
    Misshapen,
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
    read_conditions,
    read_key,
    text_at,
    texts_at,
)
from gitfleet.state.shapes.lines import entry_line, lines_bytes, read_lines
from gitfleet.state.shapes.snapshots import decision_object, read_decision
from gitfleet.state.shapes.strategies import apply_strategy_object, read_apply_strategy

PREVIOUS_STATE = "kubernetes-fleet.io/previous-binding-state"
API_VERSION = f"{PLACEMENT_GROUP}/v1beta1"
_DEFAULT_STRATEGY: Final = ApplyStrategy()


def binding_object(binding: Binding) -> JsonObject:
    """The object as `kubectl get -o yaml` would show it; the default apply strategy is left out."""
    key, item = binding.placement, _item(binding)
    labelled = {**item["metadata"], "labels": {PLACEMENT_LABEL: key.name}}
    metadata = {**labelled, "namespace": key.namespace} if key.namespace else labelled
    return {"apiVersion": API_VERSION, "kind": _kind(key), **item, "metadata": metadata}


def binding_line(binding: Binding) -> bytes:
    """One line of a bindings file: the object without what the file's head says for all."""
    return entry_line(_item(binding))


def bindings_bytes(key: PlacementKey, lines: Iterable[bytes]) -> bytes:
    """One file of a placement's bindings: a typed list."""
    head: JsonObject = {"apiVersion": API_VERSION, "kind": f"{_kind(key)}List", "placement": str(key)}
    return lines_bytes(head, "items", lines)


def read_bindings(content: bytes) -> tuple[tuple[Binding, ...], bool]:
    """The bindings of one file, and whether it was written as this version writes it. UnreadableText or Misshapen.

    A stream of whole objects, as earlier versions wrote it, is read too.
    """
    found = read_lines(content, "items")
    if found is not None:
        head, items = found
        return _listed({**head, "items": items}), True
    bindings: list[Binding] = []
    for document in read_documents(content, Profile.STATE):
        if not isinstance(document, dict):
            raise Misshapen("it must hold bindings")
        whole = "items" not in document
        bindings += [read_binding(document, _labelled_placement(document))] if whole else _listed(document)
    return tuple(bindings), False


def _listed(source: Mapping[str, Any]) -> tuple[Binding, ...]:
    key = _read_placement(source)
    known: KnownConditions = {}
    return tuple(read_binding(item, key, known) for item in mappings_at(source, "items"))


def _read_placement(head: Mapping[str, Any]) -> PlacementKey:
    namespace, _, name = need_text(head, "placement").rpartition("/")
    return PlacementKey(namespace, name)


def _labelled_placement(source: Mapping[str, Any]) -> PlacementKey:
    metadata = mapping_at(source, "metadata")
    return PlacementKey(text_at(metadata, "namespace"), need_text(mapping_at(metadata, "labels"), PLACEMENT_LABEL))


def _kind(key: PlacementKey) -> str:
    return "ResourceBinding" if key.namespace else "ClusterResourceBinding"


def _item(binding: Binding) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": binding.name, "generation": binding.generation}
    if binding.previous_state is not None:
        metadata["annotations"] = {PREVIOUS_STATE: binding.previous_state.value}
    if binding.deleting is not None:
        metadata["deletionTimestamp"] = time_text(binding.deleting)
    spec: dict[str, Any] = {
        "state": binding.state.value,
        "targetCluster": binding.cluster,
        "schedulingPolicySnapshotName": binding.policy_snapshot,
    }
    if binding.resource_snapshot is not None:
        spec["resourceSnapshotName"] = binding.resource_snapshot
    if binding.decision is not None:
        spec["clusterDecision"] = decision_object(binding.decision)
    if binding.cluster_resource_overrides:
        spec["clusterResourceOverrideSnapshots"] = list(binding.cluster_resource_overrides)
    if binding.resource_overrides:
        spec["resourceOverrideSnapshots"] = references_object(binding.resource_overrides)
    if binding.override_labels:
        spec["overrideLabels"] = [{"key": key, **_absent_or(value=value)} for key, value in binding.override_labels]
    if binding.apply_strategy != _DEFAULT_STRATEGY:
        spec["applyStrategy"] = apply_strategy_object(binding.apply_strategy)
    status = _status(binding)
    return {"metadata": metadata, "spec": spec, "status": status} if status else {"metadata": metadata, "spec": spec}


def _absent_or(**fields: str | None) -> dict[str, str]:
    return {name: value for name, value in fields.items() if value is not None}


def _status(binding: Binding) -> dict[str, Any]:
    status: dict[str, Any] = {}
    if binding.conditions:
        status["conditions"] = condition_objects(binding.conditions)
    if binding.failed:
        status["failedPlacements"] = failed_objects(binding.failed)
    if binding.drifted:
        status["driftedPlacements"] = diverged_objects(binding.drifted, "Drift")
    if binding.diffed:
        status["diffedPlacements"] = diverged_objects(binding.diffed, "Diff")
    if binding.applied_snapshot is not None:
        status["appliedResourceSnapshotName"] = binding.applied_snapshot
    return status


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


def read_binding(source: Mapping[str, Any], placement: PlacementKey, known: KnownConditions | None = None) -> Binding:
    """A binding of a placement back; see `read_conditions` for `known`."""
    metadata, spec, status = (mapping_at(source, part) for part in ("metadata", "spec", "status"))
    decision = optional_mapping(spec, "clusterDecision")
    return Binding(
        placement=placement,
        cluster=need_text(spec, "targetCluster"),
        state=choice_at(spec, "state", BindingState),
        policy_snapshot=text_at(spec, "schedulingPolicySnapshotName"),
        resource_snapshot=optional_text(spec, "resourceSnapshotName"),
        decision=None if decision is None else read_decision(decision),
        generation=int_at(metadata, "generation", 1),
        conditions=read_conditions(status, known=known),
        applied_snapshot=optional_text(status, "appliedResourceSnapshotName"),
        **_seldom(metadata, spec, status),
    )


def _seldom(metadata: Mapping[str, Any], spec: Mapping[str, Any], status: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that most bindings do not have."""
    found: dict[str, Any] = {}
    annotations = mapping_at(metadata, "annotations")
    if PREVIOUS_STATE in annotations:
        found["previous_state"] = choice_at(annotations, PREVIOUS_STATE, BindingState)
    if "deletionTimestamp" in metadata:
        found["deleting"] = optional_time(metadata, "deletionTimestamp")
    if "applyStrategy" in spec:
        found["apply_strategy"] = read_apply_strategy(mapping_at(spec, "applyStrategy"))
    if "clusterResourceOverrideSnapshots" in spec:
        found["cluster_resource_overrides"] = texts_at(spec, "clusterResourceOverrideSnapshots")
    if "resourceOverrideSnapshots" in spec:
        found["resource_overrides"] = _read_references(spec, "resourceOverrideSnapshots")
    if "overrideLabels" in spec:
        labels = mappings_at(spec, "overrideLabels")
        found["override_labels"] = tuple((need_text(item, "key"), optional_text(item, "value")) for item in labels)
    if "failedPlacements" in status:
        found["failed"] = tuple(map(_read_failed, mappings_at(status, "failedPlacements")))
    for field, word in (("drifted", "Drift"), ("diffed", "Diff")):
        if f"{field}Placements" in status:
            found[field] = tuple(_read_diverged(item, word) for item in mappings_at(status, f"{field}Placements"))
    return found
