"""What must hold between a staged update run's record and its next one, judged by the strategy that it was begun with
and by what people answered; for the walk of a small fleet and for random histories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from gitfleet.analysis import AnalysisVerdict
from gitfleet.analysis.standings import standing_of, verdict_of
from gitfleet.api.bindings import Binding
from gitfleet.api.conditions import Conditions, Status, find_condition
from gitfleet.api.runs import ClusterUpdate, RunRecord, StageStatus, TaskStatus
from gitfleet.api.staged import Stage
from gitfleet.rollout.staged import ClusterPhase, RunPhase, StagePhase, cluster_phase, phases, run_phase, stage_phase

_DONE: Final = (StagePhase.SUCCEEDED, StagePhase.SKIPPED)
_OPEN: Final = (ClusterPhase.PENDING, ClusterPhase.UPDATING)
_LETS_GO_ON: Final = ("ApprovalRequestApproved", "WaitTimeElapsed", "AnalysisSucceeded")
_BACK: Final = (ClusterPhase.ROLLING_BACK, ClusterPhase.ROLLED_BACK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known beside the records: `answers` to requests by name, `through` since when the clusters of a run's
    stage are all over, `wanted` the states that people want of runs, whether most clusters are `cut_off`, which stages
    are `frozen`, the bindings that the clusters `had` before the pass and that they get (`gets`), the names of the
    `quarantined` snapshots, and the clusters that other runs start in the same pass (`shared`)."""

    now: datetime
    answers: Mapping[str, bool] = field(default_factory=dict)
    through: Mapping[tuple[str, str], datetime] = field(default_factory=dict)
    wanted: Mapping[str, str] = field(default_factory=dict)
    cut_off: bool = False
    frozen: Callable[[str], bool] = lambda _: False
    had: Mapping[str, Binding] = field(default_factory=dict)
    gets: Mapping[str, Binding] = field(default_factory=dict)
    quarantined: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()


def broken_by(was: RunRecord | None, run: RunRecord, facts: Facts) -> Iterator[str]:
    """What a pass did to a run that it must not."""
    if was is not None and was.finished:
        if run != was:
            yield f"run {run.key.name} is over and moves"
        return
    yield from _phases(was, run)
    for stage, spec in _with_specs(run):
        yield from _tasks(_stages(was).get(stage.name), run, stage, spec, facts)
    yield from _fixed(was, run)
    yield from _starts(was, run, facts)
    yield from _goes_back(was, run, facts)


def clusters_of(run: RunRecord | None) -> dict[str, ClusterUpdate]:
    """The clusters of all stages by name."""
    return {c.cluster: c for stage in run.status.stages for c in stage.clusters} if run is not None else {}


def holds(conditions: Conditions, type_: str) -> bool:
    """Whether a condition is True."""
    found = find_condition(conditions, type_)
    return found is not None and found.status is Status.TRUE


def is_through(stage: StageStatus) -> bool:
    """Whether no cluster of a stage is left or under way."""
    return all(cluster_phase(cluster) not in _OPEN for cluster in stage.clusters)


def freshly(type_: str, was: RunRecord | None, run: RunRecord) -> list[str]:
    """The clusters of a run of which a condition has become True."""
    known = clusters_of(was)
    return [
        name
        for name, cluster in clusters_of(run).items()
        if holds(cluster.conditions, type_) and not (name in known and holds(known[name].conditions, type_))
    ]


def _stages(run: RunRecord | None) -> dict[str, StageStatus]:
    return {stage.name: stage for stage in run.status.stages} if run is not None else {}


def _with_specs(run: RunRecord) -> list[tuple[StageStatus, Stage]]:
    strategy = run.status.strategy
    return list(zip(run.status.stages, strategy.stages if strategy is not None else (), strict=True))


def _fixed(was: RunRecord | None, run: RunRecord) -> Iterator[str]:
    """What a run is initialized with stays: later edits change nothing for it."""
    if was is None or was.status.strategy is None:
        return
    for what, before, after in (
        ("strategy", was.status.strategy, run.status.strategy),
        ("snapshot", was.snapshot, run.snapshot),
        ("apply strategy", was.status.apply_strategy, run.status.apply_strategy),
        ("clusters", _order_of(was), _order_of(run)),
    ):
        if before != after:
            yield f"the {what} of {run.key.name} is {after}, and was {before}"


