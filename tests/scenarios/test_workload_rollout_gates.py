"""The gates of a workload rollout through whole reconciles: what rejects stops it, and nothing passes by one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast

import pytest

from gitfleet.api.scenarios import MetricRule, WebhookRule
from gitfleet.api.workload_records import RollingState
from gitfleet.errors import LostRace
from gitfleet.loop.fanout import Fanout
from gitfleet.loop.workload_rollouts import WorkloadRollouts
from gitfleet.model.decisions import Decision
from tests.builders import deployment, member_cluster, metric_template, namespace, placement, stateful_set
from tests.scenarios.test_workload_rollout_changes import images
from tests.scenarios.test_workload_rollouts import KEY, a_world, app_rollout, replicas, rollout, status
from tests.scenarios.world import World

OLD, NEW = stateful_set("web", "db", "db:1", replicas=4), stateful_set("web", "db", "db:2", replicas=4)
URL = "https://gate.example/x"


def rolled(world: World, trait: dict[str, Any], *beside: dict[str, Any]) -> World:
    """The world once db:2 has come under a rollout and nothing moves any more."""
    world.commit(member_cluster("c1"), namespace("web"), placement("web", "web"), OLD, trait, *beside)
    world.settle()
    world.commit(NEW)
    world.settle()
    return world


@pytest.mark.parametrize(
    ("type_", "on_failure", "expected"),
    [
        ("initialize-rollout", "fail", {"db:1": 4}),
        ("pre-batch-rollout", "fail", {"db:1": 4}),
        ("post-batch-rollout", "fail", {"db:1": 2, "db:2": 2}),
        ("post-batch-rollout", "rollback", {"db:1": 4}),
        ("finalize-rollout", "fail", {"db:2": 4}),
    ],
)
def test_a_webhook_that_rejects_fails_the_rollout_and_takes_its_pods_back_where_it_says_so(
    type_: str, on_failure: str, expected: dict[str, int]
) -> None:
    hook = {"type": type_, "name": "gate", "url": URL, "onFailure": on_failure}
    world = World(webhooks=(WebhookRule(url="*", status=403),))
    rolled(world, rollout(OLD, numBatches=2, rolloutWebhooks=[hook]))
    assert status(world).rolling_state is RollingState.FAILED
    assert images(world) == expected


@pytest.mark.parametrize("bad", [0, 1])
def test_a_metric_of_one_batch_gates_that_batch_alone(bad: int) -> None:
    metrics = [{"name": name, "metricsRange": {"max": 1}, "templateRef": {"name": name}} for name in ("m0", "m1")]
    batches = [{"replicas": 1, "canaryMetric": [metrics[0]]}, {"replicas": 1, "canaryMetric": [metrics[1]]}]
    values = tuple(MetricRule(query=f"m{n}", value=2.0 if n == bad else 0.5) for n in (0, 1))
    trait = rollout(OLD, rolloutBatches=[*batches, {"replicas": 2}])
    world = rolled(World(metrics=values), trait, *(metric_template(one, one) for one in ("m0", "m1")))
    assert (status(world).rolling_state, status(world).current_batch) == (RollingState.FAILED, bad)
    assert images(world) == {"db:1": 3 - bad, "db:2": 1 + bad}


def test_a_rollout_whose_file_cannot_be_read_is_not_taken_back() -> None:
    trait = rollout(OLD, numBatches=2, lastBatchToRollout=0, revertOnDelete=True)
    world = rolled(World(), trait)
    assert images(world) == {"db:1": 2, "db:2": 2}
    world.commit(remove=[trait])
    world.write({"rollouts/web/hidden.yaml": "{{ no yaml"})
    world.settle()
    assert not world.state().rollouts[KEY].removing
    assert images(world) == {"db:1": 2, "db:2": 2}
    world.write({"rollouts/web/hidden.yaml": None})
    world.settle()
    assert images(world) == {"db:1": 4}


@pytest.mark.parametrize("less", [1, 3])
def test_a_target_size_below_the_pods_of_the_source_moves_nothing(less: int) -> None:
    old, new = (deployment("web", f"web-{n}", f"web:{n}", replicas=4) for n in (1, 2))
    world = a_world(old)
    world.commit(new, rollout(new, old, numBatches=2, targetSize=4 - less))
    world.settle()
    assert status(world).rolling_state is RollingState.FAILED
    assert any("below the 4 pods there are" in one.message for one in status(world).conditions)
    assert (replicas(world, "web-1"), replicas(world, "web-2")) == (4, 0)


def test_a_target_size_of_other_content_in_place_moves_nothing() -> None:
    world = a_world(OLD)
    world.commit(NEW, rollout(OLD, numBatches=2, targetSize=6))
    world.settle()
    assert status(world).rolling_state is RollingState.FAILED
    assert any("targetSize is 6" in one.message for one in status(world).conditions)
    assert images(world) == {"db:1": 4}


def test_a_process_that_has_lost_the_race_carries_out_no_step() -> None:
    world = a_world(OLD, rollout(OLD, numBatches=2))
    world.commit(NEW)
    done: list[object] = []

    class Watched:
        def perform_steps(self, *asked: object) -> tuple[()]:
            done.append(asked)
            return ()

    def lost() -> None:
        raise LostRace("another process has written")

    asked = 0
    carry_out = world.driver.workloads.carry_out

    def look(self: WorkloadRollouts, fanout: Fanout, decision: Decision, make_sure: Callable[[], None]) -> None:
        nonlocal asked
        if decision.steps:
            asked += 1
            with pytest.raises(LostRace):
                carry_out(cast("Fanout", Watched()), decision, lost)
        carry_out(fanout, decision, make_sure)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(WorkloadRollouts, "carry_out", look)
        world.settle(timedelta(minutes=30))
    assert asked and not done


def test_another_source_for_a_target_that_is_through_gives_its_pods_up_as_well() -> None:
    one, two, new = (deployment("web", f"web-{n}", f"web:{n}", replicas=4) for n in (1, 2, 3))
    world = a_world(one, two)
    world.commit(new, rollout(new, one, numBatches=2))
    world.settle()
    assert [replicas(world, f"web-{n}") for n in (1, 2, 3)] == [0, 4, 4]
    world.commit(rollout(new, two, numBatches=2))
    world.settle()
    assert status(world).rolling_state is RollingState.SUCCEEDED
    assert [replicas(world, f"web-{n}") for n in (1, 2, 3)] == [0, 0, 4]


@pytest.mark.parametrize(("reverts", "expected"), [(True, (4, 0)), (False, (2, 2))])
def test_an_app_rollout_takes_its_own_revert_on_delete(reverts: bool, expected: tuple[int, int]) -> None:
    old, new = (deployment("web", f"web-{n}", f"web:{n}", replicas=4) for n in (1, 2))
    world = a_world(old)
    trait = app_rollout("web", "1", "0", numBatches=2, lastBatchToRollout=0)
    trait["spec"]["revertOnDelete"] = reverts
    world.commit(new, trait, remove=[old])
    world.settle()
    assert (replicas(world, "web-1"), replicas(world, "web-2")) == (2, 2)
    world.commit(old, remove=[trait])
    world.settle()
    assert (replicas(world, "web-1"), replicas(world, "web-2")) == expected


def test_a_cluster_that_is_deselected_half_way_goes_back_where_the_plan_says_so() -> None:
    trait = rollout(OLD, numBatches=2, lastBatchToRollout=0, revertOnDelete=True)
    trait["spec"]["clusters"] = {"matchLabels": {"env": "prod"}}
    world = World()
    world.commit(member_cluster("c1", labels={"env": "prod"}), namespace("web"), placement("web", "web"), OLD, trait)
    world.settle()
    world.commit(NEW)
    world.settle()
    assert images(world) == {"db:1": 2, "db:2": 2}
    world.commit(member_cluster("c1", labels={"env": "dev"}))
    world.settle()
    assert images(world) == {"db:1": 4}


def test_in_order_a_cluster_that_failed_lets_no_other_begin() -> None:
    hook = {"type": "post-batch-rollout", "name": "gate", "url": URL, "onFailure": "fail"}
    trait = rollout(OLD, numBatches=2, rolloutWebhooks=[hook])
    trait["spec"]["order"] = "sequential"
    world = World(webhooks=(WebhookRule(url="*", status=403),))
    at_once = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "100%"}}
    brings = placement("web", "web")
    brings["spec"]["strategy"] = at_once
    world.commit(member_cluster("c1"), member_cluster("c2"), namespace("web"), brings, OLD, trait)
    world.settle()
    world.commit(NEW)
    world.settle()
    assert status(world, "c1").rolling_state is RollingState.FAILED
    assert status(world, "c2").rolling_state is RollingState.VERIFYING_SPEC
    assert (images(world, "c1"), images(world, "c2")) == ({"db:1": 2, "db:2": 2}, {"db:1": 4})
