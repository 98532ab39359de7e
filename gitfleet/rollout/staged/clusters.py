"""The clusters of the stage that is being updated: which start, which are through, which take too long; and of the last
stage, which the placement leaves (KubeFleet pkg/controllers/updaterun, executeUpdatingStage, executeDeleteStage;
decisions D12, D14, D24)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from gitfleet.api.bindings import Binding, BindingState, ClusterContent, is_active
from gitfleet.api.conditions import ConditionType, Reason, Status, find_condition, is_true
from gitfleet.api.runs import ClusterUpdate, Former, RunConditionType, StageStatus
from gitfleet.api.stage_tasks import OnStageFailure
from gitfleet.api.staged import Stage, Unreachable
from gitfleet.formats.int_or_percent import scaled
from gitfleet.model.rolling import Frozen, MoveKind, PlacementGate, wait_for
from gitfleet.rollout.moves import roll_out, start_rollout, take_off
from gitfleet.rollout.readiness import STUCK_AFTER, is_ready, unavailable_period
from gitfleet.rollout.silence import LEFT_OUT_AFTER
from gitfleet.rollout.staged.pace import next_start, observed_healthy, observed_unhealthy, soaks_until, started_at
from gitfleet.rollout.staged.phases import ClusterEvent, ClusterPhase, RunEvent, StageEvent
from gitfleet.rollout.staged.stages import concurrency
from gitfleet.rollout.staged.start import frozen
from gitfleet.rollout.staged.steps import Pass, cluster_phase
from gitfleet.rollout.staged.waits import deletion_wait, rate_text, soak_wait, stuck_text
from gitfleet.rollout.texts import RolloutText

_OVER = (ClusterPhase.UPDATED, ClusterPhase.SKIPPED, ClusterPhase.FAILED)


def is_updated(work: Pass, binding: Binding) -> bool:
    """Whether a cluster is updated; the pass comes to something else when time alone makes it so.

    It is when its resources are available, or its differences reported, at the generation that is being rolled out
    (decision D24); what cannot be tracked counts only after unavailablePeriodSeconds (D14). Nothing counts while drift
    is being corrected there.
    """
    readiness = is_ready(binding, unavailable_period(work.moving.rolling_update), work.now)
    work.clock(readiness.wait)
    return readiness.ready and binding.cluster not in work.request.disturbed


def update_clusters(work: Pass, spec: Stage, stage: StageStatus, *, may_start: bool) -> StageStatus:
    """The stage after this pass: in their order, clusters start as long as fewer than maxConcurrency are under way; one
    that takes too long keeps its slot."""
    followed = [_follow(work, spec, stage, cluster) for cluster in stage.clusters]
    followed = _with_failures(work, spec, stage, followed)
    why, free, gate = "", 0, work.gate(stage)
    frozen_clusters = gate.frozen if may_start else {}
    for at, cluster in enumerate(followed):
        if cluster_phase(cluster) is not ClusterPhase.PENDING or cluster.cluster in frozen_clusters:
            continue
        if not (why or free):
            why, free = held_back(work, spec, stage, followed, may_start=may_start)
        if not why:
            free -= 1
            followed[at] = _follow(work, spec, stage, _start(work, spec, stage, cluster, gate))
        else:
            work.blocked[cluster.cluster] = f"run {work.name}: {why}"
    stage = replace(stage, clusters=tuple(followed))
    if soaks := soak_wait(work.name, spec, stage, stage.clusters):
        work.waiting.append(soaks)
    idle = all(cluster_phase(cluster) is not ClusterPhase.UPDATING for cluster in followed)
    block_frozen(work, f"in stage {stage.name}", frozen_clusters, idle=idle)
    return stage


def held_back(
    work: Pass,
    spec: Stage,
    stage: StageStatus,
    clusters: Sequence[ClusterUpdate],
    *,
    may_start: bool,
    back: bool = False,
) -> tuple[str, int]:
    """Why no (further) cluster of a stage starts in this pass, to be updated or (`back`) rolled back; "" while some
    may, and how many before this has to be asked again."""
    limit = concurrency(spec.max_concurrency, len(clusters))
    phase = ClusterPhase.ROLLING_BACK if back else ClusterPhase.UPDATING
    free = limit - sum(cluster_phase(cluster) is phase for cluster in clusters)
    if free <= 0:
        return RolloutText.STAGE_UPDATES_MOST_SAME_TIME(stage=stage.name, limit=limit), 0
    if not may_start or not work.starts or work.failure:
        return RolloutText.NO_CLUSTER_RUN_STARTS_NOW(), 0
    later = next_start(spec, (c.reverted if back else started_at(c) for c in clusters), work.now)
    if later is None:
        return "", 1 if spec.start_rate else free
    work.clock(later - work.now)
    why = rate_text(spec, stage, later)
    work.waiting.append(f"run {work.name} waits: {why}")
    return why, 0


def frozen_start(work: Pass, stage: StageStatus) -> str:
    """Why a stage does not start yet: all of its clusters are frozen; "" where it may start."""
    frozen = work.gate(stage).frozen
    if len(frozen) < len(stage.clusters):
        return ""
    return block_frozen(work, f"before stage {stage.name}", frozen, idle=True)


def block_frozen(work: Pass, where: str, frozen: Mapping[str, Frozen], *, idle: bool) -> str:
    """Block the frozen clusters of a stage until the freezes end; what the run waits for, "" for nothing. It waits as a
    whole where it is `idle` otherwise."""
    if not frozen:
        return ""
    work.clock(*(why.wait(work.now) for why in frozen.values()))
    for name, why in frozen.items():
        work.blocked[name] = f"run {work.name}: {why.reason}"
    first = min(frozen.values(), key=lambda why: why.end).reason
    sentence = RolloutText.WAITS(where=where, first=first)
    work.waiting.append(wait_for(first, RolloutText.RUN_MESSAGE(run=work.name, message=sentence)))
    if idle:
        work.event, work.message = RunEvent.WAIT, sentence
    return sentence


def is_through(stage: StageStatus) -> bool:
    """Whether nothing of a stage's clusters is left to do."""
    return all(cluster_phase(cluster) in _OVER for cluster in stage.clusters)


