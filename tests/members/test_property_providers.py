"""Providers of properties: the built-in one, and others that raise, stall or talk nonsense."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any

import orjson
import pytest

from gitfleet.adapters.kube import CoreProvider, chosen_providers
from gitfleet.adapters.kube.http_transport import HttpTransport
from gitfleet.adapters.kube.logins import Endpoint, FixedLogin, Login
from gitfleet.adapters.kube.properties_collecting import Collector, Gathered, Provider
from gitfleet.adapters.kube.properties_view import WireView
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.adapters.kube.wire import Timeouts, Wire
from gitfleet.api.fleet import ListedProvider
from gitfleet.api.objects import JsonObject
from gitfleet.errors import BadInput, ClusterUnreachable, Forbidden, RetryLater
from gitfleet.formats.texts import FormatsText
from gitfleet.ports.properties import ClusterView, Collected, PropertyProvider, ResourceUsage
from gitfleet.wiring.hub import property_providers
from tests.adapters.kube.stub import Stub, serving
from tests.members.plays import START

PERIOD = timedelta(seconds=60)
LIMIT = 0.2


class Package:
    """A ClusterView on plain values; a collection that is not there may not be listed."""

    name, server = "a", "https://a.example:6443"

    def __init__(self, **collections: list[JsonObject]) -> None:
        self.collections = collections
        self.asked: list[str] = []

    def get(self, path: str) -> JsonObject | None:
        return {"gitVersion": "v1.36.2"} if path == "/version" else None

    def items(self, path: str, query: Mapping[str, str] | None = None) -> Iterator[JsonObject]:
        kind = path.rpartition("/")[2]
        self.asked.append(kind)
        if kind not in self.collections:
            raise Forbidden(f"{kind} may not be listed")
        return iter(self.collections[kind])


def node(cpu: str, memory: str, less: str = "0") -> JsonObject:
    return {"status": {"capacity": {"cpu": cpu, "memory": memory}, "allocatable": {"cpu": less, "memory": memory}}}


def pod(node_name: str | None, *cpus: str) -> JsonObject:
    containers = [{"resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}} for cpu in cpus]
    return {"spec": {"containers": containers, **({"nodeName": node_name} if node_name else {})}}


def collected(view: ClusterView, **args: Any) -> Collected:
    provider = CoreProvider(args)
    provider.start(view)
    return provider.collect()


# core


def test_core_counts_as_kubefleet_does() -> None:
    nodes = [node("4", "8Gi", "3500m"), node("2", "4Gi", "2")]
    pods = [pod("n1", "500m", "250m"), pod(None, "1"), pod("n2", "1"), {"spec": {"nodeName": "n1", "containers": [{}]}}]
    assert collected(Package(nodes=nodes, pods=pods)) == Collected(
        properties={
            "kubernetes-fleet.io/node-count": "2",
            "k8s.io/k8s-version": "v1.36.2",
            "k8s.io/cluster-entrypoint": "https://a.example:6443",
        },
        usage=ResourceUsage(
            capacity={"cpu": "6", "memory": "12Gi"},
            allocatable={"cpu": "5500m", "memory": "12Gi"},
            available={"cpu": "3750m", "memory": "9Gi"},
        ),
    )


def test_core_never_tells_of_less_than_nothing() -> None:
    usage = collected(Package(nodes=[node("1", "1Gi", "1")], pods=[pod("n", "4", "4")])).usage
    assert usage is not None
    assert usage.available == {"cpu": "0", "memory": "0"}


def test_core_lists_no_pod_when_told_so() -> None:
    view = Package(nodes=[node("1", "1Gi", "1")], pods=[])
    found = collected(view, available=False)
    assert found.usage is not None and not found.usage.available and not found.problem
    assert view.asked == ["nodes"]


@pytest.mark.parametrize(("allowed", "reported"), [({}, False), ({"nodes": [node("1", "1Gi", "1")]}, True)])
def test_core_tells_what_it_may_see_and_what_not(allowed: dict[str, list[JsonObject]], reported: bool) -> None:
    found = collected(Package(**allowed))
    assert "may not be listed" in found.problem
    assert "k8s.io/k8s-version" in found.properties
    assert bool(found.usage and found.usage.capacity) is reported
    assert not (found.usage and found.usage.available)


@pytest.mark.parametrize("args", [{"available": "no"}, {"limit": 3}])
def test_core_refuses_args_that_it_does_not_know(args: JsonObject) -> None:
    with pytest.raises(BadInput, match=KubeText.PROVIDER_CORE_TAKES_ONE_ARGUMENT()):
        CoreProvider(args)


def test_core_is_installed_as_any_other_provider_would_be() -> None:
    assert property_providers()["core"] is CoreProvider


# The view


NOBODY = FixedLogin(Login())


def view_on(stub: Stub) -> WireView:
    timeouts = Timeouts(connect_seconds=1, read_seconds=1, tries=1)
    transport = HttpTransport(Endpoint(server=stub.url), NOBODY, timeouts=timeouts)
    return WireView(Wire("a", transport, timeouts=timeouts))


def reply(status: int, body: object) -> tuple[int, str, dict[str, str]]:
    return status, orjson.dumps(body).decode(), {"Content-Type": "application/json"}


def test_collections_are_asked_for_page_by_page() -> None:
    with serving() as stub:
        stub.replies = [
            reply(200, {"items": [{"n": 1}], "metadata": {"continue": "more"}}),
            reply(200, {"items": [{"n": 2}]}),
        ]
        found = list(view_on(stub).items("/api/v1/nodes", {"fieldSelector": "x=y"}))
        assert found == [{"n": 1}, {"n": 2}]
        assert [path for _, path, _ in stub.seen] == [
            "/api/v1/nodes?fieldSelector=x%3Dy&limit=500",
            "/api/v1/nodes?fieldSelector=x%3Dy&limit=500&continue=more",
        ]


@pytest.mark.parametrize(("status", "error"), [(403, Forbidden), (404, Forbidden), (410, Forbidden), (500, RetryLater)])
def test_a_refusal_is_an_error_of_ours(status: int, error: type[Exception]) -> None:
    with serving() as stub:
        stub.replies = [reply(status, {"message": "no"})]
        with pytest.raises(error):
            list(view_on(stub).items("/api/v1/nodes"))


def test_an_object_that_is_not_there_is_no_error() -> None:
    with serving() as stub:
        stub.replies = [reply(404, {})]
        assert view_on(stub).get("/api/v1/namespaces/a/configmaps/b") is None


def test_a_server_that_is_gone_is_unreachable() -> None:
    with serving() as stub:
        view = view_on(stub)
    with pytest.raises(ClusterUnreachable):
        view.get("/version")


def test_who_logs_in_by_the_url_is_not_told() -> None:
    wire = Wire("a", HttpTransport(Endpoint(server="https://me:secret@a.example:6443/x"), NOBODY))
    assert WireView(wire).server == "https://a.example:6443/x"


# Collecting


class Scripted(PropertyProvider):
    """A provider whose operations are given."""

    def __init__(self, collect: Callable[[], Any] = Collected, start: Callable[[], None] = lambda: None) -> None:
        self.calls: list[str] = []
        self._collect, self._start = collect, start

    def start(self, cluster: ClusterView) -> None:
        self.calls.append("start")
        self._start()

    def collect(self) -> Collected:
        self.calls.append("collect")
        found: Collected = self._collect()
        return found


def collector(**providers: PropertyProvider) -> Collector:
    def maker(one: PropertyProvider) -> Callable[[], PropertyProvider]:
        return lambda: one

    listed = [Provider(name=name, key=name, make=maker(one)) for name, one in providers.items()]
    return Collector(Package(), lambda: listed, limit=LIMIT)


class Misspelt(Scripted):
    def colect(self) -> Collected:
        return Collected()


class Underived:
    def start(self, cluster: ClusterView) -> None: ...


@pytest.mark.parametrize(
    ("provider", "message"),
    [
        (Misspelt(), f"Misspelt has no hook colect: {FormatsText.YOU_MEAN(near='collect')}"),
        (Underived(), KubeText.FACTORY_MADE_NOT_DERIVE_FROM(name="Underived")),
    ],
)
def test_a_provider_that_cannot_be_used_says_why_when_it_is_started(provider: Any, message: str) -> None:
    gathered = collector(odd=provider, fine=Scripted(telling(a="1"))).gather(START, PERIOD)
    status, reason, said = conditions(gathered)["ClusterPropertyProviderStarted"]
    assert (status, reason) == ("False", "FailedToStart")
    assert message in said
    assert values(gathered) == {"a": "1"}


def conditions(gathered: Gathered) -> dict[str, tuple[str, str, str]]:
    return {reported.type: (str(reported.status), reported.reason, reported.message) for reported in gathered.reported}


def values(gathered: Gathered) -> dict[str, str]:
    return {name: value.value for name, value in gathered.properties.items()}


def telling(**properties: str) -> Callable[[], Collected]:
    return lambda: Collected(properties=properties)


def raising(error: BaseException) -> Callable[[], Any]:
    def work() -> None:
        raise error

    return work


def waiting(hold: threading.Event) -> None:
    hold.wait()


STARTED = ("True", "Started", KubeText.PROPERTY_PROVIDER_STARTED_SUCCESSFULLY())
RETURNED = ("True", "PropertiesCollected", KubeText.PROPERTY_PROVIDER_RETURNED_LATEST_CLUSTER())


def test_all_is_well() -> None:
    gathered = collector(core=Scripted(telling(a="1", b="1")), cost=Scripted(telling(b="2"))).gather(START, PERIOD)
    assert conditions(gathered) == {
        "ClusterPropertyProviderStarted": STARTED,
        "ClusterPropertyCollectionSucceeded": RETURNED,
    }
    assert values(gathered) == {"a": "1", "b": "2"}  # the one that is listed later counts
    assert {value.observed for value in gathered.properties.values()} == {START}


def test_providers_are_started_once_and_asked_once_in_a_period() -> None:
    cost = Scripted()
    asking = collector(cost=cost)
    for seconds in (0, 1, 30, 59, 60, 90, 119, 120):
        asking.gather(START + timedelta(seconds=seconds), PERIOD)
    assert cost.calls == ["start", "collect", "collect", "collect"]


def test_a_clock_that_jumps_back_delays_no_collecting() -> None:
    cost = Scripted()
    asking = collector(cost=cost)
    for seconds in (7200, 0, 30, 60):
        asking.gather(START + timedelta(seconds=seconds), PERIOD)
    assert cost.calls == ["start", "collect", "collect", "collect"]


def test_one_that_cannot_start_says_so_and_is_tried_again() -> None:
    cost = Scripted(start=raising(ValueError("no prices")))
    asking = collector(core=Scripted(telling(a="1")), cost=cost)
    gathered = asking.gather(START, PERIOD)
    assert conditions(gathered) == {
        "ClusterPropertyProviderStarted": (
            "False",
            "FailedToStart",
            ("cost: " + KubeText.FAILED_START_PROPERTY_PROVIDER(error_text="no prices")),
        ),
        "ClusterPropertyCollectionSucceeded": RETURNED,
    }
    assert values(gathered) == {"a": "1"}
    asking.gather(START + PERIOD, PERIOD)
    assert cost.calls == ["start", "start"]


def test_one_that_raises_harms_nobody_else() -> None:
    bad, good = Scripted(raising(RuntimeError("bearer abcdefghijklmnop expired"))), Scripted(telling(b="2"))
    gathered = collector(core=Scripted(telling(a="1")), bad=bad, good=good).gather(START, PERIOD)
    assert values(gathered) == {"a": "1", "b": "2"}
    assert conditions(gathered)["ClusterPropertyCollectionSucceeded"] == (
        "False",
        "FailedToCollect",
        "bad: *** expired",
    )


def test_one_that_ends_its_process_ends_only_its_call() -> None:
    bad, good = Scripted(raising(SystemExit(3))), Scripted(telling(b="2"))
    gathered = collector(core=Scripted(telling(a="1")), bad=bad, good=good).gather(START, PERIOD)
    assert values(gathered) == {"a": "1", "b": "2"}
    status, reason, message = conditions(gathered)["ClusterPropertyCollectionSucceeded"]
    assert (status, reason) == ("False", "FailedToCollect") and "SystemExit" in message


def test_one_that_stalls_holds_nobody_up_for_longer_than_its_limit_and_leaves_one_thread() -> None:
    hold = threading.Event()
    before = threading.active_count()
    stalled, other = Scripted(hold.wait), Scripted(telling(b="2"))
    asking = collector(core=Scripted(telling(a="1")), stalled=stalled, other=other)
    try:
        gathered = asking.gather(START, PERIOD)
        assert values(gathered) == {"a": "1"}
        assert conditions(gathered)["ClusterPropertyCollectionSucceeded"][:2] == ("False", "TimedOut")
        again = asking.gather(START + PERIOD, PERIOD)
        assert values(again) == {"a": "1"}  # core has a lane of its own
        reported = conditions(again)["ClusterPropertyCollectionSucceeded"]
        assert reported[:2] == ("False", "TooManyCalls")
        assert f"stalled: {KubeText.TOO_MANY_GOING_CALLS_PROPERTY()}" in reported[2]
        assert threading.active_count() == before + 1
        assert stalled.calls == ["start", "collect"]
    finally:
        hold.set()
    for thread in threading.enumerate():
        if thread.name == "properties-a":
            thread.join(60)
    stalled._collect = telling(c="3")
    assert values(asking.gather(START + 2 * PERIOD, PERIOD)) == {"a": "1", "b": "2", "c": "3"}


def test_one_that_stalls_while_it_starts_is_told_of_by_that() -> None:
    hold = threading.Event()
    try:
        asking = collector(slow=Scripted(start=lambda: waiting(hold)))
        gathered = asking.gather(START, PERIOD)
        assert conditions(gathered) == {
            "ClusterPropertyProviderStarted": (
                "False",
                "TimedOut",
                ("slow: " + KubeText.PROPERTY_PROVIDER_NOT_START_UP()),
            )
        }
    finally:
        hold.set()


@pytest.mark.parametrize(
    "nonsense",
    [
        17,
        Collected(properties={"a": 3}),  # type: ignore[dict-item]  # that is the point
        Collected(properties={"a": "x" * 5000}),
        Collected(properties={"a": "two\nlines"}),
        Collected(usage=ResourceUsage(available={"cpu": None})),  # type: ignore[dict-item]  # that is the point
    ],
)
def test_nonsense_is_told_and_not_written(nonsense: object) -> None:
    gathered = collector(odd=Scripted(lambda: nonsense)).gather(START, PERIOD)
    assert not gathered.properties and not (gathered.usage and gathered.usage.available)
    assert conditions(gathered)["ClusterPropertyCollectionSucceeded"][:2] == ("False", "FailedToCollect")


def test_one_that_is_listed_and_not_installed_is_missed() -> None:
    providers = chosen_providers([ListedProvider(name="cost")], {"core": CoreProvider})
    assert [provider.name for provider in providers] == ["core", "cost"]
    gathered = Collector(Package(nodes=[], pods=[]), lambda: providers, limit=LIMIT).gather(START, PERIOD)
    assert conditions(gathered)["ClusterPropertyProviderStarted"] == (
        "False",
        "FailedToStart",
        (
            "cost: "
            + KubeText.FAILED_START_PROPERTY_PROVIDER(
                error_text=KubeText.NO_PROPERTY_PROVIDER(one="cost", known="core")
            )
        ),
    )
    assert values(gathered)["kubernetes-fleet.io/node-count"] == "0"


def test_other_args_make_another_provider_and_ask_at_once() -> None:
    made: list[JsonObject] = []

    def factory(args: JsonObject) -> PropertyProvider:
        made.append(args)
        return Scripted()

    listed = [ListedProvider(name="core", args={"n": 1})]
    asking = Collector(Package(), lambda: chosen_providers(listed, {"core": factory}), limit=LIMIT)
    asking.gather(START, PERIOD)
    listed[:] = [ListedProvider(name="core", args={"n": 2})]
    asking.gather(START, PERIOD)
    assert made == [{"n": 1}, {"n": 2}]
