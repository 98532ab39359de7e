"""The file of a rollout is deleted half way, and no placement has its workload (any more)."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.model.texts import ModelText
from gitfleet.workload.texts import WorkloadText
from tests.builders import deployment, member_cluster, namespace, placement, stateful_set
from tests.scenarios.test_refused_rollout_steps import FORBIDDEN, refusing
from tests.scenarios.test_workload_rollout_changes import images, spec
from tests.scenarios.test_workload_rollouts import KEY, rollout
from tests.scenarios.world import World

OLD, NEW = deployment("web", "web", "web:1", replicas=4), deployment("web", "web", "web:2", replicas=4)
HALF = rollout(OLD, numBatches=2, lastBatchToRollout=0)


def abandoned(old: dict[str, Any] = OLD, new: dict[str, Any] = NEW) -> World:
    """Half of the pods have the newer content, and the placement is gone, which leaves the workload there."""
    world = World()
    leaves = placement("web", "web")
    leaves["spec"].setdefault("strategy", {})["deleteStrategy"] = {"propagationPolicy": "Abandon"}
    world.roll_out(member_cluster("c1"), namespace("web"), leaves, old, rollout(old, numBatches=2))
    world.roll_out(new, rollout(old, numBatches=2, lastBatchToRollout=0))
    world.roll_out(remove=[leaves])
    return world


def never_placed() -> World:
    """The same of a workload that somebody else made and changed."""
    world = World()
    cluster = world.fleet.cluster("c1")
    cluster.apply_by_hand(namespace("web"))
    cluster.apply_by_hand(OLD)
    selected = {**HALF, "spec": {**HALF["spec"], "clusters": {"matchLabels": {"env": "x"}}}}
    world.roll_out(member_cluster("c1", labels={"env": "x"}), selected)
    cluster.apply_by_hand({**NEW, "spec": {**NEW["spec"], "paused": True}})
    world.settle()
    return world


def asked(world: World) -> tuple[str, ...]:
    """What a person is asked."""
    result = world.driver.reconcile()
    return result.asks


@pytest.mark.parametrize("begin", [abandoned, never_placed])
def test_the_rollout_gives_back_what_it_wrote(begin: Any) -> None:
    world = begin()
    assert images(world) == {"web:1": 2, "web:2": 2}
    world.roll_out(remove=[HALF])
    assert images(world) == {"web:2": 4}
    fields = spec(world)
    assert (fields.get("minReadySeconds", 0), fields["progressDeadlineSeconds"]) == (0, 600)
    assert fields["strategy"]["rollingUpdate"] == {"maxSurge": "25%", "maxUnavailable": "25%"}
    assert KEY not in world.state().rollouts and asked(world) == ()


def test_a_partition_is_given_back() -> None:
    old, new = (stateful_set("web", "db", image, replicas=4) for image in ("db:1", "db:2"))
    world = abandoned(old, new)
    world.roll_out(remove=[rollout(old)])
    assert images(world) == {"db:2": 4}
    assert KEY not in world.state().rollouts and asked(world) == ()


def test_what_refuses_to_take_it_back_is_in_the_status() -> None:
    world = abandoned()
    with refusing(FORBIDDEN):
        world.roll_out(remove=[HALF])
        (said,) = asked(world)
        expected = (
            "Deployment/web/web "
            + WorkloadText.GIVEN_BACK()
            + ("; " + ModelText.LAST_ATTEMPT_FAILED(why=FORBIDDEN.message))
        )
        assert expected in said
    world.settle()
    assert spec(world).get("minReadySeconds", 0) == 0 and KEY not in world.state().rollouts
