"""Staged update runs in one pass: which there are, and each carried on with its placement (decisions D8, D10, D26).

runs_of      the runs of a commit, with how far each is
advance      a placement's record after its runs, each of which fails alone
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from gitfleet import approvals, rollout, works
from gitfleet.api.bindings import Binding, is_active
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.conditions import Condition
from gitfleet.api.placements import PlacementKey
from gitfleet.api.runs import ApprovalRequest, RunRecord
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.api.staged import Approval, StagedRun, strategy_kind
from gitfleet.api.values import NamespacedName
from gitfleet.model.calls import Call
from gitfleet.model.decisions import Inputs
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.rolling import RolloutPlan
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.reconcile.quarantines import left_by
from gitfleet.reconcile.run_approvals import answers_to
from gitfleet.rollout import staged

Requests = Mapping[NamespacedName, ApprovalRequest]


@dataclass(frozen=True, kw_only=True)
class Runs:
    """The runs that the commit asks for: those that gitfleet knows as far as they are, new ones before their first
    step, each with the state that people want now."""

    records: Mapping[NamespacedName, RunRecord] = field(default_factory=dict)
    states: Mapping[NamespacedName, str] = field(default_factory=dict)
    requests: Requests = field(default_factory=dict)
    unmeant: Sequence[Approval] = ()
    """The approvals that are meant for no request."""

    def unfinished(self, key: PlacementKey) -> tuple[RunRecord, ...]:
        """The runs of a placement that are not over, in the order in which they were seen."""
        return self._unfinished.get(key, ())

    def requests_of(self, run: StagedRun) -> Requests:
        """The approval requests of a run."""
        return self._requests.get((run.key.namespace, run.key.name), {})

    def snapshots_of(self, record: PlacementRecord) -> frozenset[str]:
        """The names of the snapshots that a placement's unfinished runs need, also to go back (decision D17)."""
        runs = self.unfinished(record.placement.key)
        found = (staged.snapshot_for(run, record) for run in runs)
        former = (former.resource_snapshot for run in runs for _, former in run.formers)
        return frozenset((*(snapshot.name for snapshot in found if snapshot is not None), *former))

    @cached_property
    def _unfinished(self) -> dict[PlacementKey, tuple[RunRecord, ...]]:
        """Each placement asks in each pass, and most runs that there are were over long ago."""
        found: dict[PlacementKey, list[RunRecord]] = {}
        for run in sorted(self.records.values(), key=lambda run: (run.created, run.key)):
            if not run.finished:
                found.setdefault(run.placement, []).append(run)
        return {key: tuple(runs) for key, runs in found.items()}

    @cached_property
    def _requests(self) -> Mapping[tuple[str, str | None], Requests]:
        found: dict[tuple[str, str | None], dict[NamespacedName, ApprovalRequest]] = {}
        for key, request in self.requests.items():
            found.setdefault((key.namespace, request.parent_run), {})[key] = request
        return found


def runs_of(inputs: Inputs) -> Runs:
    """The runs of the commit. One that the commit has no more is forgotten, and what it moved stays as it is, unless a
    file could not be read (invariant 2)."""
    wanted, before = inputs.desired, inputs.before
    records = {key: run for key, run in before.runs.items() if wanted.holds_removals or key in wanted.runs}
    states = {key: run.state or "Run" for key, run in records.items()}
    for key, run in wanted.runs.items():
        known, states[key] = records.get(key), run.state or "Run"
        if known is None or _target(known) != _target(run):
            records[key] = staged.new_run(run, inputs.now)
    kept = {(key.namespace, key.name) for key in records}
    requests = {
        key: request for key, request in before.approvals.items() if (key.namespace, request.parent_run) in kept
    }
    asked = map(staged.asked, before.approvals.values())
    unmeant = approvals.unasked(asked, wanted.approvals, wanted.approvals_by_request)
    return Runs(records=dict(sorted(records.items())), states=states, requests=requests, unmeant=unmeant)


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
    held: works.HeldObjects = field(default_factory=dict)
    unwritten: works.Unwritten = works.Unwritten()
    disturbed: frozenset[str] = frozenset()
    freezes: rollout.Freezes = rollout.Freezes()
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
    fallen = [now for was, now in zip(runs, advanced.runs, strict=True) if now.fell_back and not was.fell_back]
    if record is None or len(fallen) in (0, len(runs)):
        return advanced
    lifted = {one.content for one in beside.inputs.desired.quarantines.values() if one.lifted}
    left = [left_by(run, record, beside.inputs.now) for run in fallen]
    fresh = {one.digest: one.sentence for one in left if one is not None and one.content not in lifted}
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
        others = (*(step.run for step in steps if not step.run.finished), *runs[at + 1 :])
        subject = Subject.of_run(run.key)
        known = beside.runs.requests_of(run)
        kept = staged.RunStep(run=run, bindings=record.bindings if record else (), requests=known)
        step = failures.contain(subject, kept, _step, run, others, record, scheduled, beside)
        if record is not None and step.bindings != record.bindings:
            record = replace(record, bindings=step.bindings)
        requests |= step.requests
        steps.append(step)
    plan = _plan(record, steps) if record is not None and steps else None
    calls = tuple(call for step in steps for call in step.calls)
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
    every = [*advanced.values(), *(advance(key, None, None, beside(key), failures) for key in sorted(orphans))]
    for one in every:
        records.update((run.key, run) for run in one.runs)
        requests.update(one.requests)
    return replace(state, runs=records, approvals=dict(sorted(requests.items())))


