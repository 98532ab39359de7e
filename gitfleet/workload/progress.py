"""One pass of a rollout on one cluster: which events have come, and what follows from them (see phases).

An event is told from the status and from what was observed alone, so that a process which begins again goes on where
the last one was; what a state wants of the workloads follows from the status (see goals).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import assert_never

from gitfleet.analysis import AnalysisVerdict, Scope
from gitfleet.analysis import advance as analyse
from gitfleet.api.rollout_plans import WebhookType
from gitfleet.api.workload_records import MIXED, RELEASED, ClusterRolloutStatus, RolloutMode, WorkloadReason
from gitfleet.formats.canonical_json import digest_of
from gitfleet.formats.sentences import counted
from gitfleet.formats.times import time_text
from gitfleet.model.calls import Call
from gitfleet.model.rolling import Frozen
from gitfleet.workload.batches import UnusablePlan, last_batch
from gitfleet.workload.cases import Advanced, Case, is_settling, why_left
from gitfleet.workload.conditions import entered, waiting
from gitfleet.workload.goals import batches_for, goal_of, left_to_change
from gitfleet.workload.handlers import Counts
from gitfleet.workload.handlers.replicas import size_after
from gitfleet.workload.phases import LETTING_GO, MOVES, Phase, RolloutEvent, after, phase_of
from gitfleet.workload.texts import WorkloadText
from gitfleet.workload.verifying import NotYet, adopted, verified
from gitfleet.workload.webhooks import ask, without_batches

_E = RolloutEvent


@dataclass(slots=True)
class _Pass:
    """What is found out in one pass. `why` is the sentence of the event that came last."""

    case: Case
    calls: dict[str, Call] = field(default_factory=dict)
    wakes: list[datetime] = field(default_factory=list)
    waits: str = ""
    reason: WorkloadReason = WorkloadReason.WAITING
    why: str = ""
    asks: bool = False
    gated: bool = False

    @property
    def phase(self) -> Phase:
        """Where the rollout is."""
        return phase_of(self.case.status.rolling_state, self.case.status.batch_rolling_state)

    def wait(
        self, sentence: str, reason: WorkloadReason = WorkloadReason.WAITING, closed: Frozen | None = None
    ) -> None:
        """Nothing comes of this pass any more; why, and by which gate."""
        self.waits, self.reason = sentence, reason
        if closed is not None:
            self.asks, self.gated = closed.asks, True
            self.wakes += [closed.until] if closed.until is not None else []


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
        wake_at=min(work.wakes, default=None),
        waits="" if idle else work.waits,
        asks=work.asks or work.reason in (WorkloadReason.PAUSED, WorkloadReason.BATCH_PARTITION),
        gated=work.gated,
    )


def _move(work: _Pass, event: RolloutEvent) -> None:
    """The status after an event."""
    case, left = work.case, work.phase
    phase = after(left, event)
    rolling, batch = phase.value
    status = replace(case.status, rolling_state=rolling, batch_rolling_state=batch, since=case.now)
    match event:
        case _E.NEXT_BATCH:
            status = replace(
                status,
                current_batch=status.current_batch + 1,
                half=False,
                batch_started=None,
                webhooks=without_batches(status.webhooks),
                measurements=(),
            )
        case _E.BATCH_ADMITTED:
            status = replace(status, batch_started=case.now)
        case _E.TARGET_CHANGED:
            now, before = {case.found.target, *case.found.sources}, {status.target, *status.sources}
            same = (status.target, status.sources) == (case.found.target, case.found.sources)
            sizes, original = status.source_sizes if same else (), status.original_size if before <= now else 0
            status = replace(status, let_go="", source_sizes=sizes, original_size=original, emptied=case.emptied)
        case _E.FINISHED:
            status = replace(status, last_template=status.new_template, template_before=None)
        case _E.REMOVED:
            asked = (case.record.rollout_plan.revert_on_delete or case.goes_back) and status.mode is not None
            status = _let_go(case, replace(status, revert=_reverts(work, asked=asked)))
        case _:
            pass
    reason = _REASONS.get(event, WorkloadReason.DONE if status.is_over else WorkloadReason.WAITING)
    status = entered(status, left, phase, reason, work.why, case.now)
    work.case = replace(case, status=status, renewed=case.renewed and event is not _E.TARGET_CHANGED)


_REASONS = {
    _E.SPEC_UNUSABLE: WorkloadReason.UNUSABLE_SPEC,
    _E.REJECTED: WorkloadReason.REJECTED,
    _E.TARGET_CHANGED: WorkloadReason.TARGET_CHANGED,
    _E.REMOVED: WorkloadReason.REMOVED,
}


def _event(work: _Pass) -> RolloutEvent | None:
    """The event that has come, None where nothing has."""
    case, phase = work.case, work.phase
    if case.record.removing and (phase in _REMOVABLE or (case.goes_back and phase is Phase.SUCCEEDED)):
        if not case.status.is_idle and _closed(work, replace(case.status, mode=None)):
            return None
        work.why = WorkloadText.TARGET_DELETED() if case.goes_back else WorkloadText.ROLLOUT_FILE_GONE()
        return _E.REMOVED
    if phase is not Phase.VERIFYING_SPEC and _target_changed(case, phase):
        work.why = WorkloadText.TARGET_OTHER_CONTENT()
        return _E.TARGET_CHANGED
    if case.record.rollout_plan.paused and case.status.is_running and phase not in LETTING_GO:
        work.wait(WorkloadText.PAUSED_SET_PAUSED_FALSE(), WorkloadReason.PAUSED)
        return None
    if case.seen.target is None and case.status.is_running and phase not in LETTING_GO:
        work.wait(WorkloadText.NOT_CLUSTER(target=case.found.target))
        return None
    return _event_in(phase, work)


def _event_in(phase: Phase, work: _Pass) -> RolloutEvent | None:  # noqa: C901 - one case for one phase
    match phase:
        case Phase.VERIFYING_SPEC:
            return _verify(work)
        case Phase.INITIALIZING:
            return _E.INITIALIZED if _in_place(work) and _asked(work, WebhookType.INITIALIZE) else _rejected(work)
        case Phase.BATCH_INITIALIZING:
            admitted = not _closed(work, work.case.status) and _in_place(work) and _asked(work, WebhookType.PRE_BATCH)
            return _E.BATCH_ADMITTED if admitted else _rejected(work)
        case Phase.BATCH_IN_ROLLING:
            return _rolled(work)
        case Phase.BATCH_VERIFYING:
            return _E.BATCH_VERIFIED if _ready(work) and _measured(work) else _rejected(work)
        case Phase.BATCH_FINALIZING:
            return _finished(work) if _asked(work, WebhookType.POST_BATCH) else _rejected(work)
        case Phase.BATCH_READY:
            return _next(work)
        case Phase.FINALISING:
            return _E.FINISHED if _in_place(work) and _asked(work, WebhookType.FINALIZE) else _rejected(work)
        case Phase.BATCH_VERIFY_FAILED | Phase.FAILING | Phase.ABANDONING:
            return _E.RELEASED if _in_place(work) and _is_back(work) else None
        case Phase.SUCCEEDED | Phase.FAILED | Phase.ABANDONED:
            return None
    assert_never(phase)


_REMOVABLE = frozenset(phase for phase, event in MOVES if event is _E.REMOVED) - {Phase.SUCCEEDED}


def _target_changed(case: Case, phase: Phase) -> bool:
    status = case.status
    if case.record.removing or phase in LETTING_GO:
        return False
    if status.named and (case.found.target, case.found.sources) == (status.target, status.sources):
        return False  # it ends with what it was about: what it names from now on comes in the next pass
    if status.mode is None:
        return case.renewed
    if status.is_over and case.renewed and phase is Phase.ABANDONED:
        return True
    sized = status.is_over and status.mode is not RolloutMode.IN_PLACE
    size = case.record.rollout_plan.target_size if sized else None
    changed = case.template != status.new_template or (size is not None and size != status.target_size)
    other = status.target is not None and case.found.target.identity != status.target.identity
    other = other or case.found.revision != status.revision
    return changed or other or case.found.sources != status.sources


def _verify(work: _Pass) -> RolloutEvent | None:
    case = work.case
    try:
        status = verified(case)
    except NotYet as not_yet:
        status = replace(case.status, target=case.found.target, sources=case.found.sources, mode=None)
        work.case = replace(case, status=status)
        work.asks = not_yet.asks
        reason = WorkloadReason.NOTHING_TO_ROLL if not_yet.idle else WorkloadReason.WAITING
        work.wait(str(not_yet), reason, not_yet.closed)
        return None
    except UnusablePlan as unusable:
        work.case = replace(case, status=replace(case.status, mode=None, new_template=case.template))
        work.why = str(unusable)
        return _E.SPEC_UNUSABLE
    work.case = replace(case, status=status)
    return _E.SPEC_VERIFIED


def _closed(work: _Pass, status: ClusterRolloutStatus) -> bool:
    """Whether a gate is closed: then the batch under way finishes, and no other one begins."""
    if (closed := work.case.gate(status)) is not None:
        work.wait(closed.reason, closed=closed)
    return closed is not None


def _counts(work: _Pass) -> Counts:
    case = work.case
    return case.found.handler.counts(case.seen, goal_of(case.record.rollout_plan, case.status, case.now))


def _in_place(work: _Pass) -> bool:
    """Whether the workloads have all that the state wants of their fields."""
    case = work.case
    left = left_to_change(case.record.rollout_plan, case.status, case.found.handler, case.seen, case.now)
    if left:
        why, work.asks = why_left(left, WorkloadText.IS_BE_CHANGED(), case.refused)
        work.wait(why)
    return not left


def _is_back(work: _Pass) -> bool:
    """Whether the pods of before are there again, where the rollout goes back and its workload can; why not is said
    where its file asked for it."""
    case, status, plan = work.case, work.case.status, work.case.record.rollout_plan
    if status.mode is None or case.seen.target is None:
        return True
    goal = goal_of(plan, status, case.now, -1)
    why = case.found.handler.irreversible(case.seen, goal)
    if why and case.record.removing and plan.revert_on_delete:
        work.why = WorkloadText.NOTHING_GOES_BACK(why=why)
    if why or not status.revert:
        return True
    counts = case.found.handler.counts(case.seen, goal)
    scales = status.mode is RolloutMode.SCALE
    surplus = abs(counts.upgraded - status.original_size) if scales else max(0, counts.upgraded - goal.upgraded)
    if surplus or not counts.observed:
        work.wait(WorkloadText.STILL_GO_BACK_BEFORE(count=counted(surplus, "pod")))
    return not surplus and counts.observed


def _asked(work: _Pass, type_: WebhookType) -> bool:
    """Whether the webhooks of a phase let the rollout go on."""
    case = work.case
    asked = ask(case.record, case.status, type_, case.answers, case.now)
    work.case = replace(case, status=replace(case.status, webhooks=asked.statuses))
    if asked.rejected:
        work.why = asked.rejected
        status = replace(work.case.status, revert=_reverts(work, asked=asked.reverts))
        work.case = replace(work.case, status=status)
        return False
    work.calls.update((f"{one.id}/{one.attempt}", one) for one in asked.calls)
    work.wakes += [asked.wake_at] if asked.wake_at is not None else []
    if asked.waits:
        work.wait(asked.waits)
    return asked.passed


def _let_go(case: Case, status: ClusterRolloutStatus) -> ClusterRolloutStatus:
    """The status of a rollout whose file is gone: its pods stay as they are until the manifests change, which they have
    where the commit brings other content as well. One that has moved no pod gives back at once what it held."""
    target = case.seen.target
    if status.mode is None and not status.sources and target is not None:
        size = case.found.handler.size(target.body)
        let_go = case.wanted_digest if status.attempt and status.last_template == MIXED else RELEASED
        return replace(
            status, mode=RolloutMode.IN_PLACE, original_size=size, target_size=size, let_go=let_go, revert=False
        )
    changed = status.mode is RolloutMode.IN_PLACE and case.template != status.new_template
    return replace(status, let_go=RELEASED if changed else case.wanted_digest, revert=status.revert and not changed)


def _reverts(work: _Pass, *, asked: bool) -> bool:
    """Whether the pods go back to what they were, where that is asked; why not is said where it cannot be."""
    if not asked:
        return False
    case = work.case
    why = case.found.handler.irreversible(case.seen, goal_of(case.record.rollout_plan, case.status, case.now))
    work.why += WorkloadText.NOTHING_GOES_BACK_SINCE(why=why) if why else ""
    return not why


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
    work.case = replace(case, status=replace(status, half=True))
    return _E.BATCH_ROLLED if _in_place(work) else None


def _ready(work: _Pass, *, old: bool = True) -> bool:
    """Whether enough pods of the newer content are ready and, with `old`, no more of the older one are left than the
    batch leaves."""
    case, counts = work.case, _counts(work)
    goal = goal_of(case.record.rollout_plan, case.status, case.now)
    if not counts.observed:
        work.wait(WorkloadText.CONTROLLER_NOT_SEEN_NEWEST_CHANGE_YET())
        return False
    scales = goal.mode is RolloutMode.SCALE
    wanted = size_after(goal, goal.upgraded) if scales else goal.upgraded
    if counts.upgraded_ready < wanted - goal.unavailable:
        work.wait(
            WorkloadText.PODS_READY_NOT(
                upgraded_ready=counts.upgraded_ready, wanted=wanted, unavailable=goal.unavailable
            )
        )
        return False
    most = max(0, goal.size - goal.upgraded)
    # A batch of no pods moves nothing: what is there of a content between is left for the first one that has some.
    if old and goal.upgraded and not scales and counts.old > most:
        work.wait(WorkloadText.PODS_OLDER_CONTENT(old=counts.old, most=most))
        return False
    return True


def _measured(work: _Pass) -> bool:
    """Whether the metrics of the batch are as they should be."""
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
    found = analyse((*plan.canary_metric, *own), status.measurements, scope, case.answers, case.now)
    work.case = replace(case, status=replace(status, measurements=found.measurements))
    work.calls.update((one.id, one) for one in found.queries)
    work.wakes += [found.wake_at] if found.wake_at is not None else []
    match found.verdict:
        case AnalysisVerdict.PASSED:
            return True
        case AnalysisVerdict.FAILED:
            work.why = found.message
            return False
        case AnalysisVerdict.RUNNING:
            work.wait(found.message or WorkloadText.METRICS_MEASURED())
            return False
    assert_never(found.verdict)


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
    return replace(case.status, upgraded_replicas=counts.upgraded, upgraded_ready_replicas=counts.upgraded_ready)
