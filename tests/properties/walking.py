"""A small fleet for an exhaustive walk: three clusters, a run of two stages, and all that may happen meanwhile.

Where a variant is `placed`, another run has brought the version before to every cluster.

Deciding and settling are the product's own (`reconcile.decide`, `reconcile.settle`); modelled is what it looks at: the
clusters, each of which has what was performed on it one step ago, is healthy or not, and answers or not. Time moves in
steps of STEP, so that silence, stuckAfter and the timed wait are over after two of them.

A moment has a canonical form (`form_of`): two moments with the same one go on in the same way, whatever the times,
generations and commits in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from gitfleet import reconcile
from gitfleet.api.bindings import Binding
from gitfleet.api.conditions import Condition, ConditionType, Reason, Status, find_condition
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.runs import RunConditionType, RunRecord, StageStatus
from gitfleet.branches.desired_trees import DesiredTrees
from gitfleet.formats.times import time_text
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.rollout.staged import cluster_phase, run_phase, stage_phase
from gitfleet.settings import Limits
from gitfleet.simulation.memory_cache import MemoryCache
from gitfleet.simulation.memory_repo import MemoryRepo
from tests import builders
from tests.properties.run_laws import is_through

STEP: Final = timedelta(seconds=150)
WEB: Final = PlacementKey("", "web")
STAGES: Final[Mapping[str, str]] = {"c1": "one", "c2": "one", "c3": "two", "c4": "two"}
MIN_AVAILABLE: Final = 2
_START: Final = datetime.fromisoformat("2026-01-01T00:00:00+00:00")
FREEZE: Final = 2 * STEP + timedelta(seconds=60)
"""How long a freeze lasts: two passes."""
OLDER: Final[Mapping[str, int]] = {"back": 0}
"""The runs that bring an older snapshot back, with its index."""
_OLDEST: Final = 3
"""Steps after which nothing changes by age alone any more."""
_OBJECTS: Final = (ObjectKey("", "v1", "Namespace", "", "web"), ObjectKey("apps", "v1", "Deployment", "web", "web"))
_OWNED: Final = {key: InventoryEntry(key=key, placement=WEB, uid="1") for key in _OBJECTS}

Form = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """The settings of the strategy that a walk varies."""

    max_concurrency: int = 1
    membership: str = "Abort"
    on_failure: str = "Wait"
    placed: bool = False
    start_rate: int | None = None
    min_soak: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What stands on the watched branch. `strategy` counts the edits of the strategy; `quarantined` are the digests of
    a person's quarantines, and `lifted` those for which a file says so."""

    version: int = 1
    runs: tuple[tuple[str, str], ...] = (("go", "Run"),)
    clusters: frozenset[str] = frozenset({"c1", "c2", "c3"})
    evictions: tuple[str, ...] = ()
    answers: tuple[tuple[str, bool], ...] = ()
    strategy: int = 0
    freeze: datetime | None = None
    quarantined: tuple[str, ...] = ()
    lifted: tuple[str, ...] = ()

    def freezes(self, now: datetime) -> bool:
        """Whether nothing may start."""
        return self.freeze is not None and now < self.freeze


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """All that there is between two passes. `has` is the generation of the binding that a cluster carried out;
    `through` is since when the clusters of a run's stage are all over, as the model saw it."""

    now: datetime = _START
    state: FleetState = FleetState()
    wish: Wish = Wish()
    failing: frozenset[str] = frozenset()
    silent: frozenset[str] = frozenset()
    has: Mapping[str, int] = field(default_factory=dict)
    through: Mapping[tuple[str, str], datetime] = field(default_factory=dict)

    @property
    def record(self) -> PlacementRecord | None:
        """The placement's record."""
        return self.state.placements.get(WEB)

    @property
    def bindings(self) -> tuple[Binding, ...]:
        """The placement's bindings."""
        return self.record.bindings if self.record is not None else ()

    @property
    def runs(self) -> dict[str, RunRecord]:
        """The runs by name."""
        return {key.name: run for key, run in self.state.runs.items()}

    def is_up(self, binding: Binding) -> bool:
        """Whether a cluster truly has what its binding asks for, and it works."""
        name = binding.cluster
        there = binding.deleting is None and self.has.get(name) == binding.generation
        return there and name not in self.failing and name not in self.silent


