"""The parts of placements that people write, each sound or not by itself (KubeFleet apis/placement/v1).

Defaults are those of `gitfleet.api.placements`; a field left out here is None and takes its default there.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from gitfleet.desired.shapes import (
    IntOrPercent,
    LabelKey,
    LabelSelectorShape,
    LabelValue,
    NonEmpty,
    QuantityText,
    Shape,
)


def _lone_item(value: Any) -> Any:
    # The seed (PickN placement type) writes a list of one where KubeFleet's own type has the mapping itself.
    return value[0] if isinstance(value, list) and len(value) == 1 else value


class ResourceSelectorShape(Shape):
    """Which objects: by name, by labels, or every object of the kind."""

    group: str
    version: NonEmpty
    kind: NonEmpty
    name: NonEmpty | None = None
    label_selector: LabelSelectorShape | None = None
    selection_scope: Literal["NamespaceWithResources", "NamespaceOnly", "NamespaceWithResourceSelectors"] | None = None


class PropertyRequirementShape(Shape):
    """One requirement on a property: an operator and one quantity."""

    name: NonEmpty
    operator: Literal["Gt", "Ge", "Eq", "Ne", "Lt", "Le"]
    values: list[QuantityText]


class PropertySelectorShape(Shape):
    """Requirements on properties, all of which must hold."""

    match_expressions: list[PropertyRequirementShape]


class PropertySorterShape(Shape):
    """Prefers clusters by the value of a property."""

    name: NonEmpty
    sort_order: Literal["Ascending", "Descending"]


class ClusterSelectorTermShape(Shape):
    """Labels and properties that a cluster must have."""

    label_selector: LabelSelectorShape | None = None
    property_selector: PropertySelectorShape | None = None
    property_sorter: PropertySorterShape | None = None


class ClusterSelectorShape(Shape):
    """Terms of which any must hold."""

    cluster_selector_terms: list[ClusterSelectorTermShape] = Field(default_factory=list, max_length=10)


class PreferredTermShape(Shape):
    """A preference and how much it weighs."""

    weight: Annotated[int, Field(ge=-100, le=100)]
    preference: Annotated[ClusterSelectorTermShape, BeforeValidator(_lone_item)]


class ClusterAffinityShape(Shape):
    """Which clusters a placement requires, and which it prefers."""

    required_during_scheduling_ignored_during_execution: ClusterSelectorShape | None = None
    preferred_during_scheduling_ignored_during_execution: list[PreferredTermShape] = Field(default_factory=list)


class AffinityShape(Shape):
    """The affinity of a placement."""

    cluster_affinity: ClusterAffinityShape | None = None


class TopologySpreadShape(Shape):
    """Spreads clusters over the values of a label."""

    max_skew: Annotated[int, Field(ge=1)] | None = None
    topology_key: LabelKey
    when_unsatisfiable: Literal["DoNotSchedule", "ScheduleAnyway"] | None = None


class TolerationShape(Shape):
    """Lets a placement onto clusters with a taint."""

    key: str = ""
    operator: Literal["Equal", "Exists", ""] = "Equal"
    value: LabelValue | None = None
    effect: Literal["NoSchedule", ""] = ""


class RollingUpdateShape(Shape):
    """How many clusters may change at a time."""

    max_unavailable: IntOrPercent | None = None
    max_surge: IntOrPercent | None = None
    unavailable_period_seconds: Annotated[int, Field(ge=0)] | None = None


class ServerSideApplyShape(Shape):
    """Settings of server-side apply."""

    force: bool = False


class ApplyStrategyShape(Shape):
    """How objects are applied on a member cluster."""

    type: Literal["ClientSideApply", "ServerSideApply", "ReportDiff"] | None = None
    comparison_option: Literal["PartialComparison", "FullComparison"] | None = None
    when_to_apply: Literal["Always", "IfNotDrifted"] | None = None
    when_to_take_over: Literal["Always", "IfNoDiff", "Never"] | None = None
    allow_co_ownership: bool = False
    server_side_apply_config: ServerSideApplyShape | None = None


class DeleteStrategyShape(Shape):
    """What happens to placed resources when the placement goes."""

    propagation_policy: Literal["Delete", "Abandon"] | None = None


class ReportBackShape(Shape):
    """Accepted as KubeFleet declares it; it does nothing there either."""

    type: Literal["Disabled", "Mirror"] = "Disabled"
    destination: Literal["OriginalResource", "WorkAPI"] | None = None