def is_updating(stage: StageStatus) -> bool:
    """Whether any cluster of a stage is under way."""
    return any(cluster_phase(cluster) is ClusterPhase.UPDATING for cluster in stage.clusters)


def _start(work: Pass, spec: Stage, stage: StageStatus, cluster: ClusterUpdate, gate: PlacementGate) -> ClusterUpdate:
    name = cluster.cluster
    binding = binding_of(work, name)
    if binding is None:
        return _without_binding(work, stage, cluster)
    if spec.unreachable is Unreachable.SKIP and is_silent(work, name):
        return work.cluster(cluster, ClusterEvent.SKIP, RolloutText.CLUSTER_NOT_ANSWER())
    if any(leaving.cluster == name for leaving in work.leaving):
        work.blocked[name] = RolloutText.EARLIER_PLACEMENT_LEFT_CLUSTER_STILL()
        return cluster
    leave = gate.passage(name, kind_of(binding))
    if isinstance(leave, Frozen):
        return cluster
    if is_current(work, cluster, binding):
        if not is_true(binding.conditions, ConditionType.ROLLOUT_STARTED, generation=binding.generation):
            work.bindings[name] = start_rollout(binding, leave, work.now, _by(work))
    else:
        old = f" replaces {binding.resource_snapshot}" if binding.resource_snapshot else " goes out"
        work.bindings[name] = roll_out(work.moving, binding, leave, work.now, _by(work))
        reason = f"run {work.name}, stage {stage.name}: {work.moving.latest_snapshot}{old}"
        work.move(name, kind_of(binding), reason)
        cluster = replace(cluster, former=_former(work.request.had.get(name, binding)))
    return work.cluster(cluster, ClusterEvent.START)


def _former(binding: Binding) -> Former | None:
    if binding.resource_snapshot is None:
        return None
    return Former(resource_snapshot=binding.resource_snapshot, **ClusterContent.of(binding)._asdict())


def _by(work: Pass) -> str:
    return rolled_out_by(work, work.request.run.status.resource_snapshot_index_used)


def rolled_out_by(work: Pass, index: str) -> str:
    """The end of a binding's message: which snapshot goes out, by which run."""
    kind = "stagedUpdateRun" if work.request.run.key.namespace else "clusterStagedUpdateRun"
    return f", resourceSnapshotIndex: {index}, {kind}: {work.request.run.key.name}"


