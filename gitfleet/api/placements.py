"""Placements: which resources go to which clusters, and how changes are rolled out and applied.

Fields, defaults and meanings are KubeFleet's (kubefleet.md §1); names are spelled in Python's way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from gitfleet.api.labels import LabelSelector
from gitfleet.api.objects import JsonObject, Origin

PLACEMENT_GROUP = "placement.kubernetes-fleet.io"


@dataclass(frozen=True, slots=True, order=True)
class PlacementKey:
    """A placement's identity: `namespace` is "" for a ClusterResourcePlacement."""

    namespace: str
    name: str

    @property
    def kind(self) -> str:
        """ClusterResourcePlacement or ResourcePlacement."""
        return "ResourcePlacement" if self.namespace else "ClusterResourcePlacement"

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class PlacementType(StrEnum):
    """How many clusters are picked, and who names them."""

    PICK_ALL = "PickAll"
    PICK_N = "PickN"
    PICK_FIXED = "PickFixed"


class SelectionScope(StrEnum):
    """What a selected Namespace brings with it."""

    NAMESPACE_WITH_RESOURCES = "NamespaceWithResources"
    NAMESPACE_ONLY = "NamespaceOnly"
    NAMESPACE_WITH_RESOURCE_SELECTORS = "NamespaceWithResourceSelectors"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceSelector:
    """One selector: by name, by labels, or (neither) every object of the kind."""

    group: str
    version: str
    kind: str
    name: str | None = None
    label_selector: LabelSelector | None = None
    selection_scope: SelectionScope = SelectionScope.NAMESPACE_WITH_RESOURCES


@dataclass(frozen=True, slots=True)
class PropertyRequirement:
    """name, operator (Gt Ge Eq Ne Lt Le) and exactly one quantity."""

    name: str
    operator: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PropertySorter:
    """Sorts clusters by a property; order Ascending or Descending."""

    name: str
    sort_order: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSelectorTerm:
    """A term: labels AND properties; an absent (None) or empty part matches every cluster."""

    label_selector: LabelSelector | None = None
    property_requirements: tuple[PropertyRequirement, ...] = ()
    property_sorter: PropertySorter | None = None


@dataclass(frozen=True, slots=True)
class PreferredTerm:
    """A preference with its weight (-100..100)."""

    weight: int
    preference: ClusterSelectorTerm


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterAffinity:
    """required: terms ORed, an empty tuple means no requirement; preferred: summed."""

    required: tuple[ClusterSelectorTerm, ...] = ()
    preferred: tuple[PreferredTerm, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologySpreadConstraint:
    """maxSkew >= 1; when_unsatisfiable is DoNotSchedule or ScheduleAnyway."""

    max_skew: int = 1
    topology_key: str = ""
    when_unsatisfiable: str = "DoNotSchedule"


@dataclass(frozen=True, slots=True, kw_only=True)
class Toleration:
    """operator Equal or Exists; an empty key tolerates every key (Exists only); an empty effect every effect."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementPolicy:
    """Which clusters. `number_of_clusters` is set for PickN alone, `cluster_names` for PickFixed alone."""

    placement_type: PlacementType = PlacementType.PICK_ALL
    cluster_names: tuple[str, ...] = ()
    number_of_clusters: int | None = None
    affinity: ClusterAffinity = ClusterAffinity()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()


IntOrPercent = int | str
"""An int, or a percentage such as "25%"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RollingUpdate:
    """The budget of a rolling update; the period is in seconds and counts only for what cannot be tracked."""

    max_unavailable: IntOrPercent = "25%"
    max_surge: IntOrPercent = "25%"
    unavailable_period_seconds: int = 60


class ApplyStrategyType(StrEnum):
    """How a manifest reaches the member; ReportDiff compares and never writes."""

    CLIENT_SIDE_APPLY = "ClientSideApply"
    SERVER_SIDE_APPLY = "ServerSideApply"
    REPORT_DIFF = "ReportDiff"


class ComparisonOption(StrEnum):
    """Which fields count as a difference: those the manifest has, or all that the live object has."""

    PARTIAL = "PartialComparison"
    FULL = "FullComparison"


class WhenToApply(StrEnum):
    """Whether drift on the member is overwritten or stops the apply."""

    ALWAYS = "Always"
    IF_NOT_DRIFTED = "IfNotDrifted"


class WhenToTakeOver(StrEnum):
    """What becomes of an object that was on the member before gitfleet applied it."""

    ALWAYS = "Always"
    IF_NO_DIFF = "IfNoDiff"
    NEVER = "Never"


class RolloutStrategyType(StrEnum):
    """Who moves the bindings: gitfleet by a budget, or a staged update run."""

    ROLLING_UPDATE = "RollingUpdate"
    EXTERNAL = "External"


class DeletePropagation(StrEnum):
    """What becomes of placed objects when their placement or their cluster goes (decision D15)."""

    DELETE = "Delete"
    ABANDON = "Abandon"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyStrategy:
    """How objects are applied on a member (kubefleet.md §1, §6)."""

    type: ApplyStrategyType = ApplyStrategyType.CLIENT_SIDE_APPLY
    comparison_option: ComparisonOption = ComparisonOption.PARTIAL
    when_to_apply: WhenToApply = WhenToApply.ALWAYS
    when_to_take_over: WhenToTakeOver = WhenToTakeOver.ALWAYS
    allow_co_ownership: bool = False
    force_conflicts: bool = False  # serverSideApplyConfig.force


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutStrategy:
    """Who moves the bindings and how, and how objects are applied and removed."""

    type: RolloutStrategyType = RolloutStrategyType.ROLLING_UPDATE
    rolling_update: RollingUpdate = RollingUpdate()
    apply_strategy: ApplyStrategy = ApplyStrategy()
    delete_propagation_policy: DeletePropagation = DeletePropagation.DELETE

    @property
    def external(self) -> bool:
        """Whether only a staged update run may move bindings."""
        return self.type is RolloutStrategyType.EXTERNAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """ClusterResourcePlacement (namespace "") or ResourcePlacement.

    `policy` is None when the file has none: PickAll. `body` is the object as written, without status. `generation` is 1
    for a new object and grows with each accepted change of the spec; `deleting` is when gitfleet saw the file gone.
    """

    key: PlacementKey
    selectors: tuple[ResourceSelector, ...]
    policy: PlacementPolicy | None = None
    strategy: RolloutStrategy = RolloutStrategy()
    revision_history_limit: int = 10
    status_reporting_scope: str = "ClusterScopeOnly"
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    generation: int = 1
    deleting: datetime | None = None
    body: JsonObject = field(default_factory=dict)
    origin: Origin | None = None

    @property
    def effective_policy(self) -> PlacementPolicy:
        """The policy, with "none" read as PickAll."""
        return self.policy or PlacementPolicy()
