"""What is observed of member clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from gitfleet.api.clusters import PropertyValue, ResourceUsage
from gitfleet.api.conditions import Status
from gitfleet.api.objects import JsonObject, ObjectKey


@dataclass(frozen=True, slots=True)
class LiveObject:
    """An object as its API server shows it."""

    key: ObjectKey
    body: JsonObject

    @property
    def uid(self) -> str:
        """metadata.uid"""
        return str((self.body.get("metadata") or {}).get("uid") or "")

    @property
    def resource_version(self) -> str:
        """metadata.resourceVersion"""
        return str((self.body.get("metadata") or {}).get("resourceVersion") or "")

    @property
    def generation(self) -> int:
        """metadata.generation, 0 where the kind has none"""
        return int((self.body.get("metadata") or {}).get("generation") or 0)


LiveObjects = Mapping[ObjectKey, LiveObject | None]
"""Live objects by key: None means that the server said NotFound; an absent key was not read."""


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a server would make of a manifest alone, over the content of an object that it had then: None where it did
    not say, and `error` why."""

    live: JsonObject
    body: JsonObject | None
    error: str = ""

    def is_about(self, live: JsonObject) -> bool:
        """Whether nothing that counts has changed since in the object."""
        return live is self.live or _asked_about(live) == _asked_about(self.live)


def _asked_about(body: JsonObject) -> JsonObject:
    """All but what changes by itself."""
    metadata = {name: value for name, value in (body.get("metadata") or {}).items() if name not in _OWN_PACE}
    return {**{name: value for name, value in body.items() if name != "status"}, "metadata": metadata}


_OWN_PACE: Final = frozenset({"resourceVersion", "managedFields", "generation"})

DryRuns = Mapping[tuple[str, str], DryRun]
"""By the object's uid and the manifest's digest."""


@dataclass(frozen=True, slots=True)
class ReportedCondition:
    """A condition as somebody reports it, without times and generations."""

    type: str
    status: Status
    reason: str
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterObservation:
    """One observation of one cluster. When it is not `reachable`, `error` says why in one sentence and nothing else
    counts. One that was not `attempted`, since there was no time for it, says nothing of the cluster.

    `dry_runs` are what it was asked for full comparisons. `unreadable` holds keys whose reading failed for a reason of
    their own (forbidden, unknown kind), with that reason.
    """

    cluster: str
    reachable: bool
    error: str = ""
    attempted: bool = True
    healthy: bool = True
    observed: datetime | None = None
    live: LiveObjects = field(default_factory=dict)
    unreadable: Mapping[ObjectKey, str] = field(default_factory=dict)
    dry_runs: DryRuns = field(default_factory=dict)
    pods: Mapping[ObjectKey, tuple[LiveObject, ...]] = field(default_factory=dict)
    """The pods of the workloads of which they were asked for, by its key; of a Deployment its ReplicaSets."""
    namespaces: Mapping[str, str] | None = None
    server: str = ""
    """The identity of the API server (the UID of its Namespace kube-system), "" where it was not read."""
    refused: str | None = None
    """Of an observation that is not used: the member that has this API server, which is the cluster itself where its
    server is another one than before."""
    properties: Mapping[str, PropertyValue] = field(default_factory=dict)
    resource_usage: ResourceUsage | None = None
    reported: tuple[ReportedCondition, ...] = ()
    """What the property providers say of themselves: ClusterPropertyProviderStarted,
    ClusterPropertyCollectionSucceeded, and conditions of their own."""

    @property
    def live_and_pods(self) -> LiveObjects:
        """The live objects, and the pods of workloads beside them."""
        pods = {pod.key: pod for listed in self.pods.values() for pod in listed}
        return {**self.live, **pods} if pods else self.live


class Availability(StrEnum):
    """The one verdict vocabulary (kubefleet.md §6, decisions D2, D3)."""

    AVAILABLE = "available"
    NOT_YET = "not-yet-available"
    NOT_TRACKABLE = "not-trackable"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an object is available, and why."""

    availability: Availability
    reason: str = ""
