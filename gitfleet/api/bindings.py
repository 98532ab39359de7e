"""Bindings: a placement on a cluster, with what it should run there and what is known of it (kubefleet.md, object
model)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256
from typing import Annotated, Any, Final, NamedTuple, Protocol

from gitfleet.api.annotations import At, Default, Form, Inline
from gitfleet.api.conditions import Conditions, ConditionType, is_true
from gitfleet.api.folders import ChosenVariants
from gitfleet.api.layout import document
from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import PARENT_LABEL, PLACEMENT_GROUP, PlacementKey
from gitfleet.api.strategies import ApplyStrategy
from gitfleet.api.texts import ApiText
from gitfleet.api.values import Time

DELETED: Final = "Deleted"
"""The condition of an object that was not deleted yet; KubeFleet has none for it."""
KEPT: Final = ("KeptForSuccessor", "RemovalHeld")
"""The reasons of one that stays until another placement has it, or until the removal rules let it go."""
_CLUSTER_LETTERS: Final = 27
PREVIOUS_STATE: Final = "kubernetes-fleet.io/previous-binding-state"


def _read_mapping(*keys: str) -> Any:
    """A reader of mappings of texts: the values of the keys, None for those that are not there."""

    def read(item: Any) -> tuple[str | None, ...]:
        if not isinstance(item, dict) or any(not isinstance(item.get(key, ""), str) for key in keys):
            raise ValueError(ApiText.MUST_MAPPING_TEXTS(keys=", ".join(keys)))
        if keys[0] not in item:
            raise ValueError(f"needs {keys[0]}")
        return tuple(item.get(key) for key in keys)

    return read


def _write_mapping(*keys: str) -> Any:
    return lambda texts: {key: text for key, text in zip(keys, texts, strict=True) if text is not None}


def _read_reference(item: Any) -> str:
    name, namespace = _read_mapping("name", "namespace")(item)
    return name if namespace is None else f"{namespace}/{name}"


def _write_reference(reference: str) -> dict[str, str]:
    namespace, slash, name = reference.rpartition("/")
    return {"name": name, "namespace": namespace} if slash else {"name": name}


def _texts(*keys: str) -> Form:
    properties = {key: {"type": "string"} for key in keys}
    return Form(_read_mapping(*keys), {"type": "object", "properties": properties}, _write_mapping(*keys))


PinnedLabels = tuple[tuple[str, str | None], ...]
"""Labels of a cluster by key; None: the cluster had no such label."""
References = tuple[Annotated[str, Form(_read_reference, {"type": "object"}, _write_reference)], ...]
"""`namespace/name`, in files KubeFleet's NamespacedName."""


class _HasContent(Protocol):
    @property
    def cluster_resource_overrides(self) -> tuple[str, ...]: ...
    @property
    def resource_overrides(self) -> tuple[str, ...]: ...
    @property
    def variants(self) -> tuple[tuple[str, str], ...]: ...


class ClusterContent(NamedTuple):
    """What makes of a snapshot the content of one cluster: references of cluster-wide and of namespaced override
    snapshots, in the order in which they are applied, and the variants of Folders."""

    cluster_resource_overrides: tuple[str, ...] = ()
    resource_overrides: tuple[str, ...] = ()
    variants: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, value: _HasContent) -> ClusterContent:
        """That of a binding, or of a cluster of a run."""
        return cls(value.cluster_resource_overrides, value.resource_overrides, value.variants)

    @property
    def overrides(self) -> tuple[str, ...]:
        """All references of override snapshots."""
        return (*self.cluster_resource_overrides, *self.resource_overrides)


Detail = tuple[str, str | None, str | None]
"""A path, its value in the member, its value in the hub."""


class BindingState(StrEnum):
    """Scheduled: picked, not rolled out yet. Bound: rolled out. Unscheduled: no longer picked, to be removed."""

    SCHEDULED = "Scheduled"
    BOUND = "Bound"
    UNSCHEDULED = "Unscheduled"