class Fleet:
    """The fleet of one variant: what people wish, read from files as the product reads it, and its passes."""

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self._repo = MemoryRepo()
        self._trees = DesiredTrees(self._repo, MemoryCache(), Limits())
        self._wanted: dict[Wish, Desired] = {}
        self._memo = reconcile.Memo()
        self.passes = 0

    def wanted(self, wish: Wish) -> Desired:
        """The desired state of a wish."""
        if wish not in self._wanted:
            files = builders.repo_files_for(*self._bodies(wish))
            gone = dict.fromkeys(self._repo.files("main").keys() - files.keys()) if self._wanted else {}
            commit = self._repo.commit_files("main", {**files, **gone}, _START, "Change")
            self._wanted[wish] = self._trees.at(commit, FleetState())
        return self._wanted[wish]

    def _bodies(self, wish: Wish) -> Iterator[Mapping[str, Any]]:
        yield builders.fleet_config(removals={"approval": "Never"})
        yield builders.namespace("web")
        yield builders.deployment("web", "web", image=f"web:{wish.version}")
        yield builders.placement("web", strategy={"type": "External"})
        yield builders.placement_budget("web", minAvailable=MIN_AVAILABLE)
        for name in sorted(wish.clusters):
            yield builders.member_cluster(name, labels={"stage": STAGES[name]})
        yield self._strategy(wish.strategy)
        for name, state in wish.runs:
            run = builders.staged_run(name, placement="web", strategy="all", index=OLDER.get(name))
            run["spec"]["state"] = state
            yield run
        if wish.freeze is not None:
            yield builders.freeze("freeze", time_text(wish.freeze))
        for digest in (*wish.quarantined, *wish.lifted):
            yield builders.quarantine(f"file-{digest[:9]}", "web", digest, lifted=digest in wish.lifted)
        for name in wish.evictions:
            yield builders.eviction(f"evict-{name}", "web", name)
        for name, approved in wish.answers:
            answer = builders.approval("x", "y", approved=approved)
            answer["metadata"]["name"] = name
            del answer["spec"]
            yield answer

    def _strategy(self, edits: int) -> dict[str, Any]:
        variant = self.variant
        fields: dict[str, Any] = {
            "maxConcurrency": variant.max_concurrency,
            "onFailure": variant.on_failure,
            "stuckAfter": "4m",
            **({"startRate": variant.start_rate} if variant.start_rate is not None else {}),
            **({"minSoak": variant.min_soak} if variant.min_soak is not None else {}),
        }
        one = builders.stage("one", match_labels={"stage": "one"}, approval=True, wait="4m", **fields)
        before = [{"type": "Approval"}]
        two = builders.stage("two", match_labels={"stage": "two"}, beforeStageTasks=before, **fields)
        body = builders.staged_strategy("all", *((two, one) if edits else (one, two)))
        body["spec"]["membership"] = variant.membership
        return body

    def decide(self, moment: Moment) -> Decision:
        """What the product decides at a moment, once it has looked at the clusters."""
        self.passes += 1
        wanted, state = self.wanted(moment.wish), _observed(moment)
        observations = {
            name: _observation(moment, name) for name in moment.state.clusters.keys() | moment.wish.clusters
        }
        inputs = Inputs(desired=wanted, before=state, observations=observations, now=moment.now)
        decision, self._memo = reconcile.decide(inputs, self._memo)
        return decision


def _observation(moment: Moment, name: str) -> ClusterObservation:
    """A cluster that has not carried out what its binding asks for shows that nothing of it is there; of any other the
    objects are not shown, and what they say is in the conditions of its binding (`_seen`)."""
    silent = name in moment.silent
    behind = any(
        b.cluster == name and b.resource_snapshot is not None and moment.has.get(name) != b.generation
        for b in moment.bindings
    )
    return ClusterObservation(
        cluster=name,
        reachable=not silent,
        error="no route to host" if silent else "",
        observed=moment.now,
        live=dict.fromkeys(_OBJECTS) if behind and not silent else {},
        namespaces={},
    )


def _observed(moment: Moment) -> FleetState:
    """The state with what the clusters show of their bindings, and with what is on them as inventory."""
    state, record = moment.state, moment.record
    if record is None:
        return state
    bindings = tuple(_seen(moment, binding) for binding in record.bindings)
    return replace(
        state, placements={WEB: replace(record, bindings=bindings)}, inventory=dict.fromkeys(sorted(moment.has), _OWNED)
    )


def _seen(moment: Moment, binding: Binding) -> Binding:
    if binding.resource_snapshot is None or binding.deleting is not None or binding.cluster in moment.silent:
        return binding
    if moment.has.get(binding.cluster) != binding.generation:
        return binding
    up = moment.is_up(binding)
    found = (
        _condition(moment, binding, ConditionType.APPLIED, True, Reason.ALL_WORK_HAVE_BEEN_APPLIED),
        _condition(
            moment, binding, ConditionType.AVAILABLE, up,
            Reason.ALL_WORK_ARE_AVAILABLE if up else Reason.NOT_ALL_WORK_ARE_AVAILABLE,
        ),
    )  # fmt: skip
    kept = tuple(c for c in binding.conditions if c.type == ConditionType.ROLLOUT_STARTED)
    return replace(binding, conditions=(*kept, *found), applied_snapshot=binding.resource_snapshot)


def _condition(moment: Moment, binding: Binding, type_: ConditionType, true: bool, reason: Reason) -> Condition:
    status = Status.TRUE if true else Status.FALSE
    old = find_condition(binding.conditions, type_, generation=binding.generation)
    since = old.last_transition_time if old is not None and old.status is status else moment.now
    return Condition(
        type=type_.value,
        status=status,
        reason=reason.value,
        last_transition_time=since,
        observed_generation=binding.generation,
    )


