"""The state machines of a run, of its stages and of their clusters, as tables (kubefleet.md §7).

What is stored are conditions; a phase is what they say together. An event that has no line for a phase changes nothing.
The pictures in docs/staged-runs.md are drawn from these tables by a test.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple, TypeVar

from gitfleet.api.conditions import Condition, Conditions, Status, find_condition, set_condition
from gitfleet.api.runs import RunConditionType, RunReason
from gitfleet.rollout.texts import RolloutText

T, F, U = Status.TRUE, Status.FALSE, Status.UNKNOWN
_INITIALIZED, _PROGRESSING = RunConditionType.INITIALIZED, RunConditionType.PROGRESSING
_STARTED, _SUCCEEDED = RunConditionType.STARTED, RunConditionType.SUCCEEDED
_ROLLED_BACK: Final = RunConditionType.ROLLED_BACK


class RunPhase(StrEnum):
    """How far a run is."""

    NEW = "new"
    REFUSED = "refused"
    INITIALIZED = "initialized"
    RUNNING = "running"
    WAITING = "waiting"
    STUCK = "stuck"
    STOPPING = "stopping"
    STOPPED = "stopped"
    ROLLING_BACK = "rolling-back"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


class RunEvent(StrEnum):
    """What happens to a run."""

    INITIALIZE = "initialize"
    REFUSE = "refuse"
    RUN = "run"
    WAIT = "wait"
    STICK = "stick"
    STOP = "stop"
    DRAIN = "drain"
    FINISH = "finish"
    FALL_BACK = "fall-back"
    ABORT = "abort"


class StagePhase(StrEnum):
    """How far a stage is; `GATED` waits for its before-stage task, `WAITING` for its after-stage tasks."""

    PENDING = "pending"
    GATED = "gated"
    UPDATING = "updating"
    STOPPING = "stopping"
    STOPPED = "stopped"
    WAITING = "waiting"
    SUCCEEDED = "succeeded"
    SKIPPED = "skipped"
    FAILED = "failed"


class StageEvent(StrEnum):
    """What happens to a stage."""

    GATE = "gate"
    START = "start"
    STOP = "stop"
    DRAIN = "drain"
    UPDATED = "updated"
    FINISH = "finish"
    SKIP = "skip"
    FAIL = "fail"


class ClusterPhase(StrEnum):
    """How far a cluster of a stage is."""

    PENDING = "pending"
    UPDATING = "updating"
    UPDATED = "updated"
    SKIPPED = "skipped"
    FAILED = "failed"
    ROLLING_BACK = "rolling-back"
    ROLLED_BACK = "rolled-back"


class ClusterEvent(StrEnum):
    """What happens to a cluster of a stage."""

    START = "start"
    SUCCEED = "succeed"
    SKIP = "skip"
    FAIL = "fail"
    REVERT = "revert"
    REVERTED = "reverted"


_R, _E = RunPhase, RunEvent
RUN_MOVES: Final[Mapping[tuple[RunPhase, RunEvent], RunPhase]] = {
    (_R.NEW, _E.INITIALIZE): _R.INITIALIZED,
    (_R.NEW, _E.REFUSE): _R.REFUSED,
    (_R.INITIALIZED, _E.RUN): _R.RUNNING,
    (_R.INITIALIZED, _E.STOP): _R.STOPPING,
    (_R.INITIALIZED, _E.ABORT): _R.FAILED,
    (_R.RUNNING, _E.WAIT): _R.WAITING,
    (_R.RUNNING, _E.STICK): _R.STUCK,
    (_R.RUNNING, _E.STOP): _R.STOPPING,
    (_R.RUNNING, _E.FINISH): _R.SUCCEEDED,
    (_R.RUNNING, _E.FALL_BACK): _R.ROLLING_BACK,
    (_R.RUNNING, _E.ABORT): _R.FAILED,
    (_R.WAITING, _E.RUN): _R.RUNNING,
    (_R.WAITING, _E.STOP): _R.STOPPING,
    (_R.WAITING, _E.ABORT): _R.FAILED,
    (_R.STUCK, _E.RUN): _R.RUNNING,
    (_R.STUCK, _E.STOP): _R.STOPPING,
    (_R.STUCK, _E.FALL_BACK): _R.ROLLING_BACK,
    (_R.STUCK, _E.ABORT): _R.FAILED,
    (_R.STOPPING, _E.DRAIN): _R.STOPPED,
    (_R.STOPPING, _E.RUN): _R.RUNNING,
    (_R.STOPPING, _E.FALL_BACK): _R.ROLLING_BACK,
    (_R.STOPPING, _E.ABORT): _R.FAILED,
    (_R.STOPPED, _E.RUN): _R.RUNNING,
    (_R.STOPPED, _E.ABORT): _R.FAILED,
    (_R.ROLLING_BACK, _E.ABORT): _R.FAILED,
}
_S, _G = StagePhase, StageEvent
STAGE_MOVES: Final[Mapping[tuple[StagePhase, StageEvent], StagePhase]] = {
    (_S.PENDING, _G.GATE): _S.GATED,
    (_S.PENDING, _G.START): _S.UPDATING,
    (_S.PENDING, _G.SKIP): _S.SKIPPED,
    (_S.PENDING, _G.FAIL): _S.FAILED,
    (_S.GATED, _G.GATE): _S.GATED,
    (_S.GATED, _G.START): _S.UPDATING,
    (_S.GATED, _G.SKIP): _S.SKIPPED,
    (_S.GATED, _G.FAIL): _S.FAILED,
    (_S.UPDATING, _G.STOP): _S.STOPPING,
    (_S.UPDATING, _G.UPDATED): _S.WAITING,
    (_S.UPDATING, _G.FINISH): _S.SUCCEEDED,
    (_S.UPDATING, _G.FAIL): _S.FAILED,
    (_S.STOPPING, _G.DRAIN): _S.STOPPED,
    (_S.STOPPING, _G.START): _S.UPDATING,
    (_S.STOPPING, _G.FAIL): _S.FAILED,
    (_S.STOPPED, _G.START): _S.UPDATING,
    (_S.STOPPED, _G.FAIL): _S.FAILED,
    (_S.WAITING, _G.FINISH): _S.SUCCEEDED,
    (_S.WAITING, _G.FAIL): _S.FAILED,
}
_C, _K = ClusterPhase, ClusterEvent
CLUSTER_MOVES: Final[Mapping[tuple[ClusterPhase, ClusterEvent], ClusterPhase]] = {
    (_C.PENDING, _K.START): _C.UPDATING,
    (_C.PENDING, _K.SKIP): _C.SKIPPED,
    (_C.UPDATING, _K.SUCCEED): _C.UPDATED,
    (_C.UPDATING, _K.SKIP): _C.SKIPPED,
    (_C.UPDATING, _K.FAIL): _C.FAILED,
    (_C.UPDATING, _K.REVERT): _C.ROLLING_BACK,
    (_C.UPDATED, _K.REVERT): _C.ROLLING_BACK,
    (_C.SKIPPED, _K.REVERT): _C.ROLLING_BACK,
    (_C.FAILED, _K.REVERT): _C.ROLLING_BACK,
    (_C.ROLLING_BACK, _K.REVERTED): _C.ROLLED_BACK,
}


class Mark(NamedTuple):
    """A condition that a phase sets."""

    type: RunConditionType
    status: Status
    reason: RunReason
    message: str = ""


Marks = tuple[Mark, ...]
RUN_MARKS: Final[Mapping[RunPhase, Marks]] = {
    _R.FAILED: (
        Mark(_PROGRESSING, F, RunReason.RUN_FAILED, RolloutText.STAGES_ABORTED_DUE_NON_RECOVERABLE()),
        Mark(_SUCCEEDED, F, RunReason.RUN_FAILED),
    ),
    _R.SUCCEEDED: (Mark(_SUCCEEDED, T, RunReason.RUN_SUCCEEDED),),
    _R.ROLLING_BACK: (Mark(_PROGRESSING, T, RunReason.RUN_ROLLING_BACK),),
    _R.STOPPED: (Mark(_PROGRESSING, F, RunReason.RUN_STOPPED, RolloutText.UPDATE_RUN_STOPPED()),),
    _R.STOPPING: (Mark(_PROGRESSING, U, RunReason.RUN_STOPPING, RolloutText.WAITING_CLUSTERS_BEING_UPDATED_FINISH()),),
    _R.STUCK: (Mark(_PROGRESSING, F, RunReason.RUN_STUCK),),
    _R.WAITING: (Mark(_PROGRESSING, F, RunReason.RUN_WAITING),),
    _R.RUNNING: (Mark(_PROGRESSING, T, RunReason.RUN_STARTED),),
    _R.INITIALIZED: (Mark(_INITIALIZED, T, RunReason.RUN_INITIALIZED),),
    _R.REFUSED: (Mark(_INITIALIZED, F, RunReason.RUN_NOT_INITIALIZED),),
    _R.NEW: (),
}
"""What each phase sets, the latest phases first: the first whose conditions all hold is the phase. Messages are empty
where the seeds have them empty."""
STAGE_MARKS: Final[Mapping[StagePhase, Marks]] = {
    _S.FAILED: (
        Mark(_PROGRESSING, F, RunReason.STAGE_FAILED, RolloutText.STAGE_UPDATE_ABORTED_DUE_NON()),
        Mark(_SUCCEEDED, F, RunReason.STAGE_FAILED),
    ),
    _S.SKIPPED: (
        Mark(_PROGRESSING, F, RunReason.STAGE_SKIPPED, RolloutText.STAGE_SKIPPED_BECAUSE_NO_CLUSTERS()),
        Mark(_SUCCEEDED, T, RunReason.STAGE_SKIPPED, RolloutText.STAGE_SKIPPED_BECAUSE_NO_CLUSTERS()),
    ),
    _S.SUCCEEDED: (Mark(_SUCCEEDED, T, RunReason.STAGE_SUCCEEDED),),
    _S.STOPPED: (Mark(_PROGRESSING, F, RunReason.STAGE_STOPPED, RolloutText.UPDATING_CLUSTERS_FINISHED()),),
    _S.STOPPING: (
        Mark(_PROGRESSING, U, RunReason.STAGE_STOPPING, RolloutText.WAITING_CLUSTERS_BEING_UPDATED_FINISH()),
    ),
    _S.WAITING: (Mark(_PROGRESSING, F, RunReason.STAGE_WAITING),),
    _S.GATED: (
        Mark(
            _PROGRESSING,
            F,
            RunReason.STAGE_WAITING,
            RolloutText.NOT_ALL_BEFORE_STAGE_TASKS(),
        ),
    ),
    _S.UPDATING: (Mark(_PROGRESSING, T, RunReason.STAGE_STARTED),),
    _S.PENDING: (),
}
CLUSTER_MARKS: Final[Mapping[ClusterPhase, Marks]] = {
    _C.ROLLED_BACK: (Mark(_ROLLED_BACK, T, RunReason.CLUSTER_ROLLED_BACK),),
    _C.ROLLING_BACK: (Mark(_ROLLED_BACK, F, RunReason.CLUSTER_ROLLING_BACK),),
    _C.SKIPPED: (Mark(_SUCCEEDED, F, RunReason.CLUSTER_SKIPPED),),
    _C.FAILED: (Mark(_SUCCEEDED, F, RunReason.CLUSTER_FAILED),),
    _C.UPDATED: (Mark(_SUCCEEDED, T, RunReason.CLUSTER_SUCCEEDED),),
    _C.UPDATING: (Mark(_STARTED, T, RunReason.CLUSTER_STARTED),),
    _C.PENDING: (),
}
Phase = TypeVar("Phase", RunPhase, StagePhase, ClusterPhase)


def phase_of(marks: Mapping[Phase, Marks], conditions: Conditions) -> Phase:
    """The phase that conditions stand for."""
    present = {(c.type, c.status, c.reason) for c in conditions}
    return next(p for p, phase_marks in marks.items() if all(mark[:3] in present for mark in phase_marks))


def marked(conditions: Conditions, marks: Iterable[Mark], message: str, now: datetime) -> Conditions:
    """The conditions with those that a phase sets; `message` is for the last of them, where the table has none."""
    all_marks = tuple(marks)
    for mark in all_marks:
        text = message if mark is all_marks[-1] and message else mark.message
        conditions = with_condition(conditions, mark._replace(message=text), now)
    return conditions


def with_condition(conditions: Conditions, mark: Mark, now: datetime) -> Conditions:
    """The conditions with one of them set; the very same where it says so already."""
    old = find_condition(conditions, mark.type)
    if old is not None and (old.status, old.reason, old.message) == (mark.status, mark.reason, mark.message):
        return conditions
    new = Condition(
        type=mark.type.value,
        status=mark.status,
        reason=mark.reason.value,
        message=mark.message,
        last_transition_time=now,
        observed_generation=1,
    )
    return set_condition(conditions, new)
