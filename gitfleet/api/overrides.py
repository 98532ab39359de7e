"""Overrides: patches and deletions of selected resources on selected clusters (kubefleet.md §5, apis/placement)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Final

from annotated_types import Len

from gitfleet.api.annotations import Absent, At, Break, Inline, OneOf, Only, repeated
from gitfleet.api.cluster_selectors import ClusterSelectorTerm
from gitfleet.api.layout import document
from gitfleet.api.objects import JsonValue, Origin
from gitfleet.api.placements import PLACEMENT_GROUP, PlacementKey
from gitfleet.api.texts import ApiText
from gitfleet.api.values import Labels, NamespacedName, NonEmpty, matching


@dataclass(frozen=True, slots=True, order=True)
class OverrideKey(NamespacedName):
    """An override's identity: `namespace` is "" for a ClusterResourceOverride."""

    @property
    def kind(self) -> str:
        """ClusterResourceOverride or ResourceOverride."""
        return "ResourceOverride" if self.namespace else "ClusterResourceOverride"


@document(tolerated={"selectionScope": str})  # a hub fills it in (decision D35)
@dataclass(frozen=True, slots=True)
class OverriddenResource:
    """The object to change, by name.

    group: API group of the object, "" for the core group
    version: its API version
    kind: its kind
    name: its name
    """

    group: str
    version: NonEmpty
    kind: NonEmpty
    name: NonEmpty


_MAPS: Final = ("data", "stringData", "binaryData", "metadata")
"""Below these, digits are a key."""
_MOST_DIGITS: Final = 6
"""A list with more items than can be counted in so many digits does not fit into an object."""


_PATH: Final = (
    r"(?!/(?:kind|apiVersion|status)(?:/|$))"
    r"(?!/metadata(?:/?$|/(?!(?:annotations|labels)(?:/|$))))"
    rf"(?!/(?!(?:{'|'.join(_MAPS)})(?:/|$))(?:.*/)?[0-9]{{{_MOST_DIGITS + 1},}}(?:/|$))"
    r"(?:/[^/]+)+"
)
"""What a patch may change: not apiVersion, kind or status, and of metadata labels and annotations (KubeFleet
pkg/utils/validator/override.go)."""


@dataclass(frozen=True, slots=True)
class JsonPatch:
    """One change, as a JSON Patch operation (RFC 6902).

    A value that was not written stands for null (`Absent`).

    op: add, remove or replace
    path: what is changed, such as /spec/replicas
    value: the value to put there; not with remove
    """

    op: Annotated[str, OneOf("add", "remove", "replace")]
    path: Annotated[str, matching(_PATH, ApiText.NO_PATH_OF_PATCH())]
    value: JsonValue = Absent.ABSENT

    def breaks(self) -> Iterator[Break]:
        """A removal has no value."""
        if self.op == "remove" and self.value is not Absent.ABSENT and self.value is not None:
            yield ("value",), ApiText.NOT_GO_REMOVE()

    @property
    def operand(self) -> JsonValue:
        """The value to put there."""
        return None if self.value is Absent.ABSENT else self.value


@dataclass(frozen=True, slots=True, kw_only=True)
class OverrideRule:
    """What is changed on which clusters.

    `cluster_terms` None: no cluster.

    clusterSelector.clusterSelectorTerms: a cluster is meant where one of the terms holds, every one where the list is
        empty
    overrideType: JSONPatch changes the object, Delete leaves it away
    jsonPatchOverrides: the changes, in order
    """

    cluster_terms: Annotated[
        tuple[ClusterSelectorTerm, ...] | None, At("clusterSelector", "clusterSelectorTerms", alone=())
    ] = None
    override_type: Annotated[str, OneOf("JSONPatch", "Delete")] = "JSONPatch"
    patches: Annotated[tuple[JsonPatch, ...], Len(0, 20), At("jsonPatchOverrides")] = ()

    def breaks(self) -> Iterator[Break]:
        """Terms go by labels alone, and a deletion has no patches."""
        for index, term in enumerate(self.cluster_terms or ()):
            location = ("clusterSelector", "clusterSelectorTerms", index)
            if term.property_requirements:
                yield (*location, "propertySelector"), ApiText.NOT_SUPPORTED_OVERRIDES()
            elif term.property_sorter is not None:
                yield (*location, "propertySorter"), ApiText.NOT_SUPPORTED_OVERRIDES()
            elif term.label_selector is None:
                yield (*location, "labelSelector"), ApiText.REQUIRED_EACH_TERM()
        if self.override_type == "Delete" and self.patches:
            yield ("jsonPatchOverrides",), ApiText.NOT_GO_OVERRIDETYPE_DELETE()
        if self.override_type == "JSONPatch" and not self.patches:
            yield ("jsonPatchOverrides",), ApiText.NEEDS_LEAST_ONE_PATCH_OVERRIDETYPE()


