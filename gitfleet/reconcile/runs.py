"""Staged update runs in one pass: which there are, and each carried on with its placement (decisions D8, D10, D26).

runs_of      the runs of a commit, with how far each is
advance      a placement's record after its runs, each of which fails alone
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

from gitfleet import rollout, works
from gitfleet.api.bindings import Binding, ClusterContent, is_active
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.conditions import Condition
from gitfleet.api.placements import PlacementKey
from gitfleet.api.runs import ApprovalRequest, RunRecord
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.api.staged import RunState, StagedRun, strategy_kind
from gitfleet.api.values import NamespacedName
from gitfleet.model.calls import Call
from gitfleet.model.decisions import Inputs
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.rolling import Frozen, RolloutPlan
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.reconcile.quarantines import left_by
from gitfleet.reconcile.run_approvals import verdict_on
from gitfleet.rollout import staged

Requests = Mapping[NamespacedName, ApprovalRequest]


@dataclass(frozen=True, kw_only=True)
class Runs:
    """The runs that the commit asks for: those that gitfleet knows as far as they are, new ones before their first
    step, each with the state that people want now."""

    records: Mapping[NamespacedName, RunRecord] = field(default_factory=dict)
    states: Mapping[NamespacedName, RunState] = field(default_factory=dict)
    requests: Requests = field(default_factory=dict)

    def unfinished(self, key: PlacementKey) -> tuple[RunRecord, ...]:
        """The runs of a placement that are not over, in the order in which they were seen."""
        return self._unfinished.get(key, ())

    def requests_of(self, run: StagedRun) -> Requests:
        """The approval requests of a run."""
        return self._requests.get((run.key.namespace, run.key.name), {})

    def snapshots_of(self, record: PlacementRecord) -> frozenset[str]:
        """The names of the snapshots that a placement's unfinished runs need, also to go back (decision D17)."""
        runs = self.unfinished(record.placement.key)
        snapshots = (staged.snapshot_for(run, record) for run in runs)
        former = (former.resource_snapshot for run in runs for _, former in run.formers)
        return frozenset((*(snapshot.name for snapshot in snapshots if snapshot is not None), *former))

    @cached_property
    def _unfinished(self) -> dict[PlacementKey, tuple[RunRecord, ...]]:
        """Each placement asks in each pass, and most runs that there are were over long ago."""
        unfinished: dict[PlacementKey, list[RunRecord]] = {}
        for run in sorted(self.records.values(), key=lambda run: (run.created, run.key)):
            if not run.finished:
                unfinished.setdefault(run.placement, []).append(run)
        return {key: tuple(runs) for key, runs in unfinished.items()}

    @cached_property
    def _requests(self) -> Mapping[tuple[str, str | None], Requests]:
        by_run: dict[tuple[str, str | None], dict[NamespacedName, ApprovalRequest]] = {}
        for key, request in self.requests.items():
            by_run.setdefault((key.namespace, request.parent_run), {})[key] = request
        return by_run


def runs_of(inputs: Inputs) -> Runs:
    """The runs of the commit. One that the commit has no more is forgotten, and what it moved stays as it is, unless a
    file could not be read (invariant 2)."""
    desired, before = inputs.desired, inputs.before
    records = {key: run for key, run in before.runs.items() if desired.refused or key in desired.runs}
    for key, run in desired.runs.items():
        if key not in records or _target(records[key]) != _target(run):
            records[key] = staged.new_run(run, inputs.now)
    states = {key: desired.runs.get(key, run).state or RunState.RUN for key, run in records.items()}
    names = {(key.namespace, key.name) for key in records}
    requests = {
        key: request for key, request in before.approvals.items() if (key.namespace, request.parent_run) in names
    }
    return Runs(records=dict(sorted(records.items())), states=states, requests=requests)


