"""How far placements are, and what they wait for: README.md of the state branch shows it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from gitfleet import rollout
from gitfleet.api.conditions import ConditionType, Status
from gitfleet.api.placements import PlacementKey
from gitfleet.formats.sentences import and_more
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.rollout import staged
from gitfleet.state import paths, summary_of
from gitfleet.status import ClusterProgress, cluster_progress
from gitfleet.views.markdown import code_span, link


def placement_rows(state: FleetState, now: datetime) -> Iterator[tuple[str, ...]]:
    """How far each placement is, those that are not complete first: its name and type; on how many clusters it is
    scheduled, has its latest snapshot and is available, with whatever snapshot; the snapshot; what it waits for."""
    run_waits: dict[PlacementKey, list[str]] = {}
    for run in state.runs.values():
        run_waits.setdefault(run.placement, []).extend(staged.waits_of(run, state.approvals, now))
    for key in sorted(state.placements, key=lambda key: (is_complete(state.placements[key]), key)):
        record = state.placements[key]
        chosen, summary, scheduled = cluster_progress(record), summary_of(record), record.scheduled
        met = scheduled is None or scheduled.status is Status.TRUE
        by_run = "; ".join(run_waits.get(key, ())) or _awaited(state, key)
        yield (
            link(str(key), paths.placement_path(key)),
            record.placement.effective_policy.placement_type.value,
            f"{len(chosen)}{'' if met else ', unmet'}",
            f"{sum(_has_latest(record, progress) for progress in chosen)}/{len(chosen)}",
            f"{summary.available}/{summary.picked}",
            summary.latest_index or "-",
            "" if is_complete(record) else _waiting(record, chosen, by_run),
        )


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


def _waiting(record: PlacementRecord, chosen: tuple[ClusterProgress, ...], by_run: str) -> str:
    """The hold that keeps something of it; else which cluster holds the placement up, and why, or the run that has not
    reached it; else the condition that is not True."""
    held, scheduled = record.condition(ConditionType.REMOVALS_HELD), record.scheduled
    if held is not None:
        return code_span(held.message)
    waiting = [progress for progress in chosen if progress.steps[-1].status is not Status.TRUE]
    unmet = scheduled if scheduled is not None and scheduled.status is not Status.TRUE else None
    false = next((c for c in record.conditions if c.status is not Status.TRUE), None)
    condition = unmet or (None if waiting else false)
    if condition is not None:
        return code_span(f"{condition.reason}: {condition.message}")
    if not waiting:
        return code_span(by_run)
    # A cluster that failed matters more than those that wait for it.
    first = min(
        waiting, key=lambda progress: (progress.steps[-1].step.type is ConditionType.ROLLOUT_STARTED, progress.cluster)
    )
    last = first.steps[-1]
    if by_run and last.step.type is ConditionType.ROLLOUT_STARTED:
        return code_span(by_run)
    failed = first.binding.failed[0] if first.binding and first.binding.failed else None
    why = f"{failed.key}: {failed.message or failed.reason}" if failed else last.message or last.reason
    return f"{code_span(first.cluster)} {code_span(f'{last.reason}: {why}')}{and_more(len(waiting) - 1)}"
