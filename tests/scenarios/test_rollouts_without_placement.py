"""The file of a rollout goes half way, and no placement has its workload (any more): nobody can change a manifest to go
on without it, so that it is said what to do on the cluster, and what the rollout wrote is given back."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.objects import ObjectKey
from gitfleet.model.texts import ModelText
from gitfleet.workload.texts import WorkloadText
from tests.builders import deployment, member_cluster, namespace, placement, stateful_set
from tests.scenarios.test_refused_rollout_steps import FORBIDDEN, refusing
from tests.scenarios.test_refused_rollout_steps import said as message
from tests.scenarios.test_workload_rollout_changes import images, spec
from tests.scenarios.test_workload_rollouts import KEY, rollout
from tests.scenarios.world import World

OLD, NEW = deployment("web", "web", "web:1", replicas=4), deployment("web", "web", "web:2", replicas=4)
WEB = ObjectKey("apps", "v1", "Deployment", "web", "web")
HALF = rollout(OLD, numBatches=2, lastBatchToRollout=0)
SAID = "its file is gone, and no placement has Deployment/web/web"


def abandoned(old: dict[str, Any] = OLD, new: dict[str, Any] = NEW) -> World:
    """Half of the pods have the newer content, and the placement is gone, which leaves the workload there."""
    world = World()
    leaves = placement("web", "web")
    leaves["spec"].setdefault("strategy", {})["deleteStrategy"] = {"propagationPolicy": "Abandon"}
    world.commit(member_cluster("c1"), namespace("web"), leaves, old, rollout(old, numBatches=2))
    world.settle()
    world.commit(new, rollout(old, numBatches=2, lastBatchToRollout=0))
    world.settle()
    world.commit(remove=[leaves])
    world.settle()
    return world


def never_placed() -> World:
    """The same of a workload that somebody else made and changed."""
    world = World()
    cluster = world.fleet.cluster("c1")
    cluster.apply_by_hand(namespace("web"))
    cluster.apply_by_hand(OLD)
    selected = {**HALF, "spec": {**HALF["spec"], "clusters": {"matchLabels": {"env": "x"}}}}
    world.commit(member_cluster("c1", labels={"env": "x"}), selected)
    world.settle()
    cluster.apply_by_hand({**NEW, "spec": {**NEW["spec"], "paused": True}})
    world.settle()
    return world


def asked(world: World) -> tuple[str, ...]:
    """What a person is asked."""
    result = world.reconcile()
    assert result is not None
    return result.asks


@pytest.mark.parametrize("begin", [abandoned, never_placed])
def test_a_person_is_asked_and_goes_on_by_hand(begin: Any) -> None:
    world = begin()
    assert images(world) == {"web:1": 2, "web:2": 2}
    world.commit(remove=[HALF])
    world.settle()
    assert images(world) == {"web:1": 2, "web:2": 2}
    (said,) = asked(world)
    assert SAID in said and "kubectl -n web rollout resume deployment/web" in said
    world.fleet.cluster("c1").mutate(WEB, [{"op": "replace", "path": "/spec/paused", "value": False}])
    world.settle()
    assert images(world) == {"web:2": 4}
    fields = spec(world)
    assert (fields.get("minReadySeconds", 0), fields["progressDeadlineSeconds"]) == (0, 600)
    assert fields["strategy"]["rollingUpdate"] == {"maxSurge": "25%", "maxUnavailable": "25%"}
    assert KEY not in world.state().rollouts and asked(world) == ()


@pytest.mark.parametrize("begin", [abandoned, never_placed])
def test_the_file_comes_back(begin: Any) -> None:
    world = begin()
    file = next(path for path in world.repo.files("main") if "rollout" in path)
    text = world.repo.files("main")[file]
    world.write({file: None})
    world.settle()
    world.write({file: text.decode().replace("lastBatchToRollout: 0", "lastBatchToRollout: 1")})
    world.settle()
    assert images(world) == {"web:2": 4} and asked(world) == ()
    assert spec(world).get("minReadySeconds", 0) == 0


def test_a_partition_is_taken_away_by_hand() -> None:
    old, new = (stateful_set("web", "db", image, replicas=4) for image in ("db:1", "db:2"))
    world = abandoned(old, new)
    world.commit(remove=[rollout(old)])
    world.settle()
    (said,) = asked(world)
    assert "no placement has StatefulSet/web/db" in said
    key = ObjectKey("apps", "v1", "StatefulSet", "web", "db")
    pointer = "/spec/updateStrategy/rollingUpdate/partition"
    world.fleet.cluster("c1").mutate(key, [{"op": "replace", "path": pointer, "value": 0}])
    world.settle()
    assert images(world) == {"db:2": 4}
    assert KEY not in world.state().rollouts and asked(world) == ()


def test_a_workload_that_goes_takes_the_question_with_it() -> None:
    world = abandoned()
    world.commit(remove=[HALF])
    world.settle()
    assert asked(world)
    world.fleet.cluster("c1").delete_by_hand(WEB)
    world.settle()
    assert KEY not in world.state().rollouts and asked(world) == ()


def test_what_refuses_to_take_it_back_is_in_the_status() -> None:
    world = abandoned()
    world.commit(remove=[HALF])
    world.settle()
    with refusing(FORBIDDEN):
        world.fleet.cluster("c1").mutate(WEB, [{"op": "replace", "path": "/spec/paused", "value": False}])
        world.settle()
        (said,) = asked(world)
        expected = (
            "Deployment/web/web "
            + WorkloadText.GIVEN_BACK()
            + ("; " + ModelText.LAST_ATTEMPT_FAILED(removeprefix=FORBIDDEN.message))
        )
        assert expected in said and message(world, "c1") == expected
    world.settle()
    assert spec(world).get("minReadySeconds", 0) == 0 and KEY not in world.state().rollouts


def test_a_file_that_goes_while_it_is_paused_half_way_lets_nothing_go() -> None:
    world = World()
    world.commit(member_cluster("c1"), namespace("web"), placement("web", "web"), OLD, HALF)
    world.settle()
    world.commit(NEW)
    world.settle()
    paused = rollout(OLD, numBatches=2, lastBatchToRollout=0, paused=True)
    world.commit(deployment("web", "web", "web:3", replicas=4), paused)
    world.settle()
    world.commit(remove=[paused])
    world.settle()
    assert images(world) == {"web:1": 2, "web:2": 2}
    (said,) = asked(world)
    assert "its file is gone: change the manifest" in said
    world.commit(deployment("web", "web", "web:3", replicas=4, labels={"go": "on"}))
    world.settle()
    assert images(world) == {"web:3": 4} and spec(world).get("minReadySeconds", 0) == 0
