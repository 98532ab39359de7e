"""What came of the steps of workload rollouts is a part of what a reconcile says of itself, of that reconcile alone."""

from __future__ import annotations

from gitfleet.model.operations import OutcomeCode, Patch, RolloutOutcome
from tests.builders import stateful_set
from tests.scenarios.test_workload_rollouts import a_world, rollout


def test_each_step_is_in_the_result_of_its_reconcile_once() -> None:
    old = stateful_set("web", "db", "db:1", replicas=4)
    world = a_world(old, rollout(old, numBatches=2))
    world.commit(stateful_set("web", "db", "db:2", replicas=4))
    found: list[RolloutOutcome] = []
    for _ in range(40):
        result = world.driver.reconcile()
        found += result.steps
        world.advance(seconds=5)
    partitions = [
        one.operation.patch["spec"]["updateStrategy"]["rollingUpdate"]["partition"]
        for one in found
        if isinstance(one.operation, Patch) and one.code is OutcomeCode.APPLIED
    ]
    assert partitions[:1] == [2] and len(partitions) == len(found) <= 3


def test_a_step_that_comes_too_late_is_decided_again() -> None:
    old = stateful_set("web", "db", "db:1", replicas=4)
    world = a_world(old, rollout(old, numBatches=2))
    world.commit(stateful_set("web", "db", "db:2", replicas=4))
    key = next(one.key for one in world.fleet.cluster("c1").objects() if one.key.kind == "StatefulSet")
    codes: list[str] = []

    def meddle(step: str) -> None:
        # Somebody changes the object after it was observed, and before a step is carried out.
        if step == "intent published" and not codes:
            labels = [{"op": "add", "path": "/metadata/labels", "value": {"by": str(world.clock.now())}}]
            world.fleet.cluster("c1").mutate(key, labels)

    world.driver.checkpoint = meddle
    for _ in range(40):
        result = world.driver.reconcile()
        codes += [one.code.value for one in result.steps]
        world.advance(seconds=5)
    assert codes[:2] == ["Conflict", "Applied"]
    live = world.body("c1", "StatefulSet", "db", "web")
    assert live["spec"]["template"]["spec"]["containers"][0]["image"] == "db:2"
    assert "by" in live["metadata"]["labels"]