def _target(run: StagedRun) -> tuple[object, ...]:
    return run.placement_name, run.strategy_name, run.resource_snapshot_index


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What the runs of one placement see beside its record."""

    inputs: Inputs
    runs: Runs
    clusters: Mapping[str, MemberCluster]
    overrides: tuple[OverrideSnapshot, ...] = ()
    every_override: tuple[OverrideSnapshot, ...] = ()
    disturbed: frozenset[str] = frozenset()
    freezes: rollout.Freezes = rollout.Freezes()
    waits: Mapping[str, Frozen] = field(default_factory=dict)
    quarantined: Mapping[str, str] = field(default_factory=dict)
    awaits_namespace: frozenset[str] = frozenset()
    had: Mapping[str, Binding] = field(default_factory=dict)
    """The bindings before any run of this pass moved them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advanced:
    """A placement's runs after a pass, its bindings, and the plan that says what they moved and what they wait for;
    `calls` are to be under way."""

    runs: tuple[RunRecord, ...] = ()
    requests: Requests = field(default_factory=dict)
    record: PlacementRecord | None = None
    plan: RolloutPlan | None = None
    calls: tuple[Call, ...] = ()


def advance(
    key: PlacementKey,
    record: PlacementRecord | None,
    scheduled: Condition | None,
    beside: Beside,
    failures: Failures,
) -> Advanced:
    """Each unfinished run of a placement one step further, one after the other. What one of them begins to roll back is
    quarantined for the others in this very pass, whichever of them comes first."""
    beside = replace(beside, had={b.cluster: b for b in record.bindings if is_active(b)} if record else {})
    runs = beside.runs.unfinished(key)
    advanced = _advanced(runs, record, scheduled, beside, failures)
    fallen = [new for old, new in zip(runs, advanced.runs, strict=True) if new.fell_back and not old.fell_back]
    if record is None or len(fallen) in (0, len(runs)):
        return advanced
    lifted = {q.content for q in beside.inputs.desired.quarantines.values() if q.lifted}
    quarantines = [left_by(run, record, beside.inputs.now) for run in fallen]
    fresh = {q.digest: q.sentence for q in quarantines if q is not None and q.content not in lifted}
    warned = replace(beside, quarantined={**fresh, **beside.quarantined})
    return _advanced(runs, record, scheduled, warned, failures)


def _advanced(
    runs: tuple[RunRecord, ...],
    record: PlacementRecord | None,
    scheduled: Condition | None,
    beside: Beside,
    failures: Failures,
) -> Advanced:
    """The runs one step further."""
    steps: list[staged.RunStep] = []
    requests: dict[NamespacedName, ApprovalRequest] = {}
    for at, run in enumerate(runs):
        other_runs = (*(step.run for step in steps if not step.run.finished), *runs[at + 1 :])
        subject = Subject.of_run(run.key)
        own_requests = beside.runs.requests_of(run)
        unchanged = staged.RunStep(run=run, bindings=record.bindings if record else (), requests=own_requests)
        step = failures.contain(subject, unchanged, _step, run, other_runs, record, scheduled, beside)
        if record is not None and step.bindings != record.bindings:
            record = replace(record, bindings=step.bindings)
        requests |= step.requests
        steps.append(step)
    plan = _plan(record, steps) if record is not None and steps else None
    calls = tuple(chain.from_iterable(step.calls for step in steps))
    return Advanced(runs=tuple(step.run for step in steps), requests=requests, record=record, plan=plan, calls=calls)


def with_runs(
    state: FleetState,
    advanced: Mapping[PlacementKey, Advanced],
    runs: Runs,
    beside: Callable[[PlacementKey], Beside],
    failures: Failures,
) -> FleetState:
    """The state with all runs and their approval requests after a pass; those of placements that there are not have
    failed."""
    records, requests = dict(runs.records), dict(runs.requests)
    orphans = {run.placement for run in records.values() if not run.finished} - advanced.keys()
    results = [*advanced.values(), *(advance(key, None, None, beside(key), failures) for key in sorted(orphans))]
    for result in results:
        records.update((run.key, run) for run in result.runs)
        requests.update(result.requests)
    return replace(state, runs=records, approvals=dict(sorted(requests.items())))


