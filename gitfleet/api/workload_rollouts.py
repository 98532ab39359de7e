"""Workload rollouts as people write them: RolloutTrait (and its later name Rollout), and AppRollout (in the seed:
ApplicationDeployment). Source: seed 004; docs/workload-rollouts.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Final, TypeAlias

from annotated_types import Len

from gitfleet.api.annotations import Break, Location, OneOf, Only, below
from gitfleet.api.labels import LabelSelector
from gitfleet.api.layout import document
from gitfleet.api.objects import Authored, GroupKind, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.rollout_plans import RolloutOrder, RolloutPlan
from gitfleet.api.texts import ApiText
from gitfleet.api.values import ApiVersion, Key, KindName, NamespaceName, ObjectName, SnapshotIndex

TRAIT_GROUP: Final = "standard.oam.dev"
APP_GROUP: Final = "core.oam.dev"
ROLLOUTS: Final = "rollouts"
"""The folder of the kinds."""
TRAIT_KINDS: Final = ("RolloutTrait", "Rollout")
APP_KINDS: Final = ("AppRollout", "ApplicationDeployment")
ROLLOUT_KINDS: Final = (*TRAIT_KINDS, *APP_KINDS)
"""Their names."""
WORKLOAD_KINDS: Final = frozenset(
    {
        GroupKind("apps", "DaemonSet"),
        GroupKind("apps", "Deployment"),
        GroupKind("apps", "StatefulSet"),
        GroupKind("apps.kruise.io", "CloneSet"),
    }
)
"""The kinds of workloads that are moved without a handler of third parties."""
_PLAN: Final = ("spec", "rolloutPlan")
_HOLDS_BOTH: Final = frozenset({"CloneSet", "DaemonSet", "StatefulSet"})
"""Kinds of which one object has pods of both revisions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadReference:
    """A workload, as corev1.ObjectReference names it.

    apiVersion: its API group and version, such as apps/v1
    kind: its kind
    namespace: its namespace; the rollout's own where it is absent
    name: its name
    """

    api_version: ApiVersion
    kind: KindName
    namespace: NamespaceName = ""
    name: ObjectName

    def key(self, namespace: str) -> ObjectKey:
        """What it names, from a rollout in `namespace`."""
        group, _, version = self.api_version.rpartition("/")
        return ObjectKey(group, version, self.kind, self.namespace or namespace, self.name)


@document("spec", identify=lambda value: (f"{TRAIT_GROUP}/v1alpha1", value.kind))
@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutTrait(Authored):
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
    order: RolloutOrder = RolloutOrder.PARALLEL

    @property
    def target(self) -> ObjectKey:
        """The workload with the newer content."""
        return self.target_ref.key(self.key.namespace)

    @property
    def sources(self) -> tuple[ObjectKey, ...]:
        """The workloads with the older content."""
        return tuple(reference.key(self.key.namespace) for reference in self.source_ref)

    @property
    def workloads(self) -> Iterator[tuple[ObjectKey, Location]]:
        """What it names, each with the field that does so."""
        yield self.target, ("spec", "targetRef")
        yield from ((source, ("spec", "sourceRef", index)) for index, source in enumerate(self.sources))

    def breaks(self) -> Iterator[Break]:
        """Sources are other workloads of the target's kind, each once; from them to the target the batches add up."""
        taken = {self.target.identity: ApiText.TARGET_NAME_WORKLOAD_OLDER_CONTENT()}
        for index, source in enumerate(self.sources):
            location = ("spec", "sourceRef", index)
            if source.group_kind != self.target.group_kind:
                yield (*location, "kind"), ApiText.MUST_KIND_TARGET(group_kind=self.target.group_kind)
            if source.identity in taken:
                yield location, taken[source.identity]
            taken.setdefault(source.identity, ApiText.STANDS_TWICE_REMOVE_ONE())
        if self.source_ref and self.target_ref.kind in _HOLDS_BOTH:
            sentence = ApiText.NOT_GO_PODS_BOTH_REVISIONS(target_ref=self.target_ref.kind)
            yield ("spec", "sourceRef"), sentence
        elif self.source_ref:
            yield from below(_PLAN, list(self.rollout_plan.size_breaks()))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementReference:
    """The placement whose snapshots are the revisions.

    kind: ClusterResourcePlacement, or ResourcePlacement in the rollout's namespace
    name: its name
    """

    kind: Annotated[str, OneOf("ClusterResourcePlacement", "ResourcePlacement")] = "ClusterResourcePlacement"
    name: ObjectName

    def key(self, namespace: str) -> PlacementKey:
        """What it names, from a rollout in `namespace`."""
        return PlacementKey(namespace if self.kind == "ResourcePlacement" else "", self.name)


@document("spec", identify=lambda value: (f"{APP_GROUP}/v1beta1", value.kind))
@dataclass(frozen=True, slots=True, kw_only=True)
class AppRollout(Authored):
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
    order: RolloutOrder = RolloutOrder.PARALLEL

    @property
    def placement(self) -> PlacementKey:
        """The placement whose snapshots are the revisions."""
        return self.placement_ref.key(self.key.namespace)

    def breaks(self) -> Iterator[Break]:
        """The revisions are two; from one to the other the batches add up."""
        if self.target_revision is None:
            yield ("spec", "targetRevision"), ApiText.MUST_NOT_EMPTY_WRITE_INDEX()
        elif self.source_revision is not None and int(self.target_revision) == int(self.source_revision):
            yield (
                ("spec", "sourceRevision"),
                ApiText.TARGETREVISION_NAME_SNAPSHOT_OLDER_CONTENT(),
            )
        if self.source_revision is not None:
            yield from below(_PLAN, list(self.rollout_plan.size_breaks()))


WorkloadRollout: TypeAlias = RolloutTrait | AppRollout
