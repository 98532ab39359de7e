"""Placements: which resources go to which clusters, and how changes are rolled out and applied.

Fields, defaults and meanings are KubeFleet's (kubefleet.md §1, apis/placement/v1); names are spelled in Python's way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import MISSING, dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Any, Final

from annotated_types import Interval, Len

from gitfleet.api.annotations import Accept, At, Break, Default, Form, Inline, Location, OneOf, Only, repeated
from gitfleet.api.cluster_selectors import ClusterAffinity
from gitfleet.api.labels import LabelSelector
from gitfleet.api.layout import document
from gitfleet.api.objects import Origin
from gitfleet.api.strategies import RolloutStrategy
from gitfleet.api.texts import ApiText
from gitfleet.api.values import (
    QUALIFIED_NAME,
    Annotations,
    LabelKey,
    Labels,
    LabelValue,
    NamespacedName,
    NonEmpty,
    ShortName,
    Time,
    is_dns_subdomain,
    matching,
)
from gitfleet.formats.int_or_percent import is_zero
from gitfleet.formats.json_values import JsonObject
from gitfleet.formats.near_names import did_you_mean

PLACEMENT_GROUP = "placement.kubernetes-fleet.io"
RENAMED_FROM: Final = "gitfleet.dev/renamed-from"
"""The annotation of a new placement that names the one with another name whose record it takes over."""
REMOVALS: Final = "gitfleet.dev/removals"
"""The annotation of a placement, `Always` or `Never`, in place of the fleet's setting."""
_REMOVALS: Final = ("Always", "Never")
PARENT_LABEL = "kubernetes-fleet.io/parent-CRP"
"""The label that names the placement to which an object belongs."""


@document(shared=True)
@dataclass(frozen=True, slots=True, order=True)
class PlacementKey(NamespacedName):
    """A placement's identity: `namespace` is "" for a ClusterResourcePlacement."""

    name: ShortName

    def __hash__(self) -> int:
        return hash(self.name)  # the part that differs: works, operations and entries are found by it all the time

    @property
    def kind(self) -> str:
        """ClusterResourcePlacement or ResourcePlacement."""
        return "ResourcePlacement" if self.namespace else "ClusterResourcePlacement"


def _read_key(text: Any) -> PlacementKey:
    if not isinstance(text, str) or not text:
        raise ValueError(ApiText.MUST_TEXT_PLACEMENT())
    return _key_of(text)


@lru_cache(maxsize=4096)
def _key_of(text: str) -> PlacementKey:
    namespace, _, name = text.rpartition("/")
    return PlacementKey(namespace, name)


OwnerText = Annotated[PlacementKey, Form(_read_key, {"type": "string", "minLength": 1}, str)]
"""A placement as one text: `name` or `namespace/name`."""


def api_version_of(key: PlacementKey) -> str:
    """v1 as the seeds show; the namespaced kinds exist in v1beta1 only."""
    return f"{PLACEMENT_GROUP}/{'v1beta1' if key.namespace else 'v1'}"


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
    """Which objects are placed: by name, by labels, or (neither) every object of the kind.

    group: API group of the objects, "" for the core group
    version: API version of the objects
    kind: kind of the objects
    name: name of the one object; not beside labelSelector
    labelSelector: labels of the objects; not beside name
    selectionScope: what a selected Namespace brings along: everything in it, nothing, or what the other selectors name
    """

    group: str
    version: NonEmpty
    kind: NonEmpty
    name: NonEmpty | None = None
    label_selector: LabelSelector | None = None
    selection_scope: SelectionScope = SelectionScope.NAMESPACE_WITH_RESOURCES


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologySpreadConstraint:
    """How evenly the picked clusters are spread over the values of a label.

    maxSkew: how much the numbers of picked clusters may differ between two values
    topologyKey: the label's key
    whenUnsatisfiable: DoNotSchedule picks no cluster that breaks it, ScheduleAnyway only prefers others
    """

    max_skew: Annotated[int, Interval(ge=1)] = 1
    topology_key: Annotated[LabelKey, Default(MISSING)] = ""
    when_unsatisfiable: Annotated[str, OneOf("DoNotSchedule", "ScheduleAnyway")] = "DoNotSchedule"


class TolerationOperator(StrEnum):
    """Whether a toleration compares the value of a taint."""

    EQUAL = "Equal"
    EXISTS = "Exists"


