"""The conditions of a rollout on one cluster: KubeVela's types; the one of the present phase says what it waits for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from gitfleet.api.conditions import Condition, Conditions, Status, find_condition, set_condition
from gitfleet.api.workload_records import TELLING, ClusterRolloutStatus, WorkloadConditionType, WorkloadReason
from gitfleet.workload.phases import LETTING_GO, Phase

_T, _P = WorkloadConditionType, Phase
TYPES: Final[Mapping[Phase, WorkloadConditionType]] = {
    phase: TELLING[phase.value[1] or phase.value[0]] for phase in Phase
}
"""The condition that tells of each phase: Unknown while it lasts, True once it is over or is the end."""
_ENDS: Final = frozenset({_P.SUCCEEDED, _P.FAILED, _P.ABANDONED})
_PAUSES: Final = frozenset({WorkloadReason.PAUSED, WorkloadReason.BATCH_PARTITION})


def entered(
    status: ClusterRolloutStatus, left: Phase, phase: Phase, reason: WorkloadReason, why: str, now: datetime
) -> ClusterRolloutStatus:
    """The status as it goes from one phase to another; `why` is the sentence of the event, and what has let go ends
    with why it did. A rollout that begins again says nothing of the time before."""
    conditions = status.conditions
    if phase is Phase.VERIFYING_SPEC:
        conditions = ()
    elif TYPES[left] is not TYPES[phase]:
        conditions = _said(conditions, TYPES[left], Status.TRUE, WorkloadReason.DONE, "", now)
    why = why or (message_of(status, left) if left in LETTING_GO else "")
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
        said = Status.TRUE if paused else Status.FALSE
        conditions = _said(conditions, _T.BATCH_PAUSED, said, reason, waits if paused else "", now)
    return status if conditions == status.conditions else replace(status, conditions=conditions)


def message_of(status: ClusterRolloutStatus, phase: Phase) -> str:
    """What the condition of a phase says."""
    found = find_condition(status.conditions, TYPES[phase])
    return found.message if found is not None else ""


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
