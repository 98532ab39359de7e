"""The contract of handlers, on the simulated server and on a real one with the real controllers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.realparts.api_server import ApiServer
from tests.simulation.pods_contract import Side
from tests.simulation.test_pods import Lab
from tests.simulation.test_pods_on_real_cluster import cluster, real_side
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
        with real_side(cluster) as side:
            yield side
