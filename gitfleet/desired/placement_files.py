"""Placements as whole files: the parts that have rules over several fields, and those rules.

Sources: KubeFleet apis/placement/v1 and pkg/utils/validator/placement.go, with decision D1.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from gitfleet.desired.breaks import Break, Broken, Location, below
from gitfleet.desired.placement_rules import affinity_breaks, toleration_breaks
from gitfleet.desired.placement_shapes import (
    AffinityShape,
    ApplyStrategyShape,
    DeleteStrategyShape,
    ReportBackShape,
    ResourceSelectorShape,
    RollingUpdateShape,
    TolerationShape,
    TopologySpreadShape,
)
from gitfleet.desired.shapes import ObjectShape, Shape, ShortMetadataShape, ShortName, selector_breaks


class PolicyShape(Shape):
    """Which clusters are picked."""

    placement_type: Literal["PickAll", "PickN", "PickFixed"] = "PickAll"
    cluster_names: Annotated[list[ShortName], Field(max_length=100)] = Field(default_factory=list)
    number_of_clusters: Annotated[int, Field(ge=0)] | None = None
    affinity: AffinityShape | None = None
    topology_spread_constraints: list[TopologySpreadShape] = Field(default_factory=list)
    tolerations: Annotated[list[TolerationShape], Field(max_length=100)] = Field(default_factory=list)

    @model_validator(mode="after")
    def _rules(self) -> PolicyShape:
        if breaks := policy_breaks(self):
            raise Broken(breaks)
        return self


class StrategyShape(Shape):
    """How changes are rolled out and applied."""

    type: Literal["RollingUpdate", "External"] = "RollingUpdate"
    rolling_update: RollingUpdateShape | None = None
    apply_strategy: ApplyStrategyShape | None = None
    delete_strategy: DeleteStrategyShape | None = None
    report_back_strategy: ReportBackShape | None = None

    @model_validator(mode="after")
    def _rules(self) -> StrategyShape:
        if breaks := strategy_breaks(self):
            raise Broken(breaks)
        return self


class PlacementSpecShape(Shape):
    """The spec that both kinds of placements share."""

    resource_selectors: Annotated[list[ResourceSelectorShape], Field(min_length=1, max_length=100)]
    policy: PolicyShape | None = None
    strategy: StrategyShape | None = None
    revision_history_limit: Annotated[int, Field(ge=1, le=1000)] | None = None
    status_reporting_scope: Literal["ClusterScopeOnly", "NamespaceAccessible"] | None = None

    @model_validator(mode="after")
    def _rules(self) -> PlacementSpecShape:
        if breaks := selectors_breaks(self):
            raise Broken(breaks)
        return self


class PlacementShape(ObjectShape):
    """ClusterResourcePlacement: places cluster-scoped resources, and namespaces with all that is in them."""

    metadata: ShortMetadataShape
    spec: PlacementSpecShape


class ResourcePlacementShape(PlacementShape):
    """ResourcePlacement: places resources of its own namespace."""


def policy_breaks(policy: PolicyShape) -> list[Break]:
    """The matrix of placement types and fields, then each field's own rules."""
    breaks = _matrix_breaks(policy)
    names = policy.cluster_names
    for index, name in enumerate(names):
        if name in names[:index]:
            breaks.append((("clusterNames", index), "names a cluster that is already in the list; remove it"))
    affinity = policy.affinity.cluster_affinity if policy.affinity else None
    if affinity is not None:
        breaks += below(("affinity", "clusterAffinity"), affinity_breaks(affinity))
    return breaks + toleration_breaks(policy.tolerations)


def _matrix_breaks(policy: PolicyShape) -> list[Break]:
    kind = policy.placement_type
    affinity = policy.affinity.cluster_affinity if policy.affinity else None
    given = {
        "clusterNames": bool(policy.cluster_names),
        "numberOfClusters": policy.number_of_clusters is not None,
        "affinity": policy.affinity is not None,
        "topologySpreadConstraints": bool(policy.topology_spread_constraints),
        "tolerations": bool(policy.tolerations),
    }
    taken = {
        "PickAll": ("affinity", "tolerations"),
        "PickN": ("numberOfClusters", "affinity", "topologySpreadConstraints", "tolerations"),
        "PickFixed": ("clusterNames",),
    }[kind]
    breaks: list[Break] = [
        ((field,), f"does not go with placementType {kind}; remove it or change the type")
        for field, there in given.items()
        if there and field not in taken
    ]
    if kind == "PickN" and policy.number_of_clusters is None:
        breaks.append((("numberOfClusters",), "is required with placementType PickN; add how many clusters to pick"))
    if kind == "PickAll" and affinity and affinity.preferred_during_scheduling_ignored_during_execution:
        location = ("affinity", "clusterAffinity", "preferredDuringSchedulingIgnoredDuringExecution")
        breaks.append((location, "has no effect with placementType PickAll; remove it or use PickN"))
    return breaks


def strategy_breaks(strategy: StrategyShape) -> list[Break]:
    """External has no budget of its own; a budget of zero would never let anything move (decision D1)."""
    breaks: list[Break] = []
    rolling = strategy.rolling_update
    if strategy.type == "External" and rolling is not None:
        sentence = "does not go with strategy type External, where a staged update run decides; remove it"
        breaks.append((("rollingUpdate",), sentence))
    if rolling is not None and rolling.max_unavailable in (0, "0%", "00%"):
        sentence = "must be at least 1 (or 1%): with zero no cluster could ever be updated; raise it"
        breaks.append((("rollingUpdate", "maxUnavailable"), sentence))
    apply = strategy.apply_strategy
    if apply is not None and apply.server_side_apply_config is not None and apply.type != "ServerSideApply":
        sentence = "only goes with applyStrategy type ServerSideApply; remove it or change the type"
        breaks.append((("applyStrategy", "serverSideApplyConfig"), sentence))
    return breaks


def selectors_breaks(spec: PlacementSpecShape) -> list[Break]:
    """A selector goes by name or by labels, scopes are for namespaces, and two modes need exactly one namespace."""
    breaks: list[Break] = []
    namespaces = [s for s in spec.resource_selectors if _is_namespace(s)]
    for index, selector in enumerate(spec.resource_selectors):
        here: Location = ("resourceSelectors", index)
        if selector.name is not None and selector.label_selector is not None:
            breaks.append(((*here, "labelSelector"), "cannot stand beside a name; keep one of the two"))
        breaks += below((*here, "labelSelector"), selector_breaks(selector.label_selector))
        if selector.selection_scope is None:
            continue
        if not _is_namespace(selector):
            breaks.append(((*here, "selectionScope"), "only goes with the kind Namespace; remove it"))
        elif selector.selection_scope == "NamespaceWithResourceSelectors" and (
            len(namespaces) != 1 or selector.name is None
        ):
            sentence = "needs exactly one Namespace selector, by name; name it and remove the others"
            breaks.append(((*here, "selectionScope"), sentence))
    if spec.status_reporting_scope == "NamespaceAccessible" and len(namespaces) != 1:
        sentence = "NamespaceAccessible needs exactly one Namespace selector; keep one"
        breaks.append((("statusReportingScope",), sentence))
    return breaks


def _is_namespace(selector: ResourceSelectorShape) -> bool:
    return (selector.group, selector.kind) == ("", "Namespace")
