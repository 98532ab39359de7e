"""Random histories of one workload rollout: people edit, processes are killed, clusters go away, webhooks say no.

What must hold at every moment is checked whenever something happens on the cluster, and whenever time stands still.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import timedelta
from math import ceil
from random import Random
from typing import Any, Final

from gitfleet.api.objects import JsonObject
from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import BatchState, ClusterRolloutStatus, RollingState, RolloutRecord
from gitfleet.fleet.workload_rollouts import WorkloadRollouts
from gitfleet.formats.times import EPOCH
from gitfleet.loop.driver import Driver
from gitfleet.model.calls import Answers, Call, WebhookAnswer, WebhookCall, WebhookOutcome
from gitfleet.ports.transport import Request
from gitfleet.simulation.cluster import SimulatedCrash
from gitfleet.workload.goals import batches_for
from tests.builders import (
    an_object,
    deployment,
    fleet_config,
    member_cluster,
    namespace,
    path_of,
    placement,
    stateful_set,
)
from tests.scenarios.world import World

KEY: Final = NamespacedName("web", "web")
CLUSTER: Final = "c1"
_GATE: Final = "https://gate.example"
_AFTER_GATE: Final = frozenset({BatchState.IN_ROLLING, BatchState.VERIFYING, BatchState.FINALIZING, BatchState.READY})


@dataclass(slots=True)
class Gate:
    """A RolloutCalls whose webhooks answer at random, each question once: a repetition gets the answer of before."""

    random: Random
    rejects: float
    said: dict[str, WebhookOutcome] = field(default_factory=dict)
    asked: dict[str, WebhookCall] = field(default_factory=dict)

    def connection(self) -> GateConnection:
        """What one process has of it: its memory ends with the process."""
        return GateConnection(self)

    def answer(self, call: WebhookCall) -> WebhookOutcome:
        """What the server says; now and then nobody hears it."""
        self.asked[call.id] = call
        if self.random.random() < 0.2:
            return WebhookOutcome.FAILED
        if call.id not in self.said:
            no = self.random.random() < self.rejects
            self.said[call.id] = WebhookOutcome.REJECTED if no else WebhookOutcome.PASSED
        return self.said[call.id]


@dataclass(slots=True)
class GateConnection:
    """See Gate."""

    gate: Gate
    _answers: dict[str, WebhookAnswer] = field(default_factory=dict)

    def start(self, calls: Collection[Call]) -> None:
        """See RolloutCalls."""
        for call in calls:
            known = self._answers.get(call.id)
            if isinstance(call, WebhookCall) and (known is None or known.attempt != call.attempt):
                outcome = self.gate.answer(call)
                self._answers[call.id] = WebhookAnswer(id=call.id, at=EPOCH, outcome=outcome, attempt=call.attempt)

    def answers(self) -> Answers:
        """See RolloutCalls."""
        return dict(self._answers)

    def forget(self, ids: Collection[str]) -> None:
        """See RolloutCalls."""
        for one in ids:
            self._answers.pop(one, None)


@dataclass
class RolloutHistory:
    """One history, which follows from its seed."""

    seed: int
    random: Random = field(init=False)
    world: World = field(init=False)
    gate: Gate = field(init=False)
    kind: str = field(init=False)
    size: int = field(init=False)
    plan: dict[str, Any] = field(init=False)
    releases: int = 1
    """How many workloads there were of a pair, of which the last one is the target."""
    images: list[str] = field(default_factory=lambda: ["web:1"])
    """Every content that there was; the last one is that of now."""
    killing: bool = False
    there: bool = False
    last: ClusterRolloutStatus | None = None
    plan_of_last: Any = None
    checks: int = 0
    broken: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.kind = self.random.choice(["pair", "Deployment", "StatefulSet"])
        self.size = self.random.randint(1, 7)
        self.gate = Gate(self.random, rejects=self.random.choice([0.0, 0.0, 0.2]))
        self.plan = self._plan()
        bad = ClusterRule(object=ObjectPattern(image="*:bad-*"), available="never")
        self.world = World(rules=(bad,), start_with=self._start)
        self.world.watch = lambda happening: self._noted()

    # What happens

    def play(self) -> None:
        """From the first deployment to the end."""
        config = fleet_config(removals={"approval": "Never"})
        place = placement("web", "web", strategy={"rollingUpdate": {"unavailablePeriodSeconds": 1}})
        self.world.roll_out(config, member_cluster(CLUSTER), namespace("web"), place, self._workload("web-1"))
        self.killing = True
        self._upgrade()
        for _ in range(self.random.randint(2, 6)):
            self._settle(timedelta(seconds=self.random.choice([0, 3, 10, 120])))
            self.check()
            happens = [self._edit, self._pause, self._silence, self._wait, self._wait]
            happens += [self._other_content] * 2 + [self._release] * (self.kind == "pair")
            self.random.choice(happens)()
        self._open()
        self.killing = False
        self._settle(timedelta(hours=4))
        self.check()
        self.check_end()

    def _settle(self, limit: timedelta) -> None:
        """Until nothing moves any more; an answer wakes the process, as it does in `run`."""
        for _ in range(200):
            self.world.settle(limit, self._rested)
            calls = self.world.driver.clusters.workloads.calls
            if calls is None or not calls.answers():
                return
        raise AssertionError(f"seed {self.seed}: asked again and again")

    def _start(self, driver: Driver) -> None:
        driver.clusters.workloads = WorkloadRollouts(calls=self.gate.connection())
        driver.checkpoint = self._step
        driver.clusters.fanout = type(driver.clusters.fanout)(
            directory=driver.clusters.fanout.directory, executor=None, reach=self._step
        )

    def _step(self, step: str) -> None:
        if self.killing and self.random.random() < 0.02:
            raise SimulatedCrash(step)

    def _rested(self) -> None:
        self.check()

    def _noted(self) -> None:
        """What breaks amid a request would count as an answer of the cluster."""
        try:
            self.check()
        except AssertionError as broken:
            self.broken.append(str(broken))

    def _upgrade(self) -> None:
        self.images.append("web:2")
        self.releases = 2
        self.there = True
        self.world.commit(self._workload(self._target()), self._rollout())

    def _other_content(self) -> None:
        """Other content of the target while a rollout is under way, or over: new, of before, or never ready."""
        new = len(self.images) + 1
        self._give(self.random.choice([f"web:{new}", f"web:bad-{new}", self.random.choice(self.images)]))

    def _release(self) -> None:
        """Another workload is the target, and those of before are the sources; some of their manifests go."""
        gone = [deployment("web", name, "web:1") for name in (*self._sources(), self._target())]
        there = [one for one in gone if path_of(one) in self.world.repo.files("main") and self.random.random() < 0.5]
        self.releases += 1
        self.images.append(f"web:r{self.releases}")
        self.world.commit(self._workload(self._target()), self._rollout(), remove=there)

    def _give(self, image: str) -> None:
        self.images.append(image)
        self.world.commit(self._workload(self._target()), self._rollout())

    def _edit(self) -> None:
        batches = len(self.plan.get("rolloutBatches", ())) or self.plan.get("numBatches", 1)
        last = self.plan.get("lastBatchToRollout", batches)
        if last + 1 < batches:  # a number past the last batch is an error, and the version of before stays
            self.plan["lastBatchToRollout"] = last + 1
            self.world.commit(self._rollout())

    def _pause(self) -> None:
        self.plan["paused"] = not self.plan.get("paused", False)
        self.world.commit(self._rollout())

    def _silence(self) -> None:
        cluster = self.world.fleet.cluster(CLUSTER)
        cluster.reachable = not cluster.reachable

    def _wait(self) -> None:
        self.world.advance(seconds=self.random.choice([1, 30, 600]))

    def _open(self) -> None:
        """Nothing keeps it any more but webhooks."""
        self.world.fleet.cluster(CLUSTER).reachable = True
        self.plan.pop("lastBatchToRollout", None)
        self.plan["paused"] = False
        self._give("web:last" if "bad" in self.images[-1] else self.images[-1])

    # What is written

    def _plan(self) -> dict[str, Any]:
        random, plan = self.random, dict[str, Any]()
        decreases = random.random() < 0.4
        if decreases:
            plan["rolloutStrategy"] = "DecreaseFirst"
        if random.random() < 0.5:
            plan["numBatches"] = random.randint(1, 4)
        else:
            cuts = sorted(random.randint(0, self.size) for _ in range(random.randint(0, 3)))
            ends = [*cuts, self.size]
            counts = [end - begin for begin, end in zip([0, *cuts], ends, strict=True)]
            plan["rolloutBatches"] = [self._batch(count, decreases) for count in counts]
        if random.random() < 0.3:
            plan["lastBatchToRollout"] = 0
        if random.random() < 0.6:
            on_failure = random.choice(["wait", "fail", "rollback"])
            types = random.sample(
                ["initialize-rollout", "pre-batch-rollout", "post-batch-rollout", "finalize-rollout"], 2
            )
            plan["rolloutWebhooks"] = [
                {"type": one, "name": one, "url": _GATE, "onFailure": on_failure} for one in types
            ]
        return plan

    def _batch(self, count: int, decreases: bool) -> dict[str, Any]:
        batch: dict[str, Any] = {"replicas": count}
        if self.random.random() < 0.5:
            batch["maxUnavailable"] = self.random.randint(1 if decreases else 0, 2)
        if self.random.random() < 0.2:
            batch["instanceInterval"] = 5
        return batch

    def _target(self) -> str:
        return f"web-{self.releases}" if self.kind == "pair" else "web-1"

    def _sources(self) -> list[str]:
        return [f"web-{number}" for number in range(1, self.releases)] if self.kind == "pair" else []

    def _workload(self, name: str) -> JsonObject:
        make = stateful_set if self.kind == "StatefulSet" else deployment
        return make("web", name, self.images[-1], replicas=self.size)

    def _rollout(self) -> JsonObject:
        kind = "StatefulSet" if self.kind == "StatefulSet" else "Deployment"
        spec: dict[str, Any] = {
            "targetRef": {"apiVersion": "apps/v1", "kind": kind, "name": self._target()},
            "rolloutPlan": dict(self.plan),
        }
        if self.kind == "pair":
            spec["sourceRef"] = [{"apiVersion": "apps/v1", "kind": kind, "name": name} for name in self._sources()]
        return an_object("standard.oam.dev/v1alpha1", "RolloutTrait", "web", namespace="web", spec=spec)

    # What must hold

    def pods(self) -> list[JsonObject]:
        """The pods that are to stay."""
        cluster = self.world.fleet.cluster(CLUSTER)
        was, cluster.reachable = cluster.reachable, True
        found = cluster.request(Request(method="GET", path="/api/v1/namespaces/web/pods")).json()["items"]
        cluster.reachable = was
        return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]

    def _is_amid(self) -> bool:
        bodies = (self.world.live(CLUSTER, "Deployment", name, "web") for name in self._sources())
        return any(body["spec"].get("minReadySeconds", 0) > 10**6 for body in bodies if body is not None)

    def _is_broken(self, name: str) -> bool:
        body = self.world.live(CLUSTER, "Deployment", name, "web")
        if body is None:
            return False
        pods = {body["status"].get(field, 0) for field in ("replicas", "readyReplicas")}
        return pods != {body["spec"]["replicas"]}

    def record(self) -> RolloutRecord | None:
        """The rollout as the state branch has it."""
        return self.world.state().rollouts.get(KEY)

    def check(self) -> None:
        """Everything that must hold at every moment, once the rollout is there."""
        record = self.record() if self.there else None
        if record is None or not record.clusters:
            return
        status, pods = record.clusters[0], self.pods()
        self.checks += 1
        assert not self.broken, self.broken[0]
        about = f"seed {self.seed} {self.kind} {self.size} {self.plan} {status}"
        if status.mode is not None and status.is_running:
            self._check_bounds(record, status, pods, about)
        self._check_gate(record, status, about)
        self._check_terminal(record, status, about)
        self.last, self.plan_of_last = status, record.rollout_plan

    def _check_bounds(
        self, record: RolloutRecord, status: ClusterRolloutStatus, pods: list[JsonObject], about: str
    ) -> None:
        batches = batches_for(record.rollout_plan, status)
        strategy = record.rollout_plan.rollout_strategy
        largest = max(batch.upgraded - batch.before for batch in batches)
        self._check_ready(record, status, pods, about)
        most = self.size + (largest if strategy == "IncreaseFirst" and self.kind != "StatefulSet" else 0)
        if self.kind == "pair" and len(self.images) > 2:
            most += ceil(status.target_size / 4)  # other content of the target, by its own strategy
        if self.kind == "pair" and self._is_amid():
            most += largest  # a source that was in place half way keeps its pods in excess until it has none
        assert len(pods) <= most, f"{len(pods)} pods, {most} may be: {about}"

    def _check_ready(
        self, record: RolloutRecord, status: ClusterRolloutStatus, pods: list[JsonObject], about: str
    ) -> None:
        strategy = record.rollout_plan.rollout_strategy
        batches = batches_for(record.rollout_plan, status)
        missing = max(batch.unavailable(strategy, status.target_size) for batch in batches)
        if self.kind == "StatefulSet":
            missing = max(1, missing)
        ready = sum(map(_is_ready, pods))
        if self.kind == "pair" and len(self.images) > 2:
            missing += status.target_size // 4  # other content of the target, by its own strategy
        if self.kind == "pair" and self._is_amid():
            # As a source with pods of two contents gets smaller, its controller takes of both.
            missing += sum(not _is_ready(pod) for pod in pods)
        assert ready >= self.size - missing, f"{ready} of {self.size} ready, {missing} may be not: {about}"

    def _check_gate(self, record: RolloutRecord, status: ClusterRolloutStatus, about: str) -> None:
        gated = any(hook.type == "pre-batch-rollout" for hook in record.rollout_plan.webhooks)
        if not gated or status.batch_rolling_state not in _AFTER_GATE:
            return
        passed = [
            call
            for call in self.gate.asked.values()
            if call.body["type"] == "pre-batch-rollout"
            and call.body["batch"] == status.current_batch
            and self.gate.said.get(call.id) is WebhookOutcome.PASSED
        ]
        assert passed, f"batch {status.current_batch} began before its gate: {about}"

    def _check_terminal(self, record: RolloutRecord, status: ClusterRolloutStatus, about: str) -> None:
        last = self.last
        if last is None or not last.is_over or last.mode is None:
            return
        same = (last.new_template, last.target, self.plan_of_last) == (
            status.new_template, status.target, record.rollout_plan,
        )  # fmt: skip
        if same and last.attempt == status.attempt:
            assert status.rolling_state in (last.rolling_state, RollingState.VERIFYING_SPEC), about

    def check_end(self) -> None:
        """Where nothing rejected, all pods have the newest content, and the workloads are as their manifests say."""
        record = self.record()
        assert record is not None
        (status,) = record.clusters
        about = f"seed {self.seed} {self.kind} {self.size} {self.plan} {status}"
        if status.rolling_state is RollingState.VERIFYING_SPEC:  # back before it began: there is nothing to roll out
            assert status.mode is None and self.images[-1] in self.images[:-1], about
        elif status.is_running and any(map(self._is_broken, self._sources())):
            return  # it waits for a source that never gets the pods that it asks for: a person has to act
        else:
            assert status.rolling_state in (RollingState.SUCCEEDED, RollingState.FAILED), about
        pods = self.pods()
        images = {pod["spec"]["containers"][0]["image"] for pod in pods}
        if status.rolling_state is not RollingState.FAILED:
            assert (len(pods), images) == (self.size, {self.images[-1]}), f"{len(pods)} {images} {about}"
            assert all(map(_is_ready, pods)), about
        else:
            assert self.gate.rejects > 0, about
            self._check_ready(record, status, pods, about)


def _is_ready(pod: JsonObject) -> bool:
    return any(one["type"] == "Ready" and one["status"] == "True" for one in pod["status"].get("conditions", ()))
