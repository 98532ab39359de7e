"""What webhooks and metrics answer decides how a workload rollout goes on."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.scenarios import ClusterRule, MetricRule, ObjectPattern, WebhookRule
from gitfleet.api.workload_records import RollingState
from gitfleet.fleet.workload_rollouts import WorkloadRollouts
from gitfleet.loop.driver import Driver
from gitfleet.simulation.answers import SimulatedAnswers
from gitfleet.workload.texts import WorkloadText
from tests.builders import an_object, deployment, member_cluster, namespace, placement
from tests.scenarios.test_workload_rollouts import replicas, rollout, status
from tests.scenarios.world import World

OLD = deployment("web", "web-1", "web:1", replicas=4)
NEW = deployment("web", "web-2", "web:2", replicas=4)


def hook(type_: str, **fields: Any) -> dict[str, Any]:
    return {"type": type_, "name": "gate", "url": f"https://{type_}.example/x", **fields}


def metric(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "templateRef": {"name": name}, "interval": "10s", **fields}


def template(name: str) -> dict[str, Any]:
    provider = {"type": "prometheus", "address": "http://prometheus.example"}
    spec = {"provider": provider, "query": f"{name}{{namespace='{{{{ namespace }}}}'}}"}
    return an_object("gitfleet.dev/v1alpha1", "MetricTemplate", name, namespace="web", spec=spec)


def played(
    *bodies: dict[str, Any], webhooks: tuple[WebhookRule, ...] = (), metrics: tuple[MetricRule, ...] = ()
) -> World:
    """The rollout of `OLD` to `NEW`, with these answers, until nothing moves any more."""

    def start(driver: Driver) -> None:
        began = driver.clock.now()
        answers = SimulatedAnswers(clock=driver.clock, began=began, metrics=metrics, webhooks=webhooks)
        driver.clusters.workloads = WorkloadRollouts(calls=answers)

    bad = ClusterRule(object=ObjectPattern(image="*:bad"), available="never")
    world = World(rules=(bad,), start_with=start)
    world.roll_out(member_cluster("c1"), namespace("web"), placement("web", "web"), OLD)
    world.commit(NEW, *bodies)
    for _ in range(40):  # an answer wakes the process, as it does in `run`
        world.settle()
        calls = world.driver.clusters.workloads.calls
        if calls is None or not calls.answers():
            return world
    raise AssertionError("it is asked for ever")


@pytest.mark.parametrize(
    ("type_", "left"),
    [
        ("initialize-rollout", (4, 0)),
        ("pre-batch-rollout", (4, 0)),
        ("post-batch-rollout", (2, 2)),
        ("finalize-rollout", (0, 4)),
    ],
)
@pytest.mark.parametrize("on_failure", ["fail", "rollback"])
def test_a_webhook_that_rejects(type_: str, left: tuple[int, int], on_failure: str) -> None:
    rejects = WebhookRule(url=f"https://{type_}.example/*", status=409)
    trait = rollout(NEW, OLD, numBatches=2, rolloutWebhooks=[hook(type_, onFailure=on_failure)])
    world = played(trait, webhooks=(rejects,))
    found = status(world)
    assert found.rolling_state is RollingState.FAILED, found
    assert (replicas(world, "web-1"), replicas(world, "web-2")) == (left if on_failure == "fail" else (4, 0))
    assert any("webhook gate rejected" in condition.message for condition in found.conditions)


@pytest.mark.parametrize("type_", ["initialize-rollout", "pre-batch-rollout", "post-batch-rollout", "finalize-rollout"])
@pytest.mark.parametrize("by", ["webhook", "file"])
def test_what_a_webhook_rejects_in_place_goes_back(type_: str, by: str) -> None:
    """At once, or as the file of the rollout that failed goes."""
    rejects = WebhookRule(url=f"https://{type_}.example/*", status=409)
    new = deployment("web", "web-1", "web:2", replicas=4)
    how = {"onFailure": "rollback"} if by == "webhook" else {}
    trait = rollout(OLD, numBatches=2, rolloutWebhooks=[hook(type_, **how)], revertOnDelete=by == "file")
    world = played(new, trait, webhooks=(rejects,))
    assert status(world).rolling_state is RollingState.FAILED
    assert running(world)[0] == ("web:1" if by == "webhook" else "web:2")
    if by == "file":
        world.roll_out(remove=[trait])
        assert status(world).rolling_state is RollingState.ABANDONED
    assert running(world) == ("web:1", 4, 4)
    world.commit(OLD)  # what git has is what runs
    world.settle()
    assert running(world) == ("web:1", 4, 4)


def running(world: World) -> tuple[str, int, int]:
    """The image of the Deployment web-1, how many pods have it and are ready, and how many there are."""
    body = world.body("c1", "Deployment", "web-1", "web")
    there = body["status"]
    ready = min(int(there.get("updatedReplicas") or 0), int(there.get("readyReplicas") or 0))
    return body["spec"]["template"]["spec"]["containers"][0]["image"], ready, int(there["replicas"])


def test_a_webhook_of_one_batch_is_asked_for_that_batch_alone() -> None:
    rejects = WebhookRule(url="https://pre-batch-rollout.example/*", status=500)
    batches = [{"replicas": 1}, {"replicas": 3, "batchRolloutWebhooks": [hook("pre-batch-rollout")]}]
    world = played(rollout(NEW, OLD, rolloutBatches=batches), webhooks=(rejects,))
    assert (status(world).current_batch, replicas(world, "web-1"), replicas(world, "web-2")) == (1, 3, 1)
    assert status(world).rolling_state is RollingState.FAILED


@pytest.mark.parametrize("where", ["plan", "batch"])
@pytest.mark.parametrize(("value", "state"), [(0.01, RollingState.SUCCEEDED), (0.2, RollingState.FAILED)])
def test_a_metric_of_the_plan_or_of_a_batch(where: str, value: float, state: RollingState) -> None:
    canary = [metric("errors", metricsRange={"max": 0.05})]
    plan: dict[str, Any] = {"rolloutBatches": [{"replicas": 2}, {"replicas": 2}]}
    (plan if where == "plan" else plan["rolloutBatches"][0])["canaryMetric"] = canary
    measured = MetricRule(query="errors*", value=value)
    world = played(rollout(NEW, OLD, **plan), template("errors"), metrics=(measured,))
    found = status(world)
    assert found.rolling_state is state, found
    if state is RollingState.FAILED:
        assert (replicas(world, "web-1"), replicas(world, "web-2")) == (2, 2)
        (measurement,) = found.measurements
        assert (measurement.query, measurement.values) == ("errors{namespace='web'}", (0.2,))
        assert any("0.2" in condition.message and "0.05" in condition.message for condition in found.conditions)


@pytest.mark.parametrize(("size", "why"), [(3, WorkloadText.TARGETSIZE_BELOW_PODS(wanted=3, original=4)), (6, "")])
def test_another_size_at_the_end(size: int, why: str) -> None:
    world = played(rollout(NEW, OLD, targetSize=size))
    found = status(world)
    if why:
        assert found.rolling_state is RollingState.FAILED
        assert why in found.conditions[-1].message
        assert (replicas(world, "web-1"), replicas(world, "web-2")) == (4, 0)
    else:
        assert (found.rolling_state, replicas(world, "web-2")) == (RollingState.SUCCEEDED, 6)
