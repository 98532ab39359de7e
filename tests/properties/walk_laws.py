"""What must hold in each pass of the walk (`walking`), judged by what people wrote, by what the clusters truly have and
by the records before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gitfleet.api.bindings import BindingState
from gitfleet.api.conditions import Conditions, Status, find_condition
from gitfleet.api.runs import ClusterUpdate, RunRecord, StageStatus
from gitfleet.model.decisions import Decision
from gitfleet.rollout.staged import ClusterPhase, RunPhase, StagePhase, cluster_phase, phases, run_phase, stage_phase
from tests.properties.walking import MIN_AVAILABLE, WAIT, WEB, Moment, Variant

_AFTER: Final = "one"
"""The stage after which a wait and an approval come."""
_BEFORE: Final = "two"
"""The stage before which an approval comes."""
_DONE: Final = (StagePhase.SUCCEEDED, StagePhase.SKIPPED)


def broken(variant: Variant, before: Moment, decision: Decision, after: Moment) -> Iterator[str]:
    """What a pass did that it must not; `before` is what was there and observed, `after` what was written."""
    for failure in decision.failures:
        yield f"a defect: {failure}"
    old = before.runs
    for name, run in after.runs.items():
        was = old.get(name)
        if was is not None and was.finished:
            if run != was:
                yield f"run {name} is over and moves"
            continue
        yield from _phases(was, run)
        yield from _tasks(was, run, after)
        yield from _starts(variant, before, was, run, after)
        yield from _updated(before, was, run)
        if not run.finished:
            yield from _said(run, decision)
    yield from _moves(before, decision)
    yield from _evictions(before, after)


def _clusters(run: RunRecord | None) -> dict[str, ClusterUpdate]:
    return {c.cluster: c for stage in run.status.stages for c in stage.clusters} if run is not None else {}


def _stages(run: RunRecord | None) -> dict[str, StageStatus]:
    return {stage.name: stage for stage in run.status.stages} if run is not None else {}


def _holds(conditions: Conditions, type_: str, status: Status = Status.TRUE) -> bool:
    found = find_condition(conditions, type_)
    return found is not None and found.status is status


# Phases


def _phases(was: RunRecord | None, run: RunRecord) -> Iterator[str]:
    first = run_phase(was.status) if was is not None else RunPhase.NEW
    if run_phase(run.status) not in _reached(phases.RUN_MOVES, first):
        yield f"run {run.key.name} goes from {first} to {run_phase(run.status)}"
    left = [stage.name for stage in run.status.stages if stage_phase(stage) not in _DONE]
    if run_phase(run.status) is RunPhase.SUCCEEDED and left:
        yield f"run {run.key.name} succeeds without {left}"
    old = _stages(was)
    for stage in run.status.stages:
        start = stage_phase(old[stage.name]) if stage.name in old else StagePhase.PENDING
        if stage_phase(stage) not in _reached(phases.STAGE_MOVES, start):
            yield f"stage {stage.name} of {run.key.name} goes from {start} to {stage_phase(stage)}"
        if stage.name in old and old[stage.name].start_time not in (None, stage.start_time):
            yield f"stage {stage.name} of {run.key.name} is started again"
    known = _clusters(was)
    for name, cluster in _clusters(run).items():
        begin = cluster_phase(known[name]) if name in known else ClusterPhase.PENDING
        if cluster_phase(cluster) not in _reached(phases.CLUSTER_MOVES, begin):
            yield f"{name} in {run.key.name} goes from {begin} to {cluster_phase(cluster)}"


def _reached(moves: Mapping[Any, Any], first: Any) -> set[Any]:
    found, fresh = {first}, [first]
    while fresh:
        here = fresh.pop()
        further = {after for (phase, _), after in moves.items() if phase is here} - found
        found |= further
        fresh += further
    return found


# Gates and starts


def _tasks(was: RunRecord | None, run: RunRecord, after: Moment) -> Iterator[str]:
    old = _stages(was)
    for stage in run.status.stages:
        known = old.get(stage.name)
        if known is None:
            continue
        pairs = zip((*known.before_tasks, *known.after_tasks), (*stage.before_tasks, *stage.after_tasks), strict=True)
        for one, other in pairs:
            for type_ in ("ApprovalRequestApproved", "WaitTimeElapsed"):
                if _holds(one.conditions, type_) and not _holds(other.conditions, type_):
                    yield f"{type_} of stage {stage.name} of {run.key.name} is taken back"
            since = after.through.get((run.key.name, stage.name), after.now)
            if _holds(other.conditions, "WaitTimeElapsed") and after.now - since < WAIT:
                yield f"the wait after stage {stage.name} of {run.key.name} is over after {after.now - since}"


def _starts(variant: Variant, before: Moment, was: RunRecord | None, run: RunRecord, after: Moment) -> Iterator[str]:
    known, answers = _clusters(was), dict(before.wish.answers)
    stages = run.status.stages
    for at, stage in enumerate(stages):
        fresh = [
            c.cluster
            for c in stage.clusters
            if _holds(c.conditions, "Started")
            and not _holds(known[c.cluster].conditions if c.cluster in known else (), "Started")
        ]
        busy = [c.cluster for c in stage.clusters if cluster_phase(c) is ClusterPhase.UPDATING]
        if len(busy) > variant.max_concurrency and fresh:
            yield f"{busy} of stage {stage.name} of {run.key.name} are under way at the same time"
        if not fresh:
            continue
        said = f"{fresh} of stage {stage.name} of {run.key.name} start"
        if dict(before.wish.runs).get(run.key.name) != "Run":
            yield f"{said}, and nobody wants it to run"
        if len(before.silent & {b.cluster for b in before.bindings}) * 2 > len(before.bindings):
            yield f"{said} while {sorted(before.silent)} do not answer"
        for earlier in stages[:at]:
            open_ = [
                c.cluster for c in earlier.clusters if cluster_phase(c) in (ClusterPhase.PENDING, ClusterPhase.UPDATING)
            ]
            if open_:
                yield f"{said} before {open_} of stage {earlier.name}"
            since = after.through.get((run.key.name, earlier.name))
            if earlier.name == _AFTER and (since is None or before.now - since < WAIT):
                yield f"{said} before the wait after stage {earlier.name} is over"
            if earlier.name == _AFTER and not _given(was, earlier.name, answers, f"{run.key.name}-{earlier.name}"):
                yield f"{said} without the approval after stage {earlier.name}"
        if stage.name == _BEFORE and not _given(was, stage.name, answers, f"{run.key.name}-before-{stage.name}"):
            yield f"{said} without the approval before it"
        order = [c.cluster for c in stage.clusters if cluster_phase(c) is not ClusterPhase.PENDING]
        if order != [c.cluster for c in stage.clusters][: len(order)]:
            yield f"{said} out of the order of the stage"


def _given(was: RunRecord | None, stage: str, answers: Mapping[str, bool], request: str) -> bool:
    known = _stages(was).get(stage)
    tasks = (*known.before_tasks, *known.after_tasks) if known is not None else ()
    counted = any(t.approval_request_name == request and _holds(t.conditions, "ApprovalRequestApproved") for t in tasks)
    return counted or answers.get(request) is True


def _updated(before: Moment, was: RunRecord | None, run: RunRecord) -> Iterator[str]:
    known, found = _clusters(was), {b.cluster: b for b in before.bindings}
    for name, cluster in _clusters(run).items():
        if not _holds(cluster.conditions, "Succeeded") or (
            name in known and _holds(known[name].conditions, "Succeeded")
        ):
            continue
        binding = found.get(name)
        if binding is None or not before.is_up(binding) or binding.resource_snapshot != run.snapshot:
            yield f"{name} counts as updated by {run.key.name} and does not work with {run.snapshot}"


def _moves(before: Moment, decision: Decision) -> Iterator[str]:
    plan = decision.plans.get(WEB)
    names = {b.cluster: b for b in before.bindings}
    for move in plan.moves if plan is not None else ():
        run = before.runs.get(move.reason.removeprefix("run ").split(",")[0].split(":")[0])
        cluster = _clusters(run).get(move.cluster)
        if cluster is not None and cluster_phase(cluster) is not ClusterPhase.PENDING:
            yield f"{move.cluster} is moved again: {move.reason}"
    if plan is None and any(
        b.generation != names[b.cluster].generation
        for b in decision.after.placements[WEB].bindings
        if b.cluster in names and b.deleting is None and names[b.cluster].deleting is None
    ):
        yield "a binding is rolled out by nobody"


# What is said


def _said(run: RunRecord, decision: Decision) -> Iterator[str]:
    """A run that is not over has clusters under way, and a moment at which it is looked at again; or it says what it
    waits for, with the name of the request, the clusters, the time, or what to write."""
    plan = decision.plans.get(WEB)
    name, phase = run.key.name, run_phase(run.status)
    sentences = (*plan.waiting, *plan.asks) if plan is not None else ()
    told = [sentence for sentence in sentences if sentence.startswith(f"run {name} ")]
    waits = _open_requests(run)
    for request in waits:
        if not any(request in sentence and "gitfleet approve" in sentence for sentence in told):
            yield f"run {name} waits for {request} and does not say so: {told}"
    busy = [c.cluster for c in _clusters(run).values() if cluster_phase(c) is ClusterPhase.UPDATING]
    if phase is RunPhase.STUCK and not any(any(c in s for c in busy) for s in told):
        yield f"run {name} is stuck with {busy} and does not say so: {told}"
    if phase in (RunPhase.STOPPED, RunPhase.INITIALIZED) and not any("spec.state" in s for s in told):
        yield f"run {name} is {phase} and does not say what starts it: {told}"
    if not told and not (busy and (decision.wake_at is not None or (plan and plan.moves))):
        yield f"run {name} is {phase} and says nothing of what it waits for"


def _open_requests(run: RunRecord) -> list[str]:
    return [
        task.approval_request_name
        for stage in run.status.stages
        if stage_phase(stage) in (StagePhase.GATED, StagePhase.WAITING) and run.state != "Stop"
        for task in (*stage.before_tasks, *stage.after_tasks)
        if _holds(task.conditions, "ApprovalRequestCreated") and not _holds(task.conditions, "ApprovalRequestApproved")
    ]


# Evictions


def _evictions(before: Moment, after: Moment) -> Iterator[str]:
    for name, eviction in after.state.evictions.items():
        known = before.state.evictions.get(name)
        if known is not None:
            if known != eviction:
                yield f"eviction {name} is decided again"
            continue
        if not eviction.was_executed:
            continue
        taken = next((b for b in before.bindings if b.cluster == eviction.cluster_name), None)
        if taken is None or taken.state is BindingState.SCHEDULED:
            yield f"eviction {name} took what was not placed"
        elif before.is_up(taken):
            left = sum(before.is_up(b) for b in before.bindings if b is not taken and _stays(after, b.cluster))
            if left < MIN_AVAILABLE:
                yield f"eviction {name} leaves {left} clusters available"


def _stays(after: Moment, cluster: str) -> bool:
    return any(b.cluster == cluster and b.deleting is None for b in after.bindings)
