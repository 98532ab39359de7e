"""What rollouts hold of the objects on clusters, and what they do there now: both follow from the records alone, and
from what was observed, so that whoever begins again does the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from gitfleet.api.objects import Identity, ObjectKey
from gitfleet.api.rollout_plans import RolloutStrategy
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import RELEASED, ClusterRolloutStatus, RollingState, RolloutMode, RolloutRecord
from gitfleet.formats.canonical_json import json_text
from gitfleet.model.decisions import Inputs
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.observations import ClusterObservation, LiveObject
from gitfleet.model.operations import DeletePod, Patch, RolloutWrite
from gitfleet.model.rollout_fields import ABSENT, FieldValue, RolloutFields, value_at
from gitfleet.model.works import Work
from gitfleet.workload.cases import Needed, lacks_pods, workloads_of
from gitfleet.workload.finding import NamedWorkloads, NotFoundHere, PlacedObjects, denial
from gitfleet.workload.goals import goal_of, merge_patch, pending, scaling_of, step_of
from gitfleet.workload.handlers import Goal, Handlers, Scaling, Step, Workloads
from gitfleet.workload.handlers.reading import REPLICAS, kept_fields
from gitfleet.workload.phases import LETTING_GO, phase_of
from gitfleet.workload.seam import Movement
from gitfleet.workload.texts import WorkloadText


def movement(
    rollouts: Mapping[NamespacedName, RolloutRecord],
    works: Mapping[str, tuple[Work, ...]],
    inputs: Inputs,
    handlers: Handlers,
    failures: Failures,
) -> Movement:
    """What each record holds and does on each of its clusters that answers. Where one fails, may not move what it
    names, or where not all of that was read, nothing is written to its workloads, and none of them goes."""
    fields_by_cluster: dict[str, dict[Identity, RolloutFields]] = {}
    steps: list[RolloutWrite] = []
    placed: dict[str, PlacedObjects] = {}
    for key, record in rollouts.items():
        for status in record.clusters:
            observation = inputs.observations.get(status.cluster)
            beside = status.sources or status.named or status.emptied
            if observation is None or not observation.reachable or not (beside or _is_active(status)):
                continue
            if status.cluster not in placed:
                placed[status.cluster] = PlacedObjects.of(works.get(status.cluster, ()))
            subject = Subject("WorkloadRollout", str(key), status.cluster)
            on = (record, status, placed[status.cluster], inputs, handlers)
            moving = failures.contain(
                subject, _untouched(record, status, WorkloadText.CANNOT_JUDGED()), _on_cluster, *on
            )
            if moving is not None:
                fields_by_cluster.setdefault(status.cluster, {}).update(moving.fields.get(status.cluster, {}))
                steps += moving.steps
    return Movement(fields=fields_by_cluster, steps=tuple(steps))


def _is_active(status: ClusterRolloutStatus) -> bool:
    """Whether a rollout holds anything: not before there is something to roll out, nor once all is done in place."""
    if status.rolling_state is RollingState.VERIFYING_SPEC:
        return not status.is_idle
    return step_of(status) is not None


def _on_cluster(
    record: RolloutRecord,
    status: ClusterRolloutStatus,
    placed: PlacedObjects,
    inputs: Inputs,
    handlers: Handlers,
) -> Movement | None:
    target, observation, policy = status.target, inputs.observations[status.cluster], inputs.desired.config.policy
    if target is None:
        return None
    if why := denial(policy, record, (target, *status.sources, *status.named)):
        return _untouched(record, status, why)
    if target.group_kind not in handlers:
        return _untouched(record, status, WorkloadText.NO_HANDLER_INSTALLED(group_kind=target.group_kind))
    workloads = NamedWorkloads(target=target, sources=status.sources, handler=handlers[target.group_kind])
    try:
        seen = workloads_of(workloads, status, placed, observation)
    except NotFoundHere as not_read:
        return _untouched(record, status, str(not_read))
    needed, beside = Needed.of(workloads, placed, seen), dict(_beside(record, status, placed, observation))
    if lacks_pods(workloads, status, observation):  # what is judged by them would be moved wrongly
        return _untouched(record, status, WorkloadText.PODS_NOT_READ(target=target))
    wants = _wants(record, status, workloads, seen, inputs.now) if _is_active(status) else None
    if wants is None:  # nothing is to be moved, as with a first deployment in place
        sources = {key.identity: _source_fields(record, status, needed, key, seen) for key in status.sources}
        return Movement(fields={status.cluster: {**sources, **beside}})
    step, goal = wants
    moves = _moves(status)
    # An autoscaler is bounded while pods move, and where they stay half way.
    is_free = not moves and step is not Step.KEEP
    scaling = scaling_of(workloads.handler, replace(seen, scalers=()) if is_free else seen, goal, step)
    # What is given back is given back by steps: an apply would write only a part of it.
    enforced = (moves and step is not Step.RELEASE) or step is Step.HOLD
    fields = dict(_fields(record, status, scaling, (seen, needed), enforced=enforced))
    steps = tuple(_steps(record, status, scaling, seen)) if moves else ()
    return Movement(fields={status.cluster: {**fields, **beside}}, steps=steps)


def _moves(status: ClusterRolloutStatus) -> bool:
    """Whether a rollout does anything to its workloads now: one that has begun nothing only holds."""
    return (status.is_running and status.mode is not None) or status.let_go == RELEASED


def _beside(
    record: RolloutRecord, status: ClusterRolloutStatus, placed: PlacedObjects, observation: ClusterObservation
) -> Iterator[tuple[Identity, RolloutFields]]:
    """What is held beside the workloads that are moved: nothing is written to those that the rollout names from now on
    before it is about them, and those that earlier ones emptied get no pods back."""
    is_wanted = any(key.identity in placed.manifests for key in status.named)  # else all of them may go
    for key in status.named:
        untouched = WorkloadText.NOT_ABOUT_WORKLOAD_YET()
        yield key.identity, RolloutFields(rollout=record.key, untouched=untouched, stays=is_wanted)
    for emptied in status.emptied:
        manifest, live = placed.manifests.get(emptied.key.identity), observation.live.get(emptied.key)
        if manifest is not None and live is not None and manifest.digest == emptied.digest:
            yield emptied.key.identity, RolloutFields(rollout=record.key, fields=kept_fields(live.body, (REPLICAS,)))


def _source_fields(
    record: RolloutRecord, status: ClusterRolloutStatus, needed: Needed, key: ObjectKey, seen: Workloads
) -> RolloutFields:
    """A source that is not moved now: it gets no pods back, and none at all where it is still to be made."""
    live = _live(seen, key)
    fields = kept_fields(live.body, (REPLICAS,)) if live is not None else {REPLICAS: 0}
    return RolloutFields(rollout=record.key, fields=fields, stays=_stays(status, needed, key))


def _untouched(record: RolloutRecord, status: ClusterRolloutStatus, why: str) -> Movement:
    keys = filter(None, (status.target, *status.sources, *status.named))
    fields = {key.identity: RolloutFields(rollout=record.key, stays=True, untouched=why) for key in keys}
    return Movement(fields={status.cluster: fields})


def _wants(
    record: RolloutRecord, status: ClusterRolloutStatus, workloads: NamedWorkloads, seen: Workloads, now: datetime
) -> tuple[Step, Goal] | None:
    """The step and its goal; None where nothing is to be held."""
    chosen = step_of(status)
    if chosen is None:
        return None
    step, batch = chosen
    if step is Step.HOLD:
        return None if seen.target is None and not status.sources else (step, _resting(seen, workloads))
    is_letting_go = phase_of(status.rolling_state, status.batch_rolling_state) in LETTING_GO
    is_paused = record.rollout_plan.paused and status.is_running and not is_letting_go
    return Step.KEEP if is_paused else step, goal_of(record.rollout_plan, status, now, batch)


def _fields(
    record: RolloutRecord,
    status: ClusterRolloutStatus,
    scaling: Scaling,
    observed: tuple[Workloads, Needed],
    *,
    enforced: bool,
) -> Iterator[tuple[Identity, RolloutFields]]:
    """What is held of each workload. What is not `enforced`, as it is over, stays as it is on the cluster."""
    seen, needed = observed
    for key in {*scaling.fields, *status.sources}:
        live, of_key = _live(seen, key), scaling.fields.get(key)
        if of_key is None:
            yield key.identity, _source_fields(record, status, needed, key, seen)
            continue
        fields = kept_fields(live.body, of_key) if live is not None and not enforced else of_key
        if key == status.target and _is_manifests(record, status, seen):
            fields = {}
        yield key.identity, RolloutFields(rollout=record.key, fields=fields, stays=_stays(status, needed, key))


def _is_manifests(record: RolloutRecord, status: ClusterRolloutStatus, seen: Workloads) -> bool:
    """Whether the number of pods of a target is its manifest's again: once it has them all, where the manifest gives a
    number of its own and the plan none."""
    if status.rolling_state is not RollingState.SUCCEEDED or status.mode is not RolloutMode.SOURCE_TO_TARGET:
        return False
    written = value_at(seen.wanted, REPLICAS) if seen.wanted is not None else ABSENT
    return record.rollout_plan.target_size is None and isinstance(written, int) and written > 0


def _resting(seen: Workloads, workloads: NamedWorkloads) -> Goal:
    sizes = tuple(workloads.handler.size(source.body) for source in seen.sources)
    has = workloads.handler.size(seen.target.body) if seen.target is not None else 0
    mode = RolloutMode.SOURCE_TO_TARGET if workloads.sources and (sum(sizes) or not has) else RolloutMode.IN_PLACE
    size, strategy = sum(sizes) + has, RolloutStrategy.INCREASE_FIRST
    return Goal(mode=mode, strategy=strategy, original=size, size=size, source_sizes=sizes)


def _stays(status: ClusterRolloutStatus, needed: Needed, key: ObjectKey) -> bool:
    """Whether a workload is not to be deleted although no placement has it any more, as its pods are still needed: a
    source until they have moved, a target until they have gone back. Where neither side is wanted, both may go."""
    is_early = status.rolling_state is RollingState.VERIFYING_SPEC
    if key == status.target:
        return bool(status.sources) and needed.sources and (status.is_running or is_early)
    if key not in status.sources:
        return False
    if status.revert and status.is_running:
        return True  # its pods are coming back
    if not needed.target:
        return False
    return status.rolling_state is not RollingState.SUCCEEDED


def _live(seen: Workloads, key: ObjectKey) -> LiveObject | None:
    observed = filter(None, (seen.target, *seen.sources, *(scaler.live for scaler in seen.scalers)))
    return next((live for live in observed if live.key.identity == key.identity), None)


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
            patch=merge_patch(values, live.body),
        )
    for pod in scaling.pods:
        yield DeletePod(
            cluster=status.cluster,
            rollout=record.key,
            reason=WorkloadText.MAKES_ROOM_ONE_NEWER_CONTENT(pod=pod.key),
            key=pod.key,
            uid=pod.uid,
        )


def _said(values: Mapping[str, FieldValue]) -> str:
    return ", ".join(
        WorkloadText.IS_REMOVED(pointer=pointer)
        if value is ABSENT
        else f"{pointer} becomes {'that of before' if isinstance(value, Mapping) else json_text(value)}"
        for pointer, value in sorted(values.items())
    )