def _order_of(run: RunRecord) -> list[tuple[str, list[str]]]:
    return [(stage.name, [cluster.cluster for cluster in stage.clusters]) for stage in run.status.stages]


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
    known = clusters_of(was)
    for name, cluster in clusters_of(run).items():
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


def _tasks(known: StageStatus | None, run: RunRecord, stage: StageStatus, spec: Stage, facts: Facts) -> Iterator[str]:
    old = (*known.before_tasks, *known.after_tasks) if known is not None else ()
    new = (*stage.before_tasks, *stage.after_tasks)
    for one, other in zip(old, new, strict=False):
        yield from _measurements(one, other, f"stage {stage.name} of {run.key.name}")
        for type_ in _LETS_GO_ON:
            if holds(one.conditions, type_) and not holds(other.conditions, type_):
                yield f"{type_} of stage {stage.name} of {run.key.name} is taken back"
    yield from _verdicts(stage, spec, run.key.name)
    if stage_phase(stage) is StagePhase.SUCCEEDED and not all(map(_is_over, new)):
        yield f"stage {stage.name} of {run.key.name} is over before its tasks"
    if stage_phase(stage) is StagePhase.SKIPPED and any(holds(c.conditions, "Started") for c in stage.clusters):
        yield f"stage {stage.name} of {run.key.name} is skipped after a cluster started"
    wait = next((task.wait_seconds for task in spec.after_tasks if task.wait_seconds is not None), None)
    over = any(holds(task.conditions, "WaitTimeElapsed") for task in new)
    since = facts.through.get((run.key.name, stage.name), facts.now)
    if over and wait is not None and facts.now - since < timedelta(seconds=wait):
        yield f"the wait after stage {stage.name} of {run.key.name} is over after {facts.now - since}"
    before = {task.approval_request_name for task in old if holds(task.conditions, "ApprovalRequestApproved")}
    for task in new:
        name = task.approval_request_name
        if holds(task.conditions, "ApprovalRequestApproved") and name not in before and not facts.answers.get(name):
            yield f"{name} counts as approved, and nobody approved it"


def _is_over(task: Any) -> bool:
    return any(holds(task.conditions, type_) for type_ in _LETS_GO_ON)


def _measurements(was: TaskStatus, task: TaskStatus, where: str) -> Iterator[str]:
    """What was measured stays as it was until it is forgotten, and is asked once."""
    known = {one.id: one for one in was.measurements}
    for one in task.measurements:
        old = known.get(one.id, one)
        if old.verdict is not None and old != one:
            yield f"measurement {one.id} of {where} is judged again"
        if (old.query, old.baseline, old.at) != (one.query, one.baseline, one.at):
            yield f"measurement {one.id} of {where} is about something else now"
    open_ = Counter((one.metric, one.cluster) for one in task.measurements if one.verdict is None)
    yield from (f"{metric} of {where} is asked {n} times at once" for (metric, _), n in open_.items() if n > 1)


def _verdicts(stage: StageStatus, spec: Stage, name: str) -> Iterator[str]:
    """What an Analysis came to follows from what is recorded of it."""
    for task, status in zip(spec.after_tasks, stage.after_tasks, strict=True):
        clusters = {one.cluster for one in status.measurements}
        of = [[one for one in status.measurements if one.cluster == cluster] for cluster in sorted(clusters)]
        verdicts = {
            verdict_of([standing_of(metric, (m for m in one if m.metric == metric.name)) for metric in task.metrics])
            for one in of
        }
        if holds(status.conditions, "AnalysisSucceeded") and not verdicts <= {AnalysisVerdict.PASSED}:
            yield f"the analysis of stage {stage.name} of {name} succeeds, and says {verdicts}"
        found = find_condition(status.conditions, "AnalysisSucceeded")
        if found is not None and found.status is Status.FALSE and AnalysisVerdict.FAILED not in verdicts:
            yield f"the analysis of stage {stage.name} of {name} fails, and says {verdicts}"


