"""Typed view models: what a person is shown of each kind, as values, before anything is made text.

A view keeps moments as moments and counts as counts; `columns` makes cells of them, `body` gives the whole object as
Kubernetes would show it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final, Generic, Protocol, TypeVar

from gitfleet import desired, snapshots
from gitfleet.api import write
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.conditions import Conditions, MemberConditionType, find_condition
from gitfleet.api.envelopes import is_envelope
from gitfleet.api.holds import Hold
from gitfleet.api.objects import JsonObject, Manifest
from gitfleet.api.snapshots import OverrideSnapshot, PolicySnapshot, ResourceSnapshot
from gitfleet.state import (
    PlacementFile,
    StateReader,
    override_object,
    placement_object,
    policy_snapshot_object,
    resource_snapshot_object,
)
from gitfleet.status import ClusterState, cluster_state, health_condition, joined_condition
from gitfleet.views.placement_status import status_object
from gitfleet.views.texts import ViewsText

_ENVELOPES: Final = "kubernetes-fleet.io/number-of-enveloped-object"
S = TypeVar("S")


class View(Protocol):
    """What every view has: the names that it is found by."""

    @property
    def namespace(self) -> str:
        """The namespace, "" for what is cluster-scoped."""

    @property
    def name(self) -> str:
        """The object's own name."""


@dataclass(frozen=True, slots=True)
class PlacementView:
    """A placement without its bindings, and the removals of it that wait for a person."""

    file: PlacementFile
    holds: tuple[Hold, ...]

    @property
    def namespace(self) -> str:
        """Its namespace, "" for one of the whole cluster."""
        return self.file.placement.key.namespace

    @property
    def name(self) -> str:
        """Its name."""
        return self.file.placement.key.name

    @property
    def since(self) -> datetime | None:
        """The first thing that is dated."""
        dated = (self.file.summary.oldest_snapshot, first_time(self.file.conditions))
        return min((moment for moment in dated if moment is not None), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterView:
    """A member cluster with its state in one word, and why it is not healthy ("" where it is); `held` says what its
    removal waits for ("" where it is not held)."""

    cluster: MemberCluster
    state: ClusterState
    joined: str
    since: datetime | None
    message: str
    held: str
    namespace: str = ""

    @property
    def name(self) -> str:
        """The cluster's name."""
        return self.cluster.name

    @property
    def state_text(self) -> str:
        """Its state, and whether its removal is held."""
        return ViewsText.REMOVAL_HELD(state=self.state) if self.held else self.state

    @classmethod
    def of(cls, cluster: MemberCluster) -> ClusterView:
        """The view of a cluster."""
        held = find_condition(cluster.status.conditions, MemberConditionType.REMOVAL_HELD)
        state, joined, health = cluster_state(cluster), joined_condition(cluster), health_condition(cluster)
        return cls(
            cluster=cluster,
            state=state,
            joined=joined.status.value if joined else "",
            since=joined.last_transition_time if joined else first_time(cluster.status.conditions),
            message=health.message or health.reason if health is not None and state is not ClusterState.HEALTHY else "",
            held=held.message if held is not None else "",
        )

    def body(self) -> JsonObject:
        """The whole object."""
        return write(self.cluster)


@dataclass(frozen=True, slots=True)
class OwnView:
    """A value that is an object as it is."""

    value: Any
    namespace: str
    name: str

    def body(self) -> JsonObject:
        """The whole object."""
        return write(self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotView(Generic[S]):
    """A snapshot of resources, of a policy or of an override; `body` gives the whole object."""

    namespace: str
    name: str
    snapshot: S
    latest: bool
    body: Callable[[], JsonObject]


def first_time(conditions: Conditions) -> datetime | None:
    """When the first of some conditions changed last."""
    return min((condition.last_transition_time for condition in conditions), default=None)


def placement_bodies(state: StateReader, name: str | None = None) -> Iterator[JsonObject]:
    """Every placement as a whole object with its per-cluster statuses, or those of a name."""
    return (placement_object(record, status_object(record)) for record in state.records(name))


def snapshot_views(state: StateReader, name: str | None = None) -> Iterator[SnapshotView[ResourceSnapshot]]:
    """Every resource snapshot, or those of a name, by placement and index."""
    for snapshot, latest in state.resource_snapshots(name):
        body = partial(_whole_snapshot, state, snapshot, latest=latest)
        space = snapshot.placement.namespace
        yield SnapshotView(namespace=space, name=snapshot.name, snapshot=snapshot, latest=latest, body=body)


def _whole_snapshot(state: StateReader, snapshot: ResourceSnapshot, *, latest: bool) -> JsonObject:
    """The snapshot with the selected objects, as KubeFleet has them, where all of their files are there."""
    body = resource_snapshot_object(snapshot, latest=latest)
    parsed: dict[bytes, Mapping[int, Manifest]] = {}
    selected = []
    for ref, content in zip(snapshot.documents, state.files_of(snapshot), strict=True):
        if content is None:
            return body
        if content not in parsed:
            manifests = desired.manifests_of(ref.path, ref.blob, desired.parse_file(ref.path, content))
            parsed[content] = {manifest.origin.document: manifest for manifest in manifests}
        manifest = parsed[content].get(0 if ref.rendered else ref.document)
        if manifest is None:
            return body
        selected.append(snapshots.strip(manifest))
    metadata, spec = body["metadata"], body["spec"]
    annotations = {_ENVELOPES: str(sum(map(is_envelope, selected))), **metadata["annotations"]}
    resources = [manifest.body for manifest in selected]
    return {
        **body,
        "metadata": {**metadata, "annotations": annotations},
        "spec": {"selectedResources": resources, **spec},
    }


def policy_views(state: StateReader, name: str | None = None) -> Iterator[SnapshotView[PolicySnapshot]]:
    """Every policy snapshot, or those of a name, by placement and index."""
    for file, latest in state.policies(name):
        snapshot = file.snapshot
        whole = partial(policy_snapshot_object, snapshot, latest=latest)
        body = partial(whole, scheduled=file.scheduled, decisions=file.decisions)
        space = snapshot.placement.namespace
        yield SnapshotView(namespace=space, name=snapshot.name, snapshot=snapshot, latest=latest, body=body)


def override_views(state: StateReader, name: str | None = None) -> Iterator[SnapshotView[OverrideSnapshot]]:
    """Every override snapshot, or those of a name, by override and index."""
    for snapshot, latest in state.overrides(name):
        body = partial(override_object, snapshot, latest=latest)
        space = snapshot.override.key.namespace
        yield SnapshotView(namespace=space, name=snapshot.name, snapshot=snapshot, latest=latest, body=body)
