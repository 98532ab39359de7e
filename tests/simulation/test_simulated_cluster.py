"""The simulated cluster keeps the port's contract, and behaves by the rules of scenarios."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from gitfleet.adapters.kube import KubeClient, Timeouts
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.adapters.kube.wire import Wire
from gitfleet.api.objects import JsonObject, ObjectKey, key_of
from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from gitfleet.errors import BadInput
from gitfleet.model.observations import Availability
from gitfleet.observe import availability_of
from gitfleet.ports.clusters import ClusterClient
from gitfleet.simulation.clock import ManualClock
from gitfleet.simulation.cluster import ClusterEvent, SimulatedCluster, SimulatedCrash
from tests import builders as make
from tests.simulation.cluster_contract import ClusterBench, ClusterContract, short
from tests.simulation.held_contract import HeldContract
from tests.simulation.steps_contract import StepsContract


def client_of(cluster: SimulatedCluster, clock: ManualClock) -> ClusterClient:
    """The adapter that `simulate` uses, on one cluster."""
    timeouts = Timeouts(tries=1, definition_tries=1)
    return KubeClient(cluster.name, Wire(cluster.name, cluster, timeouts=timeouts), parallel=1, clock=clock)


def bench_on(cluster: SimulatedCluster, clock: ManualClock) -> ClusterBench:
    numbers = count()
    return ClusterBench(
        cluster=cluster.name,
        client=client_of(cluster, clock),
        fresh=lambda: f"ns-{next(numbers)}",
        by_hand=lambda key, patch: (cluster.mutate(key, patch), None)[1],
        by_another=lambda body, manager: (cluster.apply_by_hand(body, manager=manager), None)[1],
        wait=lambda: (clock.advance(5), None)[1],
    )


class Lab:
    """One simulated cluster with its clock and a bench."""

    def __init__(self, *rules: ClusterRule, labels: dict[str, str] | None = None) -> None:
        self.clock = ManualClock()
        self.heard: list[ClusterEvent] = []
        self.cluster = SimulatedCluster("c1", self.clock, rules=rules, labels=labels, listener=self.heard.append)
        self.bench = bench_on(self.cluster, self.clock)
        self.client = self.bench.client
        self.bench.have(make.namespace("app"))
        self.heard.clear()

    def verdict(self, body: JsonObject) -> Availability:
        return availability_of(self.bench.must_see(key_of(body)).body).availability

    def apply(self, body: JsonObject) -> tuple[bool, str]:
        return short(self.client.perform([self.bench.create(body)]))[0]


@pytest.fixture
def bench() -> ClusterBench:
    clock = ManualClock()
    return bench_on(SimulatedCluster("c1", clock), clock)


class TestContract(ClusterContract, StepsContract, HeldContract):
    """The same promises as the real adapter's."""


TRACKED: dict[str, Callable[[str], dict[str, Any]]] = {
    "Deployment": lambda image: make.deployment("app", "web", image, 4),
    "Deployment of one": lambda image: make.deployment("app", "web", image, 1),
    "Deployment by default": lambda image: make.deployment("app", "web", image, None),
    "Deployment of none": lambda image: make.deployment("app", "web", image, 0),
    "StatefulSet": lambda image: make.stateful_set("app", "db", image, 3),
    "StatefulSet of one": lambda image: make.stateful_set("app", "db", image, 1),
    "StatefulSet of none": lambda image: make.stateful_set("app", "db", image, 0),
    "DaemonSet": lambda image: make.daemon_set("app", "agent", image),
    "LoadBalancer": lambda image: make.service("app", "web", type_="LoadBalancer", port=80 + len(image)),
    "PodDisruptionBudget": lambda image: make.disruption_budget("app", "web", min_available=len(image)),
}


@pytest.mark.parametrize("kind", TRACKED)
def test_objects_become_available_five_seconds_after_their_spec_changed(kind: str) -> None:
    lab, body = Lab(), TRACKED[kind]("web:1")
    assert lab.apply(body) == (True, "Applied")
    assert lab.verdict(body) is Availability.NOT_YET
    assert lab.cluster.unavailable() == (key_of(body),)
    lab.clock.advance(4.9)
    assert lab.verdict(body) is Availability.NOT_YET
    lab.clock.advance(0.1)
    assert lab.verdict(body) is Availability.AVAILABLE
    assert (lab.cluster.unavailable(), lab.cluster.next_change()) == ((), None)


@pytest.mark.parametrize("kind", [kind for kind in TRACKED if kind != "LoadBalancer"])
def test_a_change_of_the_spec_makes_them_unavailable_again(kind: str) -> None:
    lab = Lab()
    lab.apply(TRACKED[kind]("web:1"))
    lab.clock.advance(60)
    changed = TRACKED[kind]("web:two")
    lab.apply(changed)
    assert lab.verdict(changed) is Availability.NOT_YET
    lab.clock.advance(5)
    assert lab.verdict(changed) is Availability.AVAILABLE


