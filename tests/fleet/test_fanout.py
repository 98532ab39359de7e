"""Many clusters at once: one that does not answer holds nobody up, and nobody else uses its client meanwhile."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event

import pytest

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import Manifest, ObjectKey, key_of
from gitfleet.api.placements import PlacementKey
from gitfleet.api.values import NamespacedName
from gitfleet.branches.steps import Step
from gitfleet.errors import ClusterUnreachable, MissingPart, Stopped
from gitfleet.fleet.fanout import Fanout
from gitfleet.fleet.texts import FleetText
from gitfleet.model.observations import ClusterObservation, DryRun, LiveObject
from gitfleet.model.operations import (
    Create,
    Delete,
    DeletePod,
    Outcome,
    OutcomeCode,
    RolloutOutcome,
    RolloutWrite,
    Update,
)
from tests.builders import config_map, manifest_of

KEY = key_of(config_map("shop", "a"))
CLUSTERS = {name: MemberCluster(name=name) for name in ("a", "b", "c")}
KEYS = dict.fromkeys(CLUSTERS, (KEY,))


@dataclass
class Client:
    """One cluster; `hold` blocks it, `fault` is raised."""

    name: str
    hold: Event | None = None
    fault: Exception | None = None
    calls: int = 0

    def observe(self, keys: Collection[ObjectKey], *, probe: bool = True) -> ClusterObservation:
        self._act()
        return ClusterObservation(cluster=self.name, reachable=True, live=dict.fromkeys(keys))

    def dry_run(self, questions: Sequence[tuple[Manifest, LiveObject]]) -> Sequence[DryRun]:
        self._act()
        return [DryRun(live.body, manifest.body) for manifest, live in questions]

    def perform(self, operations: Sequence[Create | Update | Delete]) -> Sequence[Outcome]:
        self._act()
        return [Outcome(operation=operation, ok=True, code=OutcomeCode.APPLIED) for operation in operations]

    def pods(self, workloads: Sequence[LiveObject]) -> Mapping[ObjectKey, tuple[LiveObject, ...]]:
        self._act()
        return {one.key: (one,) for one in workloads}

    def perform_steps(self, steps: Sequence[RolloutWrite]) -> Sequence[RolloutOutcome]:
        self._act()
        return [RolloutOutcome(operation=step, ok=True, code=OutcomeCode.APPLIED) for step in steps]

    def close(self) -> None:
        """Nothing to let go."""

    def _act(self) -> None:
        self.calls += 1
        if self.hold is not None:
            assert self.hold.wait(60)
        if self.fault is not None:
            raise self.fault


@dataclass
class Directory:
    """Three clients."""

    clients: dict[str, Client] = field(default_factory=lambda: {name: Client(name) for name in CLUSTERS})
    missing: frozenset[str] = frozenset()

    def reader(self, cluster: MemberCluster) -> Client:
        return self.client(cluster)

    def client(self, cluster: MemberCluster) -> Client:
        if cluster.name in self.missing:
            raise MissingPart(f"no kubeconfig was given for {cluster.name}")
        return self.clients[cluster.name]


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(max_workers=4) as made:
        yield made


def create(cluster: str, name: str = "a") -> Create:
    manifest = manifest_of(config_map("shop", name))
    return Create(cluster=cluster, placement=PlacementKey("", "web"), manifest=manifest, wave=0, reason="is new")


def reached(observations: dict[str, ClusterObservation]) -> dict[str, bool]:
    return {name: answer.reachable for name, answer in observations.items()}


def busy(name: str) -> str:
    return FleetText.STILL_BUSY_EARLIER_CALL(name=name)


def test_a_silent_cluster_costs_its_own_answer_only(executor: ThreadPoolExecutor) -> None:
    directory, gate = Directory(), Event()
    directory.clients["b"].hold = gate
    fanout = Fanout(directory=directory, executor=executor, timeout=0.2)

    observations = fanout.observe(CLUSTERS, KEYS)
    assert reached(observations) == {"a": True, "b": False, "c": True}
    assert observations["b"].error == FleetText.NOT_ANSWER_WITHIN(name="b", timeout=0.1)

    # Its call goes on: until it ends nobody else may talk to that cluster, neither to look nor to write.
    again = fanout.observe(CLUSTERS, KEYS)
    assert again["b"].error == busy("b")
    assert directory.clients["b"].calls == 1

    gate.set()
    executor.submit(lambda: None).result()
    while not fanout._busy["b"].done():
        pass
    assert reached(fanout.observe(CLUSTERS, KEYS)) == dict.fromkeys("abc", True)


def test_faults_of_a_client_are_answers(executor: ThreadPoolExecutor) -> None:
    directory = Directory(missing=frozenset("a"))
    directory.clients["b"].fault = ClusterUnreachable("b: connection refused")
    directory.clients["c"].fault = ValueError("hunter2")
    for chosen in (executor, None):
        observations = Fanout(directory=directory, executor=chosen).observe(CLUSTERS, KEYS)
        assert observations["a"].error == "no kubeconfig was given for a"
        assert observations["b"].error == "b: connection refused"
        assert re.fullmatch(r"c: unexpected ValueError \(report [0-9a-f]{8}\)", observations["c"].error)


def test_a_tick_that_is_given_up_does_not_wait_for_its_patience(
    executor: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitfleet.fleet.fanout._GRACE", 0.05)
    directory, gate = Directory(), Event()
    directory.clients["b"].hold = gate
    fanout = Fanout(directory=directory, executor=executor, timeout=3600, stopped=lambda: True)
    with pytest.raises(Stopped):
        fanout.observe(CLUSTERS, KEYS)
    gate.set()


HANGING = [f"h{number}" for number in range(6)]
ANSWERING = ["x", "z"]


@dataclass
class Hanging(Directory):
    """Clusters that are given up after a while, of which each takes a worker, beside some that answer."""

    called: set[str] = field(default_factory=set)

    def client(self, cluster: MemberCluster) -> Client:
        self.called.add(cluster.name)
        if cluster.name in HANGING:
            Event().wait(0.2)
            raise ClusterUnreachable(f"{cluster.name}: no response")
        return Client(cluster.name)


def test_hanging_clusters_starve_nobody_and_one_that_was_not_asked_is_not_silent() -> None:
    clusters = {name: MemberCluster(name=name) for name in [*HANGING, *ANSWERING]}
    directory, answered = Hanging(), set[str]()
    with ThreadPoolExecutor(max_workers=1) as one:
        fanout = Fanout(directory=directory, executor=one, timeout=0.6)
        for number in range(len(clusters)):
            directory.called.clear()
            observed = fanout.observe(clusters, dict.fromkeys(clusters, ()))
            left = {name: o.error for name, o in observed.items() if not o.attempted}
            assert directory.called.isdisjoint(left) and (left or number)
            assert directory.called | left.keys() >= {n for n, o in observed.items() if o.error != busy(n)}
            assert left == {name: FleetText.NOT_ASKED_WITHIN(name=name, timeout=0.6) for name in left}
            assert answered.isdisjoint(left), "those that answered come first"
            answered |= {name for name, o in observed.items() if o.reachable}
    assert answered == set(ANSWERING), "everybody has a turn"


def test_only_the_clusters_that_are_asked_for_are_looked_at() -> None:
    directory = Directory()

    def asked() -> list[int]:
        return [directory.clients[name].calls for name in "abc"]

    assert reached(Fanout(directory=directory, executor=None).observe(CLUSTERS, {"b": ()})) == {"b": True}
    assert asked() == [0, 1, 0]


def test_every_operation_has_its_outcome_also_on_a_cluster_that_does_not_answer(executor: ThreadPoolExecutor) -> None:
    directory, gate = Directory(), Event()
    directory.clients["b"].hold = gate
    fanout = Fanout(directory=directory, executor=executor, timeout=0.2)
    operations = {"c": [create("c")], "b": [create("b"), create("b", "z")], "a": []}
    outcomes = fanout.perform(CLUSTERS, operations)
    assert [(o.operation.cluster, o.ok, o.code, o.message) for o in outcomes] == [
        ("b", False, "Unreachable", FleetText.NOT_ANSWER_WITHIN(name="b", timeout=0.1)),
        ("b", False, "Unreachable", FleetText.NOT_ANSWER_WITHIN(name="b", timeout=0.1)),
        ("c", True, "Applied", ""),
    ]
    assert directory.clients["a"].calls == 0, "a cluster without operations is not asked"
    observed = fanout.observe(CLUSTERS, KEYS)
    assert observed["b"].error == busy("b"), "the writes may still be under way"
    gate.set()


def test_every_step_of_a_rollout_has_its_outcome_and_a_name_before_and_after_it(executor: ThreadPoolExecutor) -> None:
    directory, gate, named = Directory(missing=frozenset("a")), Event(), list[str]()
    directory.clients["b"].hold = gate
    fanout = Fanout(directory=directory, executor=executor, timeout=0.2, reach=named.append)
    key = ObjectKey("", "v1", "Pod", "shop", "p")
    rollout = NamespacedName("shop", "web")
    steps = [DeletePod(cluster=name, rollout=rollout, reason="", key=key, uid="u") for name in "cabc"]
    outcomes = fanout.perform_steps(CLUSTERS, steps)
    assert [(o.operation.cluster, o.ok, o.code, o.message) for o in outcomes] == [
        ("a", False, "Unreachable", "no kubeconfig was given for a"),
        ("b", False, "Unreachable", FleetText.NOT_ANSWER_WITHIN(name="b", timeout=0.1)),
        ("c", True, "Applied", ""),
        ("c", True, "Applied", ""),
    ]
    assert named == [Step.CLUSTER_WRITE, Step.CLUSTER_WRITE, Step.CLUSTER_WRITTEN]
    assert fanout.observe(CLUSTERS, KEYS)["b"].error == busy("b")
    gate.set()


def test_pods_are_those_of_clusters_that_answer(executor: ThreadPoolExecutor) -> None:
    directory = Directory()
    directory.clients["b"].fault = ClusterUnreachable("b: connection refused")
    live = LiveObject(ObjectKey("apps", "v1", "StatefulSet", "shop", "db"), {})
    found = Fanout(directory=directory, executor=executor).pods(CLUSTERS, {"a": [live], "b": [live], "c": []})
    assert found == {"a": {live.key: (live,)}, "b": {}}
    assert directory.clients["c"].calls == 0, "a cluster without such workloads is not asked"
