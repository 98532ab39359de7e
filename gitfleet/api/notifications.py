"""Whom a continuous run tells of what (`spec.notifications` of FleetConfig, decision record 0032).

The repository names destinations; where they are and with which secrets is given to the process alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Annotated, Final

from gitfleet.api.annotations import OneOf
from gitfleet.api.labels import LabelSelector
from gitfleet.api.placing_policy import NamePattern
from gitfleet.api.texts import ApiText
from gitfleet.api.values import ObjectName, matching


class NotificationEvent(StrEnum):
    """What people want to be told of, the most urgent first."""

    REMOVAL_HELD = "removalHeld"
    APPROVAL_REQUESTED = "approvalRequested"
    RUN_FAILED = "runFailed"
    WORKLOAD_ROLLOUT_FAILED = "workloadRolloutFailed"
    WORKLOAD_ROLLOUT_WAITING = "workloadRolloutWaiting"
    APPLY_FAILED = "applyFailed"
    CLUSTER_UNHEALTHY = "clusterUnhealthy"
    ERROR = "error"
    RECONCILE_FAILING = "reconcileFailing"
    EVICTED = "evicted"
    ANSWERED = "answered"
    RUN_SUCCEEDED = "runSucceeded"
    WORKLOAD_ROLLOUT_SUCCEEDED = "workloadRolloutSucceeded"
    ROLLOUT_COMPLETE = "rolloutComplete"
    CLUSTER_HEALTHY = "clusterHealthy"
    CORRECTED = "corrected"
    RECONCILE_RECOVERED = "reconcileRecovered"


BUILT_IN_TYPES: Final = ("slack", "webhook", "email")
_TYPE: Final = rf"{'|'.join(BUILT_IN_TYPES)}|[a-z0-9-]+(?:\.[a-z0-9-]+)+"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationScope:
    """What a destination is told of: what all of the fields match; an absent or empty field matches everything.

    placements: NAME, or NAMESPACE/NAME of a ResourcePlacement, `*` for any text
    clusters: labels of clusters
    """

    placements: tuple[NamePattern, ...] = ()
    clusters: LabelSelector | None = None

    def includes(self, placements: Collection[str], labels: Mapping[str, str] | None) -> bool:
        """Whether what is about such placements, and about a cluster with such labels (None: about none), is meant.
        What is about no placement is in no scope that names placements, and likewise of clusters."""
        patterns = self.placements
        if patterns and not any(fnmatchcase(name, pattern) for name in placements for pattern in patterns):
            return False
        return self.clusters is None or (labels is not None and self.clusters.matches(labels))


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """A destination that is told what happened.

    name: its name, by which the process is given where it is (`run --notify NAME=FILE`)
    type: slack, webhook, email, or the entry-point name of a plug-in
    events: what it is told of; everything where the list is empty
    scope: of which placements and clusters it is told; of all where it is absent
    """

    name: ObjectName
    type: Annotated[str, matching(_TYPE, ApiText.MUST_SLACK_WEBHOOK())]
    events: tuple[Annotated[str, OneOf(*(event.value for event in NotificationEvent))], ...] = ()
    scope: NotificationScope = NotificationScope()

    def wants(self, event: NotificationEvent) -> bool:
        """Whether events of this kind are sent there."""
        return not self.events or event in self.events
