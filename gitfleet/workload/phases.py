"""The state machine of a rollout on one cluster, as one table (seed 004, State Transition).

A phase is a state of the seed with its sub-state. Any pair that has no line is an error that names both. The diagram in
docs/workload-rollouts.md is drawn from this table by a test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum, StrEnum
from typing import Final

from gitfleet.api.conditions import Condition, Conditions, Status, find_condition, message_of, set_condition
from gitfleet.api.workload_records import (
    TELLING,
    BatchState,
    ClusterRolloutStatus,
    RollingState,
    WorkloadConditionType,
    WorkloadReason,
)
from gitfleet.errors import GiveUp
from gitfleet.model.rolling import Passage
from gitfleet.workload.texts import WorkloadText

_R, _B = RollingState, BatchState


class Phase(Enum):
    """A state with its sub-state, as both stand in the status."""

    VERIFYING_SPEC = (_R.VERIFYING_SPEC, None)
    INITIALIZING = (_R.INITIALIZING, None)
    BATCH_INITIALIZING = (_R.ROLLING_IN_BATCHES, _B.INITIALIZING)
    BATCH_IN_ROLLING = (_R.ROLLING_IN_BATCHES, _B.IN_ROLLING)
    BATCH_VERIFYING = (_R.ROLLING_IN_BATCHES, _B.VERIFYING)
    BATCH_FINALIZING = (_R.ROLLING_IN_BATCHES, _B.FINALIZING)
    BATCH_READY = (_R.ROLLING_IN_BATCHES, _B.READY)
    FINALISING = (_R.FINALISING, None)
    BATCH_VERIFY_FAILED = (_R.FAILING, _B.VERIFY_FAILED)
    FAILING = (_R.FAILING, None)
    ABANDONING = (_R.ABANDONING, None)
    SUCCEEDED = (_R.SUCCEEDED, None)
    FAILED = (_R.FAILED, None)
    ABANDONED = (_R.ABANDONED, None)


class RolloutEvent(StrEnum):
    """What happens to a rollout."""

    SPEC_UNUSABLE = "spec-unusable"
    INITIALIZED = "initialized"
    BATCH_ROLLED = "batch-rolled"
    BATCH_VERIFIED = "batch-verified"
    BATCH_FINISHED = "batch-finished"
    LAST_BATCH_FINISHED = "last-batch-finished"
    NEXT_BATCH = "next-batch"
    FINISHED = "finished"
    REJECTED = "rejected"
    RELEASED = "released"
    TARGET_CHANGED = "target-changed"
    REMOVED_IDLE = "removed-idle"


class StartEvent(StrEnum):
    """What lets pods start to move; `REMOVED` lets them go back, as far as the rollout had begun."""

    SPEC_VERIFIED = "spec-verified"
    BATCH_ADMITTED = "batch-admitted"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Start:
    """An event that lets pods start to move, and the gates' leave for it."""

    event: StartEvent
    leave: Passage


_P, _E, _S = Phase, RolloutEvent, StartEvent
LETTING_GO: Final = frozenset({_P.BATCH_VERIFY_FAILED, _P.FAILING, _P.ABANDONING})
"""The phases of a rollout that gives its workloads up and has not ended yet."""
MOVES: Final[Mapping[tuple[Phase, RolloutEvent | StartEvent], Phase]] = {
    (_P.VERIFYING_SPEC, _S.SPEC_VERIFIED): _P.INITIALIZING,
    (_P.VERIFYING_SPEC, _E.SPEC_UNUSABLE): _P.FAILED,
    (_P.VERIFYING_SPEC, _E.REMOVED_IDLE): _P.ABANDONING,
    (_P.VERIFYING_SPEC, _S.REMOVED): _P.ABANDONING,
    (_P.INITIALIZING, _E.INITIALIZED): _P.BATCH_INITIALIZING,
    (_P.INITIALIZING, _E.REJECTED): _P.FAILING,
    (_P.INITIALIZING, _E.TARGET_CHANGED): _P.ABANDONING,
    (_P.INITIALIZING, _S.REMOVED): _P.ABANDONING,
    (_P.BATCH_INITIALIZING, _S.BATCH_ADMITTED): _P.BATCH_IN_ROLLING,
    (_P.BATCH_INITIALIZING, _E.REJECTED): _P.BATCH_VERIFY_FAILED,
    (_P.BATCH_INITIALIZING, _E.TARGET_CHANGED): _P.ABANDONING,
    (_P.BATCH_INITIALIZING, _S.REMOVED): _P.ABANDONING,
    (_P.BATCH_IN_ROLLING, _E.BATCH_ROLLED): _P.BATCH_VERIFYING,
    (_P.BATCH_IN_ROLLING, _E.TARGET_CHANGED): _P.ABANDONING,
    (_P.BATCH_IN_ROLLING, _S.REMOVED): _P.ABANDONING,
    (_P.BATCH_VERIFYING, _E.BATCH_VERIFIED): _P.BATCH_FINALIZING,
    (_P.BATCH_VERIFYING, _E.REJECTED): _P.BATCH_VERIFY_FAILED,
    (_P.BATCH_VERIFYING, _E.TARGET_CHANGED): _P.ABANDONING,
    (_P.BATCH_VERIFYING, _S.REMOVED): _P.ABANDONING,
    (_P.BATCH_FINALIZING, _E.BATCH_FINISHED): _P.BATCH_READY,
    (_P.BATCH_FINALIZING, _E.LAST_BATCH_FINISHED): _P.FINALISING,
    (_P.BATCH_FINALIZING, _E.REJECTED): _P.BATCH_VERIFY_FAILED,
    (_P.BATCH_FINALIZING, _E.TARGET_CHANGED): _P.ABANDONING,
    (_P.BATCH_FINALIZING, _S.REMOVED): _P.ABANDONING,
    (_P.BATCH_READY, _E.NEXT_BATCH): _P.BATCH_INITIALIZING,
    (_P.BATCH_READY, _E.TARGET_CHANGED): _P.ABANDONING,
    (_P.BATCH_READY, _S.REMOVED): _P.ABANDONING,
    (_P.FINALISING, _E.FINISHED): _P.SUCCEEDED,
    (_P.FINALISING, _E.REJECTED): _P.FAILING,
    (_P.FINALISING, _E.TARGET_CHANGED): _P.ABANDONING,
    (_P.FINALISING, _S.REMOVED): _P.ABANDONING,
    (_P.BATCH_VERIFY_FAILED, _E.RELEASED): _P.FAILED,
    (_P.FAILING, _E.RELEASED): _P.FAILED,
    (_P.ABANDONING, _E.RELEASED): _P.ABANDONED,
    (_P.SUCCEEDED, _E.TARGET_CHANGED): _P.VERIFYING_SPEC,
    # The target is to be deleted: its pods go back first.
    (_P.SUCCEEDED, _S.REMOVED): _P.ABANDONING,
    (_P.FAILED, _E.TARGET_CHANGED): _P.VERIFYING_SPEC,
    (_P.FAILED, _S.REMOVED): _P.ABANDONING,
    (_P.ABANDONED, _E.TARGET_CHANGED): _P.VERIFYING_SPEC,
}


