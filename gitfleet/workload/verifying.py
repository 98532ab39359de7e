"""Whether a rollout can begin on a cluster, and what it is about there (state verifyingSpec)."""

from __future__ import annotations

from dataclasses import replace

from gitfleet.api.objects import JsonObject
from gitfleet.api.snapshots import snapshot_index
from gitfleet.api.workload_records import MIXED, ClusterRolloutStatus, RolloutMode
from gitfleet.model.observations import LiveObject
from gitfleet.model.rolling import Frozen, Passage
from gitfleet.model.rollout_fields import ABSENT, value_at
from gitfleet.workload.cases import Case, is_placed
from gitfleet.workload.goals import UnusablePlan, batches_for, goal_of, key_text
from gitfleet.workload.handlers import Step, WorkloadHandler
from gitfleet.workload.handlers.reading import REPLICAS, is_within
from gitfleet.workload.phases import LETTING_GO, Phase
from gitfleet.workload.texts import WorkloadText

IDLE = WorkloadText.NOTHING_ROLL_OUT()


class NotYet(Exception):
    """The rollout cannot begin yet; one sentence says why. `idle` says that nothing is to begin, `asks` that only a
    person can change that, `closed` which gate keeps it."""

    def __init__(self, sentence: str, *, idle: bool = False, asks: bool = False, closed: Frozen | None = None) -> None:
        super().__init__(sentence)
        self.sentence, self.idle, self.asks, self.closed = sentence, idle, asks, closed


def has_template(handler: WorkloadHandler, manifest: JsonObject, live: LiveObject) -> bool:
    """Whether a live workload has the template of a manifest, beside what the server filled in."""
    return is_within(handler.template(manifest), handler.template(live.body))


def adopted(case: Case) -> Case:
    """The first sight of the workloads: what has its newest content already has nothing to roll out until that
    changes. Pods of older content are what a rollout left half way, as its cluster went, or what nobody has rolled out
    yet."""
    status, seen = case.status, case.seen
    if status.attempt or status.last_template or seen.target is None:
        return case
    is_there = seen.wanted is None or has_template(case.workloads.handler, seen.wanted, seen.target)
    has_old = any(case.workloads.handler.size(source.body) for source in seen.sources) or (
        not seen.sources and case.workloads.handler.has_older_pods(seen.target.body)
    )
    last = case.template if is_there and not has_old else MIXED
    return replace(case, status=replace(status, last_template=last))


def target_changed(case: Case, phase: Phase) -> bool:
    """Whether the rollout is about something else than what it began with."""
    status = case.status
    if case.record.removing or phase in LETTING_GO:
        return False
    if status.named and (case.workloads.target, case.workloads.sources) == (status.target, status.sources):
        return False  # it ends with what it was about: what it names from now on comes in the next pass
    if status.mode is None:
        return case.renewed
    if case.renewed and phase is Phase.ABANDONED:
        return True
    workloads = case.workloads
    about = (case.template, workloads.revision, workloads.sources)
    if about != (status.new_template, status.revision, status.sources):
        return True
    if status.target is not None and workloads.target.identity != status.target.identity:
        return True
    sized = status.is_over and status.mode is not RolloutMode.IN_PLACE
    return sized and case.record.rollout_plan.target_size not in (None, status.target_size)


def verified(case: Case) -> tuple[ClusterRolloutStatus, Passage]:
    """The status with what the rollout is about, and leave to begin; NotYet where it has to wait or has nothing to do,
    UnusablePlan where the plan does not go with the workloads."""
    status, seen, handler, plan = case.status, case.seen, case.workloads.handler, case.record.rollout_plan
    _check_revision(case)
    _check_placed(case)
    sizes = tuple(handler.size(source.body) for source in seen.sources)
    mode = _mode(case, sum(sizes))
    if seen.target is None:
        raise NotYet(WorkloadText.NOT_CLUSTER(target=case.workloads.target))
    for live in (seen.target, *seen.sources):
        if (owner := _controller_of(live)) is not None:
            raise NotYet(WorkloadText.ANOTHER_CONTROLLER_ROLLOUT_MOVE_ONLY(live=live.key, owner=owner))
    has = handler.size(seen.target.body)
    original, had = _from(case, mode, sizes, has)
    size = _size(case, mode, original)
    claimed = ClusterRolloutStatus(
        cluster=status.cluster,
        since=status.since,
        conditions=status.conditions,
        # What was rolled out last is not what all pods have, from now on until they all have the new one.
        last_template=status.last_template if mode is RolloutMode.SCALE else MIXED,
        mode=mode,
        original_size=original,
        target_size=size,
        new_template=case.template,
        revision=case.workloads.revision,
        attempt=status.attempt + 1,
        target=case.workloads.target,
        sources=case.workloads.sources,
        source_sizes=had,
        emptied=status.emptied,
        template_before=status.template_before,
        started_with=min(has, size) if mode is RolloutMode.SOURCE_TO_TARGET else 0,
    )
    batches = batches_for(plan, claimed)
    leave = _check_ready(case, claimed)
    for number in (-1, *(batch.number for batch in batches if batch.plan.pod_list)):
        if refusal := handler.refusal(seen, goal_of(plan, claimed, case.now, number, batches)):
            raise UnusablePlan(refusal)
    return replace(claimed, originals=_originals(case, claimed)), leave


def _check_placed(case: Case) -> None:
    """Whether a target that a placement had still has one."""
    seen, handler = case.seen, case.workloads.handler
    if seen.wanted is not None or not is_placed(seen.target):
        return
    asks = bool(seen.sources) and seen.target is not None and handler.size(seen.target.body) > 0
    raise NotYet(WorkloadText.NO_PLACEMENT_ANY_MORE(target=case.workloads.target), idle=not asks, asks=asks)


