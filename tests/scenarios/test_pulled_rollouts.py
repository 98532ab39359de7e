"""Workload rollouts on a cluster that its own agent reaches: steps are delivered, and pods are reported."""

from __future__ import annotations

from typing import Any

from gitfleet.api.workload_records import RollingState
from gitfleet.pull import read_delivery, read_report
from tests.builders import namespace, placement, stateful_set
from tests.scenarios.pull_world import PullWorld, pulled_cluster
from tests.scenarios.test_pull import DELIVER, MEMBER
from tests.scenarios.test_workload_rollouts import rollout, status


def pull_world(*bodies: dict[str, Any]) -> PullWorld:
    """One cluster with an agent and these objects, at rest."""
    world = PullWorld()
    world.commit(pulled_cluster("shop-1"), namespace("web"), placement("web", "web"), *bodies)
    world.start_agent("shop-1")
    world.turns()
    return world


def test_pods_are_reported_while_a_rollout_is_under_way() -> None:
    old = stateful_set("web", "db", "db:1", replicas=4)
    world = pull_world(old, rollout(old, numBatches=2))
    assert asked_for(world) == ((), ())
    world.commit(stateful_set("web", "db", "db:2", replicas=4))
    seen: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    for _ in range(60):
        world.turn()
        world.advance(seconds=5)
        seen.append(asked_for(world))
        if status(world, "shop-1").rolling_state is RollingState.SUCCEEDED:
            break
    assert status(world, "shop-1").rolling_state is RollingState.SUCCEEDED
    assert (("db",), ("db-0", "db-1", "db-2", "db-3")) in seen
    world.turns()
    assert asked_for(world) == ((), ())
    image = world.live("shop-1", "StatefulSet", "db", "web")
    assert image is not None and image["spec"]["template"]["spec"]["containers"][0]["image"] == "db:2"


def asked_for(world: PullWorld) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The workloads whose pods the delivery asks for, and the pods that are reported."""
    asked = read_delivery(world.repo.files(DELIVER)["delivery.yaml"]).pods
    report = read_report("shop-1", world.repo.files(MEMBER)["report.yaml"])
    pods = (str(pod["metadata"]["name"]) for one in report.pods for pod in one.pods)
    return tuple(key.name for key in asked), tuple(sorted(pods))
