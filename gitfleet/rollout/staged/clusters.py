"""The clusters of the stage that is being updated: which start, which are through, which take too long (KubeFleet
pkg/controllers/updaterun, executeUpdatingStage; decisions D12, D14, D24)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from gitfleet.api.bindings import Binding, BindingState, is_active
from gitfleet.api.conditions import ConditionType, Reason, Status, find_condition
from gitfleet.api.runs import ClusterUpdate, Former, RunConditionType, StageStatus
from gitfleet.api.staged import Stage
from gitfleet.formats.int_or_percent import scaled
from gitfleet.model.rolling import Frozen, MoveKind
from gitfleet.rollout.moves import roll_out, start_rollout
from gitfleet.rollout.readiness import is_ready
from gitfleet.rollout.silence import LEFT_OUT_AFTER
from gitfleet.rollout.staged.pace import next_start, observed_healthy, observed_unhealthy, soaks_until, started_at
from gitfleet.rollout.staged.phases import ClusterEvent, ClusterPhase, RunEvent
from gitfleet.rollout.staged.stages import concurrency
from gitfleet.rollout.staged.start import frozen
from gitfleet.rollout.staged.steps import Pass, cluster_phase
from gitfleet.rollout.staged.waits import rate_text, soak_wait, stuck_text
from gitfleet.rollout.texts import RolloutText
from gitfleet.rollout.waits import STUCK_AFTER, unavailable_period

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
    why, free, waiting = "", 0, work.frozen(stage) if may_start else {}
    for at, cluster in enumerate(followed):
        if cluster_phase(cluster) is not ClusterPhase.PENDING or cluster.cluster in waiting:
            continue
        if not (why or free):
            why, free = held_back(work, spec, stage, followed, may_start=may_start)
        if not why:
            free -= 1
            followed[at] = _follow(work, spec, stage, _start(work, spec, stage, cluster))
        else:
            work.hold(cluster.cluster, _kind(work, cluster.cluster), f"run {work.name}: {why}")
    stage = replace(stage, clusters=tuple(followed))
    if soaks := soak_wait(work.name, spec, stage, stage.clusters):
        work.waiting.append(soaks)
    idle = all(cluster_phase(cluster) is not ClusterPhase.UPDATING for cluster in followed)
    hold_frozen(work, f"in stage {stage.name}", waiting, idle=idle)
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
    frozen = work.frozen(stage)
    if len(frozen) < len(stage.clusters):
        return ""
    return hold_frozen(work, f"before stage {stage.name}", frozen, idle=True)


def hold_frozen(work: Pass, where: str, frozen: Mapping[str, Frozen], *, idle: bool) -> str:
    """Hold the frozen clusters of a stage; what the run waits for, "" for nothing. It waits as a whole where it is
    `idle` otherwise."""
    if not frozen:
        return ""
    for name, why in frozen.items():
        work.hold(name, _kind(work, name), f"run {work.name}: {why.reason}")
    first = min(frozen.values(), key=lambda why: why.end).reason
    work.waiting.append(f"run {work.name} waits {where}, {first}")
    said = RolloutText.UPDATERUN_WAITS(where=where, first=first)
    if idle:
        work.event, work.message = RunEvent.WAIT, said
    return said


def is_through(stage: StageStatus) -> bool:
    """Whether nothing of a stage's clusters is left to do."""
    return all(cluster_phase(cluster) in _OVER for cluster in stage.clusters)


def is_updating(stage: StageStatus) -> bool:
    """Whether any cluster of a stage is under way."""
    return any(cluster_phase(cluster) is ClusterPhase.UPDATING for cluster in stage.clusters)


