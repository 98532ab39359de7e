"""A staged update run of one placement, pass by pass, without a fleet: what each pass changes, as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from io import StringIO
from typing import Any

from gitfleet.api.bindings import Binding
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.conditions import Conditions, Status, find_condition
from gitfleet.api.freeze_files import Freeze, FreezeRules
from gitfleet.api.freezes import FreezeScope
from gitfleet.api.labels import LabelSelector
from gitfleet.api.metrics import CanaryMetric, MetricProvider, MetricsRange, MetricTemplate, TemplateReference
from gitfleet.api.objects import Manifest, ObjectKey, Origin
from gitfleet.api.placements import Placement, PlacementKey, PlacementPolicy
from gitfleet.api.runs import ASKED_AT, ClusterUpdate, RunRecord, StageStatus
from gitfleet.api.snapshots import PolicySnapshot, ResourceSnapshot
from gitfleet.api.stage_tasks import StageTask, TaskType
from gitfleet.api.staged import DIGEST, SNAPSHOT_INDEX, RunState, Stage, StagedStrategy
from gitfleet.api.strategies import RollingUpdate, RolloutStrategy, RolloutStrategyType
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import MetricOutcome
from gitfleet.formats.times import EPOCH
from gitfleet.model.approvals import Verdict
from gitfleet.model.calls import MetricAnswer, MetricQuery
from gitfleet.model.state import PlacementRecord
from gitfleet.rollout import freezes_at, staged
from gitfleet.rollout.freezes import Freezes
from gitfleet.rollout.staged import RunRequest, RunStep, advance_run, steps
from gitfleet.rollout.staged.phases import RunPhase
from gitfleet.rollout.texts import RolloutText
from tests.rollout.builders import NOW, available, bound, condition, scheduled
from tests.texts import part

WEB = PlacementKey("", "web")
APPROVAL = StageTask(type=TaskType.APPROVAL)
ONE_PASS = (
    "frozen by",
    part(RolloutText.RUN_STARTS_NO_CLUSTER_WHILE),
    part(RolloutText.PLACEMENT_STILL_EARLIER_POLICY),
    part(RolloutText.STARTS_NO_FURTHER_CLUSTER),
)
STUCK = part(RolloutText.UPDATERUN_STUCK_WAITING_CLUSTER_STAGE)


def stage(name: str = "all", *, tier: str = "", **fields: Any) -> Stage:
    """A stage of all clusters, or of those of a tier."""
    selector = LabelSelector({"tier": tier} if tier else {})
    return Stage(name=name, label_selector=selector, **fields)


def snapshot(index: int) -> ResourceSnapshot:
    return ResourceSnapshot(
        placement=WEB, index=index, hash=f"hash-{index}", commit="c0ffee", created=NOW, documents=(), manifests=()
    )


def record(*bindings: Binding, policy: PlacementPolicy | None = None, period: int = 60) -> PlacementRecord:
    """An External placement with snapshots 0 and 1, of policy 0."""
    limits = RollingUpdate(unavailable_period_seconds=period)
    strategy = RolloutStrategy(type=RolloutStrategyType.EXTERNAL, rolling_update=limits)
    effective = policy or PlacementPolicy()
    return PlacementRecord(
        placement=Placement(key=WEB, selectors=(), policy=policy, strategy=strategy),
        resource_snapshots=(snapshot(0), snapshot(1)),
        policy_snapshots=(PolicySnapshot(placement=WEB, index=0, hash="p", policy=effective),),
        bindings=bindings,
    )


def had(clusters: str, **fields: Any) -> tuple[Binding, ...]:
    """Bindings that have snapshot 0, and are available with it."""
    return tuple(bound(name, available(), snapshot="web-0-snapshot", **fields) for name in clusters)


def approved(
    name: str, status: str = "True", why: str = "", *, age: float | None = 5, namespace: str = ""
) -> dict[NamespacedName, Verdict]:
    """What people's answers come to; `age` None leaves the time out."""
    given = EPOCH if age is None else NOW - timedelta(seconds=age)
    reason, _, message = why.partition(": ")
    answer = replace(condition("Approved", Status(status), reason), message=message, last_transition_time=given)
    return {NamespacedName(namespace, name): Verdict(answer=answer)}


def uncounted(name: str, why: str) -> dict[NamespacedName, Verdict]:
    """Answers that do not count."""
    return {NamespacedName("", name): Verdict(waits=why)}


