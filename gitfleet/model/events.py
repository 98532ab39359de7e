"""Events: what happened between two states, in the words of the timeline (contracts.md §5)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple

from gitfleet.api.objects import JsonValue


class EventType(StrEnum):
    """What can happen, what people must know first; `CRASH` and `END` happen in simulations only."""

    HELD = "held"
    FAULT = "fault"
    APPROVAL_REQUESTED = "approvalRequested"
    REJECTED = "rejected"
    APPROVED = "approved"
    FAILED = "failed"
    EVICTED = "evicted"
    EVICTION_REFUSED = "evictionRefused"
    RUN = "run"
    STAGE = "stage"
    CLUSTER_UPDATE = "clusterUpdate"
    WORKLOAD_ROLLOUT = "workloadRollout"
    CLUSTER = "cluster"
    REMOVED = "removed"
    RELEASED = "released"
    UNSCHEDULED = "unscheduled"
    UPDATED = "updated"
    AVAILABLE = "available"
    UPDATING = "updating"
    BOUND = "bound"
    SCHEDULED = "scheduled"
    SNAPSHOT = "snapshot"
    FAULTS_CLEARED = "faultsCleared"
    PLACEMENT = "placement"
    COMMIT_READ = "commitRead"
    COMMIT = "commit"
    APPLIED = "applied"
    CRASH = "crash"
    END = "end"


class Event(NamedTuple):
    """One thing that happened.

    `placement` is `name` or `namespace/name`,
    `cluster` a name; None where the event has none. `fields` are the further fields of its type.
    """

    type: EventType
    placement: str | None = None
    cluster: str | None = None
    fields: Mapping[str, JsonValue] = MappingProxyType({})

    def to_json(self, t: float | None = None) -> dict[str, Any]:
        """The line of the timeline; `t` is in (virtual) seconds since the start, whole ones without a point, and left
        out where there is no start."""
        when = {} if t is None else {"t": int(t) if float(t).is_integer() else t}
        place = {"placement": self.placement, "cluster": self.cluster}
        return {
            **when,
            "type": self.type.value,
            **{name: value for name, value in place.items() if value is not None},
            **self.fields,
        }
