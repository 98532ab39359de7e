"""The contract of handlers, on the simulated server and on a real one with the real controllers."""

from __future__ import annotations

import pytest

from tests.simulation.pods_contract import Side
from tests.simulation.test_pods import Lab
from tests.simulation.test_pods_on_real_cluster import OnRealCluster
from tests.workload.handlers.handlers_contract import HandlersContract


class TestOnSimulatedServer(HandlersContract):
    """On the simulated one."""

    @pytest.fixture
    def side(self) -> Side:
        return Lab().side


@pytest.mark.soak("real")
class TestOnRealServer(OnRealCluster, HandlersContract):
    """On kube-apiserver with kube-controller-manager."""


class TestSampleOnRealServer(OnRealCluster):
    """One of them there in every run."""

    _held = HandlersContract._held
    test_a_daemon_set = HandlersContract.test_a_daemon_set
