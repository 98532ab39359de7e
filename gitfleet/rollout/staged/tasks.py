"""What stands before and after a stage: approvals and timed waits (KubeFleet pkg/controllers/updaterun, execution.go),
and analyses.

An approval counts when the watched branch has an approval with the request's name whose condition Approved is True, and
then for good; Approved False rejects.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from typing import assert_never

from gitfleet.api.conditions import APPROVED, Condition, Status, find_condition, set_condition
from gitfleet.api.runs import (
    APPROVAL_ACCEPTED,
    ASKED_AT,
    ApprovalRequest,
    RunConditionType,
    RunReason,
    RunRecord,
    StageStatus,
    TaskStatus,
)
from gitfleet.api.stage_tasks import TaskType
from gitfleet.api.staged import DIGEST, SNAPSHOT_INDEX, Stage
from gitfleet.api.values import NamespacedName
from gitfleet.formats.times import EPOCH, time_text
from gitfleet.model.approvals import Asked, Verdict
from gitfleet.rollout.staged.analyses import analyse
from gitfleet.rollout.staged.pace import timed_end
from gitfleet.rollout.staged.phases import Mark
from gitfleet.rollout.staged.requests import snapshot_for
from gitfleet.rollout.staged.stages import alias_name
from gitfleet.rollout.staged.steps import Pass
from gitfleet.rollout.staged.waits import approval_wait, is_over, timed_wait
from gitfleet.rollout.texts import RolloutText

_BEFORE, _AFTER = "beforeStage", "afterStage"
_CREATED = {_BEFORE: RunReason.BEFORE_STAGE_REQUEST_CREATED, _AFTER: RunReason.AFTER_STAGE_REQUEST_CREATED}
_APPROVED = {_BEFORE: RunReason.BEFORE_STAGE_REQUEST_APPROVED, _AFTER: RunReason.AFTER_STAGE_REQUEST_APPROVED}


def asked(request: ApprovalRequest) -> Asked:
    """What a request asks of people, under each of its names."""
    commit, digest = request.annotations.get(ASKED_AT, ""), request.digest or ""
    own, *alias_keys = _names(request)
    aliases = tuple(key.name for key in alias_keys)
    return Asked(
        name=own.name,
        digest=digest,
        commit=commit,
        stage=(request.parent_run, request.target_stage),
        namespace=own.namespace,
        aliases=aliases,
        snapshot=request.snapshot_index,
        since=request.created,
    )


def _names(request: ApprovalRequest) -> Iterator[NamespacedName]:
    """The request's own name; KubeFleet's newer one for what comes after a stage (decision D9)."""
    yield request.key
    if request.task == _AFTER:
        yield NamespacedName(request.key.namespace, alias_name(request.parent_run or "", request.target_stage or ""))


def before_tasks(work: Pass, stage: StageStatus) -> tuple[StageStatus, bool]:
    """The stage with its before-stage task looked at, and whether it may start."""
    tasks = tuple(_approval(work, stage, task, _BEFORE) for task in stage.before_tasks)
    done = all(map(is_over, tasks))
    return (stage if tasks == stage.before_tasks else replace(stage, before_tasks=tasks)), done


def after_tasks(work: Pass, spec: Stage, stage: StageStatus) -> tuple[StageStatus, bool]:
    """The stage with its after-stage tasks looked at, and whether all of them are over. A timed wait counts from the
    recorded moment at which the stage began to wait, so that no restart makes it longer."""
    done = []
    for task, status in zip(spec.after_tasks, stage.after_tasks, strict=True):
        if is_over(status):
            done.append(status)
            continue
        match task.type:
            case TaskType.APPROVAL:
                done.append(_approval(work, stage, status, _AFTER))
            case TaskType.ANALYSIS:
                done.append(analyse(work, spec, stage, task, status))
            case TaskType.TIMED_WAIT:
                done.append(_timed_wait(work, stage, status, task.wait_seconds))
            case _:
                assert_never(task.type)
    new = tuple(done)
    over = all(map(is_over, new))
    return (stage if new == stage.after_tasks else replace(stage, after_tasks=new)), over


def _timed_wait(work: Pass, stage: StageStatus, task: TaskStatus, seconds: float | None) -> TaskStatus:
    if seconds is None:
        return task  # no file can say so: a gate without a time stays closed
    end = timed_end(stage, seconds, work.now)
    if work.now < end:
        work.clock(end - work.now)
        work.waiting.append(timed_wait(work.name, stage.name, end))
        return task
    return work.task(task, Mark(RunConditionType.WAIT_TIME_ELAPSED, Status.TRUE, RunReason.WAIT_TIME_ELAPSED))


def _approval(work: Pass, stage: StageStatus, task: TaskStatus, when: str) -> TaskStatus:
    """The task with its request made and answered; a rejection ends the run."""
    if is_over(task):
        return task
    key = NamespacedName(work.request.run.key.namespace, task.approval_request_name)
    fresh, request = _request(work, stage, key, when), work.requests.get(key)
    verdict = work.request.verdicts.get(key, Verdict())
    if request is None or request.digest != fresh.digest:  # one of an earlier run of the name answers nothing
        request, verdict = fresh, Verdict()
    if (request.parent_run, request.target_stage) != (work.request.run.key.name, stage.name):
        work.fail(
            RolloutText.APPROVAL_REQUEST_BELONGS_STAGE_RUN(
                key=key, target_stage=request.target_stage, parent_run=request.parent_run
            )
        )
        return task
    task = work.task(task, Mark(RunConditionType.APPROVAL_REQUEST_CREATED, Status.TRUE, _CREATED[when]))
    if request.accepted is not None:  # then for good, though the run's own file is older than that
        verdict = Verdict(answer=find_condition(request.conditions, APPROVED))
    request = work.requests[key] = _answered(work, request, verdict.condition(request.created))
    if verdict.answer is None:
        side = "before" if when == _BEFORE else "after"
        work.asks.append(approval_wait(work.name, side, stage.name, key, verdict.waits))
        return task
    if request.accepted is not None:
        return work.task(task, Mark(RunConditionType.APPROVAL_REQUEST_APPROVED, Status.TRUE, _APPROVED[when]))
    why = ": ".join(filter(None, (f"rejected by {key}", verdict.answer.message or verdict.answer.reason)))
    work.fail(f"stage {stage.name} was {why}")
    rejected = RunReason.STAGE_TASK_REJECTED
    return work.task(task, Mark(RunConditionType.APPROVAL_REQUEST_APPROVED, Status.FALSE, rejected, why))


def _request(work: Pass, stage: StageStatus, key: NamespacedName, when: str) -> ApprovalRequest:
    record = work.request.record
    snapshot = snapshot_for(work.request.run, record) if record is not None else None
    return ApprovalRequest(
        key=key,
        parent_run=work.request.run.key.name,
        target_stage=stage.name,
        created=work.now,
        task=when,
        annotations={
            DIGEST: _digest(work.request.run, stage.name, when, snapshot.hash if snapshot is not None else ""),
            ASKED_AT: work.request.commit,
            SNAPSHOT_INDEX: str(snapshot.index) if snapshot is not None else "",
        },
    )


def _digest(run: RunRecord, stage: str, when: str, content: str) -> str:
    """SHA-256 hex of what an approval is for: this very run (not an earlier one of its name), its stage and what it
    rolls out."""
    return sha256("\n".join((str(run.key), time_text(run.created), stage, when, content)).encode()).hexdigest()


def _answered(work: Pass, request: ApprovalRequest, answer: Condition | None) -> ApprovalRequest:
    conditions = tuple(c for c in request.conditions if c.type != APPROVED)
    if answer is not None:
        if answer.last_transition_time <= EPOCH:  # people may leave the time out
            answer = replace(answer, last_transition_time=work.now)
        conditions = set_condition(request.conditions, answer)
        if answer.status is Status.TRUE:
            accepted = Condition(
                type=APPROVAL_ACCEPTED,
                status=Status.TRUE,
                reason=RunReason.APPROVAL_ACCEPTED.value,
                message=RolloutText.APPROVAL_REQUEST_APPROVED_CANNOT_REVERTED(),
                last_transition_time=work.now,
                observed_generation=1,
            )
            conditions = set_condition(conditions, accepted)
    return request if conditions == request.conditions else replace(request, conditions=conditions)
