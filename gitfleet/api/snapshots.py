"""Snapshots: what was selected, which policy held, and which overrides held, immutable and numbered (kubefleet.md
§4)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from gitfleet.api.objects import Manifest, ObjectKey
from gitfleet.api.overrides import Override
from gitfleet.api.placements import PlacementKey, PlacementPolicy


@dataclass(frozen=True, slots=True)
class DocumentRef:
    """Which document of which file holds an object: path, blob id, document index.

    A document that was rendered (a kustomization's output, say) has no blob of its own when it is selected: then `blob`
    is "". Read back from the state branch it is `rendered`, and its blob is the file there that holds it alone.
    """

    path: str
    blob: str
    document: int
    key: ObjectKey
    rendered: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceSnapshot:
    """One release of a placement's resources.

    `hash` is the SHA-256 hex over the whole selection, in snapshot order; `commit` is where it was taken from.
    `manifests` stand in apply order, stripped as KubeFleet strips; None means that they were not loaded (an old
    snapshot
    that nothing uses), never that there are none.
    """

    placement: PlacementKey
    index: int
    hash: str
    commit: str
    created: datetime
    documents: tuple[DocumentRef, ...]
    manifests: tuple[Manifest, ...] | None = None

    @property
    def name(self) -> str:
        """KubeFleet's master snapshot name: `<placement>-<index>-snapshot`."""
        return f"{self.placement.name}-{self.index}-snapshot"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySnapshot:
    """One scheduling policy of a placement; `hash` leaves numberOfClusters out, so scaling makes no new snapshot.

    `number_of_clusters` is the annotation that scaling edits on the same snapshot. `placement_generation` is the
    generation of the placement that was observed last.
    """

    placement: PlacementKey
    index: int
    hash: str
    policy: PlacementPolicy
    number_of_clusters: int | None = None
    placement_generation: int = 1

    @property
    def name(self) -> str:
        """KubeFleet's name: `<placement>-<index>`."""
        return f"{self.placement.name}-{self.index}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OverrideSnapshot:
    """One version of an override; `hash` is over its spec."""

    override: Override
    index: int
    hash: str

    @property
    def name(self) -> str:
        """KubeFleet's name: `<override>-<index>`."""
        return f"{self.override.key.name}-{self.index}"

    @property
    def reference(self) -> str:
        """What a binding records: `name` for cluster overrides, `namespace/name` for namespaced ones."""
        return f"{self.override.key.namespace}/{self.name}" if self.override.key.namespace else self.name
