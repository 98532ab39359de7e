"""ClusterResourcePlacement and ResourcePlacement: the object with its status (kubefleet.md §1, §9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitfleet.api.conditions import Conditions
from gitfleet.api.objects import JsonObject
from gitfleet.api.placements import PLACEMENT_GROUP, Placement, PlacementKey, ResourceSelector, SelectionScope
from gitfleet.formats.times import time_text
from gitfleet.model.state import PlacementRecord
from gitfleet.state.shapes.fields import (
    OURS,
    choice_at,
    condition_objects,
    int_at,
    mapping_at,
    mappings_at,
    need_text,
    optional_mapping,
    optional_text,
    optional_time,
    present,
    read_conditions,
    read_written,
    text_at,
    text_map_at,
    written_text,
)
from gitfleet.state.shapes.policies import policy_object, read_policy, read_selector, selector_object
from gitfleet.state.shapes.strategies import read_strategy, strategy_object
from gitfleet.state.shapes.summaries import PlacementSummary, read_summary, summary_object, summary_of


def api_version_of(key: PlacementKey) -> str:
    """v1 as the seeds show; the namespaced kinds exist in v1beta1 only."""
    return f"{PLACEMENT_GROUP}/{'v1beta1' if key.namespace else 'v1'}"


def placement_file_object(record: PlacementRecord) -> JsonObject:
    """What the placement's own file holds: the object with its conditions and a summary of its bindings. What each
    binding says stands in the binding alone."""
    summary = summary_object(summary_of(record))
    return placement_object(record, present(conditions=condition_objects(record.conditions)), summary)


def placement_object(record: PlacementRecord, status: JsonObject, summary: JsonObject | None = None) -> JsonObject:
    """The object as `kubectl get -o yaml` would show it; `status` is KubeFleet's, to which gitfleet's own part is
    added."""
    placement = record.placement
    ours = present(scheduleKey=record.schedule_key, summary=summary, written=written_text(placement.body))
    return {
        "apiVersion": api_version_of(placement.key),
        "kind": placement.key.kind,
        "metadata": {
            "name": placement.key.name,
            "generation": placement.generation,
            **present(
                namespace=placement.key.namespace,
                labels=dict(placement.labels),
                annotations=dict(placement.annotations),
                deletionTimestamp=placement.deleting and time_text(placement.deleting),
            ),
        },
        "spec": {**_unknown_fields(placement.body), **_spec(placement)},
        "status": {**status, **present(**{OURS: ours})},
    }


def _spec(placement: Placement) -> JsonObject:
    policy = {} if placement.policy is None else {"policy": policy_object(placement.policy)}
    return {
        "resourceSelectors": [_selector(selector) for selector in placement.selectors],
        "revisionHistoryLimit": placement.revision_history_limit,
        "statusReportingScope": placement.status_reporting_scope,
        "strategy": strategy_object(placement.strategy),
        **policy,
    }


def _unknown_fields(body: JsonObject) -> JsonObject:
    """What people wrote in the spec; every field that gitfleet knows is laid over it."""
    spec = body.get("spec")
    known = {"policy", "resourceSelectors", "revisionHistoryLimit", "statusReportingScope", "strategy"}
    return {name: value for name, value in spec.items() if name not in known} if isinstance(spec, dict) else {}


def _selector(selector: ResourceSelector) -> JsonObject:
    fields: dict[str, Any] = {"group": selector.group, "version": selector.version, "kind": selector.kind}
    if selector.name is not None:
        fields["name"] = selector.name
    if selector.label_selector is not None:
        fields["labelSelector"] = selector_object(selector.label_selector)
    if selector.selection_scope is not SelectionScope.NAMESPACE_WITH_RESOURCES:
        fields["selectionScope"] = selector.selection_scope.value
    return fields


def _read_selector(source: Mapping[str, Any]) -> ResourceSelector:
    scope = SelectionScope.NAMESPACE_WITH_RESOURCES
    return ResourceSelector(
        group=text_at(source, "group"),
        version=text_at(source, "version"),
        kind=text_at(source, "kind"),
        name=optional_text(source, "name"),
        label_selector=read_selector(optional_mapping(source, "labelSelector")),
        selection_scope=choice_at(source, "selectionScope", SelectionScope) if "selectionScope" in source else scope,
    )


def read_placement(source: Mapping[str, Any]) -> tuple[Placement, Conditions, str, PlacementSummary | None]:
    """The placement, its conditions, the schedule key, and the summary of its bindings. `origin` is not kept: the
    desired commit tells it."""
    metadata, spec, status = (mapping_at(source, part) for part in ("metadata", "spec", "status"))
    ours = mapping_at(status, OURS)
    policy = optional_mapping(spec, "policy")
    placement = Placement(
        key=PlacementKey(text_at(metadata, "namespace"), need_text(metadata, "name")),
        selectors=tuple(map(_read_selector, mappings_at(spec, "resourceSelectors"))),
        policy=None if policy is None else read_policy(policy),
        strategy=read_strategy(mapping_at(spec, "strategy")),
        revision_history_limit=int_at(spec, "revisionHistoryLimit", 10),
        status_reporting_scope=text_at(spec, "statusReportingScope", "ClusterScopeOnly"),
        labels=text_map_at(metadata, "labels"),
        annotations=text_map_at(metadata, "annotations"),
        generation=int_at(metadata, "generation", 1),
        deleting=optional_time(metadata, "deletionTimestamp"),
        body=read_written(ours),
    )
    return placement, read_conditions(status), text_at(ours, "scheduleKey"), read_summary(ours)
