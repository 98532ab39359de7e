"""What stands before and after a stage: approvals and timed waits (KubeFleet pkg/controllers/updaterun, execution.go),
and analyses.

An approval counts when the watched branch has an approval with the request's name whose condition Approved is True, and
then for good; Approved False rejects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import assert_never

from gitfleet.api.conditions import APPROVED, Condition, Reason, Status, find_condition, set_condition
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
from gitfleet.api.staged import DIGEST, SNAPSHOT_INDEX, Approval, Stage
from gitfleet.api.values import NamespacedName
from gitfleet.formats.times import EPOCH, time_text
from gitfleet.model.approvals import Asked
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


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the watched branch says to a request: approved (true), rejected (false) or nothing yet (None), why, and the
    condition that a person wrote, or that says why what people wrote does not count."""

    answer: Status | None
    reason: str
    condition: Condition | None = None


def approval_for(request: ApprovalRequest, approvals: Mapping[NamespacedName, Approval]) -> Verdict:
    """Whether a request is approved by what is merged."""
    merged = [approvals[name] for name in _names(request) if name in approvals]
    if not merged:
        return Verdict(None, "")
    approval = merged[0]
    target = (approval.parent_run, approval.target_stage)
    if target != (None, None) and target != (request.parent_run, request.target_stage):
        return Verdict(None, RolloutText.APPROVAL_STAGE_RUN(approval=approval.key, found=target[1], found_2=target[0]))
    if approval.digest not in (None, request.digest):
        return Verdict(None, RolloutText.APPROVAL_ANOTHER_REQUEST(approval=approval.key))
    condition = find_condition(approval.conditions, APPROVED)
    unknown = condition is None or condition.status is Status.UNKNOWN
    if condition is not None and unknown and condition.reason == Reason.APPROVAL_NOT_COUNTED:
        return Verdict(None, condition.message, condition)
    if condition is None or unknown:
        return Verdict(None, RolloutText.APPROVAL_NO_CONDITION_TRUE_FALSE(approval=approval.key, approved=APPROVED))
    word = "approved" if condition.status is Status.TRUE else "rejected"
    why = condition.message or condition.reason
    return Verdict(condition.status, f"{word} by {approval.key}" + (f": {why}" if why else ""), condition)


def asked(request: ApprovalRequest) -> Asked:
    """What a request asks of people, under each of its names."""
    commit, digest = request.annotations.get(ASKED_AT, ""), request.digest or ""
    own, *alias_keys = _names(request)
    aliases = tuple(key.name for key in alias_keys)
    return Asked(
        name=own.name,
        digest=digest,
        commit=commit,
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
    if request is None or request.digest != fresh.digest:  # one of an earlier run of the name answers nothing
        request = fresh
    if (request.parent_run, request.target_stage) != (work.request.run.key.name, stage.name):
        work.fail(
            RolloutText.APPROVAL_REQUEST_BELONGS_STAGE_RUN(
                key=key, target_stage=request.target_stage, parent_run=request.parent_run
            )
        )
        return task
    task = work.task(task, Mark(RunConditionType.APPROVAL_REQUEST_CREATED, Status.TRUE, _CREATED[when]))
    counted = request.accepted is not None  # then for good, though the run's own file is older than that
    answer = find_condition(request.conditions, APPROVED) if counted else None
    verdict = Verdict(Status.TRUE, "", answer) if counted else approval_for(request, work.request.approvals)
    work.requests[key] = _answered(work, request, verdict)
    match verdict.answer:
        case Status.TRUE:
            mark = Mark(RunConditionType.APPROVAL_REQUEST_APPROVED, Status.TRUE, _APPROVED[when])
            return work.task(task, mark)
        case Status.FALSE:
            mark = Mark(RunConditionType.APPROVAL_REQUEST_APPROVED, Status.FALSE, RunReason.STAGE_TASK_REJECTED)
            work.fail(f"stage {stage.name} was {verdict.reason}")
            return work.task(task, mark._replace(message=verdict.reason))
        case Status.UNKNOWN | None:
            side = "before" if when == _BEFORE else "after"
            work.asks.append(approval_wait(work.name, side, stage.name, key, verdict.reason))
            return task


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


def _answered(work: Pass, request: ApprovalRequest, verdict: Verdict) -> ApprovalRequest:
    written = verdict.condition
    if written is None:
        conditions = tuple(c for c in request.conditions if c.type != APPROVED)
        return request if conditions == request.conditions else replace(request, conditions=conditions)
    if written.last_transition_time <= EPOCH:  # people may leave the time out
        written = replace(written, last_transition_time=work.now)
    conditions = set_condition(request.conditions, written)
    if verdict.answer is Status.TRUE:
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