def _check_revision(case: Case) -> None:
    """Whether the cluster has the content that the rollout names: the snapshot, or another one with the same workload
    template."""
    workloads = case.workloads
    if not workloads.revision or case.snapshot == workloads.revision or workloads.template in ("", case.template):
        return
    index, current = (int(snapshot_index(name) or -1) for name in (workloads.revision, case.snapshot or None))
    if current < index:
        raise NotYet(WorkloadText.CLUSTER_NOT_YET(revision=workloads.revision))
    raise NotYet(
        WorkloadText.CLUSTER_TARGETREVISION_NAME(snapshot=case.snapshot, index=index, there=current), asks=True
    )


def _from(case: Case, mode: RolloutMode, sizes: tuple[int, ...], has: int) -> tuple[int, tuple[int, ...]]:
    """How many pods there were in all, and in each source. One that begins again amid its way begins from what there
    was before the first time: pods that came in excess meanwhile do not count. Pods that a target has beside all that
    its sources have are no more than its manifest asks for."""
    status, total = case.status, sum(sizes) + has
    if mode is not RolloutMode.SOURCE_TO_TARGET:
        return total, sizes
    if status.attempt and status.last_template == MIXED and status.original_size:
        return status.original_size, status.source_sizes if len(status.source_sizes) == len(sizes) else sizes
    manifest = case.workloads.handler.size(case.seen.wanted) if case.seen.wanted is not None else 0
    return (max(sum(sizes), has, manifest) if 0 < manifest < total else total), sizes


def _size(case: Case, mode: RolloutMode, original: int) -> int:
    """How many pods there are to be at the end; UnusablePlan for a number that does not go with what is done. Where the
    plan gives none, those that the manifest adds go out in batches, too."""
    target_size, seen = case.record.rollout_plan.target_size, case.seen
    is_scaled = any(scaler.workload == case.workloads.target.identity for scaler in seen.scalers)
    written = ABSENT if is_scaled else value_at(seen.wanted or {}, REPLICAS)
    manifests = written if isinstance(written, int) else 0
    if mode is RolloutMode.IN_PLACE:
        size = manifests or original  # 0 is written for a rollout that gives it pods
        if target_size not in (None, size):
            raise UnusablePlan(
                WorkloadText.TARGETSIZE_PODS_ROLLOUT_CHANGES_CONTENT(
                    wanted=target_size, target=case.workloads.target, size=size
                )
            )
        return size
    if target_size is None:
        is_first = mode is RolloutMode.SOURCE_TO_TARGET and original == 0 and seen.wanted is not None
        return case.workloads.handler.size(seen.wanted or {}) if is_first else max(original, manifests)
    if mode is RolloutMode.SOURCE_TO_TARGET and target_size < original:
        raise UnusablePlan(WorkloadText.TARGETSIZE_BELOW_PODS(wanted=target_size, original=original))
    return target_size


def _originals(case: Case, claimed: ClusterRolloutStatus) -> JsonObject | None:
    """The values of the fields that the rollout is going to hold, where no placement has the workload. One that begins
    again amid its way finds its own there."""
    target, status = case.seen.target, case.status
    if case.seen.wanted is not None or target is None:
        return None
    if status.attempt and status.last_template == MIXED:
        return status.originals
    goal = goal_of(case.record.rollout_plan, claimed, case.now)
    scaling = case.workloads.handler.scale(case.seen, goal, Step.FIRST)
    fields = next((f for key, f in scaling.fields.items() if key.identity == target.key.identity), {})
    values = {pointer: value_at(target.body, pointer) for pointer in fields}
    return {key_text(target.key): {pointer: None if v is ABSENT else v for pointer, v in values.items()}}


def _mode(case: Case, old_pods: int) -> RolloutMode:
    """What is to be done; NotYet where that is nothing."""
    status, seen, plan, handler = case.status, case.seen, case.record.rollout_plan, case.workloads.handler
    has = handler.size(seen.target.body) if seen.target is not None else 0
    if old_pods:
        return RolloutMode.SOURCE_TO_TARGET
    if case.workloads.sources and not has:
        return RolloutMode.SOURCE_TO_TARGET  # the first deployment: there is no older workload
    is_amid = bool(status.attempt) and status.last_template == MIXED and bool(case.workloads.sources)
    if is_amid and has < status.original_size:
        return RolloutMode.SOURCE_TO_TARGET  # its sources were emptied before it got all of their pods
    if case.template != status.last_template:
        return RolloutMode.IN_PLACE
    if plan.target_size is not None and seen.target is not None and has != plan.target_size:
        return RolloutMode.SCALE
    raise NotYet(IDLE, idle=True)


def _check_ready(case: Case, claimed: ClusterRolloutStatus) -> Passage:
    if not case.applied:
        raise NotYet(WorkloadText.NOT_APPLIED_YET_WANTED(target=case.workloads.target))
    if case.record.rollout_plan.paused:
        raise NotYet(WorkloadText.PAUSED_SET_PAUSED_FALSE(), asks=True)
    if case.turn:
        raise NotYet(case.turn)
    leave = case.gate(claimed)
    if isinstance(leave, Frozen):
        raise NotYet(leave.reason, closed=leave)
    if why := case.workloads.handler.health(case.seen):
        raise NotYet(why)
    return leave


def _controller_of(live: LiveObject) -> str | None:
    owners = (live.body.get("metadata") or {}).get("ownerReferences") or ()
    return next((f"{owner.get('kind')}/{owner.get('name')}" for owner in owners if owner.get("controller")), None)
