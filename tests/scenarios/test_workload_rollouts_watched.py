"""Workload rollouts where clusters are watched, so that observations of before count until something is to be done."""

from __future__ import annotations

from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from gitfleet.api.workload_records import RollingState
from tests.builders import member_cluster, namespace, placement, stateful_set
from tests.scenarios.test_workload_rollouts import rollout, status
from tests.scenarios.world import World


def test_pods_are_read_with_what_is_read_again() -> None:
    bad = ClusterRule(object=ObjectPattern(image="*:bad"), available="never")
    world = World(watches=True, rules=(bad,))
    old = stateful_set("web", "db", "db:1", replicas=4)
    world.roll_out(member_cluster("c1"), namespace("web"), placement("web", "web"), old, rollout(old, numBatches=2))
    world.roll_out(stateful_set("web", "db", "db:bad", replicas=4))
    assert status(world).rolling_state is RollingState.ROLLING_IN_BATCHES
    world.roll_out(stateful_set("web", "db", "db:2", replicas=4))
    assert status(world).rolling_state is RollingState.SUCCEEDED, status(world)