@dataclass(frozen=True, slots=True, order=True)
class ClusterScore:
    """KubeFleet's clusterScore, compared in this order; the spread score is called `priorityScore` in files."""

    topology_spread: Annotated[int, At("priorityScore")] = 0
    affinity: Annotated[int, At("affinityScore")] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterDecision:
    """Why a cluster was chosen or not. `refused_by` names the plug-in that refused it, None when it was chosen or
    outscored."""

    cluster: Annotated[str, At("clusterName")]
    selected: bool
    score: Annotated[ClusterScore | None, At("clusterScore")] = None
    reason: str = ""
    refused_by: str | None = None


@document(derived={("condition", "status"): lambda _: "False"})
@dataclass(frozen=True, slots=True, kw_only=True)
class FailedObject:
    """An object that could not be applied, is not available, or is to go and still there: `condition` is Applied,
    Available or DELETED."""

    key: Annotated[ObjectKey, Inline()]
    condition: Annotated[str, At("condition", "type")]
    reason: Annotated[str, At("condition", "reason"), Default("")]
    message: Annotated[str, At("condition", "message"), Default("")]


@dataclass(frozen=True, slots=True)
class FieldWriter:
    """Who else than gitfleet owns a differing field, by `metadata.managedFields`: the field manager as it called
    itself, and when (RFC 3339) it last changed anything that it owns; "" where not said."""

    path: str
    manager: Annotated[str, Default("")]
    time: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DivergedObject:
    """A drifted or diffed object: what both have. `details` are (path, value in member, value in hub), secrets
    masked; `writers` are who wrote which of these paths, as far as the server says."""

    key: Annotated[ObjectKey, Inline()]
    details: tuple[Detail, ...]
    writers: Annotated[tuple[FieldWriter, ...], At("writtenBy")] = ()
    observed: Annotated[Time, At("observationTime")]
    first_observed: Time


_DETAIL: Final = _texts("path", "valueInMember", "valueInHub")


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftedObject(DivergedObject):
    """An object that somebody changed on the member since it was applied."""

    details: Annotated[tuple[Annotated[Detail, _DETAIL], ...], At("observedDrifts")]
    first_observed: Annotated[Time, At("firstDriftedObservedTime")]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffedObject(DivergedObject):
    """An object that differs from its manifest, and that gitfleet only compares or may not take over."""

    details: Annotated[tuple[Annotated[Detail, _DETAIL], ...], At("observedDiffs")]
    first_observed: Annotated[Time, At("firstDiffedObservedTime")]


OWNER: Final = Inline(paths={"namespace": ("metadata", "namespace"), "name": ("metadata", "labels", PARENT_LABEL)})
"""The placement to which an object belongs: its own namespace, and a label."""


def _identify(binding: Binding) -> tuple[str, str]:
    kind = "ResourceBinding" if binding.placement.namespace else "ClusterResourceBinding"
    return f"{PLACEMENT_GROUP}/v1beta1", kind


