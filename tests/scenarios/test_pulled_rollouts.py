"""Workload rollouts on a cluster that its own agent reaches: steps are delivered, and pods are reported."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.agent.agent import AgentStep
from gitfleet.api.deliveries import DeliveredStep, StepAction
from gitfleet.api.workload_records import RollingState
from gitfleet.fleet.texts import FleetText
from gitfleet.pull import read_delivery, read_report
from gitfleet.simulation.cluster import SimulatedCrash
from tests.builders import deployment, namespace, placement, stateful_set
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


def replicas(world: PullWorld, name: str) -> int:
    body = world.live("shop-1", "Deployment", name, "web")
    return -1 if body is None else int(body["spec"]["replicas"])


def delivered(world: PullWorld) -> tuple[DeliveredStep, ...]:
    return read_delivery(world.repo.files(DELIVER)["delivery.yaml"]).steps


def rolled_out(world: PullWorld) -> list[tuple[int, int]]:
    """The sizes of both Deployments from turn to turn until the rollout is over."""
    seen = []
    for _ in range(200):
        world.turn()
        world.advance(seconds=5)
        seen.append((replicas(world, "web-1"), replicas(world, "web-2")))
        found = world.state().rollouts
        if found and status(world, "shop-1").rolling_state is RollingState.SUCCEEDED:
            break
    return list(dict.fromkeys(seen))


OLD, NEW = deployment("web", "web-1", "web:1", replicas=5), deployment("web", "web-2", "web:2", replicas=5)
BATCHES = [(5, 0), (5, 2), (3, 2), (3, 5), (0, 5)]


def test_from_source_to_target_in_batches() -> None:
    world = pull_world(OLD)
    world.commit(NEW, rollout(NEW, OLD, numBatches=2))
    seen = rolled_out(world)
    assert [sizes for sizes in seen if -1 not in sizes] == BATCHES
    world.turns()
    assert delivered(world) == () and (replicas(world, "web-1"), replicas(world, "web-2")) == (0, 5)


def test_a_step_is_delivered_once_and_waits_for_its_agent() -> None:
    world = pull_world(OLD)
    world.commit(NEW, rollout(NEW, OLD, numBatches=2))
    for _ in range(50):
        world.reconcile()
        if delivered(world):
            break
        world.report("shop-1")
        world.advance(seconds=5)
    (step,) = delivered(world)
    assert (step.action, step.object.name, step.patch) == (StepAction.PATCH, "web-2", {"spec": {"replicas": 2}})
    head = world.repo.fetch()[DELIVER]
    result = world.driver.reconcile()
    assert FleetText.AGENT_NOT_ANSWERED(found="shop-1 (1 operation)") in result.waiting
    assert world.repo.fetch()[DELIVER] == head, "the same step once more is no new delivery"
    assert replicas(world, "web-2") == 0, "nobody but the agent carries it out"
    world.report("shop-1")
    assert replicas(world, "web-2") == 2
    report = read_report("shop-1", world.repo.files(MEMBER)["report.yaml"])
    assert [(one.ok, one.code) for one in report.outcomes if one.id == step.id] == [(True, "Applied")]


@pytest.mark.parametrize("step", [AgentStep.OBSERVED, AgentStep.PERFORMED])
def test_an_agent_that_is_killed_repeats_no_step(step: AgentStep) -> None:
    world = pull_world(OLD)
    world.commit(NEW, rollout(NEW, OLD, numBatches=2))
    killed: list[AgentStep] = []

    def kill(_: str, at: AgentStep) -> None:
        if at is step and delivered(world) and len(killed) < 4:
            killed.append(at)
            raise SimulatedCrash

    world.agent_step = kill
    assert [sizes for sizes in rolled_out(world) if -1 not in sizes] == BATCHES
    assert len(killed) == 4


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
    image = world.body("shop-1", "StatefulSet", "db", "web")
    assert image["spec"]["template"]["spec"]["containers"][0]["image"] == "db:2"


def asked_for(world: PullWorld) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The workloads whose pods the delivery asks for, and the pods that are reported."""
    asked = read_delivery(world.repo.files(DELIVER)["delivery.yaml"]).pods
    report = read_report("shop-1", world.repo.files(MEMBER)["report.yaml"])
    pods = (str(pod["metadata"]["name"]) for one in report.pods for pod in one.pods)
    return tuple(key.name for key in asked), tuple(sorted(pods))