def test_a_job_runs_and_then_has_succeeded() -> None:
    lab, body = Lab(), make.job("app", "task")
    lab.apply(body)
    assert lab.verdict(body) is Availability.NOT_YET
    lab.clock.advance(5)
    assert lab.verdict(body) is Availability.AVAILABLE
    assert lab.bench.must_see(key_of(body)).body["status"]["succeeded"] == 1


AT_ONCE = [
    make.namespace("other"),
    make.config_map("app", "cm", {"k": "v"}),
    make.secret("app", "s", {"k": "v"}),
    make.service("app", "web"),
    make.service("app", "headless", type_="ClusterIP") | {"spec": {"clusterIP": "None"}},
    make.custom_definition("example.com", "Widget"),
    make.an_object("rbac.authorization.k8s.io/v1", "Role", "r", namespace="app", rules=[]),
]


@pytest.mark.parametrize("body", AT_ONCE, ids=lambda body: f"{body['kind']}-{body['metadata']['name']}")
def test_data_and_what_the_server_does_itself_is_there_at_once(body: dict[str, Any]) -> None:
    lab = Lab()
    lab.apply(body)
    assert lab.verdict(body) is Availability.AVAILABLE
    assert lab.cluster.unavailable() == ()


@pytest.mark.parametrize(
    ("status", "rules", "first"),
    [
        (True, (), Availability.NOT_YET),
        (False, (), Availability.NOT_TRACKABLE),
        (
            False,
            (ClusterRule(object=ObjectPattern(kind="Widget"), available=timedelta(seconds=5)),),
            Availability.NOT_YET,
        ),
    ],
)
def test_a_custom_object_is_ready_where_somebody_says_so(
    status: bool, rules: tuple[ClusterRule, ...], first: Availability
) -> None:
    lab = Lab(*rules)
    lab.apply(make.custom_definition("example.com", "Widget", status=status))
    widget = make.an_object("example.com/v1", "Widget", "w", namespace="app", spec={"size": 1})
    lab.apply(widget)
    assert lab.verdict(widget) is first
    lab.clock.advance(5)
    expected = Availability.AVAILABLE if first is Availability.NOT_YET else first
    assert lab.verdict(widget) is expected


def test_the_first_rule_that_matches_wins() -> None:
    lab = Lab(
        ClusterRule(object=ObjectPattern(image="*:bad"), available="never"), ClusterRule(available=timedelta(seconds=1))
    )
    lab.apply(make.deployment("app", "web", "web:bad"))
    lab.apply(make.deployment("app", "api", "api:1"))
    lab.clock.advance(1)
    assert lab.cluster.unavailable() == (key_of(make.deployment("app", "web")),)


def test_a_refusal_by_rule() -> None:
    lab = Lab(ClusterRule(object=ObjectPattern(kind="Deployment"), apply="fail"))
    body = make.deployment("app", "web")
    (outcome,) = lab.client.perform([lab.bench.create(body)])
    assert (outcome.ok, outcome.code, outcome.retry, outcome.live) == (False, "Invalid", False, None)
    assert outcome.message == "the API server of c1 refuses it, as the scenario says"
    assert lab.bench.see(key_of(body)) is None
    assert lab.apply(make.config_map("app", "cm")) == (True, "Applied")


def test_an_unreachable_cluster_goes_on_by_itself() -> None:
    lab, body = Lab(), make.deployment("app", "web")
    lab.apply(body)
    lab.cluster.reachable = False
    answer = lab.client.observe([key_of(body)])
    assert (answer.reachable, answer.error) == (
        False,
        KubeText.API_SERVER_NOT_ANSWER(name="c1", error="connection refused"),
    )
    assert (dict(answer.live), answer.namespaces) == ({}, None)
    (outcome,) = lab.client.perform([lab.bench.create(make.config_map("app", "cm"))])
    assert (outcome.ok, outcome.code, outcome.retry) == (False, "Unreachable", True)
    lab.clock.advance(5)
    assert lab.cluster.unavailable() == ()
    lab.cluster.reachable = True
    assert lab.verdict(body) is Availability.AVAILABLE
    assert lab.bench.see(key_of(make.config_map("app", "cm"))) is None


@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_a_crash_leaves_what_was_done(after: int) -> None:
    lab = Lab()
    bodies = [make.config_map("app", f"cm-{number}") for number in range(3)]
    operations = [lab.bench.create(body) for body in bodies]
    lab.cluster.crash.arm(after)
    with pytest.raises(SimulatedCrash):
        lab.client.perform(operations)
    assert [lab.cluster.get(key_of(body)) is not None for body in bodies] == [after > number for number in range(3)]
    assert short(lab.client.perform(operations)) == [(True, "Applied")] * 3


def test_a_namespace_goes_with_all_that_is_in_it() -> None:
    lab = Lab()
    held = make.config_map("app", "held")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    lab.bench.have(make.config_map("app", "cm"), held)
    home = lab.bench.must_see(key_of(make.namespace("app")))
    (outcome,) = lab.client.perform([lab.bench.delete(home.key, home.uid)])
    assert (outcome.ok, outcome.code) == (True, "Deleting")
    assert outcome.live is not None and outcome.live.body["status"] == {"phase": "Terminating"}
    assert lab.bench.see(key_of(make.config_map("app", "cm"))) is None
    assert lab.apply(make.config_map("app", "late")) == (False, "Forbidden")
    lab.cluster.mutate(key_of(held), [{"op": "remove", "path": "/metadata/finalizers"}])
    assert lab.bench.see(home.key) is None
    assert "app" not in (lab.client.observe([]).namespaces or {})