@document("spec", identify=_identify, derived={("metadata", "name"): lambda binding: binding.name})
@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """One (placement, cluster).

    The spec is `state`, `resource_snapshot` (name, None before the first rollout), the override snapshots, `variants`
    (of Folders) and `apply_strategy`; every change of the spec adds 1 to `generation`, so that conditions observed
    before it no longer count. `deleting` is when the binding was given up: its resources are being removed, then it
    vanishes. `applied_snapshot` is the snapshot that the cluster really has (decision D23). `override_labels` are the
    labels, annotations ("annotation:" before the key) and properties ("property:") that the overrides saw on the
    cluster at the last rollout: others change nothing there before the next one.
    """

    placement: Annotated[PlacementKey, OWNER]
    cluster: Annotated[str, At("spec", "targetCluster")]
    state: BindingState
    policy_snapshot: Annotated[str, At("spec", "schedulingPolicySnapshotName")]
    previous_state: Annotated[BindingState | None, At("metadata", "annotations", PREVIOUS_STATE)] = None
    resource_snapshot: Annotated[str | None, At("spec", "resourceSnapshotName")] = None
    cluster_resource_overrides: Annotated[tuple[str, ...], At("spec", "clusterResourceOverrideSnapshots")] = ()
    resource_overrides: Annotated[References, At("spec", "resourceOverrideSnapshots")] = ()
    variants: ChosenVariants = ()
    apply_strategy: ApplyStrategy = ApplyStrategy()
    decision: Annotated[ClusterDecision | None, At("spec", "clusterDecision")] = None
    generation: Annotated[int, At("metadata", "generation")] = 1
    conditions: Annotated[Conditions, At("status", "conditions")] = ()
    failed: Annotated[tuple[FailedObject, ...], At("status", "failedPlacements")] = ()
    drifted: Annotated[tuple[DriftedObject, ...], At("status", "driftedPlacements")] = ()
    diffed: Annotated[tuple[DiffedObject, ...], At("status", "diffedPlacements")] = ()
    applied_snapshot: Annotated[str | None, At("status", "appliedResourceSnapshotName")] = None
    deleting: Annotated[Time | None, At("metadata", "deletionTimestamp")] = None
    override_labels: tuple[Annotated[tuple[str, str | None], _texts("key", "value")], ...] = ()

    @property
    def kept(self) -> tuple[FailedObject, ...]:
        """The objects that are given up and stay until another placement has them, or a person approves."""
        return tuple(failed for failed in self.failed if failed.condition == DELETED and failed.reason in KEPT)

    @property
    def only_keeps(self) -> bool:
        """Whether all that is still to go is kept."""
        return bool(self.kept) and len(self.kept) == len(self.failed)

    @property
    def name(self) -> str:
        """KubeFleet's name, `binding_name`."""
        return binding_name(self.placement, self.cluster)


def binding_name(placement: PlacementKey, cluster: str) -> str:
    """`<placement[:26]>-<cluster[:27]>-<8 hex>`: KubeFleet's shape; the tail is a hash, so the same pair has the same
    name."""
    tail = sha256(f"{placement}\0{cluster}".encode()).hexdigest()[:8]
    return f"{placement.name[:26]}-{cluster[:_CLUSTER_LETTERS]}-{tail}"


def shown_cluster(placement: PlacementKey, name: str) -> str | None:
    """What a binding's name shows of its cluster: all of it, unless `binding_name` gives another name for it. None for
    a name that no binding of the placement has."""
    cluster = name.removeprefix(f"{placement.name[:26]}-").rpartition("-")[0]
    cut = len(cluster) == _CLUSTER_LETTERS and name.startswith(f"{placement.name[:26]}-")
    return cluster if cut or binding_name(placement, cluster) == name else None


def is_active(binding: Binding) -> bool:
    """Whether the placement wants this cluster: the binding is neither given up nor unscheduled."""
    return binding.deleting is None and binding.state is not BindingState.UNSCHEDULED


def is_available(binding: Binding) -> bool:
    """Whether the cluster counts as available now: for the generation of the binding that holds (decision
    D24)."""
    return is_true(binding.conditions, ConditionType.AVAILABLE, generation=binding.generation)


def raised(binding: Binding) -> Binding:
    """The binding one generation later with what is known of it: for a change of state alone, which changes nothing on
    the cluster, so that what was observed there still counts."""
    generation = binding.generation + 1
    conditions = tuple(
        replace(c, observed_generation=generation) if c.observed_generation == binding.generation else c
        for c in binding.conditions
    )
    return replace(binding, generation=generation, conditions=conditions)


def unscheduled(binding: Binding) -> Binding:
    """The binding given up, with the state that it had; one that is given up already stays as it is."""
    if binding.state is BindingState.UNSCHEDULED:
        return binding
    return replace(raised(binding), state=BindingState.UNSCHEDULED, previous_state=binding.state)
