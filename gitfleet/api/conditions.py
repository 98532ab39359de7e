"""Kubernetes conditions: the vocabulary of every status."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Final

from gitfleet.api.annotations import Default
from gitfleet.api.layout import document
from gitfleet.api.replacing import replace
from gitfleet.api.values import NonEmpty, Time
from gitfleet.formats.times import EPOCH

APPROVED: Final = "Approved"
"""The condition of a hold, a request for approval and an approval that says what people answered."""


class Status(StrEnum):
    """The three values of a condition."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


class ConditionType(StrEnum):
    """The conditions of a binding, in the order in which it comes about; a placement's types have its kind in front."""

    SCHEDULED = "Scheduled"
    ROLLOUT_STARTED = "RolloutStarted"
    OVERRIDDEN = "Overridden"
    WORK_SYNCHRONIZED = "WorkSynchronized"
    APPLIED = "Applied"
    AVAILABLE = "Available"
    DIFF_REPORTED = "DiffReported"
    REMOVALS_HELD = "RemovalsHeld"
    """Of a placement alone: removals of it wait for a person's approval (decision D25)."""
    PINNED = "Pinned"
    """Of a placement alone: a Pin keeps it at the content of an older snapshot, or cannot (decision record 0020)."""
    KEPT = "Kept"
    """Of a placement alone: why it goes on as it was, or stays while it leaves."""


class MemberConditionType(StrEnum):
    """The conditions of a member cluster and of its agent; property providers may add further types."""

    READY_TO_JOIN = "ReadyToJoin"
    JOINED = "Joined"
    HEALTHY = "Healthy"
    REMOVAL_HELD = "RemovalHeld"


class EvictionConditionType(StrEnum):
    """The conditions of an eviction: Valid False, or any Executed, is its end."""

    VALID = "Valid"
    EXECUTED = "Executed"


class Reason(StrEnum):
    """Every reason that gitfleet gives in a condition: KubeFleet's own (kubefleet.md §9) and, for what KubeFleet does
    not have, `SCHEDULING_FAILED`, `ROLLOUT_FROZEN`, `DEPENDENCY_NOT_AVAILABLE`, `APPROVAL_...`, `PIN_...`, `KEPT`,
    `CLUSTER_UNREACHABLE` and `INTERNAL_ERROR`. What is read may have others."""

    SCHEDULING_POLICY_FULFILLED = "SchedulingPolicyFulfilled"
    SCHEDULING_POLICY_UNFULFILLED = "SchedulingPolicyUnfulfilled"
    INVALID_RESOURCE_SELECTORS = "InvalidResourceSelectors"
    SCHEDULE_PENDING = "SchedulePending"
    SCHEDULING_FAILED = "SchedulingFailed"
    SCHEDULED = "Scheduled"
    SCHEDULE_FAILED = "ScheduleFailed"
    ROLLOUT_STARTED_UNKNOWN = "RolloutStartedUnknown"
    ROLLOUT_NOT_STARTED_YET = "RolloutNotStartedYet"
    ROLLOUT_FROZEN = "RolloutFrozen"
    DEPENDENCY_NOT_AVAILABLE = "DependencyNotAvailable"
    ROLLOUT_STARTED = "RolloutStarted"
    ROLLOUT_CONTROLLED_BY_EXTERNAL_CONTROLLER = "RolloutControlledByExternalController"
    OVERRIDDEN_PENDING = "OverriddenPending"
    OVERRIDDEN_FAILED = "OverriddenFailed"
    OVERRIDDEN_SUCCEEDED = "OverriddenSucceeded"
    NO_OVERRIDE_SPECIFIED = "NoOverrideSpecified"
    WORK_SYNCHRONIZED_UNKNOWN = "WorkSynchronizedUnknown"
    WORK_NOT_SYNCHRONIZED_YET = "WorkNotSynchronizedYet"
    WORK_SYNCHRONIZED = "WorkSynchronized"
    ALL_WORK_SYNCED = "AllWorkSynced"
    SYNC_WORK_FAILED = "SyncWorkFailed"
    APPLY_PENDING = "ApplyPending"
    APPLY_FAILED = "ApplyFailed"
    APPLY_SUCCEEDED = "ApplySucceeded"
    APPLY_IN_PROGRESS = "ApplyInProgress"
    NOT_ALL_WORK_HAVE_BEEN_APPLIED = "NotAllWorkHaveBeenApplied"
    ALL_WORK_HAVE_BEEN_APPLIED = "AllWorkHaveBeenApplied"
    RESOURCE_AVAILABLE_UNKNOWN = "ResourceAvailableUnknown"
    RESOURCE_NOT_AVAILABLE_YET = "ResourceNotAvailableYet"
    RESOURCE_AVAILABLE = "ResourceAvailable"
    NOT_ALL_WORK_ARE_AVAILABLE = "NotAllWorkAreAvailable"
    NOT_ALL_WORK_ARE_AVAILABILITY_TRACKABLE = "NotAllWorkAreAvailabilityTrackable"
    WORK_NOT_TRACKABLE = "WorkNotTrackable"
    ALL_WORK_ARE_AVAILABLE = "AllWorkAreAvailable"
    NOT_YET_AVAILABLE = "NotYetAvailable"
    DIFF_REPORTING_PENDING = "DiffReportingPending"
    DIFF_REPORTING_INCOMPLETE_OR_FAILED = "DiffReportingIncompleteOrFailed"
    DIFF_REPORTING_COMPLETED = "DiffReportingCompleted"
    NOT_ALL_WORK_HAVE_DIFF_REPORTED = "NotAllWorkHaveDiffReported"
    ALL_WORK_HAVE_DIFF_REPORTED = "AllWorkHaveDiffReported"
    MEMBER_CLUSTER_READY_TO_JOIN = "MemberClusterReadyToJoin"
    MEMBER_CLUSTER_JOINED = "MemberClusterJoined"
    AGENT_JOINED = "AgentJoined"
    AGENT_HEALTHY = "AgentHealthy"
    AGENT_UNHEALTHY = "AgentUnhealthy"
    CLUSTER_UNREACHABLE = "ClusterUnreachable"
    APPROVAL_PENDING = "ApprovalPending"
    APPROVAL_NOT_COUNTED = "ApprovalNotCounted"
    PIN_IN_FORCE = "PinInForce"
    PIN_UNUSABLE = "PinUnusable"
    KEPT = "Kept"
    INTERNAL_ERROR = "InternalError"
    EVICTION_VALID = "ClusterResourcePlacementEvictionValid"
    EVICTION_INVALID = "ClusterResourcePlacementEvictionInvalid"
    EVICTION_EXECUTED = "ClusterResourcePlacementEvictionExecuted"
    EVICTION_NOT_EXECUTED = "ClusterResourcePlacementEvictionNotExecuted"


