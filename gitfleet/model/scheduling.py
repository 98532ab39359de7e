"""The request to the scheduler and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from gitfleet.api.bindings import Binding, ClusterDecision, ClusterScore
from gitfleet.api.conditions import Reason
from gitfleet.api.placements import PlacementKey, PlacementPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulingRequest:
    """One placement to be scheduled: its policy (numberOfClusters included), the name of the latest policy snapshot
    and all
    its bindings, deleting ones included. A binding made by another policy snapshot is obsolete."""

    placement: PlacementKey
    policy: PlacementPolicy
    policy_snapshot: str
    bindings: tuple[Binding, ...] = ()
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterVerdict:
    """One cluster's row of `explain`: chosen or refused, by whom, the score by plug-in, and what would have to
    change."""

    cluster: str
    selected: bool
    refused_by: str | None = None
    reason: str = ""
    score: ClusterScore | None = None
    scores_by_plugin: Mapping[str, int] = field(default_factory=dict)
    remedy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulingResult:
    """All bindings as they are to be from now on, the decisions in KubeFleet's order (at most 20 that were not
    selected),
    and the Scheduled condition's status, reason and message. `error` is set when the cycle was aborted (an
    unparsable property
    value, a plug-in that raised): then the bindings are as they were. `cycles` is how many KubeFleet cycles it took.
    `wake_at` is the first moment at which the result could differ by the clock alone (an eligibility time-out), or
    None.
    """

    bindings: tuple[Binding, ...]
    decisions: tuple[ClusterDecision, ...] = ()
    fulfilled: bool | None = None  # None: no condition is written (nothing was decided)
    reason: Reason = Reason.SCHEDULING_FAILED
    message: str = ""
    error: str | None = None
    cycles: int = 1
    wake_at: datetime | None = None
