"""Watches of a real kube-apiserver: what they vouch for, and what they do when a server, a connection, a kind or a
right goes away."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import (
    ApiException,
    ApiextensionsV1Api,
    CoreV1Api,
    CustomObjectsApi,
    RbacAuthorizationV1Api,
    V1ConfigMap,
    V1Node,
    V1ObjectMeta,
)

from gitfleet.adapters.clock import SystemClock
from gitfleet.adapters.kube import CoreProvider, KubeDirectory, chosen_providers
from gitfleet.adapters.kube.http_transport import HttpTransport
from gitfleet.adapters.kube.watching import KubeWatching
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import ObjectKey
from gitfleet.fleet.fanout import Fanout
from gitfleet.fleet.observation_cache import ObservationCache
from gitfleet.model.backoff import KUBEFLEET, Curve
from gitfleet.ports.transport import Request
from gitfleet.settings import ConnectionRules
from tests.adapters.kube.test_real_cluster import QUICK, member
from tests.adapters.kube.test_real_health import definition
from tests.realparts.api_server import ApiServer

_SECONDS = 60.0
SOON = Curve(fixed=0.3)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitfleet.adapters.kube.watching.SHORT_LIFE", 0.2)


@dataclass
class Watched:
    """A cluster, its watches, and how often the loop was woken."""

    server: ApiServer
    watching: KubeWatching
    cluster: MemberCluster
    wakes: list[float] = field(default_factory=list)

    def mark(self, *keys: ObjectKey) -> Hashable:
        """A mark, once all watches are there."""
        found: list[Hashable] = []

        def marked() -> bool:
            found[:] = [self.watching.mark(self.cluster, keys)]
            return found[0] is not None

        eventually(marked)
        return found[0]

    def holds(self, mark: Hashable) -> bool:
        return self.watching.unchanged(self.cluster, mark)


def eventually(check: Callable[[], bool]) -> None:
    end = time.monotonic() + _SECONDS
    while not check():
        assert time.monotonic() < end
        time.sleep(0.02)


@contextmanager
def watched(server: ApiServer, folder: Path, user: str = "admin") -> Iterator[Watched]:
    path = server.write_kubeconfig(folder / f"{server.name}-{user}.kubeconfig", user=user)
    clients, wakes = KubeDirectory(ConnectionRules(kubeconfig=path), timeouts=QUICK), list[float]()
    watching = KubeWatching(
        clients.client, SystemClock(), lambda: wakes.append(time.monotonic()), most=100, pauses=SOON
    )
    try:
        yield Watched(server, watching, member(server), wakes)
    finally:
        watching.close()
        clients.close()


@pytest.fixture
def server(rbac_cluster: ApiServer) -> ApiServer:
    return rbac_cluster


@pytest.fixture
def core(server: ApiServer) -> Iterator[CoreV1Api]:
    with server.client() as client:
        yield CoreV1Api(client)


def key(namespace: str, name: str = "flag") -> ObjectKey:
    return ObjectKey("", "v1", "ConfigMap", namespace, name)


def put(core: CoreV1Api, namespace: str, name: str = "flag") -> None:
    core.create_namespaced_config_map(namespace, V1ConfigMap(metadata=V1ObjectMeta(name=name), data={"a": "1"}))


def test_a_change_of_what_is_owned_is_heard_of_and_no_other(server: ApiServer, core: CoreV1Api, tmp_path: Path) -> None:
    namespace = server.make_namespace()
    put(core, namespace)
    with watched(server, tmp_path) as found:
        assert found.watching.mark(found.cluster, [key(namespace)]) is None, "no watch is there at once"
        eventually(lambda: bool(found.wakes))  # what was read before the watches were there can be read again now
        mark = found.mark(key(namespace))
        found.wakes.clear()
        put(core, namespace, "other")
        core.patch_namespaced_config_map("other", namespace, {"data": {"a": "2"}})
        assert found.holds(mark)
        core.patch_namespaced_config_map("flag", namespace, {"data": {"a": "2"}})
        eventually(lambda: not found.holds(mark))
        eventually(lambda: len(found.wakes) == 1)
        again = found.mark(key(namespace))
        core.delete_namespaced_config_map("flag", namespace)
        eventually(lambda: not found.holds(again))
        third = found.mark(key(namespace))
        server.make_namespace()
        eventually(lambda: not found.holds(third))


def test_a_connection_that_breaks_is_made_again_and_nothing_is_missed(
    server: ApiServer, core: CoreV1Api, tmp_path: Path
) -> None:
    namespace = server.make_namespace()
    put(core, namespace)
    with watched(server, tmp_path) as found:
        mark = found.mark(key(namespace))
        time.sleep(0.3)  # a watch that ends at once is not simply opened again
        cut(found.watching)
        eventually(lambda: all_open(found.watching, 2))
        assert found.holds(mark), "it went on where it was"
        cut(found.watching)
        core.patch_namespaced_config_map("flag", namespace, {"data": {"a": "2"}})
        eventually(lambda: not found.holds(mark))
        found.mark(key(namespace))


def test_a_version_that_the_server_has_forgotten_counts_as_a_change(
    server: ApiServer, core: CoreV1Api, tmp_path: Path
) -> None:
    namespace = server.make_namespace()
    put(core, namespace)
    with watched(server, tmp_path) as found:
        mark = found.mark(key(namespace))
        for kind in found.watching._clusters[server.name].kinds.values():
            kind.version = "1"
        cut(found.watching)
        eventually(lambda: not found.holds(mark))
        again = found.mark(key(namespace))
        core.patch_namespaced_config_map("flag", namespace, {"data": {"a": "2"}})
        eventually(lambda: not found.holds(again))


def test_a_restarted_server_is_watched_again(mortal: ApiServer, tmp_path: Path) -> None:
    namespace = mortal.make_namespace()
    with watched(mortal, tmp_path) as found, mortal.client() as client:
        core = CoreV1Api(client)
        put(core, namespace)
        mark = found.mark(key(namespace))
        mortal.kill()
        eventually(lambda: not found.holds(mark))
        assert found.watching.mark(found.cluster, [key(namespace)]) is None
        found.wakes.clear()
        mortal.restart()
        eventually(lambda: bool(found.wakes))  # nobody asked again: the watches came back by themselves
        again = found.mark(key(namespace))
        assert again is not None
        core.patch_namespaced_config_map("flag", namespace, {"data": {"a": "2"}})
        eventually(lambda: not found.holds(again))


def test_a_kind_that_comes_and_goes(server: ApiServer, tmp_path: Path) -> None:
    namespace, body = server.make_namespace(), definition().body
    tree = ObjectKey("test.example.com", "v1", "Tree", namespace, "oak")
    with watched(server, tmp_path) as found, server.client() as client:
        extensions, custom = ApiextensionsV1Api(client), CustomObjectsApi(client)
        assert found.watching.mark(found.cluster, [tree]) is None
        eventually(lambda: found.watching._clusters[server.name].retry_at > 0)
        assert found.watching.mark(found.cluster, [tree]) is None, "there is no such kind"
        extensions.create_custom_resource_definition(dict(body))
        mark = found.mark(tree)
        oak = {"apiVersion": "test.example.com/v1", "kind": "Tree", "metadata": {"name": "oak"}}
        eventually(lambda: created(custom, namespace, oak))
        eventually(lambda: not found.holds(mark))
        again = found.mark(tree)
        extensions.delete_custom_resource_definition(body["metadata"]["name"])
        eventually(lambda: not found.holds(again))


def test_who_may_not_watch_reads_and_is_not_a_burden(server: ApiServer, core: CoreV1Api, tmp_path: Path) -> None:
    namespace = server.make_namespace()
    with server.client() as client:
        rbac = RbacAuthorizationV1Api(client)
        rule: Any = {"apiGroups": [""], "resources": ["configmaps", "namespaces"], "verbs": ["get", "list"]}
        role: Any = {"metadata": {"name": "reads"}, "rules": [rule]}
        rbac.create_cluster_role(role)
        subject = {"kind": "User", "name": "reader", "apiGroup": "rbac.authorization.k8s.io"}
        ref = {"kind": "ClusterRole", "name": "reads", "apiGroup": "rbac.authorization.k8s.io"}
        binding: Any = {"metadata": {"name": "reads"}, "subjects": [subject], "roleRef": ref}
        rbac.create_cluster_role_binding(binding)
    with watched(server, tmp_path, user="reader") as found, counted(found) as begun:
        found.watching._pauses = KUBEFLEET
        for _ in range(50):
            assert found.watching.mark(found.cluster, [key(namespace)]) is None
            time.sleep(0.02)
        assert len(begun) == 1 and len(found.watching._streams) == 0


@dataclass
class Stepped:
    """A clock that a test moves."""

    seconds: float = 0.0

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds


def test_an_idle_cluster_gets_less_than_a_request_a_minute(
    server: ApiServer, core: CoreV1Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an hour, of which the bookmarks that a server sends each minute are left out."""
    monkeypatch.setattr("gitfleet.adapters.kube.watched_cluster.SILENT_AFTER", 1e9)
    monkeypatch.setattr("gitfleet.adapters.kube.watching.SILENT_AFTER", 1e9)
    namespace, sent = server.make_namespace(), list[str]()
    put(core, namespace)
    keys = {server.name: (key(namespace),)}
    real = HttpTransport._sent

    def counted_request(transport: HttpTransport, client: Any, login: Any, request: Request) -> Any:
        sent.append(request.path)
        return real(transport, client, login, request)

    monkeypatch.setattr(HttpTransport, "_sent", counted_request)
    with kept(server, tmp_path) as (observe, clock, watching):
        eventually(lambda: (observe(keys), len(watching._streams))[1] == 4)  # of nodes and pods, too
        for _ in range(2):
            clock.seconds += 120
            observe(keys)
        sent.clear()
        seen = None
        for _ in range(120):
            clock.seconds += 30
            seen = observe(keys)[server.name]
        assert seen is not None
        assert seen.properties["kubernetes-fleet.io/node-count"].value == "0" and seen.live[key(namespace)]
        assert 20 <= len(sent) <= 50, sent
        sent.clear()
        core.create_node(V1Node(metadata=V1ObjectMeta(name="n1")))
        eventually(lambda: len(watching._streams) < 4)
        clock.seconds += 120
        assert observe(keys)[server.name].properties["kubernetes-fleet.io/node-count"].value == "1"
        core.delete_node("n1")