@dataclass(frozen=True, slots=True, kw_only=True)
class Toleration:
    """Lets a placement onto clusters with a taint.

    key: the taint's key; empty for every key, with operator Exists
    operator: Equal compares the value, Exists takes any
    value: the taint's value, with operator Equal
    effect: the taint's effect; empty for every effect
    """

    key: Annotated[str, matching(f"(?:{QUALIFIED_NAME})?", ApiText.NOT_VALID_TAINT_KEY())] = ""
    operator: Annotated[
        TolerationOperator, Accept(lambda text: "Equal" if text == "" else text, lambda _: {"const": ""})
    ] = TolerationOperator.EQUAL
    value: LabelValue = ""
    effect: Annotated[str, OneOf("NoSchedule", "")] = ""

    def breaks(self) -> Iterator[Break]:
        """Exists takes no value, and an empty key needs Exists."""
        if self.operator is TolerationOperator.EXISTS and self.value:
            yield ("value",), ApiText.MUST_EMPTY_OPERATOR_EXISTS()
        if self.operator is TolerationOperator.EQUAL and not self.key:
            yield ("key",), ApiText.MUST_NOT_EMPTY_OPERATOR_EQUAL()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementPolicy:
    """Which clusters are picked.

    placementType: PickAll: every cluster that fits; PickN: the best so many; PickFixed: those named
    clusterNames: the clusters, with PickFixed
    numberOfClusters: how many clusters, with PickN
    affinity.clusterAffinity: which clusters fit, and which are preferred
    topologySpreadConstraints: how the clusters are spread, with PickN
    tolerations: which taints do not matter
    """

    placement_type: PlacementType = PlacementType.PICK_ALL
    cluster_names: Annotated[tuple[ShortName, ...], Len(0, 100)] = ()
    number_of_clusters: Annotated[int, Interval(ge=0)] | None = None
    affinity: Annotated[ClusterAffinity, At("affinity", "clusterAffinity")] = ClusterAffinity()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    tolerations: Annotated[tuple[Toleration, ...], Len(0, 100)] = ()

    def breaks(self) -> Iterator[Break]:
        """Which fields go with which type, and what stands twice."""
        yield from _matrix_breaks(self)
        yield from repeated(self.cluster_names, ("clusterNames",), ApiText.NAMES_CLUSTER_ALREADY_LIST())
        yield from repeated(self.tolerations, ("tolerations",), ApiText.STANDS_TWICE_REMOVE_ONE())

    def breaks_as_written(self, body: JsonObject) -> Iterator[Break]:
        """KubeFleet refuses the mere presence of an affinity beside fixed names, an empty one included."""
        fixed = self.placement_type is PlacementType.PICK_FIXED
        if fixed and body.get("affinity") is not None and self.affinity == ClusterAffinity():
            yield ("affinity",), _does_not_go_with("PickFixed")