@document(tolerated={"lastUpdateTime": Time}, shared=True)
@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition, as Kubernetes writes it in a status.

    metav1.Condition. People may leave out all but type and status; a missing transition time is the epoch, since no
    clock is read here.

    type: what it is about
    status: True, False or Unknown
    reason: why, in one word
    message: why, for people
    lastTransitionTime: since when the status is what it is
    observedGeneration: for which generation of the object it was seen
    """

    type: NonEmpty
    status: Status
    reason: Annotated[str, Default("")]
    message: str = ""
    last_transition_time: Annotated[Time, Default(EPOCH)]
    observed_generation: int = 0


Conditions = tuple[Condition, ...]


@lru_cache(maxsize=4096)
def condition_of(
    type_: str, status: Status, reason: str, message: str, last_transition_time: datetime, observed_generation: int
) -> Condition:
    """A condition, the same value for the same content: thousands of clusters mostly say the same at the same time."""
    return Condition(
        type=type_,
        status=status,
        reason=reason,
        message=message,
        last_transition_time=last_transition_time,
        observed_generation=observed_generation,
    )


def find_condition(conditions: Iterable[Condition], type_: str, *, generation: int | None = None) -> Condition | None:
    """The condition of a type; with `generation`, only when it was observed for that generation."""
    for condition in conditions:
        if condition.type == type_:
            return condition if generation is None or condition.observed_generation == generation else None
    return None


def answer_of(conditions: Conditions) -> Status | None:
    """What the condition Approved says, None while it says nothing or Unknown."""
    approved = find_condition(conditions, APPROVED)
    return approved.status if approved is not None and approved.status is not Status.UNKNOWN else None


def is_true(conditions: Iterable[Condition], type_: str, *, generation: int | None = None) -> bool:
    """Whether the condition of a type, as of `find_condition`, is True."""
    condition = find_condition(conditions, type_, generation=generation)
    return condition is not None and condition.status is Status.TRUE


def message_of(conditions: Iterable[Condition], type_: str) -> str:
    """What the condition of a type says; "" without one."""
    condition = find_condition(conditions, type_)
    return condition.message if condition is not None else ""


def type_of(kind: str, type_: str) -> str:
    """The type of a placement's own condition: ClusterResourcePlacementScheduled, ResourcePlacementScheduled, ..."""
    return f"{kind}{type_}"


def set_condition(conditions: Conditions, new: Condition) -> Conditions:
    """The conditions with `new` in its type's place; the transition time is kept while the status stays the same. The
    very same conditions where they say so already.

    As meta.SetStatusCondition of Kubernetes apimachinery, which keeps `lastTransitionTime` unless the status changes.
    """
    old = find_condition(conditions, new.type)
    if old is None:
        return (*conditions, new)
    if old.status == new.status and old.last_transition_time != new.last_transition_time:
        new = replace(new, last_transition_time=old.last_transition_time)
    return conditions if new == old else tuple(new if c.type == new.type else c for c in conditions)