@contextmanager
def kept(server: ApiServer, folder: Path) -> Iterator[tuple[Callable[..., Any], Stepped, KubeWatching]]:
    """Observes a watched cluster as a continuous run does."""
    path, clock = server.write_kubeconfig(folder / "kubeconfig"), Stepped()
    providers = chosen_providers((), {"core": CoreProvider})
    rules = ConnectionRules(kubeconfig=path)
    clients = KubeDirectory(rules, timeouts=QUICK, clock=clock, providers=lambda: providers)
    watching = KubeWatching(clients.client, clock, lambda: None, most=100, pauses=SOON)
    clients.rests = watching.rests
    observations = ObservationCache(clock=clock, watching=watching)
    fanout, fleet = Fanout(directory=clients, executor=None), {server.name: member(server)}
    try:
        yield partial(observations.observe, fanout, fleet), clock, watching
    finally:
        watching.close()
        clients.close()


def created(custom: CustomObjectsApi, namespace: str, body: dict[str, Any]) -> bool:
    try:
        custom.create_namespaced_custom_object("test.example.com", "v1", namespace, "trees", body)
    except ApiException:
        return False
    return True


@contextmanager
def counted(found: Watched) -> Iterator[list[str]]:
    begun, clients = list[str](), found.watching._clients

    def client(cluster: MemberCluster) -> Any:
        begun.append(cluster.name)
        return clients(cluster)

    found.watching._clients = client
    yield begun


def cut(watching: KubeWatching) -> None:
    for stream in tuple(watching._streams._streams):
        with suppress(OSError):
            socket.socket.shutdown(stream.opened.sock, socket.SHUT_RDWR)


def all_open(watching: KubeWatching, number: int) -> bool:
    return len(watching._streams) == number and not any(one.missing() for one in watching._clusters.values())