@document(
    "spec",
    identify=lambda placement: (api_version_of(placement.key), placement.key.kind),
    derived={("metadata", "generation"): lambda placement: placement.generation},
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Which objects go to which clusters, and how they get there.

    `policy` is None when the file has none: PickAll. `generation` is 1 for a new object and grows with each accepted
    change of the spec; `deleting` is when gitfleet saw the file gone.

    resourceSelectors: which objects are placed
    policy: which clusters are picked; every one where it is absent
    strategy: how changes reach the clusters
    revisionHistoryLimit: how many snapshots of the objects are kept
    statusReportingScope: NamespaceAccessible shows the status in the selected namespace too
    """

    key: Annotated[PlacementKey, Inline(("metadata",))]
    selectors: Annotated[tuple[ResourceSelector, ...], Len(1, 100), At("spec", "resourceSelectors")]
    policy: PlacementPolicy | None = None
    strategy: RolloutStrategy = RolloutStrategy()
    revision_history_limit: Annotated[int, Interval(ge=1, le=1000)] = 10
    status_reporting_scope: Annotated[str, OneOf("ClusterScopeOnly", "NamespaceAccessible")] = "ClusterScopeOnly"
    labels: Annotated[Labels, At("metadata", "labels")] = field(default_factory=dict)
    annotations: Annotated[Annotations, At("metadata", "annotations")] = field(default_factory=dict)
    generation: Annotated[int, At("metadata", "generation"), Only.SERVER] = 1
    deleting: Annotated[Time | None, At("metadata", "deletionTimestamp"), Only.SERVER] = None
    origin: Annotated[Origin | None, Only.MEMORY] = None

    def breaks(self) -> Iterator[Break]:
        """What goes with which selector, which modes need exactly one namespace, and the values of annotations."""
        for location, sentence in _selectors_breaks(self.selectors, self.status_reporting_scope):
            yield ("spec", *location), sentence
        name = self.annotations.get(RENAMED_FROM)
        if name is not None and not is_dns_subdomain(name, 63):
            yield ("metadata", "annotations", RENAMED_FROM), ApiText.MUST_NAME_PLACEMENT_SAME_KIND()
        removals = self.annotations.get(REMOVALS)
        if removals not in (None, *_REMOVALS):
            end = did_you_mean(removals, _REMOVALS, "remove it")
            yield ("metadata", "annotations", REMOVALS), ApiText.MUST_ALWAYS_OR_NEVER(end=end)

    def warnings(self) -> Iterator[Break]:
        """What is allowed but hardly meant (decision D1)."""
        if is_zero(self.strategy.rolling_update.max_surge):
            sentence = ApiText.ZERO_PLACEMENT_LEAVES_CLUSTER_BEFORE()
            yield ("spec", "strategy", "rollingUpdate", "maxSurge"), sentence

    @property
    def renamed_from(self) -> PlacementKey | None:
        """The placement of the same kind and namespace that has its name from now on."""
        name = self.annotations.get(RENAMED_FROM)
        return None if name is None else PlacementKey(self.key.namespace, name)

    @property
    def effective_policy(self) -> PlacementPolicy:
        """The policy, with "none" read as PickAll."""
        return self.policy or PlacementPolicy()


def _matrix_breaks(policy: PlacementPolicy) -> Iterator[Break]:
    kind = policy.placement_type.value
    written = {
        "clusterNames": bool(policy.cluster_names),
        "numberOfClusters": policy.number_of_clusters is not None,
        "affinity": bool(policy.affinity.required or policy.affinity.preferred),
        "topologySpreadConstraints": bool(policy.topology_spread_constraints),
        "tolerations": bool(policy.tolerations),
    }
    taken = {
        "PickAll": ("affinity", "tolerations"),
        "PickN": ("numberOfClusters", "affinity", "topologySpreadConstraints", "tolerations"),
        "PickFixed": ("clusterNames",),
    }[kind]
    for name, is_written in written.items():
        if is_written and name not in taken:
            yield (name,), _does_not_go_with(kind)
    if kind == "PickN" and policy.number_of_clusters is None:
        yield ("numberOfClusters",), ApiText.REQUIRED_PLACEMENTTYPE_PICKN()
    if kind == "PickAll" and policy.affinity.preferred:
        location = ("affinity", "clusterAffinity", "preferredDuringSchedulingIgnoredDuringExecution")
        yield location, ApiText.NO_EFFECT_PLACEMENTTYPE_PICKALL()


def _does_not_go_with(placement_type: str) -> str:
    return ApiText.NOT_GO_PLACEMENTTYPE(placement_type=placement_type)


def _selectors_breaks(selectors: Sequence[ResourceSelector], scope: str) -> Iterator[Break]:
    """A selector goes by name or by labels, scopes are for namespaces, and two modes need exactly one namespace."""
    namespaces = [selector for selector in selectors if _is_namespace(selector)]
    for index, selector in enumerate(selectors):
        location: Location = ("resourceSelectors", index)
        if selector.name is not None and selector.label_selector is not None:
            yield (*location, "labelSelector"), ApiText.CANNOT_STAND_BESIDE_NAME()
        mode = selector.selection_scope.value
        if mode != "NamespaceWithResources" and not _is_namespace(selector):
            yield (*location, "selectionScope"), ApiText.ONLY_GOES_KIND_NAMESPACE()
        elif mode == "NamespaceWithResourceSelectors" and (len(namespaces) != 1 or selector.name is None):
            sentence = ApiText.NEEDS_EXACTLY_ONE_NAMESPACE_SELECTOR()
            yield (*location, "selectionScope"), sentence
    if scope == "NamespaceAccessible" and len(namespaces) != 1:
        yield ("statusReportingScope",), ApiText.NAMESPACEACCESSIBLE_NEEDS_EXACTLY_ONE_NAMESPACE()


def _is_namespace(selector: ResourceSelector) -> bool:
    return (selector.group, selector.kind) == ("", "Namespace")
