"""What a run waits for, until when, and what lets it go on: each sentence is made here, for all who say it.

waits_of    all that a run waits for, from what is recorded of it
the others  one sentence each, as a pass comes upon it
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final, assert_never

from gitfleet.api.conditions import APPROVED, Status, find_condition, message_of
from gitfleet.api.runs import ApprovalRequest, ClusterUpdate, RunConditionType, RunRecord, StageStatus, TaskStatus
from gitfleet.api.stage_tasks import TaskType
from gitfleet.api.staged import RunState, Stage
from gitfleet.api.values import NamespacedName
from gitfleet.formats.times import moment_text
from gitfleet.rollout.staged.pace import next_start, soaks_until, started_at, timed_end
from gitfleet.rollout.staged.phases import ClusterPhase, RunPhase, StagePhase
from gitfleet.rollout.staged.stages import concurrency
from gitfleet.rollout.staged.steps import cluster_phase, run_phase, stage_phase
from gitfleet.rollout.texts import RolloutText

Requests = Mapping[NamespacedName, ApprovalRequest]
INITIALIZED_WAIT: Final = RolloutText.RUN_INITIALIZED_WAITS_SPEC_STATE()
STOPPING_WAIT: Final = RolloutText.RUN_STOPPING_STARTED_GOES_END()
STOPPED_WAIT: Final = RolloutText.RUN_STOPPED_WAITS_SPEC_STATE()
ROLLBACK_STOPPED_WAIT: Final = RolloutText.RUN_ROLLS_BACK_WAITS_SPEC()
_DONE: Final = (StagePhase.SUCCEEDED, StagePhase.SKIPPED)
OVER: Final = (
    RunConditionType.APPROVAL_REQUEST_APPROVED,
    RunConditionType.WAIT_TIME_ELAPSED,
    RunConditionType.ANALYSIS_SUCCEEDED,
)
"""Which condition of a task says, each of its type, that it lets the run go on."""


def waits_of(run: RunRecord, requests: Requests, now: datetime) -> tuple[str, ...]:
    """What an unfinished run waits for by its record, with absolute times; nothing for one that is over or goes on.
    What one pass alone knows, such as clusters that do not answer, is not among it."""
    name, message = str(run.key), message_of(run.status.conditions, RunConditionType.PROGRESSING)
    match run_phase(run.status):
        case RunPhase.REFUSED | RunPhase.FAILED | RunPhase.SUCCEEDED:
            return ()
        case RunPhase.NEW:
            why = message_of(run.status.conditions, RunConditionType.INITIALIZED)
            return (f"run {name} waits: {why}",) if why else ()
        case RunPhase.INITIALIZED if run.state is RunState.INITIALIZE:
            return (INITIALIZED_WAIT.format(name),)
        case RunPhase.STOPPING:
            return (STOPPING_WAIT.format(name),)
        case RunPhase.STOPPED:
            return (STOPPED_WAIT.format(name),)
        case RunPhase.ROLLING_BACK if run.state is RunState.STOP:
            return (ROLLBACK_STOPPED_WAIT.format(name),)
        case RunPhase.ROLLING_BACK:
            return (RolloutText.RUN_ROLLS_BACK(run=name, why=message),)
        case RunPhase.INITIALIZED | RunPhase.RUNNING:
            return _of_stages(run, (), requests, now)
        case RunPhase.WAITING | RunPhase.STUCK:
            return _of_stages(run, (RolloutText.RUN_MESSAGE(run=name, message=message),), requests, now)


def _of_stages(run: RunRecord, own: tuple[str, ...], requests: Requests, now: datetime) -> tuple[str, ...]:
    """What the run's `own` condition says, and what its stage waits for; a request for approval says it all."""
    strategy = run.status.strategy
    for spec, stage in zip(strategy.stages if strategy else (), run.status.stages, strict=True):
        if stage_phase(stage) not in _DONE:
            waits = tuple(_waits_in(run, spec, stage, requests, now))
            return waits if waits and stage_phase(stage) is StagePhase.GATED else (*own, *waits)
    sentence = deletion_wait(str(run.key), run.status.deletion) if run.status.deletion is not None else ""
    return (*own, sentence) if sentence else own