def frozen(tier: str = "", until: float = 60, also: Freezes | None = None, **only: Any) -> Freezes:
    """A freeze of all clusters, or of those of a tier, of some placements or stages."""
    scope = FreezeScope(clusters=LabelSelector({"tier": tier}) if tier else None, **only)
    end = NOW + timedelta(seconds=until)
    freeze = Freeze(name=f"freeze{tier}", owner="ann", reason="a sale", until=end, scope=scope)
    found = freezes_at(FreezeRules(freezes=(freeze,)), NOW)
    return Freezes((*found.in_force, *(also.in_force if also else ())))


def trial(*stages: Stage, clusters: str = "ab", **fields: Any) -> Trial:
    """A new run `go` of `web` through these stages; a cluster whose letter is upper case is of tier gold."""
    names = fields.pop("bindings", None)
    bindings = tuple(scheduled(name.lower()) for name in clusters) if names is None else names
    orders = fields.pop("orders", {})
    members = (
        MemberCluster(name=c.lower(), labels={"tier": "gold" if c.isupper() else "tin", **orders.get(c, {})})
        for c in clusters
    )
    key = NamespacedName("", "all")
    own = NamespacedName(fields.pop("namespace", ""), "go")
    run = RunRecord(
        key=own,
        placement_name="web",
        strategy_name="all",
        created=NOW,
        resource_snapshot_index=fields.pop("index", None),
    )
    given: dict[str, Any] = {
        "run": run,
        "state": RunState.RUN,
        "record": record(*bindings),
        "scheduled": condition("Scheduled", Status.TRUE, "SchedulingPolicyFulfilled"),
        "strategy": StagedStrategy(key=key, stages=stages, membership=fields.pop("membership", None)),
        "clusters": {member.name: member for member in members},
        "now": NOW,
        "commit": "c0ffee",
    }
    return Trial(RunRequest(**{**given, **fields}))


def analysis(*metrics: CanaryMetric, **fields: Any) -> StageTask:
    """An Analysis of a rate of errors that must not be above 0.05, or of other metrics."""
    return StageTask(type=TaskType.ANALYSIS, metrics=metrics or (metric(),), **fields)


def metric(name: str = "errors", **fields: Any) -> CanaryMetric:
    """A metric of template shop/NAME that must not be above 0.05."""
    given: dict[str, Any] = {"metrics_range": MetricsRange(max=0.05)}
    return CanaryMetric(name=name, template_ref=TemplateReference(namespace="shop", name=name), **{**given, **fields})


def templates(**queries: str) -> Mapping[NamespacedName, MetricTemplate]:
    """The templates of namespace shop."""
    found = {NamespacedName("shop", name): query for name, query in queries.items()}
    provider = MetricProvider(address="http://prometheus.example")
    return {key: MetricTemplate(key=key, provider=provider, query=query) for key, query in found.items()}


def updated(*stages: Stage, clusters: str = "a", **given: Any) -> Trial:
    """A run whose first stage has updated these clusters, before the pass that sees that."""
    run = begun(*stages, clusters=clusters, **given)
    with redirect_stdout(StringIO()):
        run.go(5)
    run.observe(clusters.lower(), "Available")
    return run


def begun(*stages: Stage, **given: Any) -> Trial:
    """The same after its first pass."""
    run = trial(*stages, **given)
    with redirect_stdout(StringIO()):
        run.go()
    return run


