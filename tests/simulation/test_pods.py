"""The simulated API server keeps the contract of pods."""

from __future__ import annotations

import pytest

from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from gitfleet.simulation.clock import ManualClock
from gitfleet.simulation.cluster import SimulatedCluster
from tests import builders as make
from tests.simulation.pods_contract import PodsContract, Side

BAD = ClusterRule(object=ObjectPattern(image="*:bad"), available="never")


class TestPodsContract(PodsContract):
    """The same tests as on a real API server."""

    @pytest.fixture
    def side(self) -> Side:
        clock = ManualClock()
        cluster = SimulatedCluster("c1", clock, rules=[BAD])
        cluster.memory.nodes = 3
        cluster.apply_by_hand(make.namespace("app"))
        return Side(cluster, "app", wait=lambda: (clock.advance(5), None)[1], nodes=3)