def approval_wait(run: str, side: str, stage: str, key: NamespacedName, why: str) -> str:
    """For a person's answer `before` or `after` a stage; `why` those that are there do not count, "" for none."""
    waits = RolloutText.RUN_WAITS_STAGE_APPROVAL(run=run, side=side, stage=stage, key=key)
    return RolloutText.GITFLEET_APPROVE_WRITES_ONE(why=f"{waits}: {why}" if why else waits, run=run, stage=stage)


def timed_wait(run: str, stage: str, end: datetime) -> str:
    """For a TimedWait."""
    return RolloutText.RUN_WAITS_STAGE_UNTIL(run=run, stage=stage, end=moment_text(end))


def analysis_wait(run: str, stage: str, state: str) -> str:
    """For an Analysis; `state` is how its metrics stand."""
    return RolloutText.RUN_WAITS_ANALYSIS_STAGE(run=run, stage=stage, why=state)


def soak_wait(run: str, spec: Stage, stage: StageStatus, clusters: Iterable[ClusterUpdate]) -> str:
    """Until when those `clusters` of a stage that are healthy must stay so; "" where none must."""
    under_way = [c for c in clusters if cluster_phase(c) is ClusterPhase.UPDATING]
    soaks = {c.cluster: end for c in under_way if (end := soaks_until(spec, c)) is not None}
    if not soaks:
        return ""
    until = moment_text(max(soaks.values()))
    return RolloutText.RUN_WAITS_STAGE_MUST_STAY(run=run, list=stuck_text(list(soaks)), stage=stage.name, until=until)


def deletion_wait(run: str, stage: StageStatus) -> str:
    """For the clusters that the placement leaves; "" for none."""
    clusters = [c.cluster for c in stage.clusters if cluster_phase(c) is ClusterPhase.UPDATING]
    return RolloutText.RUN_WAITS_UNTIL_PLACEMENT_GONE(run=run, left=stuck_text(clusters)) if clusters else ""


def rate_text(spec: Stage, stage: StageStatus, later: datetime) -> str:
    """That `startRate` lets no cluster start before a moment."""
    return RolloutText.STAGE_STARTS_MOST_MINUTE(stage=stage.name, start_rate=spec.start_rate, later=moment_text(later))


def stuck_text(clusters: Sequence[str]) -> str:
    """The first three names, and dots for more (KubeFleet generateStuckClustersString)."""
    return ", ".join(clusters[:3]) + ("..." if len(clusters) > 3 else "")


def _waits_in(run: RunRecord, spec: Stage, stage: StageStatus, requests: Requests, now: datetime) -> Iterator[str]:
    name, phase = str(run.key), stage_phase(stage)
    if phase is StagePhase.UPDATING:
        yield from filter(None, [soak_wait(name, spec, stage, stage.clusters)])
        phases = [cluster_phase(cluster) for cluster in stage.clusters]
        free = phases.count(ClusterPhase.UPDATING) < concurrency(spec.max_concurrency, len(phases))
        later = next_start(spec, map(started_at, stage.clusters), now)
        if later is not None and free and ClusterPhase.PENDING in phases:
            yield f"run {name} waits: {rate_text(spec, stage, later)}"
    gates = {
        StagePhase.GATED: ("before", spec.before_tasks, stage.before_tasks),
        StagePhase.WAITING: ("after", spec.after_tasks, stage.after_tasks),
    }
    side, tasks, statuses = gates.get(phase, ("", (), ()))
    for task, status in zip(tasks, statuses, strict=True):
        if is_over(status):
            continue
        match task.type:
            case TaskType.TIMED_WAIT:
                if task.wait_seconds is not None:
                    yield timed_wait(name, stage.name, timed_end(stage, task.wait_seconds, now))
            case TaskType.ANALYSIS:
                yield analysis_wait(name, stage.name, message_of(status.conditions, RunConditionType.ANALYSIS_RUNNING))
            case TaskType.APPROVAL:
                request = requests.get(NamespacedName(run.key.namespace, status.approval_request_name))
                if request is not None:
                    answer = find_condition(request.conditions, APPROVED)
                    why = answer.message if answer is not None and answer.status is Status.UNKNOWN else ""
                    yield approval_wait(name, side, stage.name, request.key, why)
            case _:
                assert_never(task.type)


def is_over(task: TaskStatus) -> bool:
    """Whether a task lets the run go on."""
    return any(condition.type in OVER and condition.status is Status.TRUE for condition in task.conditions)
