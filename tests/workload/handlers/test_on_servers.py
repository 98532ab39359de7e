"""The contract of handlers, on the simulated server and on a real one with the real controllers."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from kubernetes.client import CoreV1Api

from gitfleet.adapters.kube.http_transport import HttpTransport
from gitfleet.adapters.kube.logins import Endpoint, FixedLogin, Login
from tests.realparts.api_server import ApiServer
from tests.simulation.pods_contract import Side
from tests.simulation.test_pods import Lab
from tests.simulation.test_pods_on_real_cluster import NODES, cluster
from tests.workload.handlers.handlers_contract import HandlersContract

__all__ = ["cluster"]


class TestOnSimulatedServer(HandlersContract):
    """On the simulated one."""

    @pytest.fixture
    def side(self) -> Side:
        return Lab().side


@pytest.mark.real
class TestOnRealServer(HandlersContract):
    """On kube-apiserver with kube-controller-manager."""

    @pytest.fixture
    def side(self, cluster: ApiServer) -> Iterator[Side]:
        login = FixedLogin(Login(headers={"Authorization": f"Bearer {cluster.token}"}))
        transport = HttpTransport(Endpoint(server=cluster.url, authority=cluster.ca_pem), login)
        namespace = cluster.make_namespace("handlers")
        yield Side(transport, namespace, wait=lambda: time.sleep(0.2), nodes=NODES, quiet=10)
        with cluster.client() as api:
            CoreV1Api(api).delete_namespace(namespace)
        transport.close()