@dataclass(frozen=True, slots=True)
class OverridePlacement:
    """The placement that the override is for.

    name: its name
    scope: Cluster for a ClusterResourcePlacement, Namespaced for a ResourcePlacement
    """

    name: NonEmpty
    scope: Annotated[str, OneOf("Cluster", "Namespaced")] = "Cluster"


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """What both kinds have. `placement` None means any placement.

    placement: the placement that it is for; any where it is absent
    policy.overrideRules: what is changed on which clusters, in order
    """

    key: Annotated[OverrideKey, Inline(("metadata",))]
    resources: tuple[OverriddenResource, ...]
    rules: Annotated[tuple[OverrideRule, ...], Len(1, 20), At("spec", "policy", "overrideRules")]
    placement: Annotated[OverridePlacement | None, At("spec", "placement")] = None
    labels: Annotated[Labels, At("metadata", "labels")] = field(default_factory=dict)
    origin: Annotated[Origin | None, Only.MEMORY] = None

    @property
    def selectors_field(self) -> str:
        """The field of `spec` that names the resources."""
        return "resourceSelectors" if self.key.namespace else "clusterResourceSelectors"

    @property
    def placement_key(self) -> PlacementKey | None:
        """The placement that it is for; None for any."""
        if self.placement is None:
            return None
        return PlacementKey(self.key.namespace if self.placement.scope == "Namespaced" else "", self.placement.name)

    def breaks(self) -> Iterator[Break]:
        """No resource stands twice."""
        return repeated(self.resources, ("spec", self.selectors_field), ApiText.SELECTS_RESOURCE_ALREADY_LIST())

    def warnings(self) -> Iterator[Break]:
        """A patch without a value puts null there, which is hardly meant."""
        for index, rule in enumerate(self.rules):
            for number, patch in enumerate(rule.patches):
                if patch.op != "remove" and patch.value is Absent.ABSENT:
                    location = ("spec", "policy", "overrideRules", index, "jsonPatchOverrides", number)
                    yield location, ApiText.WITHOUT_VALUE_PUTS_NULL(op=patch.op)


_API_VERSION = f"{PLACEMENT_GROUP}/v1beta1"


@document("spec", identify=lambda _: (_API_VERSION, "ClusterResourceOverride"))
@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterResourceOverride(Override):
    """Changes cluster-scoped objects, or all of a namespace, on some clusters.

    clusterResourceSelectors: the objects to change
    """

    resources: Annotated[tuple[OverriddenResource, ...], Len(1, 20), At("spec", "clusterResourceSelectors")]


@document("spec", identify=lambda _: (_API_VERSION, "ResourceOverride"))
@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceOverride(Override):
    """Changes objects of its own namespace on some clusters.

    resourceSelectors: the objects to change
    """

    resources: Annotated[tuple[OverriddenResource, ...], Len(1, 20), At("spec", "resourceSelectors")]


def override_type(namespace: str) -> type[ClusterResourceOverride] | type[ResourceOverride]:
    """The class of an override in a namespace, "" for the cluster-scoped kind."""
    return ResourceOverride if namespace else ClusterResourceOverride
