"""Override files: what people may write (KubeFleet apis/placement, v1alpha1 to v1), their rules, their values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from gitfleet.api.objects import JsonObject, Origin
from gitfleet.api.overrides import JsonPatch, OverriddenResource, Override, OverrideKey, OverrideRule
from gitfleet.desired.breaks import Break, Broken
from gitfleet.desired.placement_shapes import ClusterSelectorTermShape
from gitfleet.desired.placements import cluster_term_of
from gitfleet.desired.shapes import NonEmpty, ObjectShape, Shape, selector_breaks


class JsonPatchShape(Shape):
    """One RFC 6902 operation; `value` may be anything, null too."""

    op: Literal["add", "remove", "replace"]
    path: str
    value: Any = None


class OverrideClusterSelectorShape(Shape):
    """Terms of which any must hold; none at all means every cluster."""

    cluster_selector_terms: list[ClusterSelectorTermShape] = Field(default_factory=list)


class OverrideRuleShape(Shape):
    """Which clusters, and what is done to the resource there."""

    cluster_selector: OverrideClusterSelectorShape | None = None
    override_type: Literal["JSONPatch", "Delete"] = "JSONPatch"
    json_patch_overrides: Annotated[list[JsonPatchShape], Field(max_length=20)] = Field(default_factory=list)

    @model_validator(mode="after")
    def _rules(self) -> OverrideRuleShape:
        if breaks := [*_selector_breaks(self), *_patch_breaks(self)]:
            raise Broken(breaks)
        return self


class OverridePolicyShape(Shape):
    """The rules of an override, in the order in which they are applied."""

    override_rules: Annotated[list[OverrideRuleShape], Field(min_length=1, max_length=20)]


class OverridePlacementShape(Shape):
    """The placement that an override is for."""

    name: NonEmpty
    scope: Literal["Cluster", "Namespaced"] = "Cluster"


class OverriddenResourceShape(Shape):
    """One resource, by name."""

    group: str
    version: NonEmpty
    kind: NonEmpty
    name: NonEmpty


class ClusterResourceOverrideSpecShape(Shape):
    """The spec of a ClusterResourceOverride."""

    placement: OverridePlacementShape | None = None
    cluster_resource_selectors: Annotated[list[OverriddenResourceShape], Field(min_length=1, max_length=20)]
    policy: OverridePolicyShape

    @model_validator(mode="after")
    def _rules(self) -> ClusterResourceOverrideSpecShape:
        if breaks := _twice("clusterResourceSelectors", self.cluster_resource_selectors):
            raise Broken(breaks)
        return self


class ResourceOverrideSpecShape(Shape):
    """The spec of a ResourceOverride."""

    placement: OverridePlacementShape | None = None
    resource_selectors: Annotated[list[OverriddenResourceShape], Field(min_length=1, max_length=20)]
    policy: OverridePolicyShape

    @model_validator(mode="after")
    def _rules(self) -> ResourceOverrideSpecShape:
        if breaks := _twice("resourceSelectors", self.resource_selectors):
            raise Broken(breaks)
        return self


class ClusterResourceOverrideShape(ObjectShape):
    """ClusterResourceOverride: changes cluster-scoped resources, or all of a namespace, on some clusters."""

    spec: ClusterResourceOverrideSpecShape


class ResourceOverrideShape(ObjectShape):
    """ResourceOverride: changes resources of its own namespace on some clusters."""

    spec: ResourceOverrideSpecShape


def patch_path_break(path: str) -> str | None:
    """What is wrong with a patch's path, or None (KubeFleet pkg/utils/validator/override.go).

    Only what an override may change can be named: not apiVersion, kind or status, of metadata labels and annotations.
    """
    if not path:
        return "must not be empty; write a path such as /spec/replicas"
    if not path.startswith("/"):
        return "must begin with a slash; write a path such as /spec/replicas"
    parts = path[1:].split("/")
    if parts[0] in ("kind", "apiVersion"):
        return "cannot change apiVersion or kind; remove the patch"
    if parts[0] == "status":
        return "cannot change the status; remove the patch"
    if parts[0] == "metadata" and (len(parts) == 1 or parts[1] not in ("annotations", "labels")):
        return "can change only labels and annotations of metadata; correct it"
    if "" in parts:
        return "has an empty part, by a doubled or final slash; remove the slash"
    return None


def override_warnings(shape: ClusterResourceOverrideShape | ResourceOverrideShape) -> Iterator[Break]:
    """A patch without a value puts null there, which is hardly meant."""
    for index, rule in enumerate(shape.spec.policy.override_rules):
        for number, patch in enumerate(rule.json_patch_overrides):
            if patch.op != "remove" and "value" not in patch.model_fields_set:
                location = ("spec", "policy", "overrideRules", index, "jsonPatchOverrides", number)
                yield location, f"{patch.op} without a value puts null there; add the value"


def override_of(
    shape: ClusterResourceOverrideShape | ResourceOverrideShape, body: JsonObject, origin: Origin
) -> Override:
    """The override; `namespace` is empty for the cluster kind."""
    if isinstance(shape, ClusterResourceOverrideShape):
        selectors = shape.spec.cluster_resource_selectors
    else:
        selectors = shape.spec.resource_selectors
    target = shape.spec.placement
    return Override(
        key=OverrideKey(shape.metadata.namespace or "", shape.metadata.name),
        resources=tuple(OverriddenResource(s.group, s.version, s.kind, s.name) for s in selectors),
        rules=tuple(_rule(rule) for rule in shape.spec.policy.override_rules),
        placement=(target.name, target.scope) if target else None,
        labels=dict(shape.metadata.labels),
        body=body,
        origin=origin,
    )


def _rule(shape: OverrideRuleShape) -> OverrideRule:
    selector = shape.cluster_selector
    return OverrideRule(
        cluster_terms=tuple(cluster_term_of(t) for t in selector.cluster_selector_terms) if selector else None,
        override_type=shape.override_type,
        patches=tuple(
            JsonPatch(patch.op, patch.path, patch.value, "value" in patch.model_fields_set)
            for patch in shape.json_patch_overrides
        ),
    )


def _selector_breaks(rule: OverrideRuleShape) -> list[Break]:
    breaks: list[Break] = []
    for index, term in enumerate(rule.cluster_selector.cluster_selector_terms if rule.cluster_selector else []):
        here = ("clusterSelector", "clusterSelectorTerms", index)
        if term.property_selector is not None:
            breaks.append(((*here, "propertySelector"), "is not supported in overrides; use labelSelector"))
        if term.property_sorter is not None:
            breaks.append(((*here, "propertySorter"), "is not supported in overrides; use labelSelector"))
        if term.label_selector is None and term.property_selector is None and term.property_sorter is None:
            breaks.append(((*here, "labelSelector"), "is required in each term; add it, or leave all terms out"))
        breaks += [((*here, "labelSelector", *below), why) for below, why in selector_breaks(term.label_selector)]
    return breaks


def _patch_breaks(rule: OverrideRuleShape) -> list[Break]:
    if rule.override_type == "Delete":
        sentence = "does not go with overrideType Delete; remove it"
        return [(("jsonPatchOverrides",), sentence)] if rule.json_patch_overrides else []
    if not rule.json_patch_overrides:
        return [(("jsonPatchOverrides",), "needs at least one patch with overrideType JSONPatch; add one")]
    breaks: list[Break] = []
    for index, patch in enumerate(rule.json_patch_overrides):
        here = ("jsonPatchOverrides", index)
        if sentence_or_none := patch_path_break(patch.path):
            breaks.append(((*here, "path"), sentence_or_none))
        if patch.op == "remove" and patch.value is not None:
            breaks.append(((*here, "value"), "does not go with remove; remove it"))
    return breaks


def _twice(field: str, selectors: list[OverriddenResourceShape]) -> list[Break]:
    return [
        ((field, index), "selects a resource that is already in the list; remove it")
        for index, selector in enumerate(selectors)
        if selector in selectors[:index]
    ]
