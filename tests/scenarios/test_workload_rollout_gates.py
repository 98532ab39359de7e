"""The gates of a workload rollout through whole reconciles: what rejects stops it, and nothing passes by one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import cast

import pytest

from gitfleet.api.scenarios import WebhookRule
from gitfleet.api.workload_records import RollingState
from gitfleet.errors import LostRace
from gitfleet.fleet.fanout import Fanout
from gitfleet.fleet.workload_rollouts import WorkloadRollouts
from gitfleet.model.decisions import Decision
from gitfleet.workload.texts import WorkloadText
from tests.builders import deployment, member_cluster, namespace, placement, stateful_set
from tests.scenarios.test_workload_rollout_changes import images
from tests.scenarios.test_workload_rollouts import a_world, app_rollout, replicas, rollout, status
from tests.scenarios.world import World

OLD, NEW = stateful_set("web", "db", "db:1", replicas=4), stateful_set("web", "db", "db:2", replicas=4)
URL = "https://gate.example/x"


def test_a_target_size_of_other_content_in_place_moves_nothing() -> None:
    world = a_world(OLD)
    world.roll_out(NEW, rollout(OLD, numBatches=2, targetSize=6))
    assert status(world).rolling_state is RollingState.FAILED
    why = WorkloadText.TARGETSIZE_PODS_ROLLOUT_CHANGES_CONTENT(wanted=6, target="StatefulSet/web/db", size=4)
    assert any(why in condition.message for condition in status(world).conditions)
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
    carry_out = world.driver.clusters.workloads.carry_out

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
    world.roll_out(new, rollout(new, one, numBatches=2))
    assert [replicas(world, f"web-{n}") for n in (1, 2, 3)] == [0, 4, 4]
    world.roll_out(rollout(new, two, numBatches=2))
    assert status(world).rolling_state is RollingState.SUCCEEDED
    assert [replicas(world, f"web-{n}") for n in (1, 2, 3)] == [0, 0, 4]


@pytest.mark.parametrize(("reverts", "expected"), [(True, (4, 0)), (False, (4, 4))])
def test_an_app_rollout_takes_its_own_revert_on_delete(reverts: bool, expected: tuple[int, int]) -> None:
    old, new = (deployment("web", f"web-{n}", f"web:{n}", replicas=4) for n in (1, 2))
    world = a_world(old)
    trait = app_rollout("web", "1", "0", numBatches=2, lastBatchToRollout=0)
    trait["spec"]["revertOnDelete"] = reverts
    world.roll_out(new, trait, remove=[old])
    assert (replicas(world, "web-1"), replicas(world, "web-2")) == (2, 2)
    world.roll_out(old, remove=[trait])
    assert (replicas(world, "web-1"), replicas(world, "web-2")) == expected


def test_a_cluster_that_is_deselected_half_way_goes_back_where_the_plan_says_so() -> None:
    trait = rollout(OLD, numBatches=2, lastBatchToRollout=0, revertOnDelete=True)
    trait["spec"]["clusters"] = {"matchLabels": {"env": "prod"}}
    world = World()
    world.roll_out(member_cluster("c1", labels={"env": "prod"}), namespace("web"), placement("web", "web"), OLD, trait)
    world.roll_out(NEW)
    assert images(world) == {"db:1": 2, "db:2": 2}
    world.roll_out(member_cluster("c1", labels={"env": "dev"}))
    assert images(world) == {"db:1": 4}


@pytest.mark.parametrize("order", ["parallel", "sequential"])
@pytest.mark.parametrize("at_once", [False, True])
def test_only_a_person_goes_on_where_the_batch_to_stop_after_is_done_on_the_first_cluster(
    order: str, at_once: bool
) -> None:
    trait = rollout(OLD, numBatches=2, lastBatchToRollout=0)
    trait["spec"]["order"] = order
    brings = placement("web", "web")
    if at_once:
        brings["spec"]["strategy"] = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "100%"}}
    world = World()
    world.roll_out(member_cluster("c1"), member_cluster("c2"), namespace("web"), brings, OLD, trait)
    world.roll_out(NEW, limit=timedelta(minutes=3))
    result = world.driver.reconcile()
    assert result.asks_only and images(world, "c1") == {"db:1": 2, "db:2": 2}
    more = " (and 1 more cluster)" if at_once and order == "parallel" else ""
    assert result.asks == (f"rollout web/web on c1{more}: {WorkloadText.LASTBATCHTOROLLOUT_COUNTS_FROM(last_batch=0)}",)


def test_in_order_a_cluster_that_failed_lets_no_other_begin() -> None:
    hook = {"type": "post-batch-rollout", "name": "gate", "url": URL, "onFailure": "fail"}
    trait = rollout(OLD, numBatches=2, rolloutWebhooks=[hook])
    trait["spec"]["order"] = "sequential"
    world = World(webhooks=(WebhookRule(url="*", status=403),))
    at_once = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "100%"}}
    brings = placement("web", "web")
    brings["spec"]["strategy"] = at_once
    world.roll_out(member_cluster("c1"), member_cluster("c2"), namespace("web"), brings, OLD, trait)
    world.roll_out(NEW)
    assert status(world, "c1").rolling_state is RollingState.FAILED
    assert status(world, "c2").rolling_state is RollingState.VERIFYING_SPEC
    assert (images(world, "c1"), images(world, "c2")) == ({"db:1": 2, "db:2": 2}, {"db:1": 4})
