"""The simulated API server keeps the contract of pods, and behaves by the rules of scenarios."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitfleet.api.objects import GroupKind, JsonObject, key_of
from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from gitfleet.model.observations import Availability
from gitfleet.observe import availability_of
from gitfleet.ports.transport import Request
from gitfleet.simulation.clock import ManualClock
from gitfleet.simulation.cluster import ClusterEvent, SimulatedCluster
from gitfleet.simulation.fleet import SimulatedFleet
from gitfleet.simulation.pods.model import MOST_PODS, share
from gitfleet.simulation.refusals import Refused
from tests import builders as make
from tests.profiles import examples
from tests.simulation.pods_contract import (
    HELD,
    NEVER,
    RELEASED,
    PodsContract,
    Side,
    image_of,
    images,
    is_ready,
    partition,
    rolling,
    template,
)

BAD = ClusterRule(object=ObjectPattern(image="*:bad"), available="never")
SLOW = ClusterRule(object=ObjectPattern(image="*:slow"), available=timedelta(seconds=60))


class Lab:
    """One simulated cluster with its clock, and requests to it."""

    def __init__(self, *rules: ClusterRule, nodes: int = 3) -> None:
        self.clock = ManualClock()
        self.heard: list[ClusterEvent] = []
        self.cluster = SimulatedCluster("c1", self.clock, rules=(*rules, BAD, SLOW), listener=self.heard.append)
        self.cluster.memory.nodes = nodes
        self.cluster.apply_by_hand(make.namespace("app"))
        self.side = Side(self.cluster, "app", wait=lambda: (self.clock.advance(5), None)[1], nodes=nodes)

    def status(self, body: JsonObject) -> JsonObject:
        live = self.cluster.get(key_of(body))
        assert live is not None
        status: JsonObject = live.body["status"]
        return status

    def verdict(self, body: JsonObject) -> Availability:
        live = self.cluster.get(key_of(body))
        assert live is not None
        return availability_of(live.body).availability

    def get(self, path: str, **query: str) -> Any:
        return self.cluster.request(Request(method="GET", path=path, query=query)).json()


class TestPodsContract(PodsContract):
    """The same tests as on a real API server."""

    @pytest.fixture
    def side(self) -> Side:
        return Lab().side


ORDINARY: dict[str, tuple[GroupKind, Callable[[str, int], dict[str, Any]]]] = {
    "Deployment": (GroupKind("apps", "Deployment"), lambda image, size: make.deployment("app", "web", image, size)),
    "StatefulSet": (GroupKind("apps", "StatefulSet"), lambda image, size: make.stateful_set("app", "web", image, size)),
    "DaemonSet": (GroupKind("apps", "DaemonSet"), lambda image, size: make.daemon_set("app", "web", image)),
}


def test_what_is_kept_in_the_middle_has_settled() -> None:
    lab, web = Lab(), make.deployment("app", "web", "web:1", 4)
    lab.side.apply(web)
    lab.side.at_rest(web)
    lab.heard.clear()
    lab.side.changed(web, {"paused": True, **template("web:2")})
    lab.side.patch(web, {**HELD, **rolling(1, 0)})
    assert (lab.cluster.unavailable(), lab.cluster.next_change()) == (
        (key_of(web),),
        lab.clock.now() + timedelta(seconds=5),
    )
    lab.clock.advance(5)
    assert (lab.cluster.unavailable(), lab.cluster.next_change()) == ((), None)
    assert lab.verdict(web) is Availability.NOT_YET
    assert "available" not in [event.what for event in lab.heard]
    lab.side.changed(web, {**RELEASED, **rolling("25%", "25%")})
    assert lab.verdict(web) is Availability.AVAILABLE
    assert [event.what for event in lab.heard].count("available") == 1


def test_a_batch_that_is_not_ready_has_not_settled() -> None:
    lab, web = Lab(), make.deployment("app", "web", "web:1", 4)
    lab.side.apply(web)
    lab.clock.advance(5)
    lab.side.changed(web, {"paused": True, **template("web:bad")})
    lab.side.changed(web, {**HELD, **rolling(1, 0)})
    assert (lab.cluster.unavailable(), lab.cluster.next_change()) == ((key_of(web),), None)


def test_pods_are_available_when_they_were_ready_for_some_time() -> None:
    lab, web = Lab(), make.deployment("app", "web", "web:1", 2)
    web["spec"]["minReadySeconds"] = 30
    start = lab.clock.now()
    lab.side.apply(web)
    seen = []
    while (moment := lab.cluster.next_change()) is not None:
        lab.clock.advance((moment - lab.clock.now()).total_seconds())
        seen.append(((lab.clock.now() - start).total_seconds(), lab.side.counts(web)))
    assert seen == [(5, (2, 2, 2, 0)), (35, (2, 2, 2, 2))]
    assert lab.verdict(web) is Availability.AVAILABLE


def test_each_image_takes_its_own_time() -> None:
    lab, web = Lab(), make.stateful_set("app", "web", "web:1", 3)
    lab.side.apply(web)
    lab.clock.advance(5)
    lab.side.patch(web, {**partition(2), **template("web:slow")})
    lab.clock.advance(60)
    assert [is_ready(pod) for pod in lab.side.pods()] == [True, True, True]
    lab.side.patch(web, partition(1))
    lab.clock.advance(59)
    assert [is_ready(pod) for pod in lab.side.pods()] == [True, False, True]
    lab.side.delete_pod("web-0")
    lab.clock.advance(5)
    assert [(image_of(pod), is_ready(pod)) for pod in lab.side.pods()] == [
        ("web:1", True),
        ("web:slow", True),
        ("web:slow", True),
    ]


def test_a_change_without_new_pods_takes_its_time_where_nothing_is_held() -> None:
    lab, web = Lab(), make.deployment("app", "web", "web:1", 4)
    lab.side.apply(web)
    lab.clock.advance(5)
    lab.side.patch(web, {"replicas": 2})
    assert (lab.side.counts(web), len(lab.side.pods())) == ((-1, 4, 4, 4, 4), 4)
    lab.clock.advance(5)
    assert (lab.side.counts(web), len(lab.side.pods())) == ((2, 2, 2, 2), 2)


def test_pods_of_a_daemon_set_are_on_nodes() -> None:
    lab, agent = Lab(nodes=2), make.daemon_set("app", "agent", "web:1")
    lab.side.apply(agent)
    lab.side.at_rest(agent)
    assert sorted(pod["spec"]["nodeName"] for pod in lab.side.pods("app=agent")) == ["node-0", "node-1"]
    lab.cluster.memory.nodes = 3
    assert lab.side.changed(agent, {**template("web:2"), "revisionHistoryLimit": 3}) == (3, 3, 3, 3)
    before = {pod["metadata"]["name"]: pod for pod in lab.side.pods("app=agent")}
    assert len(before) == 3
    surging = {"updateStrategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}, **template("web:bad")}
    assert lab.side.changed(agent, surging) == (0, 3, 3, 3)
    assert sorted(images(lab.side.pods("app=agent"))) == ["web:2"] * 3 + ["web:bad"]
    assert lab.side.changed(agent, template("web:3")) == (3, 3, 3, 3)
    assert sorted(images(lab.side.pods("app=agent"))) == ["web:3"] * 3


CLONE_SET = "/apis/apps.kruise.io/v1alpha1/namespaces/app/clonesets/web"
CLONE_COUNTS = ("updatedReplicas", "updatedReadyReplicas", "readyReplicas", "replicas", "expectedUpdatedReplicas")
STEPS: list[tuple[str, list[tuple[JsonObject, tuple[int, ...]]]]] = [
    (
        "a partition that goes down",
        [
            ({"partition": 5, "image": "web:2"}, (0, 0, 5, 5, 0)),
            ({"partition": 3}, (2, 2, 5, 5, 2)),
            ({"partition": "20%"}, (4, 4, 5, 5, 4)),
            ({"partition": 0}, (5, 5, 5, 5, 5)),
        ],
    ),
    (
        "a partition that is raised takes pods back",
        [
            ({"partition": 1, "image": "web:2"}, (4, 4, 5, 5, 4)),
            ({"partition": 3}, (2, 2, 5, 5, 2)),
            ({"partition": 5}, (0, 0, 5, 5, 0)),
        ],
    ),
    (
        "a pause",
        [
            ({"paused": True, "image": "web:2"}, (0, 0, 5, 5, 5)),
            ({"replicas": 7}, (2, 2, 7, 7, 7)),
            ({"paused": False}, (7, 7, 7, 7, 7)),
        ],
    ),
    ("below 100 % one is updated", [({"partition": "99%", "image": "web:2"}, (1, 1, 5, 5, 1))]),
    (
        "pods that never become ready",
        [
            ({"image": "web:bad"}, (1, 0, 4, 5, 5)),
            ({"maxUnavailable": "60%"}, (3, 0, 2, 5, 5)),
            ({"image": "web:2"}, (5, 5, 5, 5, 5)),
        ],
    ),
    (
        "a surge",
        [
            ({"image": "web:bad", "maxSurge": 2, "maxUnavailable": 0}, (2, 0, 5, 7, 5)),
            ({"image": "web:2"}, (5, 5, 5, 5, 5)),
        ],
    ),
    ("fewer pods", [({"partition": 2, "image": "web:2"}, (3, 3, 5, 5, 3)), ({"replicas": 3}, (1, 1, 3, 3, 1))]),
]


@pytest.mark.parametrize("steps", [steps for _, steps in STEPS], ids=[name for name, _ in STEPS])
def test_a_clone_set(steps: list[tuple[JsonObject, tuple[int, ...]]]) -> None:
    lab = Lab()
    definition = make.custom_definition("apps.kruise.io", "CloneSet")
    definition["spec"]["versions"][0]["name"] = "v1alpha1"
    lab.cluster.apply_by_hand(definition)
    clones = make.deployment("app", "web", "web:1", 5)
    clones |= {"apiVersion": "apps.kruise.io/v1alpha1", "kind": "CloneSet"}
    lab.cluster.apply_by_hand(clones)
    lab.clock.advance(5)
    assert counts_of(lab.status(clones)) == (5, 5, 5, 5, 5)
    revision = lab.status(clones)["currentRevision"]
    for step, expected in steps:
        image, replicas = step.get("image"), step.get("replicas")
        strategy = {name: value for name, value in step.items() if name not in ("image", "replicas")}
        spec = {"updateStrategy": strategy} if strategy else {}
        spec |= template(image) if image else {}
        spec |= {"replicas": replicas} if replicas is not None else {}
        query, headers = {"fieldManager": "me"}, {"Content-Type": "application/merge-patch+json"}
        patch = Request(method="PATCH", path=CLONE_SET, query=query, body={"spec": spec}, headers=headers)
        assert lab.cluster.request(patch).status == 200
        lab.clock.advance(30)
        status = lab.status(clones)
        assert counts_of(status) == expected
        assert len(lab.side.pods()) == status["replicas"]
        assert (status["currentRevision"] != revision) is (status["updatedReplicas"] == status["replicas"])
        assert status["labelSelector"] == "app=web"


def counts_of(status: JsonObject) -> tuple[int, ...]:
    return tuple(int(status.get(name) or 0) for name in CLONE_COUNTS)


def test_pods_are_listed_like_objects() -> None:
    lab = Lab()
    lab.cluster.apply_by_hand(make.namespace("other"))
    for home in ("app", "other"):
        lab.cluster.apply_by_hand(make.deployment(home, "web", "web:1", 2))
    lab.cluster.apply_by_hand(make.an_object("v1", "Pod", "alone", namespace="app", spec={}, labels={"app": "web"}))
    found = lab.get("/api/v1/pods")["items"]
    assert [pod["metadata"]["namespace"] for pod in found] == ["app", "app", "app", "other", "other"]
    page = lab.get("/api/v1/pods", limit="2", labelSelector="app=web")
    rest = lab.get("/api/v1/pods", labelSelector="app=web", **{"continue": page["metadata"]["continue"]})
    assert [*page["items"], *rest["items"]] == found
    name = found[-1]["metadata"]["name"]
    path = f"/api/v1/namespaces/other/pods/{name}"
    assert lab.get(path) == found[-1]
    assert lab.cluster.request(Request(method="DELETE", path="/api/v1/namespaces/app/pods/alone")).status == 200
    assert len(lab.get("/api/v1/pods")["items"]) == 4
    lab.cluster.delete_by_hand(key_of(make.deployment("other", "web")))
    assert lab.cluster.request(Request(method="GET", path=path)).status == 404
    lab.cluster.delete_by_hand(key_of(make.namespace("app")))
    assert lab.get("/api/v1/pods")["items"] == []


def test_names_of_pods_are_their_own() -> None:
    lab, web = Lab(), make.deployment("app", "web", "web:1", MOST_PODS)
    lab.side.apply(web)
    names = [pod["metadata"]["name"] for pod in lab.side.pods()]
    assert len(set(names)) == MOST_PODS


def test_a_workload_of_too_many_pods_is_refused() -> None:
    with pytest.raises(Refused, match=f"at most {MOST_PODS} pods"):
        Lab().cluster.apply_by_hand(make.deployment("app", "web", "web:1", MOST_PODS + 1))


LARGE: dict[str, JsonObject] = {
    "Deployment": rolling(1, 0),
    "StatefulSet": {},
    "DaemonSet": {"updateStrategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}},
}


@pytest.mark.parametrize("kind", LARGE)
def test_a_large_workload_rolls_out_as_a_whole(kind: str) -> None:
    lab = Lab(nodes=MOST_PODS)
    web = ORDINARY[kind][1]("web:1", MOST_PODS)
    web["spec"] |= LARGE[kind]
    lab.side.apply(web)
    assert lab.side.at_rest(web) == (MOST_PODS,) * 4
    assert lab.side.changed(web, template("web:2")) == (MOST_PODS,) * 4


@pytest.mark.parametrize(
    ("value", "total", "expected"),
    [
        (3, 10, (3, 3)), ("25%", 10, (3, 2)), ("0%", 10, (0, 0)), ("100%", 7, (7, 7)), (None, 10, (2, 1)),
        ("x", 10, (2, 1)), (-1, 10, (0, 0)), ("99999%", 10, (2, 1)), (True, 10, (1, 1)), ({}, 10, (2, 1)),
    ],
)  # fmt: skip
def test_numbers_and_percentages(value: Any, total: int, expected: tuple[int, int]) -> None:
    assert (share(value, "11%", total, up=True), share(value, "11%", total, up=False)) == expected


PATCHES: list[JsonObject] = [
    *(template(f"web:{image}") for image in ("1", "2", "3", "bad", "slow")),
    *({"replicas": size} for size in (0, 1, 3, 4, 7)),
    *({"paused": paused} for paused in (True, False)),
    *({"minReadySeconds": seconds} for seconds in (0, 7, HELD["minReadySeconds"])),
    *(rolling(surge, unavailable) for surge, unavailable in ((0, 1), (1, 0), (2, 2), ("25%", "25%"), (0, "100%"))),
    *(partition(ordinal) for ordinal in (0, 1, 3)),
    {"updateStrategy": {"type": "OnDelete"}},
    {"podManagementPolicy": "Parallel"},
    {"strategy": {"type": "Recreate", "rollingUpdate": None}},
]
histories = st.lists(
    st.one_of(st.sampled_from(PATCHES), st.sampled_from(["delete", "save"]), st.sampled_from([1, 5, 60])), max_size=12
)


@settings(max_examples=examples(150), deadline=None)
@given(st.sampled_from(sorted(ORDINARY)), histories)
@example("DaemonSet", [{"replicas": 0}, 5])  # a field that its kind does not have
def test_any_history_adds_up_and_is_the_same_after_saving(
    tmp_path_factory: pytest.TempPathFactory, kind: str, history: list[Any]
) -> None:
    kept = play(kind, [step for step in history if step != "save"], None)
    assert play(kind, history, tmp_path_factory) == kept


def play(kind: str, history: list[Any], folders: pytest.TempPathFactory | None) -> list[Any]:
    """One history on a fresh cluster, the counts checked at every step; where it says so, on one that was saved."""
    clock = ManualClock()
    fleet = SimulatedFleet(clock, rules=[BAD, SLOW])
    body = ORDINARY[kind][1]("web:1", 4)
    for one in (make.namespace("app"), body):
        fleet.cluster("c1").apply_by_hand(one)
    seen: list[Any] = []
    for step in history:
        side = Side(fleet.cluster("c1"), "app", wait=lambda: None, nodes=1)
        match step:
            case "save":
                assert folders is not None
                folder = folders.mktemp("fleet")
                fleet.save(folder)
                loaded = SimulatedFleet.load(folder, clock)
                loaded.cluster("c1").behave([BAD, SLOW])
                fleet = loaded
                continue
            case "delete":
                for pod in side.pods()[:1]:
                    side.delete_pod(pod["metadata"]["name"])
            case int():
                clock.advance(step)
            case _:
                side.patch(body, step)
        check(fleet.cluster("c1"), side, body)
        seen.append((fleet.cluster("c1").get(key_of(body)), side.pods()))
    numbers = [(live.generation, int(live.resource_version)) for live, _ in seen]
    assert numbers == sorted(numbers)
    return seen


def check(cluster: SimulatedCluster, side: Side, body: JsonObject) -> None:
    """What is always so: the status counts the pods, and what does not settle has a reason."""
    counts, pods = side.counts(body), side.pods()
    if counts[0] == -1:
        assert cluster.next_change() is not None
        return
    ready = sum(map(is_ready, pods))
    assert (counts[1], counts[2]) == (ready, len(pods)), counts
    live = cluster.get(key_of(body))
    assert live is not None
    spec = live.body["spec"]
    newest = spec["template"]["spec"]["containers"][0]["image"]
    assert counts[0] == images(pods).count(newest)
    assert all(counts[at] >= 0 for at in range(4))
    wanted = len(pods) if live.body["kind"] == "DaemonSet" else spec.get("replicas", len(pods))
    is_available = availability_of(live.body).availability is Availability.AVAILABLE
    waits = cluster.next_change() is not None or ready < len(pods)
    if is_available and len(pods) > wanted:
        assert waits or cluster.unavailable()  # the rule does not look at one in excess
    elif is_available:
        assert cluster.unavailable() == () and not any(image.endswith(":bad") for image in images(pods))
    elif not waits:
        assert spec.get("paused") or spec.get("minReadySeconds") or spec.get("updateStrategy")
    if cluster.unavailable():
        assert waits


def test_time_beyond_the_calendar_is_no_error() -> None:
    lab, web = Lab(), make.deployment("app", "web", "web:1", 1)
    web["spec"] |= {"minReadySeconds": NEVER - 1, "progressDeadlineSeconds": NEVER}
    lab.side.apply(web)
    lab.clock.advance(5)
    moment = lab.cluster.next_change()
    assert moment is not None and moment > datetime(2090, 1, 1, tzinfo=UTC)
