"""What rollouts hold of the objects on clusters, and what they do there now: both follow from the records alone, and
from what was observed, so that whoever begins again does the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from gitfleet.api.conditions import find_condition
from gitfleet.api.objects import Identity, ObjectKey
from gitfleet.api.rollout_plans import RolloutStrategy
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import (
    RELEASED,
    ClusterRolloutStatus,
    RollingState,
    RolloutMode,
    RolloutRecord,
    WorkloadConditionType,
    WorkloadReason,
)
from gitfleet.formats.canonical_json import json_text
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.held_fields import ABSENT, Fields, FieldValue, HeldByCluster, HeldFields, value_at
from gitfleet.model.observations import ClusterObservation, LiveObject
from gitfleet.model.operations import DeletePod, Patch, RolloutWrite
from gitfleet.model.works import Work
from gitfleet.workload.cases import Needed, lacks_pods, workloads_of
from gitfleet.workload.fields import merge_patch, pending
from gitfleet.workload.finding import Found, NotFoundHere, Wanted
from gitfleet.workload.goals import goal_of, step_of
from gitfleet.workload.handlers import Goal, Handlers, Scaling, Step, Workloads

_RUNNING = frozenset(
    {
        RollingState.INITIALIZING,
        RollingState.ROLLING_IN_BATCHES,
        RollingState.FINALISING,
        RollingState.FAILING,
        RollingState.ABANDONING,
    }
)


_PAUSABLE = _RUNNING - {RollingState.FAILING, RollingState.ABANDONING}


@dataclass(frozen=True, slots=True, kw_only=True)
class Movement:
    """What rollouts hold, by cluster and object, and what they do."""

    held: HeldByCluster = field(default_factory=dict)
    steps: tuple[RolloutWrite, ...] = ()


def movement(
    rollouts: Mapping[NamespacedName, RolloutRecord],
    works: Mapping[str, tuple[Work, ...]],
    observations: Mapping[str, ClusterObservation],
    handlers: Handlers,
    now: datetime,
    failures: Failures,
) -> Movement:
    """What each record holds and does on each of its clusters that answers. Where one fails, or where not all that it
    names was read, nothing is written to its workloads, and none of them goes."""
    held: dict[str, dict[Identity, HeldFields]] = {}
    steps: list[RolloutWrite] = []
    wanted: dict[str, Wanted] = {}
    for key, record in rollouts.items():
        for status in record.clusters:
            observation = observations.get(status.cluster)
            if observation is None or not observation.reachable or status.target is None or not _holds(status):
                continue
            if status.cluster not in wanted:
                wanted[status.cluster] = Wanted.of(works.get(status.cluster, ()))
            subject = Subject("WorkloadRollout", str(key), status.cluster)
            on = (record, status, wanted[status.cluster], observation, handlers, now)
            here = failures.contain(subject, _untouched(record, status, "it cannot be judged"), _on_cluster, *on)
            if here is not None:
                held.setdefault(status.cluster, {}).update(here.held.get(status.cluster, {}))
                steps += here.steps
    return Movement(held=held, steps=tuple(steps))


def _holds(status: ClusterRolloutStatus) -> bool:
    """Whether a rollout holds anything: not before there is something to roll out, nor once all is done in place."""
    if status.rolling_state is RollingState.VERIFYING_SPEC:
        said = find_condition(status.conditions, WorkloadConditionType.SPEC_VERIFYING)
        return said is None or said.reason != WorkloadReason.NOTHING_TO_ROLL
    return step_of(status) is not None


def _on_cluster(
    record: RolloutRecord,
    status: ClusterRolloutStatus,
    wanted: Wanted,
    observation: ClusterObservation,
    handlers: Handlers,
    now: datetime,
) -> Movement | None:
    target = status.target
    if target is None:
        return None
    if target.group_kind not in handlers:
        return _untouched(record, status, f"no handler of {target.group_kind} is installed")
    found = Found(target=target, sources=status.sources, handler=handlers[target.group_kind])
    try:
        seen = workloads_of(found, status, wanted, observation)
    except NotFoundHere as not_read:
        return _untouched(record, status, str(not_read))
    wants = _wants(record, status, found, seen, now)
    if wants is None:
        return None  # the first deployment in place: nothing is there that could be moved
    step, goal = wants
    scaling = found.handler.scale(seen, goal, step)
    moves = status.rolling_state in _RUNNING or status.let_go == RELEASED
    # What is judged by pods that were not read would be moved wrongly: it stays as it is until they are.
    moves = moves and not lacks_pods(found, status, observation)
    needed = Needed.of(found, wanted, seen)
    fields = dict(_held(record, status, scaling, (seen, needed), enforced=moves or step is Step.HOLD))
    steps = tuple(_steps(record, status, scaling, seen)) if moves else ()
    return Movement(held={status.cluster: fields}, steps=steps)


def _untouched(record: RolloutRecord, status: ClusterRolloutStatus, why: str) -> Movement:
    keys = [key for key in (status.target, *status.sources) if key is not None]
    held = {key.identity: HeldFields(rollout=record.key, stays=True, untouched=why) for key in keys}
    return Movement(held={status.cluster: held})


def _wants(
    record: RolloutRecord, status: ClusterRolloutStatus, found: Found, seen: Workloads, now: datetime
) -> tuple[Step, Goal] | None:
    """The step and its goal; None where nothing is to be held."""
    chosen = step_of(status)
    if chosen is None:
        return None
    step, batch = chosen
    if step is Step.HOLD:
        return None if seen.target is None and not status.sources else (step, _holding(seen, found))
    is_paused = record.rollout_plan.paused and status.rolling_state in _PAUSABLE
    return Step.KEEP if is_paused else step, goal_of(record.rollout_plan, status, now, batch)


def _held(
    record: RolloutRecord,
    status: ClusterRolloutStatus,
    scaling: Scaling,
    there: tuple[Workloads, Needed],
    *,
    enforced: bool,
) -> Iterator[tuple[Identity, HeldFields]]:
    """What is held of each workload. What is not `enforced`, as it is over, stays as it is on the cluster."""
    seen, needed = there
    for key in {*scaling.fields, *status.sources}:
        of_key = scaling.fields.get(key, {})
        fields = of_key if enforced else _as_live(of_key, _live(seen, key))
        yield key.identity, HeldFields(rollout=record.key, fields=fields, stays=_stays(record, status, needed, key))


def _holding(seen: Workloads, found: Found) -> Goal:
    sizes = tuple(found.handler.size(one.body) for one in seen.sources)
    has = found.handler.size(seen.target.body) if seen.target is not None else 0
    mode = RolloutMode.SOURCE_TO_TARGET if found.sources and (sum(sizes) or not has) else RolloutMode.IN_PLACE
    size, strategy = sum(sizes) + has, RolloutStrategy.INCREASE_FIRST
    return Goal(mode=mode, strategy=strategy, original=size, size=size, source_sizes=sizes)


def _stays(record: RolloutRecord, status: ClusterRolloutStatus, needed: Needed, key: ObjectKey) -> bool:
    """Whether a workload is not to be deleted although no placement has it any more, as its pods are still needed: a
    source until they have moved, a target until they have gone back. Where neither side is wanted, both may go."""
    if status.mode is RolloutMode.SOURCE_TO_TARGET and key == status.target:
        return status.is_running and needed.sources
    if key not in status.sources or not needed.target:
        return False
    match status.rolling_state:
        case RollingState.SUCCEEDED:
            return False
        case RollingState.ABANDONED:
            return status.revert
        case _:
            return not record.removing or status.rolling_state in _RUNNING


def _live(seen: Workloads, key: ObjectKey) -> LiveObject | None:
    found = (one for one in (seen.target, *seen.sources) if one is not None)
    return next((one for one in found if one.key.identity == key.identity), None)


def _as_live(fields: Fields, live: LiveObject | None) -> dict[str, FieldValue]:
    return dict(fields) if live is None else {pointer: value_at(live.body, pointer) for pointer in fields}


def _steps(
    record: RolloutRecord, status: ClusterRolloutStatus, scaling: Scaling, seen: Workloads
) -> Iterator[RolloutWrite]:
    for live, values in pending(scaling, seen):
        yield Patch(
            cluster=status.cluster,
            rollout=record.key,
            reason=f"{live.key}: {_said(values)}",
            key=live.key,
            uid=live.uid,
            resource_version=live.resource_version,
            patch=merge_patch(values),
        )
    for pod in scaling.pods:
        yield DeletePod(
            cluster=status.cluster,
            rollout=record.key,
            reason=f"{pod.key} makes room for one with the newer content",
            key=pod.key,
            uid=pod.uid,
        )


def _said(values: Mapping[str, FieldValue]) -> str:
    return ", ".join(
        f"{pointer} is removed" if value is ABSENT else f"{pointer} becomes {json_text(value)}"
        for pointer, value in sorted(values.items())
    )
