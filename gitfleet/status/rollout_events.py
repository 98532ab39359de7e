"""What happened to a workload rollout between two states (contracts.md §5): `workloadRollout`; and which of its
conditions says what it waits for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gitfleet.api.conditions import Status, find_condition
from gitfleet.api.objects import JsonValue
from gitfleet.api.workload_records import (
    BatchState,
    ClusterRolloutStatus,
    RollingState,
    RolloutRecord,
    WorkloadConditionType,
)
from gitfleet.model.events import Event, EventType
from gitfleet.status.texts import StatusText

_WHY_IT_ENDS: Final = frozenset({RollingState.FAILING, RollingState.FAILED, RollingState.ABANDONING})
_SAID: Final = {
    BatchState.INITIALIZING: "begins",
    BatchState.IN_ROLLING: "rolls",
    BatchState.VERIFYING: StatusText.BEING_VERIFIED(),
    BatchState.VERIFY_FAILED: "failed",
    BatchState.FINALIZING: StatusText.BEING_FINALIZED(),
    BatchState.READY: "is ready",
}


def rollout_events(old: RolloutRecord | None, new: RolloutRecord | None) -> Iterator[Event]:
    """The events of one workload rollout, by cluster: another state, another batch, or that it begins to wait for a
    person. One that was removed has none."""
    if new is None or old is new:
        return
    before = {status.cluster: status for status in old.clusters} if old is not None else {}
    for status in new.clusters:
        previous = before.get(status.cluster)
        waits = awaits_a_person(status)
        moved = previous is None or _place(previous) != _place(status)
        if moved or (waits and previous is not None and awaits_a_person(previous) != waits):
            yield Event(
                type=EventType.WORKLOAD_ROLLOUT,
                cluster=status.cluster,
                fields={"rollout": str(new.key), **_fields(new, status), **({"waits": waits} if waits else {})},
            )


def awaits_a_person(status: ClusterRolloutStatus) -> str:
    """What of a person a rollout waits for on a cluster, in a sentence; "" where it waits for nobody."""
    if status.is_over:
        return ""
    paused = find_condition(status.conditions, WorkloadConditionType.BATCH_PAUSED)
    return paused.message or paused.reason if paused is not None and paused.status is Status.TRUE else ""


def rollout_sentence(event: Event) -> str:
    """A `workloadRollout` event in words; batches count from 1."""
    fields = event.fields
    place = f"workload rollout {fields['rollout']}: {event.cluster}"
    if waits := fields.get("waits"):
        return f"{place} waits: {waits}"
    message = f": {fields['message']}" if fields.get("message") else ""
    if batch := fields.get("batchState"):
        number = f"batch {fields['currentBatch'] + 1} of {fields['batches']}"
        return f"{place}: {number} {_SAID[BatchState(batch)]}{message}"
    return StatusText.IS_IN(place=place, fields=fields["state"], why=message)


def _place(status: ClusterRolloutStatus) -> tuple[RollingState, BatchState | None, int, int]:
    return (status.rolling_state, status.batch_rolling_state, status.current_batch, status.attempt)


def _fields(record: RolloutRecord, status: ClusterRolloutStatus) -> Mapping[str, JsonValue]:
    batch = status.batch_rolling_state
    fields: dict[str, JsonValue] = {"state": status.rolling_state.value}
    if batch is not None:
        batches = record.rollout_plan.number_of_batches
        fields |= {"batchState": batch.value, "currentBatch": status.current_batch, "batches": batches}
    why = status.message if status.rolling_state in _WHY_IT_ENDS else ""
    return {**fields, **({"message": why} if why else {})}
