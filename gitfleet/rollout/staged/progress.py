"""One step of a run: initialized, held against its placement, and carried as far as it can go at this moment.

A pass goes on from stage to stage until something has to be waited for, so that the same passes at the same moments
give the same times, however many processes took part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gitfleet.api.conditions import Status, message_of
from gitfleet.api.runs import RunConditionType, RunReason, RunRecord, RunStatus, StageStatus
from gitfleet.api.staged import RunState, Stage
from gitfleet.errors import BadInput, RetryLater
from gitfleet.model.rolling import PlacementGate
from gitfleet.model.state import PlacementRecord
from gitfleet.rollout.readiness import needs_new_run
from gitfleet.rollout.requests import request_for
from gitfleet.rollout.silence import cut_off
from gitfleet.rollout.staged.clusters import (
    binding_of,
    delete_stage,
    frozen_start,
    is_through,
    is_updating,
    update_clusters,
    without_clusters,
)
from gitfleet.rollout.staged.fallback import is_reverted, revert_clusters, reverted_text
from gitfleet.rollout.staged.phases import (
    ClusterPhase,
    Mark,
    RunEvent,
    RunPhase,
    StageEvent,
    StagePhase,
    with_condition,
)
from gitfleet.rollout.staged.requests import RunRequest, RunStep
from gitfleet.rollout.staged.start import check_unchanged, external, initialized
from gitfleet.rollout.staged.steps import Pass, after_events, cluster_phase, run_phase, stage_phase
from gitfleet.rollout.staged.tasks import after_tasks, before_tasks
from gitfleet.rollout.staged.waits import (
    INITIALIZED_WAIT,
    ROLLBACK_STOPPED_WAIT,
    STOPPED_WAIT,
    STOPPING_WAIT,
    stuck_text,
)
from gitfleet.rollout.texts import RolloutText
from gitfleet.rollout.waiting import way_out

_DONE = (StagePhase.SUCCEEDED, StagePhase.SKIPPED)
_UPDATING = ClusterPhase.UPDATING


def advance_run(request: RunRequest) -> RunStep:
    """What one pass makes of a run. Never raises for what people wrote: then the run has failed, and says why."""
    run = request.run
    if (run.state or RunState.RUN) != request.state:
        run = replace(run, state=request.state)
        request = replace(request, run=run)
    step = RunStep(run=run, bindings=request.bindings, requests=request.requests)
    if run.finished:
        return step
    try:
        record = external(request.record)
        if run_phase(run.status) is RunPhase.NEW:
            status = initialized(request, record)
            name = "ClusterStagedUpdateRun" if not run.key.namespace else "StagedUpdateRun"
            message = RolloutText.INITIALIZED_SUCCESSFULLY(name=name)
            run = replace(run, status=after_events(status, [RunEvent.INITIALIZE], message, request.now))
        elif run_phase(run.status) is RunPhase.ROLLING_BACK:
            return _rolled_back(request, record)
        else:
            check_unchanged(request, record)
    except RetryLater as error:
        # Whatever brings it on, the scheduler, a removal, another placement or a commit, says itself how far it is.
        return replace(step, run=_waiting(run, request, str(error)), asks=(f"run {run.key} waits: {error}",))
    except BadInput as error:
        message = f"{error}" + (f"; {error.hint}" if error.hint else "")
        events = [RunEvent.REFUSE if run_phase(run.status) is RunPhase.NEW else RunEvent.ABORT]
        return replace(step, run=replace(run, status=after_events(run.status, events, message, request.now)))
    if request.state is RunState.INITIALIZE:
        return replace(step, run=run, asks=(INITIALIZED_WAIT.format(run.key),))
    return _carried_on(replace(request, run=run), record)


def _waiting(run: RunRecord, request: RunRequest, why: str) -> RunRecord:
    """The run with what it waits for before it begins; it is as new as before."""
    if run_phase(run.status) is not RunPhase.NEW:
        return run
    mark = Mark(RunConditionType.INITIALIZED, Status.UNKNOWN, RunReason.RUN_WAITING, why)
    conditions = with_condition(run.status.conditions, mark, request.now)
    return replace(run, status=replace(run.status, conditions=conditions))


def _carried_on(request: RunRequest, record: PlacementRecord) -> RunStep:
    """The run executed, or stopped."""
    work = _pass_of(request, record)
    status = request.run.status
    stopping = not request.state.starts
    stages, reached = [], False
    for spec, stage in zip(status.strategy.stages if status.strategy else (), status.stages, strict=True):
        if reached or work.failure:
            _block_stage(work, stage)
        elif stage_phase(stage) not in _DONE:
            stage = _stopped(work, spec, stage) if stopping else _executed(work, spec, stage)
            reached = stage_phase(stage) not in _DONE
        stages.append(stage)
    deletion = status.deletion
    if deletion is not None and not reached and not work.failure:
        deletion = delete_stage(work, deletion, stopping=stopping)
        if not stopping and stage_phase(deletion) is StagePhase.SUCCEEDED:
            work.event = RunEvent.FINISH
    status = replace(status, stages=tuple(stages), deletion=deletion)
    return _step(work, status)


def _rolled_back(request: RunRequest, record: PlacementRecord) -> RunStep:
    """A run that gives back to its clusters what they had; it has failed when all of them have it. No approval, wait or
    change of the placement stops it, only `spec.state` Stop."""
    work = _pass_of(request, record)
    run, status = request.run, request.run.status
    specs = status.strategy.stages if status.strategy else ()
    stages: list[StageStatus] = []
    for spec, stage in reversed([*zip(specs, status.stages, strict=True)]):
        # One stage after the other, as on the way forward.
        stages.append(revert_clusters(work, spec, stage, record) if is_reverted(work, stages) else stage)
    status = replace(status, stages=tuple(reversed(stages)))
    work.message = message_of(status.conditions, RunConditionType.PROGRESSING)
    if is_reverted(work, status.stages):
        message = f"{work.message}; {reverted_text(status.stages)}"
        status = after_events(status, [RunEvent.ABORT], message, work.now)
        mark = Mark(RunConditionType.ROLLED_BACK, Status.TRUE, RunReason.RUN_ROLLED_BACK, reverted_text(status.stages))
        status = replace(status, conditions=with_condition(status.conditions, mark, work.now))
    elif request.state is RunState.STOP:
        work.asks.append(ROLLBACK_STOPPED_WAIT.format(work.name))
    else:
        stuck = RolloutText.NOT_GET_HEALTHY_BEFORE(stuck=stuck_text(work.stuck)) if work.stuck else ""
        work.waiting.append(RolloutText.RUN_ROLLS_BACK_2(run=run.key, run_2=work.message, stuck=stuck))
    return _result(work, status)


def _pass_of(request: RunRequest, record: PlacementRecord) -> Pass:
    run, gate = request.run, PlacementGate(frozen={}, refused="")  # each stage has its own: `Pass.gate`
    moving = replace(
        request_for(record, request.contents, request.now, gate, request.labels, request.disturbed),
        apply_strategy=run.status.apply_strategy,
        latest_snapshot=run.snapshot,
        silent=request.silent,
    )
    work = Pass(
        request=request,
        moving=moving,
        bindings={b.cluster: b for b in record.bindings if b.deleting is None},
        leaving=[b for b in record.bindings if b.deleting is not None],
        requests=dict(request.requests),
    )
    snapshot = record.snapshot_named(run.snapshot)
    if snapshot is not None and snapshot.hash in request.quarantined and not run.fell_back:
        work.starts = False
        work.refused = f"snapshot {snapshot.index} {request.quarantined[snapshot.hash]}"
        message = RolloutText.STARTS_NO_FURTHER_CLUSTER(refused=work.refused)
        work.asks.append(RolloutText.RUN_MESSAGE(run=run.key, message=message))
    if silent := cut_off(moving):
        work.starts = False
        work.waiting.append(RolloutText.RUN_STARTS_NO_CLUSTER_WHILE(run=run.key, silent=stuck_text(silent)))
    return work


def _executed(work: Pass, spec: Stage, stage: StageStatus) -> StageStatus:
    """A stage as far as it can go now; one without clusters is skipped with its tasks (decision D44)."""
    if stage_phase(stage) in (StagePhase.PENDING, StagePhase.GATED):
        if not any(binding_of(work, cluster.cluster) for cluster in stage.clusters):
            return work.stage(without_clusters(work, stage), StageEvent.SKIP)
        stage, opened = _before(work, stage)
        if not opened:
            return stage
    stage = work.stage(stage, StageEvent.START)
    if stage_phase(stage) is StagePhase.UPDATING:
        stage = update_clusters(work, spec, stage, may_start=True)
        if is_through(stage):
            stage = work.stage(stage, StageEvent.UPDATED)
    if stage_phase(stage) is StagePhase.WAITING:
        stage, over = after_tasks(work, spec, stage)
        if over:
            stage = work.stage(stage, StageEvent.FINISH)
    if work.failure:
        return work.stage(stage, StageEvent.FAIL, work.failure)
    if work.stuck:
        _report_stuck(work, stage)
    return stage


def _before(work: Pass, stage: StageStatus) -> tuple[StageStatus, bool]:
    """A stage after a look at its before-stage tasks and at freezes, and whether it may start."""
    stage, opened = before_tasks(work, stage)
    if opened:
        reason = frozen_start(work, stage)
        return (work.stage(stage, StageEvent.GATE, reason), False) if reason else (stage, True)
    if work.failure:
        return work.stage(stage, StageEvent.FAIL, work.failure), False
    work.event = RunEvent.WAIT
    work.message = RolloutText.UPDATERUN_WAITING_BEFORE_STAGE_TASKS(stage=stage.name)
    _block_stage(work, stage)
    return work.stage(stage, StageEvent.GATE), False


def _report_stuck(work: Pass, stage: StageStatus) -> None:
    work.event, stuck = RunEvent.STICK, stuck_text(work.stuck)
    ways = _waits_for(work, work.stuck, RolloutText.RUN_STUCK_STAGE(run=work.name, stage=stage.name, stuck=stuck))
    work.message = RolloutText.UPDATERUN_STUCK_WAITING_CLUSTER_STAGE(stuck=stuck, stage=stage.name) + ways


def _waits_for(work: Pass, clusters: Sequence[str], why: str) -> str:
    """Say what the run waits for on these clusters; where only a new run can help all of them, to people. The end of
    the sentence: the first of the ways out, "" for none."""
    bindings = [binding for name in clusters if (binding := binding_of(work, name)) is not None]
    lost = [binding for binding in bindings if needs_new_run(binding)]
    ways = f"; {way_out(lost[0])}" if lost else ""
    if len(lost) == len(clusters) > 0:
        work.asks.append(f"{why}{ways}")
        work.blocked.update(dict.fromkeys(clusters, f"{why}{ways}"))
    else:
        work.waiting.append(f"{why}{ways}")
    return ways


def _stopped(work: Pass, spec: Stage, stage: StageStatus) -> StageStatus:
    """A stage in which nothing starts any more; what was started is followed to its end."""
    if stage_phase(stage) in (StagePhase.UPDATING, StagePhase.STOPPING):
        stage = update_clusters(work, spec, stage, may_start=False)
        if work.failure:
            return work.stage(stage, StageEvent.FAIL, work.failure)
        stage = work.stage(stage, StageEvent.STOP)
        if is_updating(stage):
            work.event = RunEvent.STOP
        else:
            stage = work.stage(stage, StageEvent.DRAIN)
    else:
        _block_stage(work, stage)
    return stage


def _block_stage(work: Pass, stage: StageStatus) -> None:
    """The clusters of a stage whose turn has not come."""
    why = (
        f": {RolloutText.NO_CLUSTER_RUN_STARTS_NOW()}"
        if stage.start_time
        else RolloutText.NOT_STARTED_STAGE_YET(stage=stage.name)
    )
    for cluster in stage.clusters:
        if binding_of(work, cluster.cluster) and cluster_phase(cluster) is ClusterPhase.PENDING:
            work.blocked[cluster.cluster] = f"run {work.name}{why}"


def _step(work: Pass, status: RunStatus) -> RunStep:
    run, request = work.request.run, work.request
    events, message = [work.event], work.message
    if work.failure:
        events, message = [RunEvent.FALL_BACK if work.falls_back else RunEvent.ABORT], work.failure
        work.waiting, work.asks = [RolloutText.RUN_ROLLS_BACK(run=run.key, why=message)] if work.falls_back else [], []
    elif request.state is RunState.STOP:
        events = [RunEvent.STOP] if work.event is RunEvent.STOP else [RunEvent.STOP, RunEvent.DRAIN]
        if run_phase(status) is RunPhase.STOPPED:
            events = []
        message = ""
        if work.event is RunEvent.STOP:
            under_way = [c.cluster for s in status.stages for c in s.clusters if cluster_phase(c) is _UPDATING]
            _waits_for(work, under_way, STOPPING_WAIT.format(work.name))
        else:
            work.asks.append(STOPPED_WAIT.format(work.name))
    elif work.event is RunEvent.FINISH:
        events = [RunEvent.RUN, RunEvent.FINISH]
    elif work.refused:
        events, message = [RunEvent.WAIT], RolloutText.STARTS_NO_FURTHER_CLUSTER(refused=work.refused)
    return _result(work, after_events(status, events, message, work.now))


def _result(work: Pass, status: RunStatus) -> RunStep:
    run = work.request.run
    bindings = sorted([*work.bindings.values(), *work.leaving], key=lambda b: (b.cluster, b.deleting is None))
    new = run if status == run.status else replace(run, status=status)
    return RunStep(
        run=new,
        bindings=tuple(bindings),
        requests=work.requests,
        moves=tuple(work.moves),
        blocked=work.blocked,
        waiting=tuple(work.waiting),
        asks=tuple(work.asks),
        clock=min(work.clocks, default=None),
        calls=() if work.failure else tuple(work.calls),
    )
