"""The contract of pods on a real API server with the real controllers: the simulated one does what they do."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from kubernetes.client import CoreV1Api, V1Node, V1ObjectMeta

from gitfleet.adapters.kube.http_transport import HttpTransport
from gitfleet.adapters.kube.logins import Endpoint, FixedLogin, Login
from tests.realparts.api_server import CONTROLLERS, ApiServer
from tests.realparts.control_plane import ControlPlanes, make_pods_ready
from tests.simulation.pods_contract import PodsContract, Side

WORKLOADS = (*CONTROLLERS, "statefulset-controller", "daemonset-controller")
NODES = 3


@pytest.fixture(scope="module")
def cluster(control_planes: ControlPlanes, request: pytest.FixtureRequest) -> Iterator[ApiServer]:
    """A cluster of its own for each module: every DaemonSet has pods on the nodes that are made here."""
    # A server that is started again has all it had: one name for all modules would find its nodes there already.
    server = control_planes.start(request.module.__name__.replace(".", "-").replace("_", "-"))
    with server.client() as api:
        for number in range(NODES):
            CoreV1Api(api).create_node(V1Node(metadata=V1ObjectMeta(name=f"node-{number}")))
    server.start_controller_manager(WORKLOADS)
    with make_pods_ready(server, bad_image="*:bad"):
        yield server
    server.stop()


@contextmanager
def real_side(cluster: ApiServer) -> Iterator[Side]:
    """A namespace of its own on the cluster, deleted at the end."""
    login = FixedLogin(Login(headers={"Authorization": f"Bearer {cluster.token}"}))
    transport = HttpTransport(Endpoint(server=cluster.url, authority=cluster.ca_pem), login)
    namespace = cluster.make_namespace("pods")
    yield Side(transport, namespace, wait=lambda: time.sleep(0.2), nodes=NODES, quiet=10)
    with cluster.client() as api:
        CoreV1Api(api).delete_namespace(namespace)
    transport.close()


@pytest.mark.real
class TestPodsOnRealCluster(PodsContract):
    """The same tests as for the simulated cluster."""

    @pytest.fixture
    def side(self, cluster: ApiServer) -> Iterator[Side]:
        with real_side(cluster) as side:
            yield side