def test_a_definition_goes_with_its_objects() -> None:
    lab = Lab()
    definition = make.custom_definition("example.com", "Widget", namespaced=False)
    widget = make.an_object("example.com/v1", "Widget", "w", spec={})
    live, _ = lab.bench.have(definition, widget)
    lab.client.perform([lab.bench.delete(live.key, live.uid)])
    assert lab.bench.see(key_of(widget)) is None
    assert lab.apply(widget) == (False, "NeedsCRD")
    assert short(client_of(lab.cluster, lab.clock).perform([lab.bench.create(widget)])) == [(False, "NeedsCRD")]


def test_a_definition_that_is_never_established() -> None:
    lab = Lab(ClusterRule(object=ObjectPattern(kind="CustomResourceDefinition"), available="never"))
    definition = make.custom_definition("example.com", "Widget")
    widget = make.an_object("example.com/v1", "Widget", "w", namespace="app", spec={})
    outcomes = lab.client.perform(
        [lab.bench.create(definition), lab.bench.create(widget, wave=1, needs=(key_of(definition),))]
    )
    assert short(outcomes) == [(True, "Applied"), (False, "NeedsCRD")]
    assert lab.verdict(definition) is Availability.NOT_YET


def test_an_object_is_shown_in_the_version_asked_for() -> None:
    lab = Lab()
    scaler = make.an_object(
        "autoscaling/v2", "HorizontalPodAutoscaler", "web", namespace="app", spec={"maxReplicas": 3}
    )
    lab.apply(scaler)
    other = ObjectKey("autoscaling", "v1", "HorizontalPodAutoscaler", "app", "web")
    live = lab.bench.must_see(other)
    assert (live.key, live.body["apiVersion"]) == (other, "autoscaling/v1")
    assert live.uid == lab.bench.must_see(key_of(scaler)).uid


@pytest.mark.parametrize("kind", ["ConfigMap", "Secret"])
def test_what_is_immutable_stays_so(kind: str) -> None:
    lab = Lab()
    assert lab.apply(make.an_object("v1", kind, "x", namespace="app", immutable=True)) == (True, "Applied")
    assert lab.apply(make.an_object("v1", kind, "x", namespace="app", immutable=False)) == (False, "Invalid")


@pytest.mark.parametrize(
    ("key", "patch", "text"),
    [
        (key_of(make.config_map("app", "gone")), [], "ConfigMap/app/gone is not on c1"),
        (key_of(make.config_map("app", "cm")), [{"op": "remove", "path": "/data/x"}], "does not fit ConfigMap/app/cm"),
        (key_of(make.config_map("app", "cm")), [{"op": "test", "path": "/kind", "value": 1}], "does not fit"),
        (key_of(make.deployment("app", "web")), [{"op": "remove", "path": "/spec/selector"}], "field is immutable"),
    ],
)
def test_a_change_by_hand_that_cannot_be_made(key: ObjectKey, patch: list[JsonObject], text: str) -> None:
    lab = Lab()
    lab.bench.have(make.config_map("app", "cm"), make.deployment("app", "web"))
    with pytest.raises(BadInput, match=text):
        lab.cluster.mutate(key, patch)


def test_a_status_set_by_hand_lasts_until_the_controllers_write() -> None:
    lab, body = Lab(), make.deployment("app", "web")
    lab.apply(body)
    lab.clock.advance(5)
    live = lab.cluster.mutate(key_of(body), [{"op": "replace", "path": "/status/availableReplicas", "value": 0}])
    assert live.generation == 1
    assert lab.verdict(body) is Availability.NOT_YET
    lab.apply(make.deployment("app", "web", "web:2"))
    lab.clock.advance(5)
    assert lab.verdict(body) is Availability.AVAILABLE


def test_answers_never_change_after_they_were_given() -> None:
    lab, body = Lab(), make.deployment("app", "web")
    lab.apply(body)
    first = lab.bench.must_see(key_of(body))
    text = repr(first)
    lab.apply(make.deployment("app", "web", "web:2"))
    lab.clock.advance(5)
    lab.cluster.mutate(key_of(body), [{"op": "replace", "path": "/spec/replicas", "value": 7}])
    assert repr(first) == text
    assert lab.bench.must_see(key_of(body)).resource_version != first.resource_version


def test_the_listener_hears_when_objects_become_available() -> None:
    lab, body = Lab(), make.deployment("app", "web")
    start = lab.clock.now()
    lab.apply(body)
    lab.clock.advance(60)
    lab.client.observe([])
    assert lab.heard == [
        ClusterEvent(at=start, cluster="c1", what="apply", key=key_of(body)),
        ClusterEvent(at=start + timedelta(seconds=5), cluster="c1", what="available", key=key_of(body)),
    ]