def written(moment: Moment, decision: Decision) -> Moment:
    """The moment after the decision was pushed, with nothing of it done yet."""
    after = replace(moment, state=replace(decision.after, inventory={}))
    through = {
        (name, stage.name): moment.through.get((name, stage.name), moment.now)
        for name, run in after.runs.items()
        for stage in run.status.stages
        if is_through(stage)
    }
    return replace(after, through=through)


def performed(moment: Moment, decision: Decision) -> Moment:
    """The moment after the decision was carried out, wherever a cluster answers, and settled."""
    has = dict(moment.has)
    giving_up = set()
    for binding in decision.after.placements[WEB].bindings:
        if binding.cluster in moment.silent:
            continue
        if binding.deleting is not None:
            has.pop(binding.cluster, None)
            giving_up.add(binding.cluster)
        elif binding.resource_snapshot is not None:
            has[binding.cluster] = binding.generation
    leaving = any(cluster.deleting is not None for cluster in decision.after.clusters.values())
    state = moment.state
    if giving_up or leaving:
        done = replace(decision, after=replace(decision.after, inventory=dict.fromkeys(sorted(has), _OWNED)))
        settled, failures = reconcile.settle(done, (), (), moment.now, reconcile.Memo())
        assert not failures
        state = replace(settled, inventory={})
        has = {name: generation for name, generation in has.items() if name in settled.clusters}
    return replace(moment, state=state, has=has)


# The canonical form


def form_of(moment: Moment) -> Form:
    """What a moment is, without what nothing depends on."""
    now, record = moment.now, moment.record
    runs = sorted(moment.state.runs.values(), key=lambda run: (run.created, run.key))
    going = {run.key.name for run in runs if not run.finished}
    return (
        replace(moment.wish, freeze=None),
        max(0, -((now - moment.wish.freeze) // STEP)) if moment.wish.freeze is not None else 0,
        moment.failing,
        moment.silent,
        tuple(_binding_form(moment, binding) for binding in moment.bindings),
        tuple((s.name, s.hash) for s in record.resource_snapshots) if record is not None else (),
        tuple(_run_form(run, now) for run in runs),
        tuple(
            (key.name, tuple((c.type, c.status) for c in request.conditions))
            for key, request in moment.state.approvals.items()
            if request.parent_run in going
        ),
        tuple(
            (name, cluster.deleting is not None, _silence(cluster.status.agent, now))
            for name, cluster in moment.state.clusters.items()
        ),
        tuple((name, tuple((c.type, c.status) for c in e.conditions)) for name, e in moment.state.evictions.items()),
        tuple((key, _age(since, now)) for key, since in moment.through.items() if key[0] in going),
        tuple(moment.state.holds),
        tuple((one.digest, one.lifted) for one in moment.state.quarantines.values()),
    )


def _age(since: datetime, now: datetime) -> int:
    return min((now - since) // STEP, _OLDEST)


def _silence(agent: Any, now: datetime) -> int | None:
    healthy = find_condition(agent.conditions, "Healthy") if agent is not None else None
    if healthy is None or healthy.status is not Status.UNKNOWN:
        return None
    return _age(healthy.last_transition_time, now)


def _binding_form(moment: Moment, binding: Binding) -> Form:
    conditions = tuple(
        (c.type, c.status, c.reason, _age(c.last_transition_time, moment.now))
        for c in binding.conditions
        if c.observed_generation == binding.generation and c.type in (*_READ, ConditionType.ROLLOUT_STARTED)
    )
    had = moment.has.get(binding.cluster)
    return (
        binding.cluster, binding.state, binding.resource_snapshot, binding.deleting is not None,
        None if had is None else had == binding.generation, conditions,
    )  # fmt: skip


_READ: Final = (ConditionType.APPLIED, ConditionType.AVAILABLE)
_TIMED: Final = (RunConditionType.STARTED, RunConditionType.SOAKING, RunConditionType.ROLLED_BACK)


def _run_form(run: RunRecord, now: datetime) -> Form:
    phase = run_phase(run.status)
    if run.finished:
        return (run.key.name, phase)
    stages = tuple(_stage_form(stage, now) for stage in run.status.stages)
    deletion = run.status.deletion
    last = _stage_form(deletion, now) if deletion is not None else None
    return run.key.name, run.state, phase, run.status.resource_snapshot_index_used, stages, last


def _stage_form(stage: StageStatus, now: datetime) -> Form:
    since = find_condition(stage.conditions, "Progressing")
    tasks = tuple((c.type, c.status) for task in (*stage.before_tasks, *stage.after_tasks) for c in task.conditions)
    clusters = tuple(
        (
            c.cluster,
            cluster_phase(c),
            tuple((x.type, x.status, _age(x.last_transition_time, now)) for x in c.conditions if x.type in _TIMED),
            c.former,
        )
        for c in stage.clusters
    )
    return stage.name, stage_phase(stage), since and _age(since.last_transition_time, now), tasks, clusters
