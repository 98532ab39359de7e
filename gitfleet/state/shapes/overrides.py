"""ClusterResourceOverrideSnapshot and ResourceOverrideSnapshot (kubefleet.md §1, §4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitfleet.api.objects import JsonObject
from gitfleet.api.overrides import JsonPatch, OverriddenResource, Override, OverrideKey, OverrideRule
from gitfleet.api.placements import PLACEMENT_GROUP
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.state.shapes.fields import (
    LATEST_LABEL,
    OURS,
    index_at,
    mapping_at,
    mappings_at,
    need_text,
    optional_mapping,
    present,
    read_bytes_text,
    read_written,
    text_at,
    text_map_at,
    written_text,
)
from gitfleet.state.shapes.fields import bytes_text as hash_text
from gitfleet.state.shapes.policies import read_term, term_object

OVERRIDE_LABEL = "kubernetes-fleet.io/parent-resource-override"
INDEX_LABEL = "kubernetes-fleet.io/override-index"


def override_object(snapshot: OverrideSnapshot, *, latest: bool) -> JsonObject:
    """The object as `kubectl get -o yaml` would show it; the override's own labels stand in `status.gitfleet`."""
    override = snapshot.override
    key = override.key
    ours = present(labels=dict(override.labels), written=written_text(override.body))
    return {
        "apiVersion": f"{PLACEMENT_GROUP}/v1beta1",
        "kind": f"{key.kind}Snapshot",
        "metadata": {
            "name": snapshot.name,
            "labels": {
                LATEST_LABEL: str(latest).lower(),
                OVERRIDE_LABEL: key.name,
                INDEX_LABEL: str(snapshot.index),
            },
            **present(namespace=key.namespace),
        },
        "spec": {"overrideHash": hash_text(snapshot.hash), "overrideSpec": _spec(override)},
        **present(status=present(**{OURS: ours})),
    }


def _spec(override: Override) -> JsonObject:
    field = "resourceSelectors" if override.key.namespace else "clusterResourceSelectors"
    fields: dict[str, Any] = {
        field: [
            {"group": item.group, "version": item.version, "kind": item.kind, "name": item.name}
            for item in override.resources
        ],
        "policy": {"overrideRules": [_rule(rule) for rule in override.rules]},
    }
    if override.placement is not None:
        fields["placement"] = {"name": override.placement[0], "scope": override.placement[1]}
    return fields


def _rule(rule: OverrideRule) -> JsonObject:
    fields: dict[str, Any] = {"overrideType": rule.override_type}
    if rule.cluster_terms is not None:
        fields["clusterSelector"] = {"clusterSelectorTerms": [term_object(term) for term in rule.cluster_terms]}
    if rule.patches:
        fields["jsonPatchOverrides"] = [
            {"op": patch.op, "path": patch.path, **({"value": patch.value} if patch.has_value else {})}
            for patch in rule.patches
        ]
    return fields


def _read_rule(source: Mapping[str, Any]) -> OverrideRule:
    selector = optional_mapping(source, "clusterSelector")
    terms = None if selector is None else tuple(map(read_term, mappings_at(selector, "clusterSelectorTerms")))
    return OverrideRule(
        cluster_terms=terms,
        override_type=text_at(source, "overrideType", "JSONPatch"),
        patches=tuple(
            JsonPatch(need_text(item, "op"), need_text(item, "path"), item.get("value"), "value" in item)
            for item in mappings_at(source, "jsonPatchOverrides")
        ),
    )


def read_override(source: Mapping[str, Any]) -> OverrideSnapshot:
    """The snapshot back. `origin` is not kept: the desired commit tells it."""
    metadata, spec = mapping_at(source, "metadata"), mapping_at(source, "spec")
    labels = mapping_at(metadata, "labels")
    ours = mapping_at(mapping_at(source, "status"), OURS)
    namespace = text_at(metadata, "namespace")
    wanted = mapping_at(spec, "overrideSpec")
    placement = optional_mapping(wanted, "placement")
    override = Override(
        key=OverrideKey(namespace, need_text(labels, OVERRIDE_LABEL)),
        resources=tuple(
            OverriddenResource(
                text_at(item, "group"), text_at(item, "version"), need_text(item, "kind"), need_text(item, "name")
            )
            for item in mappings_at(wanted, "resourceSelectors" if namespace else "clusterResourceSelectors")
        ),
        rules=tuple(map(_read_rule, mappings_at(mapping_at(wanted, "policy"), "overrideRules"))),
        placement=(need_text(placement, "name"), text_at(placement, "scope", "Cluster")) if placement else None,
        labels=text_map_at(ours, "labels"),
        body=read_written(ours),
    )
    return OverrideSnapshot(
        override=override, index=index_at(labels, INDEX_LABEL), hash=read_bytes_text(spec, "overrideHash")
    )
