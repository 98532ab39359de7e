"""The last stage of a run: the placement leaves the clusters that it no longer picks, all at once (KubeFleet
pkg/controllers/updaterun, executeDeleteStage)."""

from __future__ import annotations

from dataclasses import replace

from gitfleet.api.bindings import BindingState
from gitfleet.api.runs import ClusterUpdate, StageStatus
from gitfleet.model.rolling import MoveKind
from gitfleet.rollout.staged.clusters import frozen_start, hold_frozen, is_through, is_updating
from gitfleet.rollout.staged.phases import ClusterEvent, ClusterPhase, RunEvent, StageEvent, StagePhase
from gitfleet.rollout.staged.steps import Pass, cluster_phase, stage_phase
from gitfleet.rollout.staged.waits import deletion_wait
from gitfleet.rollout.texts import RolloutText


def delete_stage(work: Pass, stage: StageStatus, *, stopping: bool) -> StageStatus:
    """The deletion stage after this pass: over when no binding of its clusters is left. A run that is to stop gives up
    nothing more, nor does one that may start no cluster; what it gave up is followed to its end."""
    if stopping and stage_phase(stage) in (StagePhase.PENDING, StagePhase.GATED):
        return stage
    if said := frozen_start(work, stage):
        return work.stage(stage, StageEvent.GATE, said)
    if not work.starts and not is_through(stage) and not is_updating(stage):
        return stage
    stage = work.stage(stage, StageEvent.START)
    frozen = work.frozen(stage)
    hold_frozen(work, f"in stage {stage.name}", frozen, idle=not is_updating(stage))
    if stopping or not work.starts:
        waiting = [c.cluster for c in stage.clusters if cluster_phase(c) is ClusterPhase.PENDING]
        for name in (name for name in waiting if name not in frozen):
            work.hold(name, MoveKind.REMOVE, RolloutText.RUN_NO_CLUSTER_RUN_STARTS(run=work.name))
    else:
        waiting = list(frozen)
    stage = replace(stage, clusters=tuple(c if c.cluster in waiting else _deleted(work, c) for c in stage.clusters))
    if gone := deletion_wait(work.name, stage):
        work.waiting.append(gone)
    if is_through(stage):
        return work.stage(stage, StageEvent.FINISH)
    if stopping and is_updating(stage):
        work.event = RunEvent.STOP
    return stage


def _deleted(work: Pass, cluster: ClusterUpdate) -> ClusterUpdate:
    name = cluster.cluster
    binding = work.bindings.get(name)
    if binding is not None and binding.state is BindingState.UNSCHEDULED:
        work.gone.append(replace(binding, deleting=work.now))
        del work.bindings[name]
        work.move(name, MoveKind.REMOVE, RolloutText.RUN_CLUSTER_NO_LONGER_PICKED(run=work.name))
    there = any(gone.cluster == name and gone.state is BindingState.UNSCHEDULED for gone in work.gone)
    cluster = work.cluster(cluster, ClusterEvent.START)
    return cluster if there else work.cluster(cluster, ClusterEvent.SUCCEED)