def _step(
    run: RunRecord,
    others: tuple[RunRecord, ...],
    record: PlacementRecord | None,
    scheduled: Condition | None,
    beside: Beside,
) -> staged.RunStep:
    wanted = beside.inputs.desired
    references = _overrides(run, record, beside)
    former = {name: (f.cluster_resource_overrides, f.resource_overrides) for name, f in run.formers if run.fell_back}
    strategy = NamespacedName(run.key.namespace, run.strategy_name)
    request = staged.RunRequest(
        run=run,
        state=beside.runs.states[run.key],
        record=record,
        scheduled=scheduled,
        strategy=wanted.strategies.get(strategy),
        strategy_faults=", ".join(wanted.faults_hiding(strategy_kind(run.key.namespace), strategy, "strategies")),
        others=others,
        answers=_answers_of_others(run, beside) if not run.status.stages else {},
        clusters=beside.clusters,
        overrides=references,
        override_commits={one.reference: one.commit for one in beside.every_override},
        labels=works.pinned_labels(references, beside.every_override, beside.clusters),
        former_labels=works.pinned_labels(former, beside.every_override, beside.clusters),
        requests=beside.runs.requests_of(run),
        approvals=answers_to(beside.runs.requests_of(run).values(), beside.inputs, beside.runs.unmeant),
        disturbed=beside.disturbed,
        quarantined=beside.quarantined,
        had=beside.had,
        awaits_namespace=beside.awaits_namespace,
        silent=rollout.silent_since(record, beside.clusters) if record is not None else {},
        freezes=beside.freezes,
        templates=wanted.metric_templates,
        measured=beside.inputs.answers,
        now=beside.inputs.now,
        commit=wanted.commit,
    )
    return staged.advance_run(request)


def _answers_of_others(run: RunRecord, beside: Beside) -> dict[str, NamespacedName]:
    """The names of approvals of the runs of a namespace that began before this one, or are to begin first."""
    found: dict[str, NamespacedName] = {}
    for other in beside.runs.records.values():
        first = (other.created, other.key) < (run.created, run.key) and not other.finished
        if other.key.namespace == run.key.namespace and other.key != run.key and (other.status.stages or first):
            now = beside.inputs.desired.strategies.get(NamespacedName(other.key.namespace, other.strategy_name))
            stages = other.status.strategy.stages if other.status.strategy else now.stages if now else ()
            found |= dict.fromkeys(staged.answer_names(other, stages), other.key)
    return found


def _overrides(run: RunRecord, record: PlacementRecord | None, beside: Beside) -> dict[str, works.References]:
    """The overrides that each cluster gets: pinned when the run begins, those of the snapshot that it rolls out."""
    if run.status.stages:
        clusters = (cluster for stage in run.status.stages for cluster in stage.clusters)
        return {c.cluster: (c.cluster_resource_overrides, c.resource_overrides) for c in clusters}
    snapshot = staged.snapshot_for(run, record) if record is not None else None
    if record is None or snapshot is None:
        return {}
    alone = replace(record, resource_snapshots=(snapshot,))
    target = works.target_overrides(alone, beside.overrides, beside.clusters, beside.held, beside.unwritten)
    return dict(target.references)


def _plan(record: PlacementRecord, steps: Iterable[staged.RunStep]) -> RolloutPlan:
    """What the runs moved and what they wait for, as the plan of a rolling update says it."""
    every = tuple(steps)
    moves = tuple(move for step in every for move in step.moves)
    held = {held.cluster: held for step in every for held in step.held}
    clocks = [step.clock for step in every if step.clock is not None]
    busy = {*held, *(move.cluster for move in moves)}
    return RolloutPlan(
        moves=moves,
        held=tuple(held.values()),
        up_to_date=tuple(b.cluster for b in record.bindings if b.cluster not in busy),
        need_roll=True,
        wait=None,
        bindings=record.bindings,
        clock=min(clocks, default=None),
        waiting=tuple(sentence for step in every for sentence in step.waiting),
        asks=tuple(sentence for step in every for sentence in step.asks),
    )
