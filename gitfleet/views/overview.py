"""How far placements are, and what they wait for: README.md of the state branch shows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from gitfleet import rollout
from gitfleet.api.conditions import ConditionType, Status
from gitfleet.api.placements import PlacementKey
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.rollout import staged
from gitfleet.state import PlacementSummary, summary_of
from gitfleet.status import ClusterProgress, cluster_progress


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingFor:
    """What keeps a placement from being complete: on a cluster ("" for the placement itself), and on how many
    `further` ones."""

    cluster: str
    reason: str
    further: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementProgress:
    """How far a placement is: so many clusters are scheduled (`met`: as many as it asks for) and have its latest
    snapshot; `summary` says how many are available, with whatever snapshot. `waiting` is None where it is complete."""

    key: PlacementKey
    type: str
    summary: PlacementSummary
    scheduled: int
    met: bool
    rolled_out: int
    waiting: WaitingFor | None

    @classmethod
    def of(cls, record: PlacementRecord, by_run: str) -> PlacementProgress:
        """The progress of a placement; `by_run` is what its runs wait for, or what it waits for of a run."""
        chosen = cluster_progress(record)
        scheduled = record.scheduled
        return cls(
            key=record.placement.key,
            type=record.placement.effective_policy.placement_type.value,
            summary=summary_of(record),
            scheduled=len(chosen),
            met=scheduled is None or scheduled.status is Status.TRUE,
            rolled_out=sum(_has_latest(record, progress) for progress in chosen),
            waiting=None if is_complete(record) else _waiting(record, chosen, by_run),
        )


def placements_of(state: FleetState, now: datetime) -> Iterator[PlacementProgress]:
    """How far each placement is, those that are not complete first."""
    run_waits: dict[PlacementKey, list[str]] = {}
    for run in state.runs.values():
        run_waits.setdefault(run.placement, []).extend(staged.waits_of(run, state.approvals, now))
    for key in sorted(state.placements, key=lambda key: (is_complete(state.placements[key]), key)):
        by_run = "; ".join(run_waits.get(key, ())) or _awaited(state, key)
        yield PlacementProgress.of(state.placements[key], by_run)


def _awaited(state: FleetState, key: PlacementKey) -> str:
    record = state.placements[key]
    return rollout.run_awaited(record, refused=rollout.recorded_refusal(record, state.quarantines.values()))


def _has_latest(record: PlacementRecord, progress: ClusterProgress) -> bool:
    """Whether a cluster's rollout began, and of an External placement, that of the latest snapshot."""
    latest, binding = record.latest_resources, progress.binding
    if latest is not None and record.placement.strategy.external:
        return len(progress.steps) > 1 and binding is not None and binding.resource_snapshot == latest.name
    return len(progress.steps) > 1


def is_complete(record: PlacementRecord) -> bool:
    """Whether every condition of a placement is True, no removal of it is held and no cluster waits for a run."""
    held = record.condition(ConditionType.REMOVALS_HELD) is not None
    return (
        not held
        and not rollout.run_awaited(record)
        and all(condition.status is Status.TRUE for condition in record.conditions)
    )


def _waiting(record: PlacementRecord, chosen: tuple[ClusterProgress, ...], by_run: str) -> WaitingFor:
    """The hold that keeps something of it; else which cluster holds the placement up, and why, or the run that has not
    reached it; else the condition that is not True."""
    held, scheduled = record.condition(ConditionType.REMOVALS_HELD), record.scheduled
    if held is not None:
        return WaitingFor(cluster="", reason=held.message)
    waiting = [progress for progress in chosen if progress.steps[-1].status is not Status.TRUE]
    unmet = scheduled if scheduled is not None and scheduled.status is not Status.TRUE else None
    false = next((c for c in record.conditions if c.status is not Status.TRUE), None)
    condition = unmet or (None if waiting else false)
    if condition is not None:
        return WaitingFor(cluster="", reason=f"{condition.reason}: {condition.message}")
    if not waiting:
        return WaitingFor(cluster="", reason=by_run)
    # A cluster that failed matters more than those that wait for it.
    first = min(
        waiting, key=lambda progress: (progress.steps[-1].step.type is ConditionType.ROLLOUT_STARTED, progress.cluster)
    )
    last = first.steps[-1]
    if by_run and last.step.type is ConditionType.ROLLOUT_STARTED:
        return WaitingFor(cluster="", reason=by_run)
    failed = first.binding.failed[0] if first.binding and first.binding.failed else None
    why = f"{failed.key}: {failed.message or failed.reason}" if failed else last.message or last.reason
    return WaitingFor(cluster=first.cluster, reason=f"{last.reason}: {why}", further=len(waiting) - 1)