def phase_of(rolling: RollingState, batch: BatchState | None) -> Phase:
    """The phase of a status; GiveUp for a pair that no rollout can be in."""
    try:
        return Phase((rolling, batch))
    except ValueError:
        raise GiveUp(WorkloadText.NO_WORKLOAD_ROLLOUT_ONCE(rolling=rolling, batch=batch)) from None


def after(phase: Phase, event: RolloutEvent | StartEvent) -> Phase:
    """The phase after an event; GiveUp that names both where there is none."""
    next_phase = MOVES.get((phase, event))
    if next_phase is None:
        raise GiveUp(WorkloadText.WORKLOAD_ROLLOUT_CANNOT_EVENT(phase=phase.name, event=event.name))
    return next_phase


_T, _P = WorkloadConditionType, Phase
TYPES: Final[Mapping[Phase, WorkloadConditionType]] = {
    phase: TELLING[phase.value[1] or phase.value[0]] for phase in Phase
}
"""The condition that tells of each phase: Unknown while it lasts, True once it is over or is the end."""
_ENDS: Final = frozenset({_P.SUCCEEDED, _P.FAILED, _P.ABANDONED})
_PAUSES: Final = frozenset({WorkloadReason.PAUSED, WorkloadReason.BATCH_PARTITION})


def entered(
    status: ClusterRolloutStatus, previous: Phase, phase: Phase, reason: WorkloadReason, why: str, now: datetime
) -> ClusterRolloutStatus:
    """The status as it goes from one phase to another; `why` is the sentence of the event, and what has let go ends
    with why it did. A rollout that begins again says nothing of the time before."""
    conditions = status.conditions
    if phase is Phase.VERIFYING_SPEC:
        conditions = ()
    elif TYPES[previous] is not TYPES[phase]:
        conditions = _said(conditions, TYPES[previous], Status.TRUE, WorkloadReason.DONE, "", now)
    why = why or (message_of(status.conditions, TYPES[previous]) if previous in LETTING_GO else "")
    status_of = Status.TRUE if phase in _ENDS else Status.UNKNOWN
    return replace(status, conditions=_said(conditions, TYPES[phase], status_of, reason, why, now))


def waiting(
    status: ClusterRolloutStatus, phase: Phase, reason: WorkloadReason, waits: str, now: datetime
) -> ClusterRolloutStatus:
    """The status with what its phase waits for, and whether that is a person who paused it."""
    conditions = status.conditions
    if waits and phase not in LETTING_GO:  # whose condition goes on saying why
        conditions = _said(conditions, TYPES[phase], Status.UNKNOWN, reason, waits, now)
    paused = reason in _PAUSES
    if paused or find_condition(conditions, _T.BATCH_PAUSED) is not None:
        paused_status = Status.TRUE if paused else Status.FALSE
        conditions = _said(conditions, _T.BATCH_PAUSED, paused_status, reason, waits if paused else "", now)
    return status if conditions == status.conditions else replace(status, conditions=conditions)


def _said(
    conditions: Conditions,
    type_: WorkloadConditionType,
    status: Status,
    reason: WorkloadReason,
    message: str,
    now: datetime,
) -> Conditions:
    new = Condition(type=type_.value, status=status, reason=reason.value, message=message, last_transition_time=now)
    return set_condition(conditions, new)