def _starts(was: RunRecord | None, run: RunRecord, facts: Facts) -> Iterator[str]:
    every, name = freshly("Started", was, run), run.key.name
    stages = _with_specs(run)
    for at, (stage, spec) in enumerate(stages):
        fresh = [c.cluster for c in stage.clusters if c.cluster in every]
        if not fresh:
            continue
        said = f"{fresh} of stage {stage.name} of {name} start"
        busy = [c.cluster for c in stage.clusters if cluster_phase(c) is ClusterPhase.UPDATING]
        begun = [_since(c, "Started") for c in stage.clusters]
        recent = sum(facts.now - since < timedelta(minutes=1) for since in begun if since is not None)
        earlier = [s for s, _ in stages[:at] if stage_phase(s) is not StagePhase.SKIPPED]
        open_ = [s.name for s in earlier if not (is_through(s) and all(map(_is_over, s.after_tasks)))]
        order = [c.cluster for c in stage.clusters if cluster_phase(c) is not ClusterPhase.PENDING]
        most = _most(spec.max_concurrency, len(stage.clusters))
        broken = {
            f", and {busy} are under way at the same time": len(busy) > most,
            ", and nobody wants it to run": facts.wanted.get(name, "Run") != "Run",
            " while most clusters do not answer": facts.cut_off,
            " in a freeze": facts.frozen(stage.name),
            f" with {run.snapshot}, which is quarantined": run.snapshot in facts.quarantined,
            ", and it rolls back": run.fell_back,
            f": {recent} within a minute": spec.start_rate is not None and recent > spec.start_rate,
            f" before {open_} are over": open_,
            " without the approval before it": not all(map(_is_over, stage.before_tasks)),
            " out of the order of the stage": order != [c.cluster for c in stage.clusters][: len(order)],
        }
        yield from (f"{said}{how}" for how, is_so in broken.items() if is_so)
        yield from _formers(run, stage, fresh, facts)


def _formers(run: RunRecord, stage: StageStatus, fresh: list[str], facts: Facts) -> Iterator[str]:
    """Each cluster that gets something else has recorded what it had, with the same pass."""
    for cluster in stage.clusters:
        had, gets = facts.had.get(cluster.cluster), facts.gets.get(cluster.cluster)
        if cluster.cluster not in fresh or had is None or gets is None or had.generation == gets.generation:
            continue
        recorded = cluster.former.resource_snapshot if cluster.former is not None else None
        if recorded != had.resource_snapshot and not (recorded is None and cluster.cluster in facts.shared):
            yield f"{cluster.cluster} had {had.resource_snapshot}, and {run.key.name} has recorded {recorded}"


def _goes_back(was: RunRecord | None, run: RunRecord, facts: Facts) -> Iterator[str]:
    """A run that rolls back: the last stage first, at most maxConcurrency clusters at a time, each to what it had."""
    known, later = clusters_of(was), False
    for stage, spec in reversed(_with_specs(run)):
        busy = [c for c in stage.clusters if cluster_phase(c) is ClusterPhase.ROLLING_BACK]
        back = [c for c in stage.clusters if cluster_phase(c) in _BACK]
        begun = [c.cluster for c in back if c.cluster not in known or cluster_phase(known[c.cluster]) not in _BACK]
        said = f"{begun} of stage {stage.name} of {run.key.name} go back"
        for cluster in (c for c in back if c.cluster in begun and c.cluster in facts.gets):
            gets, had = facts.gets[cluster.cluster], facts.had.get(cluster.cluster)
            found = gets.resource_snapshot
            if had is not None and had.generation == gets.generation:
                continue  # what it had is quarantined or lost
            if cluster.former is None or found != cluster.former.resource_snapshot:
                yield f"{said}: {cluster.cluster} gets {found}, and had {cluster.former}"
            if found in facts.quarantined:
                yield f"{said}: {cluster.cluster} gets {found}, which is quarantined"
        if begun and len(busy) > _most(spec.max_concurrency, len(stage.clusters)):
            yield f"{said}, and {[c.cluster for c in busy]} are under way at the same time"
        if begun and later:
            yield f"{said}, and a later stage still does"
        if begun and (facts.cut_off or facts.wanted.get(run.key.name, "Run") == "Stop"):
            yield f"{said}, and nothing may start"
        begins = [_since(c, "RolledBack") for c in busy]
        recent = sum(facts.now - since < timedelta(minutes=1) for since in begins if since is not None)
        if begun and spec.start_rate is not None and recent > spec.start_rate:
            yield f"{said}: {recent} within a minute"
        later = later or bool(busy)


def _since(cluster: ClusterUpdate, type_: str) -> datetime | None:
    found = find_condition(cluster.conditions, type_)
    return found.last_transition_time if found is not None else None


def _most(limit: int | str, clusters: int) -> int:
    return max(1, int(limit[:-1]) * clusters // 100) if isinstance(limit, str) else limit
