"""The contract of pods on a real API server with the real controllers: the simulated one does what they do."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from kubernetes.client import CoreV1Api

from gitfleet.adapters.kube.http_transport import HttpTransport
from gitfleet.adapters.kube.logins import Endpoint, FixedLogin, Login
from tests.realparts.api_server import ApiServer
from tests.realparts.fixtures import NODES
from tests.simulation.pods_contract import PodsContract, Side


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


class OnRealCluster:
    """A namespace of the cluster."""

    @pytest.fixture
    def side(self, workload_cluster: ApiServer) -> Iterator[Side]:
        """A Side."""
        with real_side(workload_cluster) as side:
            yield side


@pytest.mark.soak("real")
class TestPodsOnRealCluster(OnRealCluster, PodsContract):
    """The same tests as for the simulated cluster."""


class TestSampleOnRealCluster(OnRealCluster):
    """A few of them in every run."""

    test_recreate = PodsContract.test_recreate
    test_pods_say_what_they_are = PodsContract.test_pods_say_what_they_are
    test_a_merge_patch_keeps_to_the_object_and_its_version = (
        PodsContract.test_a_merge_patch_keeps_to_the_object_and_its_version
    )