@dataclass
class Trial:
    """`go` makes one pass; `observe` says what clusters answer."""

    request: RunRequest
    step: RunStep = field(init=False)

    def __post_init__(self) -> None:
        self.step = RunStep(run=self.request.run)

    def go(self, seconds: float = 0, **changes: Any) -> None:
        """One pass, so much later, printed: every condition, binding and request that it changes, and what it says."""
        before = self.request
        self.request = replace(before, now=before.now + timedelta(seconds=seconds), **changes)
        self.step = advance_run(self.request)
        for line in self._told():
            print(line)
        self._recorded_waits_are_said()
        self.request = replace(self.request, run=self.step.run, requests=self.step.requests)
        if self.request.record is not None:
            self.request = replace(self.request, record=replace(self.request.record, bindings=self.step.bindings))

    def _recorded_waits_are_said(self) -> None:
        """What is worked out from the record (`waits_of`) is what the pass itself says, and nothing of that is left
        out but what the pass alone knows, or what a run that stops or rolls back says beside that it does; only that
        it is stuck is said in KubeFleet's words there, and why an answer does not count only where that is recorded."""
        said = (*self.step.waiting, *self.step.asks)
        waits = staged.waits_of(self.step.run, self.step.requests, self.request.now)
        assert all(waits)
        for wait in waits:
            assert STUCK in wait or any(one.startswith(wait.partition(";")[0]) for one in said), (wait, said)
        if waits and steps.run_phase(self.step.run.status) in (RunPhase.STOPPING, RunPhase.ROLLING_BACK):
            return
        for one in (one for one in said if not any(text in one for text in ONE_PASS)):
            stuck = part(RolloutText.RUN_STUCK_STAGE) in one and any(STUCK in wait for wait in waits)
            assert stuck or any(one.startswith(wait.partition(";")[0]) for wait in waits), (one, waits)

    def measured(self, *values: float, seconds: float = 0) -> None:
        """One pass for which the queries of the last one have come to these values, in their order; NaN: no data."""
        answers = {
            call.id: MetricAnswer(
                id=call.id,
                at=self.request.now,
                outcome=MetricOutcome.NO_DATA if value != value else MetricOutcome.MEASURED,
                values=() if value != value else (value,),
            )
            for call, value in zip(self.step.calls, values, strict=True)
        }
        self.go(seconds, measured=answers)

    def binding(self, name: str) -> Binding:
        """The binding of a cluster that is not given up."""
        return next(b for b in self.step.bindings if b.cluster == name and b.deleting is None)

    def cluster(self, name: str) -> ClusterUpdate:
        """A cluster of the run."""
        stages = self.step.run.status.stages
        return next(cluster for stage in stages for cluster in stage.clusters if cluster.cluster == name)

    def without(self, name: str) -> None:
        """The binding of a cluster is gone."""
        assert self.request.record is not None
        left = tuple(b for b in self.request.record.bindings if b.cluster != name)
        self.request = replace(self.request, record=replace(self.request.record, bindings=left))

    def bind(self, *bindings: Binding) -> None:
        """Further bindings."""
        assert self.request.record is not None
        every = (*self.request.record.bindings, *bindings)
        self.request = replace(self.request, record=replace(self.request.record, bindings=every))

    def change(self, **fields: Any) -> None:
        """The placement is edited."""
        assert self.request.record is not None
        placement = replace(self.request.record.placement, **fields)
        self.request = replace(self.request, record=replace(self.request.record, placement=placement))

    def give(self, *objects: str) -> None:
        """What is in every snapshot of the placement: `group/version/kind/namespace/name`."""
        assert self.request.record is not None
        keys = [
            ObjectKey("", *one.split("/")) if one.count("/") == 3 else ObjectKey(*one.split("/")) for one in objects
        ]
        held = tuple(Manifest(key=key, body={}, digest="", origin=Origin("a.yaml", 1)) for key in keys)
        known = tuple(replace(one, manifests=held) for one in self.request.record.resource_snapshots)
        self.request = replace(self.request, record=replace(self.request.record, resource_snapshots=known))

    def tell_requests(self) -> None:
        """The approval requests, and what is asked of people."""
        for key, one in self.step.requests.items():
            print(f"{key}: {one.task} of {one.parent_run}, {one.target_stage}, created {self._when(one.created)}")
            print(f"  {one.annotations[SNAPSHOT_INDEX]} {one.annotations[ASKED_AT]} {one.annotations[DIGEST][:8]}")
            what = staged.asked(one)
            print(f"  {what.namespace}/{what.name} {' '.join(what.aliases)} {what.commit} {what.digest[:8]}")

    def observe(self, clusters: str, *said: str, ago: float = 0, **fields: Any) -> None:
        """Conditions of bindings at their generation: `Available`, or `Applied=False ApplyFailed`."""
        assert self.request.record is not None
        found = tuple(
            self._observed(b, said, ago, fields) if b.cluster in clusters else b for b in self.request.record.bindings
        )
        self.request = replace(self.request, record=replace(self.request.record, bindings=found))

    def _observed(self, binding: Binding, said: tuple[str, ...], ago: float, fields: Mapping[str, Any]) -> Binding:
        kept = {c.type: c for c in binding.conditions}
        for text in said:
            type_, _, reason = text.partition(" ")
            type_, _, status = type_.partition("=")
            age = (NOW - self.request.now).total_seconds() + ago
            kept[type_] = condition(type_, Status(status or "True"), reason, age=age, generation=binding.generation)
        return replace(binding, conditions=tuple(kept.values()), **fields)

    def _told(self) -> Iterator[str]:
        old, new = self.request.run, self.step.run
        if old.state != new.state:
            yield f"run is {new.state}"
        yield from self._changed("run", old.status.conditions, new.status.conditions)
        known = {one.name: one for one in (*old.status.stages, *([old.status.deletion] if old.status.deletion else []))}
        for one in (*new.status.stages, *([new.status.deletion] if new.status.deletion else [])):
            yield from self._told_of(known.get(one.name), one)
        listed = {(b.cluster, b.deleting is None): b for b in self.request.bindings}
        for binding in self.step.bindings:
            yield from self._told_of_binding(listed.get((binding.cluster, binding.deleting is None)), binding)
        for key, request in self.step.requests.items():
            before = self.request.requests.get(key)
            yield from self._changed(f"request {key}", before.conditions if before else (), request.conditions)
        yield from (f"move {one.cluster}: {one.kind}, {one.reason}" for one in self.step.moves)
        yield from (f"held {name}: {why}" for name, why in self.step.blocked.items())
        yield from (f"waits: {one}" for one in self.step.waiting)
        yield from (f"asks: {one}" for one in self.step.asks)
        for call in self.step.calls:
            if isinstance(call, MetricQuery):
                yield f"query {call.query} at {self._when(call.at)}"
        if self.step.clock is not None:
            yield f"again in {self.step.clock}"

    def _told_of(self, old: StageStatus | None, new: StageStatus) -> Iterator[str]:
        name = new.name.rpartition("/")[2]
        if (old.start_time if old else None) != new.start_time:
            yield f"{name} starts {self._when(new.start_time)}"
        if (old.end_time if old else None) != new.end_time:
            yield f"{name} ends {self._when(new.end_time)}"
        yield from self._changed(name, old.conditions if old else (), new.conditions)
        for at, task in enumerate((*new.before_tasks, *new.after_tasks)):
            known = (*old.before_tasks, *old.after_tasks)[at].conditions if old else ()
            yield from self._changed(f"{name}, {task.type}", known, task.conditions)
        clusters = {cluster.cluster: cluster for cluster in old.clusters} if old else {}
        for cluster in new.clusters:
            earlier = clusters.get(cluster.cluster)
            yield from self._changed(
                f"{name}/{cluster.cluster}", earlier.conditions if earlier else (), cluster.conditions
            )
            if cluster.former != (earlier.former if earlier else None):
                yield f"{name}/{cluster.cluster} had {cluster.former and cluster.former.resource_snapshot}"

    def _told_of_binding(self, old: Binding | None, new: Binding) -> Iterator[str]:
        if new == old:
            return
        started = find_condition(new.conditions, "RolloutStarted", generation=new.generation)
        said = started.message.partition(", ")[2] if started else "not started"
        if started and started.last_transition_time != self.request.now:
            said += f", {self._when(started.last_transition_time)}"
        gone = f", given up {self._when(new.deleting)}" if new.deleting else ""
        overrides = "".join(f" {one}" for one in (*new.cluster_resource_overrides, *new.resource_overrides))
        yield f"{new.cluster} gets {new.resource_snapshot}{overrides}, generation {new.generation}{gone} ({said})"

    def _changed(self, where: str, old: Conditions, new: Conditions) -> Iterator[str]:
        kept = {(c.type, c.status, c.reason, c.message, c.last_transition_time) for c in old}
        for c in new:
            if (c.type, c.status, c.reason, c.message, c.last_transition_time) not in kept:
                text = f": {c.message}" if c.message else ""
                since = "" if c.last_transition_time == self.request.now else f" {self._when(c.last_transition_time)}"
                yield f"{where} {c.type}={c.status} {c.reason}{since}{text}"
        for type_ in {c.type for c in old} - {c.type for c in new}:
            yield f"{where} {type_} is gone"

    def _when(self, moment: datetime | None) -> str:
        if moment is None:
            return "never"
        seconds = (self.request.now - moment).total_seconds()
        return f"{seconds:g} s ago" if seconds else "now"
