"""What is observed of member clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

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
class ReportedCondition:
    """A condition as somebody reports it, without times and generations."""

    type: str
    status: Status
    reason: str
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterObservation:
    """One observation of one cluster. When it is not `reachable`, `error` says why in one sentence and nothing else
    counts. One that was not even `asked`, since there was no time for it, says nothing of the cluster.

    `unreadable` holds keys whose reading failed for a reason of their own (forbidden, unknown kind), with that reason.
    """

    cluster: str
    reachable: bool
    error: str = ""
    asked: bool = True
    healthy: bool = True
    observed: datetime | None = None
    live: LiveObjects = field(default_factory=dict)
    unreadable: Mapping[ObjectKey, str] = field(default_factory=dict)
    namespaces: Mapping[str, str] | None = None
    properties: Mapping[str, PropertyValue] = field(default_factory=dict)
    resource_usage: ResourceUsage | None = None
    reported: tuple[ReportedCondition, ...] = ()
    """What the property providers say of themselves: ClusterPropertyProviderStarted,
    ClusterPropertyCollectionSucceeded, and conditions of their own."""


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
