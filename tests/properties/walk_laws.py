"""What must hold in each pass of the walk (`walking`), judged by what people wrote, by what the clusters truly have and
by the records before and after."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Final

from gitfleet.api.bindings import BindingState
from gitfleet.api.conditions import find_condition
from gitfleet.api.runs import RunRecord
from gitfleet.cli.texts import CliText
from gitfleet.model.decisions import Decision
from gitfleet.rollout.staged import ClusterPhase, RunPhase, StagePhase, cluster_phase, run_phase, stage_phase
from tests.properties.run_laws import Facts, broken_by, clusters_of, freshly, holds
from tests.properties.walking import MIN_AVAILABLE, WEB, Moment


def broken(before: Moment, decision: Decision, after: Moment) -> Iterator[str]:
    """What a pass did that it must not; `before` is what was there and observed, `after` what was written."""
    for failure in decision.failures:
        yield f"a defect: {failure}"
    facts = Facts(
        now=after.now,
        answers=dict(before.wish.answers),
        through=after.through,
        wanted=dict(before.wish.runs),
        cut_off=len(before.silent & {b.cluster for b in after.bindings}) * 2 > len(after.bindings),
        frozen=lambda _: before.wish.freezes(before.now),
        had={b.cluster: b for b in before.bindings},
        gets={b.cluster: b for b in after.bindings},
        quarantined=quarantined(before),
    )
    starts = {name: {*freshly("Started", before.runs.get(name), run)} for name, run in after.runs.items()}
    for name, run in after.runs.items():
        was = before.runs.get(name)
        shared = frozenset().union(*(starts[other] for other in starts.keys() - {name}))
        yield from broken_by(was, run, replace(facts, shared=shared))
        if was is None or not was.finished:
            yield from _updated(before, was, run)
            yield from _gone_back(before, after, run, facts)
        if not run.finished:
            yield from _said(run, decision)
    yield from _moves(before, decision)
    yield from _evictions(before, after)
    yield from _kept_back(before, after, facts)
    yield from _snapshots(before, after)


def quarantined(moment: Moment) -> frozenset[str]:
    """The names of the snapshots that must not go out: by a run that rolled back and nobody lifted, or by a person."""
    wish, record = moment.wish, moment.record
    digests = {one.digest for one in moment.state.quarantines.values() if one.run} - {*wish.lifted}
    digests |= {*wish.quarantined}
    return frozenset(s.name for s in record.resource_snapshots if s.hash in digests) if record is not None else _NONE


_NONE: Final[frozenset[str]] = frozenset()


def _kept_back(before: Moment, after: Moment, facts: Facts) -> Iterator[str]:
    """Nothing gets quarantined content. In a freeze nothing but what rolls back gets other content, no cluster that
    stays is given up, and no eviction is decided."""
    backwards = {name for run in after.runs.values() if run.fell_back for name in clusters_of(run)}
    for name, binding in facts.gets.items():
        had, snapshot = facts.had.get(name), binding.resource_snapshot
        moved = snapshot is not None and (had is None or had.resource_snapshot != snapshot)
        if moved and snapshot in facts.quarantined:
            yield f"{name} gets {snapshot}, which is quarantined"
        if not before.wish.freezes(before.now):
            continue
        if moved and name not in backwards:
            yield f"{name} gets {snapshot} in a freeze"
        given_up = binding.deleting is not None and (had is None or had.deleting is None)
        if given_up and name in before.wish.clusters:
            yield f"{name} is given up in a freeze"
    fresh = after.state.evictions.keys() - before.state.evictions.keys()
    if before.wish.freezes(before.now) and fresh:
        yield f"evictions are decided in a freeze: {sorted(fresh)}"


def _snapshots(before: Moment, after: Moment) -> Iterator[str]:
    """A snapshot stays what it is, and what a cluster has or may get back is there."""
    known = {s.name: s for s in before.record.resource_snapshots} if before.record is not None else {}
    there = {s.name: s for s in after.record.resource_snapshots} if after.record is not None else {}
    for name in known.keys() & there.keys():
        if (known[name].hash, known[name].documents) != (there[name].hash, there[name].documents):
            yield f"{name} is other content"
    formers = {f.resource_snapshot for run in after.runs.values() if not run.finished for _, f in run.formers}
    if lost := formers - there.keys():
        yield f"{sorted(lost)} cannot be given back"


def _updated(before: Moment, was: RunRecord | None, run: RunRecord) -> Iterator[str]:
    found = {b.cluster: b for b in before.bindings}
    stages = run.status.strategy.stages if run.status.strategy is not None else ()
    soak = timedelta(seconds=min((stage.min_soak or 0.0 for stage in stages), default=0.0))
    for name in freshly("Succeeded", was, run):
        started = find_condition(found[name].conditions, "RolloutStarted") if name in found else None
        if soak and (started is None or before.now - started.last_transition_time < soak):
            yield f"{name} counts as updated by {run.key.name} before minSoak is over"
        binding = found.get(name)
        if binding is None or not before.is_up(binding) or binding.resource_snapshot != run.snapshot:
            yield f"{name} counts as updated by {run.key.name} and does not work with {run.snapshot}"


def _gone_back(before: Moment, after: Moment, run: RunRecord, facts: Facts) -> Iterator[str]:
    """What a run rolls back is quarantined from the beginning; a cluster has gone back when it works with what it had,
    and at the end none that answers is left behind."""
    was = before.runs.get(run.key.name)
    if not run.fell_back:
        return
    digest = next(s.hash for s in after.record.resource_snapshots if s.name == run.snapshot) if after.record else ""
    if digest not in {one.digest for one in after.state.quarantines.values()}:
        yield f"{run.key.name} rolls back, and {run.snapshot} is not quarantined"
    found = {b.cluster: b for b in before.bindings}
    for name in freshly("RolledBack", was, run):
        former, gets = clusters_of(run)[name].former, facts.gets.get(name)
        back = gets is not None and former is not None and gets.resource_snapshot == former.resource_snapshot
        works = gets is not None and name in found and before.is_up(gets) and found[name].generation == gets.generation
        if back and name not in before.silent and not works:
            yield f"{name} has gone back by {run.key.name} and does not work"
    for name, former in run.formers if run.finished else ():
        gets = facts.gets.get(name)
        stays = gets is not None and gets.deleting is None and gets.resource_snapshot == run.snapshot
        if stays and former.resource_snapshot not in facts.quarantined and name not in before.silent:
            yield f"{run.key.name} has rolled back, and {name} still has {run.snapshot}"


def _moves(before: Moment, decision: Decision) -> Iterator[str]:
    plan = decision.plans.get(WEB)
    names = {b.cluster: b for b in before.bindings}
    for move in plan.moves if plan is not None else ():
        run = before.runs.get(move.reason.removeprefix("run ").split(",")[0].split(":")[0])
        cluster = clusters_of(run).get(move.cluster)
        if cluster is not None and cluster_phase(cluster) is not ClusterPhase.PENDING:
            yield f"{move.cluster} is moved again: {move.reason}"
    if plan is None and any(
        b.generation != names[b.cluster].generation
        for b in decision.after.placements[WEB].bindings
        if b.cluster in names and b.deleting is None and names[b.cluster].deleting is None
    ):
        yield ("a binding " + CliText.ROLLED_OUT() + " by nobody")


# What is said


def _said(run: RunRecord, decision: Decision) -> Iterator[str]:
    """A run that is not over has clusters under way, and a moment at which it is looked at again; or it says what it
    waits for, with the name of the request, the clusters, the time, or what to write."""
    plan = decision.plans.get(WEB)
    name, phase = run.key.name, run_phase(run.status)
    sentences = (*plan.waiting, *plan.asks) if plan is not None else ()
    told = [sentence for sentence in sentences if sentence.startswith((f"run {name} ", f"run {name}: "))]
    waits = _open_requests(run)
    for request in waits:
        if not any(request in sentence and "gitfleet approve" in sentence for sentence in told):
            yield f"run {name} waits for {request} and does not say so: {told}"
    busy = [c.cluster for c in clusters_of(run).values() if cluster_phase(c) is ClusterPhase.UPDATING]
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
        if holds(task.conditions, "ApprovalRequestCreated") and not holds(task.conditions, "ApprovalRequestApproved")
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