def _start(work: Pass, spec: Stage, stage: StageStatus, cluster: ClusterUpdate) -> ClusterUpdate:
    name = cluster.cluster
    binding = binding_of(work, name)
    if binding is None:
        return _without_binding(work, stage, cluster)
    if spec.unreachable == "Skip" and is_silent(work, name):
        return work.cluster(cluster, ClusterEvent.SKIP, RolloutText.CLUSTER_NOT_ANSWER())
    if any(gone.cluster == name for gone in work.gone):
        work.hold(name, MoveKind.BIND, RolloutText.EARLIER_PLACEMENT_LEFT_CLUSTER_STILL())
        return cluster
    if is_current(work, cluster, binding):
        started = find_condition(binding.conditions, ConditionType.ROLLOUT_STARTED, generation=binding.generation)
        if started is None or started.status is not Status.TRUE:
            work.bindings[name] = start_rollout(binding, work.now, _by(work))
    else:
        old = f" replaces {binding.resource_snapshot}" if binding.resource_snapshot else " goes out"
        work.bindings[name] = roll_out(work.moving, binding, work.now, _by(work))
        reason = f"run {work.name}, stage {stage.name}: {work.moving.latest_snapshot}{old}"
        work.move(name, kind_of(binding), reason)
        cluster = replace(cluster, former=_former(work.request.had.get(name, binding)))
    return work.cluster(cluster, ClusterEvent.START)


def _former(binding: Binding) -> Former | None:
    if binding.resource_snapshot is None:
        return None
    return Former(
        resource_snapshot=binding.resource_snapshot,
        resource_overrides=binding.resource_overrides,
        cluster_resource_overrides=binding.cluster_resource_overrides,
    )


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
    cluster = observed_unhealthy(cluster, work.now, work.request.run.generation)
    if spec.unreachable == "Skip" and is_silent(work, name):
        return work.cluster(cluster, ClusterEvent.SKIP, RolloutText.CLUSTER_NOT_ANSWER_LATER_RUN())
    left = until_stuck(work, spec, cluster, binding)
    if left < timedelta(0) or (spec.unreachable == "Fail" and is_silent(work, name)):
        work.stuck.append(name)
    else:
        work.clock(left + timedelta.resolution)
    return cluster


def _soaked(work: Pass, spec: Stage, cluster: ClusterUpdate, binding: Binding) -> ClusterUpdate:
    """A healthy cluster: updated, or, where the stage has `minSoak`, under way until it has been so for that long."""
    if spec.min_soak is not None:
        cluster = observed_healthy(cluster, binding, work.now, work.request.run.generation)
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
    if not work.stuck or (spec.max_failures is None and spec.on_failure not in ("Stop", "Rollback")):
        return clusters
    most = scaled(spec.max_failures or 0, len(clusters))
    before = sum(cluster_phase(cluster) is ClusterPhase.FAILED for cluster in clusters)
    given_up = set(work.stuck[: max(0, most - before)])
    said = RolloutText.NOT_UPDATED_MAXFAILURES_LETS_RUN(max_failures=spec.max_failures)
    clusters = [work.cluster(c, ClusterEvent.FAIL, said) if c.cluster in given_up else c for c in clusters]
    work.stuck = [name for name in work.stuck if name not in given_up]
    work.starts = work.starts and not work.stuck
    if work.stuck and spec.on_failure in ("Stop", "Rollback"):
        said = RolloutText.NOT_FINISH_MORE_MAXFAILURES_ALLOWS(stuck=stuck_text(work.stuck), most=most)
        work.fail(f"stage {stage.name}: {said}", falls_back=spec.on_failure == "Rollback")
    return clusters


def is_current(work: Pass, cluster: ClusterUpdate, binding: Binding) -> bool:
    """Whether a binding has what this run gives it."""
    wanted = (BindingState.BOUND, work.moving.latest_snapshot, work.moving.apply_strategy)
    wanted_overrides = (cluster.cluster_resource_overrides, cluster.resource_overrides)
    found = (binding.state, binding.resource_snapshot, binding.apply_strategy)
    return found == wanted and (binding.cluster_resource_overrides, binding.resource_overrides) == wanted_overrides


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


def _kind(work: Pass, name: str) -> MoveKind:
    binding = work.bindings.get(name)
    if binding is not None and not is_active(binding):
        return MoveKind.REMOVE
    return kind_of(binding) if binding is not None else MoveKind.UPDATE


def kind_of(binding: Binding) -> MoveKind:
    """How a cluster moves: bound, or updated in place."""
    return MoveKind.BIND if binding.resource_snapshot is None else MoveKind.UPDATE