def _step(
    run: RunRecord,
    other_runs: tuple[RunRecord, ...],
    record: PlacementRecord | None,
    scheduled: Condition | None,
    beside: Beside,
) -> staged.RunStep:
    desired = beside.inputs.desired
    contents = _contents(run, record, beside)
    former = {name: ClusterContent.of(f) for name, f in run.formers if run.fell_back}
    strategy = NamespacedName(run.key.namespace, run.strategy_name)
    request = staged.RunRequest(
        run=run,
        state=beside.runs.states[run.key],
        record=record,
        scheduled=scheduled,
        strategy=desired.strategies.get(strategy),
        strategy_faults=", ".join(desired.faults_hiding(strategy_kind(run.key.namespace), strategy, "strategies")),
        other_runs=other_runs,
        answers=_answers_of_others(run, beside) if not run.status.stages else {},
        clusters=beside.clusters,
        contents=contents,
        labels=works.pinned_labels(contents, beside.every_override, beside.clusters),
        former_labels=works.pinned_labels(former, beside.every_override, beside.clusters),
        requests=beside.runs.requests_of(run),
        verdicts={key: verdict_on(request, beside.inputs) for key, request in beside.runs.requests_of(run).items()},
        disturbed=beside.disturbed,
        quarantined=beside.quarantined,
        had=beside.had,
        awaits_namespace=beside.awaits_namespace,
        silent=rollout.silent_since(record, beside.clusters) if record is not None else {},
        freezes=beside.freezes,
        waits=beside.waits,
        templates=desired.metric_templates,
        measured=beside.inputs.answers,
        now=beside.inputs.now,
        commit=desired.commit,
    )
    return staged.advance_run(request)


def _answers_of_others(run: RunRecord, beside: Beside) -> dict[str, NamespacedName]:
    """The names of approvals of the runs of a namespace that began before this one, or are to begin first."""
    names: dict[str, NamespacedName] = {}
    for rival in beside.runs.records.values():
        first = (rival.created, rival.key) < (run.created, run.key) and not rival.finished
        if rival.key.namespace == run.key.namespace and rival.key != run.key and (rival.status.stages or first):
            written = beside.inputs.desired.strategies.get(NamespacedName(rival.key.namespace, rival.strategy_name))
            strategy = rival.status.strategy or written
            names |= dict.fromkeys(staged.answer_names(rival, strategy.stages if strategy else ()), rival.key)
    return names


def _contents(run: RunRecord, record: PlacementRecord | None, beside: Beside) -> dict[str, ClusterContent]:
    """What each cluster gets of the snapshot that the run rolls out: pinned when the run begins."""
    if run.status.stages:
        return {c.cluster: ClusterContent.of(c) for c in run.status.clusters}
    if record is None or (snapshot := staged.snapshot_for(run, record)) is None:
        return {}
    alone = replace(record, resource_snapshots=(snapshot,))
    return dict(works.target_contents(alone, beside.overrides, beside.clusters).contents)


def _plan(record: PlacementRecord, steps: Iterable[staged.RunStep]) -> RolloutPlan:
    """What the runs moved and what they wait for, as the plan of a rolling update says it."""
    all_steps = tuple(steps)
    moves = tuple(chain.from_iterable(step.moves for step in all_steps))
    blocked = dict(chain.from_iterable(step.blocked.items() for step in all_steps))
    clocks = [step.clock for step in all_steps if step.clock is not None]
    busy = {*blocked, *(move.cluster for move in moves)}
    return RolloutPlan(
        moves=moves,
        blocked=blocked,
        up_to_date=tuple(b.cluster for b in record.bindings if b.cluster not in busy),
        need_roll=True,
        bindings=record.bindings,
        clock=min(clocks, default=None),
        waiting=tuple(chain.from_iterable(step.waiting for step in all_steps)),
        asks=tuple(chain.from_iterable(step.asks for step in all_steps)),
    )
