"""A placement's status: each cluster's conditions from its binding, and the placement's from all of them
(kubefleet.md §9, KubeFleet pkg/controllers/placement/placement_status.go; decision D23)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final, NamedTuple, assert_never

from gitfleet.api.bindings import Binding, is_active
from gitfleet.api.conditions import Condition, Conditions, ConditionType, Reason, Status, find_condition, type_of
from gitfleet.api.placements import PlacementType
from gitfleet.api.strategies import ApplyStrategyType
from gitfleet.model.state import PlacementRecord
from gitfleet.status.vocabulary import (
    BLOCKED,
    EXTERNAL,
    EXTERNAL_CLUSTER_UNKNOWN,
    EXTERNAL_DIFFERENT,
    EXTERNAL_NOT_STARTED,
    NO_OVERRIDE,
    OVERRIDDEN,
    ROLLOUT_STARTED,
    SCHEDULED,
    Step,
    steps_of,
)


class ClusterStep(NamedTuple):
    """One cluster's condition of one type; `since` is the binding's own transition, None where the binding says
    nothing. `frozen`: a freeze or a dependency keeps the rollout from starting."""

    step: Step
    status: Status
    reason: str
    message: str
    since: datetime | None
    frozen: bool = False


class ClusterProgress(NamedTuple):
    """A chosen cluster with its binding (None: chosen, but not bound to yet) and its conditions up to the first that
    is not True."""

    cluster: str
    binding: Binding | None
    steps: tuple[ClusterStep, ...]


_GATED: Final = (Reason.ROLLOUT_FROZEN, Reason.DEPENDENCY_NOT_AVAILABLE)


def placement_conditions(record: PlacementRecord, *, scheduled: Condition, now: datetime) -> PlacementRecord:
    """The record with all conditions of its placement set again; the very same record when nothing changed.

    `scheduled` is the verdict of selecting and scheduling (SchedulingPolicyFulfilled, SchedulingPolicyUnfulfilled,
    InvalidResourceSelectors, SchedulePending): only its status, reason and message count. Each further type is
    Unknown if any chosen cluster is, else False if any is, else True; the first that is not True is the last that is
    set. Transition times stay while a status stays; conditions of other types are kept at the end.
    """
    reported = [(SCHEDULED, scheduled.status, scheduled.reason, scheduled.message)]
    if scheduled.status is not Status.UNKNOWN:
        reported += _aggregate(record, cluster_progress(record))
    key, generation = record.placement.key, record.placement.generation
    conditions: list[Condition] = []
    for type_, status, reason, message in reported:
        name = type_of(key.kind, type_)
        old = find_condition(record.conditions, name)
        conditions.append(
            Condition(
                type=name,
                status=status,
                reason=str(reason),  # never the equal member of the enumeration
                message=message,
                last_transition_time=old.last_transition_time if old and old.status is status else now,
                observed_generation=generation,
            )
        )
    ours = {type_of(key.kind, step.type) for kind in ApplyStrategyType for step in steps_of(kind)} | {
        type_of(key.kind, SCHEDULED)
    }
    conditions += [condition for condition in record.conditions if condition.type not in ours]
    new: Conditions = tuple(conditions)
    return record if new == record.conditions else replace(record, conditions=new)


def cluster_progress(record: PlacementRecord) -> tuple[ClusterProgress, ...]:
    """Every chosen cluster by name: those with a binding that is neither given up nor unscheduled, and those that
    were decided on but have no binding yet."""
    active = {binding.cluster: binding for binding in record.bindings if is_active(binding)}
    chosen = set(active) | {decision.cluster for decision in record.decisions if decision.selected}
    latest = record.latest_resources
    newest = None if latest is None or record.placement.strategy.external else latest.name
    return tuple(_progress_of(record, name, active.get(name), newest) for name in sorted(chosen))


def _progress_of(record: PlacementRecord, cluster: str, binding: Binding | None, newest: str | None) -> ClusterProgress:
    """`newest` is the snapshot that is rolled out by itself, None where there is none."""
    if binding is None:
        return ClusterProgress(cluster, None, (_unknown(ROLLOUT_STARTED),))
    if newest is not None and binding.resource_snapshot != newest:
        started = find_condition(binding.conditions, ROLLOUT_STARTED.type, generation=binding.generation)
        if started is None or started.status is not Status.FALSE:
            return ClusterProgress(cluster, binding, (_unknown(ROLLOUT_STARTED),))
        reason, message = BLOCKED
        frozen = started.reason in _GATED
        message, since = started.message if frozen else message, started.last_transition_time
        blocked = ClusterStep(ROLLOUT_STARTED, Status.FALSE, reason.value, message, since, frozen)
        return ClusterProgress(cluster, binding, (blocked,))
    return ClusterProgress(cluster, binding, tuple(_binding_steps(record, binding)))


def _binding_steps(record: PlacementRecord, binding: Binding) -> list[ClusterStep]:
    steps: list[ClusterStep] = []
    for step in steps_of(record.placement.strategy.apply_strategy.type):
        seen = find_condition(binding.conditions, step.type, generation=binding.generation)
        silent = seen is not None and seen.reason == Reason.CLUSTER_UNREACHABLE
        if seen is None or (seen.status is Status.UNKNOWN and not silent):
            return [*steps, _unknown(step)]
        frozen = seen.reason in _GATED
        reason = Reason.ROLLOUT_NOT_STARTED_YET.value if frozen else seen.reason
        steps.append(ClusterStep(step, seen.status, reason, seen.message, seen.last_transition_time, frozen))
        if seen.status is not Status.TRUE:
            return steps
    return steps


def _unknown(step: Step) -> ClusterStep:
    return ClusterStep(step, Status.UNKNOWN, step.unknown[0].value, step.cluster_unknown, None)


def _aggregate(
    record: PlacementRecord, chosen: tuple[ClusterProgress, ...]
) -> list[tuple[ConditionType, Status, str, str]]:
    if not chosen:
        return []
    if record.placement.strategy.external:
        reason = _external_unknown(chosen)
        if reason is not None:
            return [(ROLLOUT_STARTED.type, Status.UNKNOWN, EXTERNAL, reason)]
    reported: list[tuple[ConditionType, Status, str, str]] = []
    for place, step in enumerate(steps_of(record.placement.strategy.apply_strategy.type)):
        reached = [progress.steps[place] for progress in chosen if len(progress.steps) > place]
        statuses = [cluster_step.status for cluster_step in reached]
        unknown, false = statuses.count(Status.UNKNOWN), statuses.count(Status.FALSE)
        if unknown or false:
            status, (reason, message) = (Status.UNKNOWN, step.unknown) if unknown else (Status.FALSE, step.false)
            message = message.format(unknown or false)
            why = next((f": {cluster_step.message}" for cluster_step in reached if cluster_step.frozen), "")
            return [*reported, (step.type, status, reason, message + why)]
        reason, message = step.true
        if step is OVERRIDDEN and not any(has_overrides(progress) for progress in chosen):
            reason, message = NO_OVERRIDE
        reported.append((step.type, Status.TRUE, reason, message.format(len(statuses))))
    return reported


def has_overrides(progress: ClusterProgress) -> bool:
    """Whether overrides hold for what is being rolled out to the cluster."""
    binding = progress.binding
    if binding is None or not progress.steps or progress.steps[0].status is not Status.TRUE:
        return False
    return bool(binding.cluster_resource_overrides or binding.resource_overrides)


def _external_unknown(chosen: tuple[ClusterProgress, ...]) -> str | None:
    """Why the RolloutStarted of an External placement is Unknown, or None when all clusters agree on one snapshot."""
    snapshots = {progress.binding.resource_snapshot if progress.binding else None for progress in chosen}
    if snapshots == {None}:
        return EXTERNAL_NOT_STARTED
    if len(snapshots - {None}) > 1:
        return EXTERNAL_DIFFERENT
    if None in snapshots:
        return None  # the first rollout is under way, as the seed shows it
    for progress in chosen:
        if progress.steps[0].status is Status.UNKNOWN:
            return EXTERNAL_CLUSTER_UNKNOWN.format(progress.cluster)
    return None


def observed_snapshot(record: PlacementRecord) -> str | None:
    """The name of the snapshot that the placement as a whole shows: the latest; for an External placement the one
    that all its clusters have that have one, None when they differ."""
    if not record.placement.strategy.external:
        return record.latest_resources.name if record.latest_resources else None
    snapshots = {b.resource_snapshot for b in record.bindings if is_active(b) and b.resource_snapshot is not None}
    return snapshots.pop() if len(snapshots) == 1 else None


def unmet_count(record: PlacementRecord, chosen: int) -> int:
    """How many clusters are missing that could be named: at most the decisions that were not selected."""
    policy = record.placement.effective_policy
    match policy.placement_type:
        case PlacementType.PICK_ALL:
            target = 0
        case PlacementType.PICK_N:
            target = policy.number_of_clusters or 0
        case PlacementType.PICK_FIXED:
            target = len(policy.cluster_names)
        case other:
            assert_never(other)
    refused = sum(1 for decision in record.decisions if not decision.selected)
    return max(0, min(target - chosen, refused))
