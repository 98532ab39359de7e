"""One pass of a rollout on one cluster: which events have come, and what follows from them (see phases).

An event is told from the status and from what was observed alone, so that a process which begins again goes on where
the last one was; what a state wants of the workloads follows from the status (see goals).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, assert_never

from gitfleet.analysis import AnalysisVerdict, Scope
from gitfleet.analysis import advance as analyse
from gitfleet.api.rollout_plans import WebhookType
from gitfleet.api.workload_records import RELEASED, ClusterRolloutStatus, RolloutMode, WorkloadReason
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.sentences import counted
from gitfleet.formats.times import time_text
from gitfleet.model.calls import Call
from gitfleet.model.rolling import Frozen, Passage
from gitfleet.workload.cases import Advanced, Case, is_settling, why_left
from gitfleet.workload.goals import UnusablePlan, batches_for, goal_of, last_batch, left_to_change
from gitfleet.workload.handlers import Counts
from gitfleet.workload.handlers.replicas import size_after
from gitfleet.workload.phases import (
    LETTING_GO,
    MOVES,
    Phase,
    RolloutEvent,
    Start,
    StartEvent,
    after,
    entered,
    phase_of,
    waiting,
)
from gitfleet.workload.texts import WorkloadText
from gitfleet.workload.verifying import NotYet, adopted, target_changed, verified
from gitfleet.workload.webhooks import ask, without_batches

_E = RolloutEvent


@dataclass(slots=True)
class _Pass:
    """What is found out in one pass. `why` is the sentence of the event that came last."""

    case: Case
    calls: dict[str, Call] = field(default_factory=dict)
    wakes: list[datetime | None] = field(default_factory=list)
    waits: str = ""
    reason: WorkloadReason = WorkloadReason.WAITING
    why: str = ""
    asks: bool = False
    gated: bool = False

    @property
    def phase(self) -> Phase:
        return phase_of(self.case.status.rolling_state, self.case.status.batch_rolling_state)

    def wait(
        self, sentence: str, reason: WorkloadReason = WorkloadReason.WAITING, closed: Frozen | None = None
    ) -> None:
        self.waits, self.reason = sentence, reason
        if closed is not None:
            self.asks, self.gated = closed.asks, True
            self.wakes.append(closed.until)

    def set_status(self, **changes: Any) -> None:
        self.case = replace(self.case, status=replace(self.case.status, **changes))


def advance_cluster(case: Case) -> Advanced:
    """One pass. Webhooks and metrics are asked only in the state that waits for them."""
    work = _Pass(adopted(case))
    for _ in Phase:  # it may go through all of them
        work.waits, work.reason, work.why = "", WorkloadReason.WAITING, ""
        work.calls.clear()
        work.wakes.clear()
        event = _event(work)
        if event is None:
            break
        _move(work, event)
    was_over = case.status.is_over and work.case.status.is_over and not is_settling(work.case.status)
    status = work.case.status if was_over else _counted(work)
    status = waiting(status, work.phase, work.reason, work.waits, case.now)
    idle = work.reason is WorkloadReason.NOTHING_TO_ROLL or (status.is_over and not work.waits)
    return Advanced(
        status=status,
        calls=tuple(work.calls.values()),
        wake_at=min(filter(None, work.wakes), default=None),
        waits="" if idle else work.waits,
        asks=work.asks or work.reason in (WorkloadReason.PAUSED, WorkloadReason.BATCH_PARTITION),
        gated=work.gated,
    )


def _move(work: _Pass, event: RolloutEvent | Start) -> None:
    case, previous = work.case, work.phase
    phase = after(previous, event.event if isinstance(event, Start) else event)
    rolling, batch = phase.value
    status = replace(case.status, rolling_state=rolling, batch_rolling_state=batch, since=case.now)
    reason = WorkloadReason.DONE if status.is_over else WorkloadReason.WAITING
    match event:
        case _E.NEXT_BATCH:
            calls, number = without_batches(status.webhooks), status.current_batch + 1
            status = replace(
                status, current_batch=number, half=False, batch_started=None, webhooks=calls, measurements=()
            )
        case Start(event=StartEvent.BATCH_ADMITTED):
            status = replace(status, batch_started=case.now)
        case _E.TARGET_CHANGED:
            now, before = {case.workloads.target, *case.workloads.sources}, {status.target, *status.sources}
            is_same = (status.target, status.sources) == (case.workloads.target, case.workloads.sources)
            sizes, original = status.source_sizes if is_same else (), status.original_size if before <= now else 0
            status = replace(status, let_go="", source_sizes=sizes, original_size=original, emptied=case.emptied)
            reason = WorkloadReason.TARGET_CHANGED
        case _E.FINISHED:
            status = replace(status, last_template=status.new_template, template_before=None)
        case Start(event=StartEvent.REMOVED) | _E.REMOVED_IDLE:
            reverts = (case.record.rollout_plan.revert_on_delete or case.goes_back) and status.mode is not None
            status = _let_go(case, replace(status, revert=_reverts(work, requested=reverts)), is_kept=reverts)
            reason = WorkloadReason.REMOVED
        case _E.SPEC_UNUSABLE:
            reason = WorkloadReason.UNUSABLE_SPEC
        case _E.REJECTED:
            reason = WorkloadReason.REJECTED
        case (
            Start() | _E.INITIALIZED | _E.BATCH_ROLLED | _E.BATCH_VERIFIED | _E.BATCH_FINISHED
            | _E.LAST_BATCH_FINISHED | _E.RELEASED
        ):  # fmt: skip
            pass
    status = entered(status, previous, phase, reason, work.why, case.now)
    work.case = replace(case, status=status, renewed=case.renewed and event is not _E.TARGET_CHANGED)


def _event(work: _Pass) -> RolloutEvent | Start | None:
    case, phase = work.case, work.phase
    if case.record.removing and (phase in _REMOVABLE or (case.goes_back and phase is Phase.SUCCEEDED)):
        work.why = WorkloadText.TARGET_DELETED() if case.goes_back else WorkloadText.ROLLOUT_FILE_GONE()
        if case.status.is_idle:
            return _E.REMOVED_IDLE
        leave = _leave(work, replace(case.status, mode=None))
        return None if leave is None else Start(StartEvent.REMOVED, leave)
    if phase is not Phase.VERIFYING_SPEC and target_changed(case, phase):
        work.why = WorkloadText.TARGET_OTHER_CONTENT()
        return _E.TARGET_CHANGED
    if case.record.rollout_plan.paused and case.status.is_running and phase not in LETTING_GO:
        work.wait(WorkloadText.PAUSED_SET_PAUSED_FALSE(), WorkloadReason.PAUSED)
        return None
    if case.seen.target is None and case.status.is_running and phase not in LETTING_GO:
        work.wait(WorkloadText.NOT_CLUSTER(target=case.workloads.target))
        return None
    return _event_in(phase, work)


def _event_in(phase: Phase, work: _Pass) -> RolloutEvent | Start | None:  # noqa: C901 - one case for one phase
    match phase:
        case Phase.VERIFYING_SPEC:
            return _verify(work)
        case Phase.INITIALIZING:
            return _once_asked(work, WebhookType.INITIALIZE, _E.INITIALIZED)
        case Phase.BATCH_INITIALIZING:
            leave = _leave(work, work.case.status)
            if leave is None:
                return None
            return _once_asked(work, WebhookType.PRE_BATCH, Start(StartEvent.BATCH_ADMITTED, leave))
        case Phase.BATCH_IN_ROLLING:
            return _rolled(work)
        case Phase.BATCH_VERIFYING:
            return _E.BATCH_VERIFIED if _ready(work) and _measured(work) else _rejected(work)
        case Phase.BATCH_FINALIZING:
            return _once_asked(work, WebhookType.POST_BATCH, _finished(work))
        case Phase.BATCH_READY:
            return _next(work)
        case Phase.FINALISING:
            return _once_asked(work, WebhookType.FINALIZE, _E.FINISHED)
        case Phase.BATCH_VERIFY_FAILED | Phase.FAILING | Phase.ABANDONING:
            return _E.RELEASED if _in_place(work) and _is_back(work) else None
        case Phase.SUCCEEDED | Phase.FAILED | Phase.ABANDONED:
            return None
    assert_never(phase)


_REMOVABLE = frozenset(phase for phase, event in MOVES if event is StartEvent.REMOVED) - {Phase.SUCCEEDED}


def _verify(work: _Pass) -> RolloutEvent | Start | None:
    case = work.case
    try:
        status, leave = verified(case)
    except NotYet as not_yet:
        work.set_status(target=case.workloads.target, sources=case.workloads.sources, mode=None)
        work.asks = not_yet.asks
        reason = WorkloadReason.NOTHING_TO_ROLL if not_yet.idle else WorkloadReason.WAITING
        work.wait(not_yet.sentence, reason, not_yet.closed)
        return None
    except UnusablePlan as unusable:
        work.set_status(mode=None, new_template=case.template)
        work.why = str(unusable)
        return _E.SPEC_UNUSABLE
    work.case = replace(case, status=status)
    return Start(StartEvent.SPEC_VERIFIED, leave)


def _leave(work: _Pass, status: ClusterRolloutStatus) -> Passage | None:
    """Leave to move pods; None where a gate is closed: then the batch under way finishes, and no other one begins."""
    leave = work.case.gate(status)
    if isinstance(leave, Frozen):
        work.wait(leave.reason, closed=leave)
        return None
    return leave


def _counts(work: _Pass) -> Counts:
    case = work.case
    return case.workloads.handler.counts(case.seen, goal_of(case.record.rollout_plan, case.status, case.now))


def _in_place(work: _Pass) -> bool:
    case = work.case
    unfinished = left_to_change(case.record.rollout_plan, case.status, case.workloads.handler, case.seen, case.now)
    if unfinished:
        why, work.asks = why_left(unfinished, WorkloadText.IS_BE_CHANGED(), case.refused)
        work.wait(why)
    return not unfinished


def _is_back(work: _Pass) -> bool:
    """Whether the pods of before are there again, where the rollout goes back and its workload can; why not is said
    where its file asked for it."""
    case, status, plan = work.case, work.case.status, work.case.record.rollout_plan
    if status.mode is None or case.seen.target is None:
        return True
    goal = goal_of(plan, status, case.now, -1)
    why = case.workloads.handler.irreversible(case.seen, goal)
    if why and case.record.removing and plan.revert_on_delete:
        work.why = WorkloadText.NOTHING_GOES_BACK(why=why)
    if why or not status.revert:
        return True
    counts = case.workloads.handler.counts(case.seen, goal)
    scales = status.mode is RolloutMode.SCALE
    surplus = abs(counts.upgraded - status.original_size) if scales else max(0, counts.upgraded - goal.upgraded)
    if surplus or not counts.observed:
        work.wait(WorkloadText.STILL_GO_BACK_BEFORE(count=counted(surplus, "pod")))
    return not surplus and counts.observed


def _asked(work: _Pass, type_: WebhookType) -> bool:
    case = work.case
    verdict = ask(case.record, case.status, type_, case.answers, case.now)
    work.set_status(webhooks=verdict.statuses)
    if verdict.rejected:
        work.why = verdict.rejected
        work.set_status(revert=_reverts(work, requested=verdict.reverts))
        return False
    work.calls.update((f"{call.id}/{call.attempt}", call) for call in verdict.calls)
    work.wakes.append(verdict.wake_at)
    if verdict.waits:
        work.wait(verdict.waits)
    return verdict.passed


def _let_go(case: Case, status: ClusterRolloutStatus, *, is_kept: bool) -> ClusterRolloutStatus:
    """The status of a rollout whose file is gone: it gives its fields back, or goes back and keeps its pods until the
    manifest changes."""
    target = case.seen.target
    has_changed = status.mode is RolloutMode.IN_PLACE and case.template != status.new_template
    if is_kept and not has_changed:
        return replace(status, let_go=case.wanted_digest)
    if status.mode is None and not status.sources and target is not None:
        size = case.workloads.handler.size(target.body)
        status = replace(status, mode=RolloutMode.IN_PLACE, original_size=size, target_size=size)
    return replace(status, let_go=RELEASED, revert=False)


def _reverts(work: _Pass, *, requested: bool) -> bool:
    """Whether the pods go back to what they were, where that is asked; why not is said where it cannot be."""
    if not requested:
        return False
    case = work.case
    why = case.workloads.handler.irreversible(case.seen, goal_of(case.record.rollout_plan, case.status, case.now))
    work.why += f"; {WorkloadText.NOTHING_GOES_BACK(why=why)}" if why else ""
    return not why


def _once_asked(work: _Pass, type_: WebhookType, event: RolloutEvent | Start) -> RolloutEvent | Start | None:
    """The event once the fields are as they are to be and the webhooks let the rollout go on, or why they do not."""
    return event if _in_place(work) and _asked(work, type_) else _rejected(work)


def _rejected(work: _Pass) -> RolloutEvent | None:
    return _E.REJECTED if work.why else None


def _rolled(work: _Pass) -> RolloutEvent | None:
    """First half, then second half of the batch; the second begins once enough pods of the first are ready."""
    case = work.case
    plan, status = case.record.rollout_plan, case.status
    batch = batches_for(plan, status)[status.current_batch]
    seconds = batch.next_at(status.batch_started, case.now)
    if seconds is not None:
        work.wakes.append(case.now + timedelta(seconds=seconds))
    if not _in_place(work):
        return None
    if seconds is not None:
        work.wait(WorkloadText.NEXT_POD_FOLLOWS(time_text=time_text(case.now + timedelta(seconds=seconds))))
        return None
    if status.half:
        return _E.BATCH_ROLLED
    if not _ready(work, old=False):
        return None
    work.set_status(half=True)
    return _E.BATCH_ROLLED if _in_place(work) else None


def _ready(work: _Pass, *, old: bool = True) -> bool:
    """Whether enough pods of the newer content are ready and, with `old`, no more of the older one are left than the
    batch leaves."""
    case, counts = work.case, _counts(work)
    goal = goal_of(case.record.rollout_plan, case.status, case.now)
    if not counts.observed:
        work.wait(WorkloadText.CONTROLLER_NOT_SEEN_NEWEST_CHANGE(live=case.workloads.target))
        return False
    scales = goal.mode is RolloutMode.SCALE
    expected = size_after(goal, goal.upgraded) if scales else goal.upgraded
    if counts.upgraded_ready < expected - goal.unavailable:
        ready, unavailable = counts.upgraded_ready, goal.unavailable
        work.wait(WorkloadText.PODS_READY_NOT(upgraded_ready=ready, wanted=expected, unavailable=unavailable))
        return False
    most = max(0, goal.size - goal.upgraded)
    # A batch of no pods moves nothing: what is there of a content between is left for the first one that has some.
    if old and goal.upgraded and not scales and counts.old > most:
        work.wait(WorkloadText.PODS_OLDER_CONTENT(old=counts.old, most=most))
        return False
    return True


def _measured(work: _Pass) -> bool:
    case = work.case
    plan, status = case.record.rollout_plan, case.status
    own = plan.batches[status.current_batch].canary_metric if plan.batches else ()
    scope = Scope(
        key=digest_of([*case.about, status.cluster, status.attempt, status.current_batch]),
        began=status.since or case.now,
        namespace=case.record.key.namespace,
        variables=case.variables,
        templates=case.templates,
    )
    analysis = analyse((*plan.canary_metric, *own), status.measurements, scope, case.answers, case.now)
    work.set_status(measurements=analysis.measurements)
    work.calls.update((query.id, query) for query in analysis.queries)
    work.wakes.append(analysis.wake_at)
    if analysis.verdict is AnalysisVerdict.FAILED:
        work.why = analysis.message
    elif analysis.verdict is AnalysisVerdict.RUNNING:
        work.wait(analysis.message or WorkloadText.METRICS_MEASURED())
    return analysis.verdict is AnalysisVerdict.PASSED


def _finished(work: _Pass) -> RolloutEvent:
    status = work.case.status
    is_last = status.current_batch + 1 >= len(batches_for(work.case.record.rollout_plan, status))
    return _E.LAST_BATCH_FINISHED if is_last else _E.BATCH_FINISHED


def _next(work: _Pass) -> RolloutEvent | None:
    plan, status = work.case.record.rollout_plan, work.case.status
    batches = batches_for(plan, status)
    if status.current_batch < last_batch(plan, batches):
        return _E.NEXT_BATCH
    raised = WorkloadText.LASTBATCHTOROLLOUT_COUNTS_FROM(last_batch=plan.last_batch)
    work.wait(raised, WorkloadReason.BATCH_PARTITION)
    return None


def _counted(work: _Pass) -> ClusterRolloutStatus:
    case = work.case
    if case.status.mode is None or case.seen.target is None:
        return case.status
    counts = _counts(work)
    # A controller that has not seen the newest step yet takes back nothing of what was reached.
    upgraded = counts.upgraded if counts.observed else max(counts.upgraded, case.status.upgraded_replicas)
    return replace(case.status, upgraded_replicas=upgraded, upgraded_ready_replicas=counts.upgraded_ready)