def _follow(work: Pass, spec: Stage, stage: StageStatus, cluster: ClusterUpdate) -> ClusterUpdate:
    """A cluster that was started: through, under way, or taken over by another run; any other as it is."""
    if cluster_phase(cluster) is not ClusterPhase.UPDATING:
        return cluster
    name = cluster.cluster
    binding = binding_of(work, name)
    if binding is None:
        return _without_binding(work, stage, cluster)
    if not is_current(work, cluster, binding):
        sentence = RolloutText.BINDING_UPDATING_CLUSTER_STAGE_NOT(name=name, stage=stage.name, binding=binding.name)
        work.fail(sentence)
        return work.cluster(cluster, ClusterEvent.FAIL, sentence)
    if is_updated(work, binding):
        return _soaked(work, spec, cluster, binding)
    cluster = observed_unhealthy(cluster, work.now)
    if spec.unreachable is Unreachable.SKIP and is_silent(work, name):
        return work.cluster(cluster, ClusterEvent.SKIP, RolloutText.CLUSTER_NOT_ANSWER())
    remaining = until_stuck(work, spec, cluster, binding)
    if remaining < timedelta(0) or (spec.unreachable is Unreachable.FAIL and is_silent(work, name)):
        work.stuck.append(name)
    else:
        work.clock(remaining + timedelta.resolution)
    return cluster


def _soaked(work: Pass, spec: Stage, cluster: ClusterUpdate, binding: Binding) -> ClusterUpdate:
    """A healthy cluster: updated, or, where the stage has `minSoak`, under way until it has been so for that long."""
    if spec.min_soak is not None:
        cluster = observed_healthy(cluster, binding, work.now)
    until = soaks_until(spec, cluster)
    if until is not None and until > work.now:
        work.clock(until - work.now)
        return cluster
    return work.cluster(cluster, ClusterEvent.SUCCEED)


def until_stuck(
    work: Pass, spec: Stage, cluster: ClusterUpdate, binding: Binding, begun: str = RunConditionType.STARTED
) -> timedelta:
    """How long an update, which begins with the condition `begun`, may still take. It counts from when the cluster was
    given it: time in which no process lived to do that makes no cluster fail."""
    started = find_condition(cluster.conditions, begun)
    since = started.last_transition_time if started is not None else work.now
    applied = find_condition(binding.conditions, ConditionType.APPLIED, generation=binding.generation)
    if applied is not None and applied.status is Status.TRUE:
        since = max(since, applied.last_transition_time)
    elif applied is not None and applied.reason == Reason.APPLY_PENDING:
        since = work.now  # a step runs, which has a limit of its own
    elif cluster.cluster in work.request.disturbed and binding.applied_snapshot != binding.resource_snapshot:
        tried = applied is not None and applied.reason != Reason.APPLY_IN_PROGRESS
        since = since if tried else work.now
    threshold = STUCK_AFTER if spec.stuck_after is None else timedelta(seconds=spec.stuck_after)
    return threshold - (work.now - since)


def _without_binding(work: Pass, stage: StageStatus, cluster: ClusterUpdate) -> ClusterUpdate:
    """The cluster left the placement: with `membership: Freeze` it is skipped, else the run has ended before this."""
    if frozen(work.request.run.status):
        return work.cluster(cluster, ClusterEvent.SKIP, RolloutText.PLACEMENT_NOT_PICK_CLUSTER_ANY())
    work.fail(RolloutText.BINDING_CLUSTER_STAGE_NOT_FOUND(cluster=cluster.cluster, stage=stage.name))
    return cluster


def without_clusters(work: Pass, stage: StageStatus) -> StageStatus:
    """The stage with each of its clusters skipped: all left the placement before the stage started."""
    return replace(stage, clusters=tuple(_without_binding(work, stage, cluster) for cluster in stage.clusters))


