"""The state machine of a rollout on one cluster, as one table (seed 004, State Transition).

A phase is a state of the seed with its sub-state. Any pair that has no line is an error that names both. The diagram in
docs/workload-rollouts.md is drawn from this table by a test.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, StrEnum
from typing import Final

from gitfleet.api.workload_records import BatchState, RollingState
from gitfleet.errors import GiveUp
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

    SPEC_VERIFIED = "spec-verified"
    SPEC_UNUSABLE = "spec-unusable"
    INITIALIZED = "initialized"
    BATCH_ADMITTED = "batch-admitted"
    BATCH_ROLLED = "batch-rolled"
    BATCH_VERIFIED = "batch-verified"
    BATCH_FINISHED = "batch-finished"
    LAST_BATCH_FINISHED = "last-batch-finished"
    NEXT_BATCH = "next-batch"
    FINISHED = "finished"
    REJECTED = "rejected"
    RELEASED = "released"
    TARGET_CHANGED = "target-changed"
    REMOVED = "removed"


_P, _E = Phase, RolloutEvent
LETTING_GO: Final = frozenset({_P.BATCH_VERIFY_FAILED, _P.FAILING, _P.ABANDONING})
"""The phases of a rollout that gives its workloads up and has not ended yet."""
MOVES: Final[Mapping[tuple[Phase, RolloutEvent], Phase]] = {
    (_P.VERIFYING_SPEC, _E.SPEC_VERIFIED): _P.INITIALIZING,
    (_P.VERIFYING_SPEC, _E.SPEC_UNUSABLE): _P.FAILED,
    (_P.VERIFYING_SPEC, _E.REMOVED): _P.ABANDONING,
    (_P.INITIALIZING, _E.INITIALIZED): _P.BATCH_INITIALIZING,
    (_P.INITIALIZING, _E.REJECTED): _P.FAILING,
    (_P.INITIALIZING, _E.TARGET_CHANGED): _P.ABANDONING,
    (_P.INITIALIZING, _E.REMOVED): _P.ABANDONING,
    (_P.BATCH_INITIALIZING, _E.BATCH_ADMITTED): _P.BATCH_IN_ROLLING,
    (_P.BATCH_INITIALIZING, _E.REJECTED): _P.BATCH_VERIFY_FAILED,
    (_P.BATCH_INITIALIZING, _E.TARGET_CHANGED): _P.ABANDONING,
    (_P.BATCH_INITIALIZING, _E.REMOVED): _P.ABANDONING,
    (_P.BATCH_IN_ROLLING, _E.BATCH_ROLLED): _P.BATCH_VERIFYING,
    (_P.BATCH_IN_ROLLING, _E.TARGET_CHANGED): _P.ABANDONING,
    (_P.BATCH_IN_ROLLING, _E.REMOVED): _P.ABANDONING,
    (_P.BATCH_VERIFYING, _E.BATCH_VERIFIED): _P.BATCH_FINALIZING,
    (_P.BATCH_VERIFYING, _E.REJECTED): _P.BATCH_VERIFY_FAILED,
    (_P.BATCH_VERIFYING, _E.TARGET_CHANGED): _P.ABANDONING,
    (_P.BATCH_VERIFYING, _E.REMOVED): _P.ABANDONING,
    (_P.BATCH_FINALIZING, _E.BATCH_FINISHED): _P.BATCH_READY,
    (_P.BATCH_FINALIZING, _E.LAST_BATCH_FINISHED): _P.FINALISING,
    (_P.BATCH_FINALIZING, _E.REJECTED): _P.BATCH_VERIFY_FAILED,
    (_P.BATCH_FINALIZING, _E.TARGET_CHANGED): _P.ABANDONING,
    (_P.BATCH_FINALIZING, _E.REMOVED): _P.ABANDONING,
    (_P.BATCH_READY, _E.NEXT_BATCH): _P.BATCH_INITIALIZING,
    (_P.BATCH_READY, _E.TARGET_CHANGED): _P.ABANDONING,
    (_P.BATCH_READY, _E.REMOVED): _P.ABANDONING,
    (_P.FINALISING, _E.FINISHED): _P.SUCCEEDED,
    (_P.FINALISING, _E.REJECTED): _P.FAILING,
    (_P.FINALISING, _E.TARGET_CHANGED): _P.ABANDONING,
    (_P.FINALISING, _E.REMOVED): _P.ABANDONING,
    (_P.BATCH_VERIFY_FAILED, _E.RELEASED): _P.FAILED,
    (_P.FAILING, _E.RELEASED): _P.FAILED,
    (_P.ABANDONING, _E.RELEASED): _P.ABANDONED,
    (_P.SUCCEEDED, _E.TARGET_CHANGED): _P.VERIFYING_SPEC,
    # The target is to be deleted: its pods go back first.
    (_P.SUCCEEDED, _E.REMOVED): _P.ABANDONING,
    (_P.FAILED, _E.TARGET_CHANGED): _P.VERIFYING_SPEC,
    (_P.FAILED, _E.REMOVED): _P.ABANDONING,
    (_P.ABANDONED, _E.TARGET_CHANGED): _P.VERIFYING_SPEC,
}


def phase_of(rolling: RollingState, batch: BatchState | None) -> Phase:
    """The phase of a status; GiveUp for a pair that no rollout can be in."""
    try:
        return Phase((rolling, batch))
    except ValueError:
        raise GiveUp(WorkloadText.NO_WORKLOAD_ROLLOUT_ONCE(rolling=rolling, batch=batch)) from None


def after(phase: Phase, event: RolloutEvent) -> Phase:
    """The phase after an event; GiveUp that names both where there is none."""
    found = MOVES.get((phase, event))
    if found is None:
        raise GiveUp(WorkloadText.WORKLOAD_ROLLOUT_CANNOT_EVENT(phase=phase.name, event=event.name))
    return found
