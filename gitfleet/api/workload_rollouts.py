"""Workload rollouts as people write them: RolloutTrait (and its later name Rollout), and AppRollout (in the seed:
ApplicationDeployment). Source: seed 004; docs/workload-rollouts.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Final, TypeAlias

from annotated_types import Len

from gitfleet.api.annotations import OneOf, Only
from gitfleet.api.labels import LabelSelector
from gitfleet.api.layout import document
from gitfleet.api.objects import JsonObject, Origin
from gitfleet.api.rollout_plans import RolloutPlan
from gitfleet.api.values import Key, KindName, NonEmpty, ObjectName, SnapshotIndex

TRAIT_GROUP: Final = "standard.oam.dev"
APP_GROUP: Final = "core.oam.dev"
ROLLOUTS: Final = "rollouts"
"""The folder of the kinds."""
ROLLOUT_KINDS: Final = ("RolloutTrait", "Rollout", "AppRollout", "ApplicationDeployment")
"""Their names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadReference:
    """A workload, as corev1.ObjectReference names it.

    apiVersion: its API group and version, such as apps/v1
    kind: its kind
    namespace: its namespace; the rollout's own where it is absent
    name: its name
    """

    api_version: NonEmpty
    kind: KindName
    namespace: str = ""
    name: ObjectName


@document("spec", identify=lambda value: (f"{TRAIT_GROUP}/v1alpha1", value.kind))
@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutTrait:
    """RolloutTrait, or Rollout: takes the pods of a workload to its newest content, or from the workloads in
    `sourceRef` to the one in `targetRef`.

    targetRef: the workload with the newer content
    sourceRef: the workloads with the older content; none where the target holds both revisions
    rolloutPlan: how its pods change
    clusters: on which clusters; every one that has the workload where it is absent
    order: whether the clusters go side by side or one after the other
    """

    key: Key
    kind: Annotated[str, Only.MEMORY] = "RolloutTrait"
    target_ref: WorkloadReference
    source_ref: Annotated[tuple[WorkloadReference, ...], Len(0, 10)] = ()
    rollout_plan: RolloutPlan
    clusters: LabelSelector | None = None
    order: Annotated[str, OneOf("parallel", "sequential")] = "parallel"
    body: Annotated[JsonObject, Only.MEMORY] = field(default_factory=dict)
    origin: Annotated[Origin | None, Only.MEMORY] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementReference:
    """The placement whose snapshots are the revisions.

    kind: ClusterResourcePlacement, or ResourcePlacement in the rollout's namespace
    name: its name
    """

    kind: Annotated[str, OneOf("ClusterResourcePlacement", "ResourcePlacement")] = "ClusterResourcePlacement"
    name: ObjectName


@document("spec", identify=lambda value: (f"{APP_GROUP}/v1beta1", value.kind))
@dataclass(frozen=True, slots=True, kw_only=True)
class AppRollout:
    """AppRollout, or ApplicationDeployment: takes the pods of one workload from a resource snapshot of a placement to
    another one.

    placementRef: the placement
    targetRevision: the index of the snapshot with the newer content
    sourceRevision: the index of the snapshot with the older content; nothing is there before where it is absent
    componentList: the name of the one workload; needed where a snapshot has several
    rolloutPlan: how its pods change
    revertOnDelete: as in rolloutPlan
    clusters: on which clusters; every one of the placement where it is absent
    order: whether the clusters go side by side or one after the other
    """

    key: Key
    kind: Annotated[str, Only.MEMORY] = "AppRollout"
    placement_ref: PlacementReference
    target_revision: SnapshotIndex
    source_revision: SnapshotIndex = None
    component_list: Annotated[tuple[ObjectName, ...], Len(0, 1)] = ()
    rollout_plan: RolloutPlan
    revert_on_delete: bool = False
    clusters: LabelSelector | None = None
    order: Annotated[str, OneOf("parallel", "sequential")] = "parallel"
    body: Annotated[JsonObject, Only.MEMORY] = field(default_factory=dict)
    origin: Annotated[Origin | None, Only.MEMORY] = None


WorkloadRollout: TypeAlias = RolloutTrait | AppRollout
