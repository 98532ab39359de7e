"""The whole fleet as one view, what needs a person first: README.md of the state branch shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from gitfleet import rollout
from gitfleet.api.conditions import ConditionType, Status
from gitfleet.api.faults import Fault
from gitfleet.api.holds import Hold
from gitfleet.api.placements import PlacementKey
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.rollout import staged
from gitfleet.state import PlacementSummary, summary_of
from gitfleet.status import ClusterProgress, ClusterState, cluster_progress
from gitfleet.views.evictions import EvictionView
from gitfleet.views.models import ClusterView


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundCluster:
    """A cluster and the placements that are bound to it, each with the index of the snapshot that the cluster has."""

    cluster: ClusterView
    placements: tuple[tuple[PlacementKey, str | None], ...]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetView:
    """The fleet: how many clusters are in which state and how many placements are complete, and the first of each that
    a page has space for. Holds are those that nobody has approved."""

    observed_commit: str | None
    holds: tuple[Hold, ...]
    states: Mapping[str, int]
    clusters: tuple[BoundCluster, ...]
    complete: int
    incomplete: int
    placements: tuple[PlacementProgress, ...]
    evictions: tuple[EvictionView, ...]
    faults: tuple[Fault, ...]

    @classmethod
    def of(cls, state: FleetState, most: int, now: datetime) -> FleetView:
        """The view of a state with at most so many clusters and placements."""
        run_waits: dict[PlacementKey, list[str]] = {}
        for run in state.runs.values():
            run_waits.setdefault(run.placement, []).extend(staged.waits_of(run, state.approvals, now))
        complete = {key: is_complete(record) for key, record in state.placements.items()}
        views = {name: ClusterView.of(cluster) for name, cluster in state.clusters.items()}
        shown = sorted(views, key=lambda name: (views[name].state_text == ClusterState.HEALTHY, name))[:most]
        bound: dict[str, list[tuple[PlacementKey, str | None]]] = {name: [] for name in shown}
        for key, record in sorted(state.placements.items()):
            for binding in record.bindings:
                if binding.cluster in bound:
                    bound[binding.cluster].append((key, record.snapshot_index(binding.applied_snapshot)))
        return cls(
            observed_commit=state.observed_commit,
            holds=tuple(state.held.values()),
            states=Counter(view.state_text for view in views.values()),
            clusters=tuple(BoundCluster(cluster=views[name], placements=tuple(bound[name])) for name in shown),
            complete=sum(complete.values()),
            incomplete=len(complete) - sum(complete.values()),
            placements=tuple(
                PlacementProgress.of(state.placements[key], "; ".join(run_waits.get(key, ())) or _awaited(state, key))
                for key in sorted(complete, key=lambda key: (complete[key], key))[:most]
            ),
            evictions=tuple(EvictionView(eviction=eviction) for eviction in state.evictions.values()),
            faults=state.faults,
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
