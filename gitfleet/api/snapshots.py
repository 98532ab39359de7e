"""Snapshots: what was selected, which policy held, and which overrides held, immutable and numbered (kubefleet.md
§4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Final

from gitfleet.api.annotations import At, Default, Inline, Only
from gitfleet.api.bindings import OWNER
from gitfleet.api.folders import ChosenVariants, FolderVariants
from gitfleet.api.layout import document
from gitfleet.api.objects import Identity, Manifest, ObjectKey
from gitfleet.api.overrides import Override
from gitfleet.api.placements import PlacementKey, PlacementPolicy, api_version_of
from gitfleet.api.values import BytesText, IndexText, Time

_RESOURCE_INDEX: Final = "kubernetes-fleet.io/resource-index"
_RESOURCE_HASH: Final = "kubernetes-fleet.io/resource-hash"
_COUNT: Final = "kubernetes-fleet.io/number-of-resource-snapshots"
_POLICY_INDEX: Final = "kubernetes-fleet.io/policy-index"
_GENERATION: Final = "kubernetes-fleet.io/CRP-generation"
_CLUSTERS: Final = "kubernetes-fleet.io/number-of-clusters"


@dataclass(frozen=True, slots=True)
class DocumentRef:
    """Which document of which file holds an object: path, blob id, document index.

    A document that was rendered (a kustomization's output, say) has no blob of its own when it is selected: then `blob`
    is "". Read back from the state branch it is `rendered`, and its blob is the file there that holds it alone.
    """

    path: str
    blob: Annotated[str, Default("")]
    document: Annotated[int, Default(0)]
    key: Annotated[ObjectKey, Inline()]
    rendered: Annotated[bool, Only.MEMORY] = False
    folder: str = ""
    """The Folder, where it has variants or steps."""
    variants: tuple[str, ...] = ()
    """The variants of the Folder that have the object with this content; none where every cluster gets it."""


def _identify_resources(snapshot: ResourceSnapshot) -> tuple[str, str]:
    owner = snapshot.placement
    return api_version_of(owner), "ResourceSnapshot" if owner.namespace else "ClusterResourceSnapshot"


@document(
    "spec",
    identify=_identify_resources,
    derived={
        ("metadata", "name"): lambda snapshot: snapshot.name,
        ("metadata", "annotations", _COUNT): lambda _: "1",
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceSnapshot:
    """One release of a placement's resources.

    `hash` is the SHA-256 hex over the whole selection, in snapshot order; `commit` is where it was taken from.
    `folders` are the Folders with variants: each cluster gets one variant of each.
    `manifests` stand in apply order, stripped as KubeFleet strips; None means that they were not loaded (an old
    snapshot
    that nothing uses), never that there are none.
    """

    placement: Annotated[PlacementKey, OWNER]
    index: Annotated[IndexText, At("metadata", "labels", _RESOURCE_INDEX)]
    hash: Annotated[str, At("metadata", "annotations", _RESOURCE_HASH)]
    commit: str
    created: Annotated[Time, At("metadata", "creationTimestamp")]
    documents: tuple[DocumentRef, ...]
    folders: tuple[FolderVariants, ...] = ()
    manifests: Annotated[tuple[Manifest, ...] | None, Only.MEMORY] = None

    @property
    def name(self) -> str:
        """Its name: see snapshot_name."""
        return snapshot_name(self.placement.name, self.index)

    def with_variants(self, chosen: ChosenVariants) -> ResourceSnapshot:
        """The snapshot as a cluster gets it that has these variants: without the objects of others."""
        return SnapshotVariants(self).of(chosen)

    @property
    def by_variant(self) -> dict[tuple[Identity, str], Manifest]:
        """The loaded objects by identity and variant; "" for what every cluster gets."""
        manifests = self.manifests or ()
        return {(m.key.identity, variant): m for m in manifests for variant in m.variants or ("",)}

    @property
    def keys(self) -> list[ObjectKey]:
        """Its objects, each once."""
        return [*dict.fromkeys(document.key for document in self.documents)]


class SnapshotVariants:
    """A snapshot as the clusters get it, made once for each combination of variants."""

    def __init__(self, snapshot: ResourceSnapshot) -> None:
        self._snapshot = snapshot
        self._made: dict[ChosenVariants, ResourceSnapshot] = {}
        self._positions: dict[tuple[str, str], list[int]] = {}
        for position, reference in enumerate(snapshot.documents if snapshot.folders else ()):
            for place in [(reference.folder, variant) for variant in reference.variants] or [("", "")]:
                self._positions.setdefault(place, []).append(position)

    def of(self, chosen: ChosenVariants) -> ResourceSnapshot:
        """The snapshot with these variants, without the objects of others."""
        snapshot = self._snapshot
        if not snapshot.folders:
            return snapshot
        if chosen not in self._made:
            places = [("", ""), *chosen]
            positions = sorted(position for place in places for position in self._positions.get(place, ()))
            manifests = None if snapshot.manifests is None else tuple(snapshot.manifests[at] for at in positions)
            documents = tuple(snapshot.documents[at] for at in positions)
            self._made[chosen] = replace(snapshot, documents=documents, manifests=manifests, folders=())
        return self._made[chosen]


def snapshot_name(placement: str, index: int | str) -> str:
    """KubeFleet's master snapshot name: `<placement>-<index>-snapshot`."""
    return f"{placement}-{index}-snapshot"


def snapshot_index(name: str | None) -> str | None:
    """The index of the resource snapshot of a name: `web-3-snapshot` is index 3. None for no name."""
    return name.removesuffix("-snapshot").rpartition("-")[2] if name else None


def _identify_policy(snapshot: PolicySnapshot) -> tuple[str, str]:
    owner = snapshot.placement
    return api_version_of(owner), "SchedulingPolicySnapshot" if owner.namespace else "ClusterSchedulingPolicySnapshot"


@document(
    "spec",
    identify=_identify_policy,
    derived={
        ("metadata", "name"): lambda snapshot: snapshot.name,
        ("metadata", "annotations", _GENERATION): lambda snapshot: str(snapshot.placement_generation),
        ("status", "observedCRPGeneration"): lambda snapshot: snapshot.placement_generation,
    },
)
@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySnapshot:
    """One scheduling policy of a placement; `hash` leaves numberOfClusters out, so scaling makes no new snapshot.

    `number_of_clusters` is the annotation that scaling edits on the same snapshot. `placement_generation` is the
    generation of the placement that was observed last.
    """

    placement: Annotated[PlacementKey, OWNER]
    index: Annotated[IndexText, At("metadata", "labels", _POLICY_INDEX)]
    hash: Annotated[BytesText, At("spec", "policyHash")]
    policy: PlacementPolicy
    number_of_clusters: Annotated[IndexText | None, At("metadata", "annotations", _CLUSTERS)] = None
    placement_generation: Annotated[int, At("status", "observedCRPGeneration")] = 1

    @property
    def name(self) -> str:
        """KubeFleet's name: `<placement>-<index>`."""
        return f"{self.placement.name}-{self.index}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OverrideSnapshot:
    """One version of an override; `hash` is over its spec, `commit` is where it was taken from ("": not recorded)."""

    override: Override
    index: int
    hash: str
    commit: str = ""

    @property
    def name(self) -> str:
        """KubeFleet's name: `<override>-<index>`."""
        return f"{self.override.key.name}-{self.index}"

    @property
    def reference(self) -> str:
        """What a binding records: `name` for cluster overrides, `namespace/name` for namespaced ones."""
        return f"{self.override.key.namespace}/{self.name}" if self.override.key.namespace else self.name