def _with_failures(work: Pass, spec: Stage, stage: StageStatus, clusters: list[ClusterUpdate]) -> list[ClusterUpdate]:
    """What `maxFailures` and `onFailure` make of the clusters that take too long (decision D12). Without either the run
    is stuck and goes on waiting, as in KubeFleet."""
    if not work.stuck or (spec.max_failures is None and spec.on_failure in (None, OnStageFailure.WAIT)):
        return clusters
    most = scaled(spec.max_failures or 0, len(clusters))
    before = sum(cluster_phase(cluster) is ClusterPhase.FAILED for cluster in clusters)
    given_up = set(work.stuck[: max(0, most - before)])
    sentence = RolloutText.NOT_UPDATED_MAXFAILURES_LETS_RUN(max_failures=spec.max_failures)
    clusters = [work.cluster(c, ClusterEvent.FAIL, sentence) if c.cluster in given_up else c for c in clusters]
    work.stuck = [name for name in work.stuck if name not in given_up]
    work.starts = work.starts and not work.stuck
    if work.stuck and spec.on_failure not in (None, OnStageFailure.WAIT):
        sentence = RolloutText.NOT_FINISH_MORE_MAXFAILURES_ALLOWS(stuck=stuck_text(work.stuck), most=most)
        work.fail(f"stage {stage.name}: {sentence}", falls_back=spec.on_failure is OnStageFailure.ROLLBACK)
    return clusters


def is_current(work: Pass, cluster: ClusterUpdate, binding: Binding) -> bool:
    """Whether a binding has what this run gives it."""
    target = (BindingState.BOUND, work.moving.latest_snapshot, work.moving.apply_strategy)
    actual = (binding.state, binding.resource_snapshot, binding.apply_strategy)
    return actual == target and ClusterContent.of(binding) == ClusterContent.of(cluster)


def is_silent(work: Pass, name: str) -> bool:
    """Whether a cluster has not answered for so long that a rollout need not wait for it."""
    since = work.request.silent.get(name)
    if since is None:
        return False
    work.clock(LEFT_OUT_AFTER - (work.now - since))
    return work.now - since >= LEFT_OUT_AFTER


def binding_of(work: Pass, name: str) -> Binding | None:
    """The binding by which the placement wants a cluster."""
    binding = work.bindings.get(name)
    return binding if binding is not None and is_active(binding) else None


def kind_of(binding: Binding) -> MoveKind:
    """How a cluster moves: bound, or updated in place."""
    return MoveKind.BIND if binding.resource_snapshot is None else MoveKind.UPDATE


def delete_stage(work: Pass, stage: StageStatus, *, stopping: bool) -> StageStatus:
    """The deletion stage after this pass: over when no binding of its clusters is left. A run that is to stop gives up
    nothing more, nor does one that may start no cluster; what it gave up is followed to its end."""
    may_start = work.starts and not stopping
    if not may_start and not is_updating(stage):
        return stage
    if reason := frozen_start(work, stage):
        return work.stage(stage, StageEvent.GATE, reason)
    stage = work.stage(stage, StageEvent.START)
    gate = work.gate(stage)
    pending = [c.cluster for c in stage.clusters if cluster_phase(c) is ClusterPhase.PENDING]
    waiting = list(gate.frozen) if may_start else pending
    if not may_start:
        why = f"run {work.name}: {RolloutText.NO_CLUSTER_RUN_STARTS_NOW()}"
        work.blocked.update(dict.fromkeys(pending, why))
    block_frozen(work, f"in stage {stage.name}", gate.frozen, idle=not is_updating(stage))
    clusters = tuple(c if c.cluster in waiting else _deleted(work, c, gate) for c in stage.clusters)
    stage = replace(stage, clusters=clusters)
    if sentence := deletion_wait(work.name, stage):
        work.waiting.append(sentence)
    if is_through(stage):
        return work.stage(stage, StageEvent.FINISH)
    if stopping and is_updating(stage):
        work.event = RunEvent.STOP
    return stage


def _deleted(work: Pass, cluster: ClusterUpdate, gate: PlacementGate) -> ClusterUpdate:
    name = cluster.cluster
    binding = work.bindings.get(name)
    if binding is not None and binding.state is BindingState.UNSCHEDULED:
        leave = gate.passage(name, MoveKind.REMOVE)
        if isinstance(leave, Frozen):
            return cluster
        work.leaving.append(take_off(binding, leave, work.now))
        del work.bindings[name]
        work.move(name, MoveKind.REMOVE, RolloutText.RUN_CLUSTER_NO_LONGER_PICKED(run=work.name))
    bindings = (b for b in work.leaving if b.cluster == name and b.state is BindingState.UNSCHEDULED)
    # What is held, or stays for another placement, is not waited for.
    remaining = any(not b.only_keeps for b in bindings)
    cluster = work.cluster(cluster, ClusterEvent.START)
    return cluster if remaining else work.cluster(cluster, ClusterEvent.SUCCEED)
