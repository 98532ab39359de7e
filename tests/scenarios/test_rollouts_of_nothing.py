"""Rollouts that are about no cluster: each says so once, to a person, and nothing goes on for it."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from tests.builders import an_object, deployment, member_cluster, namespace, placement, stateful_set
from tests.scenarios.world import World

WEB, OLD = (deployment("web", name, "web:1", replicas=2) for name in ("web", "old"))
ELSEWHERE = deployment("web", "wbe", "web:1")
NOBODY = "no cluster has {}, and no placement brings it; correct targetRef, or place it{}".format
OR_SAY = " (where it lives on clusters without a placement, name these in `clusters`)"


def reference(body: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": body["apiVersion"], "kind": body["kind"], "name": body["metadata"]["name"]}


def trait(target: dict[str, Any], *sources: dict[str, Any], within: str = "web", **spec: Any) -> dict[str, Any]:
    """A RolloutTrait web in two batches."""
    given = {"sourceRef": [reference(one) for one in sources]} if sources else {}
    spec = {"targetRef": reference(target), **given, "rolloutPlan": {"numBatches": 2}, **spec}
    return an_object("standard.oam.dev/v1alpha1", "RolloutTrait", "web", namespace=within, spec=spec)


def app(name: str, **spec: Any) -> dict[str, Any]:
    """An AppRollout web of a placement."""
    spec = {"placementRef": {"name": name}, "targetRevision": "0", "rolloutPlan": {}, **spec}
    return an_object("core.oam.dev/v1beta1", "AppRollout", "web", namespace="web", spec=spec)


def labelled(env: str) -> dict[str, Any]:
    return {"matchLabels": {"env": env}}


def a_world(*bodies: dict[str, Any]) -> World:
    """One cluster with a Deployment web/web of two pods, settled."""
    world = World()
    world.commit(member_cluster("c1", labels={"env": "prod"}), namespace("web"), placement("web", "web"), WEB, *bodies)
    world.settle()
    return world


@pytest.mark.parametrize(
    ("rollout", "expected"),
    [
        (trait(ELSEWHERE), NOBODY("Deployment/web/wbe", OR_SAY)),
        (trait(WEB, within="default"), NOBODY("Deployment/default/web", OR_SAY)),
        (trait(stateful_set("web", "web", "web:1")), NOBODY("StatefulSet/web/web", OR_SAY)),
        (trait(ELSEWHERE, OLD), NOBODY("Deployment/web/wbe", OR_SAY)),
        (trait(ELSEWHERE, clusters=labelled("prod")), NOBODY("Deployment/web/wbe", "")),
        (trait(WEB, clusters=labelled("prd")), "no cluster has the labels that `clusters` asks for; correct it"),
        (app("wbe"), "placement wbe is on no cluster; correct placementRef, or place it"),
        (app("web", clusters=labelled("prd")), "no cluster has the labels that `clusters` asks for; correct it"),
        (app("none"), "placement none is on no cluster; correct placementRef, or place it"),
    ],
)  # fmt: skip
def test_a_person_is_asked(rollout: dict[str, Any], expected: str) -> None:
    none = placement("none", "web", policy={"placementType": "PickFixed", "clusterNames": ["c9"]})
    world = a_world(*([none] if "none" in expected else []))
    world.commit(rollout)
    world.settle()
    before = world.state_commits()
    result = world.reconcile()
    within = rollout["metadata"]["namespace"]
    assert result is not None and len(result.asks) == 1
    assert result.asks[0].startswith(f"rollout {within}/web: {expected}"), result.asks
    assert (result.settled, world.state_commits()) == (True, before)
    # What is asked for is done, or the file goes: nothing is asked any more.
    world.commit(remove=[rollout])
    world.settle()
    ended = world.reconcile()
    assert ended is not None and ended.asks == () and not world.state().rollouts


def test_what_comes_later_is_rolled_out_and_not_asked_for() -> None:
    world = a_world()
    world.commit(trait(ELSEWHERE))
    world.settle()
    world.commit(ELSEWHERE)
    world.settle()
    result = world.reconcile()
    assert result is not None and result.asks == ()
    assert [status.cluster for one in world.state().rollouts.values() for status in one.clusters] == ["c1"]


@pytest.mark.parametrize("rollout", [trait(ELSEWHERE), app("late")])
def test_what_a_placement_is_about_to_bring_is_not_asked_for(rollout: dict[str, Any]) -> None:
    """Its run waits for a person, or has not come there yet."""
    late = placement("late", "late", strategy={"type": "External"})
    world = a_world()
    moved = deployment("late", "wbe", "web:1")
    rollout = deepcopy(rollout)
    if "targetRef" in rollout["spec"]:
        rollout["spec"]["targetRef"]["namespace"] = "late"
    world.commit(late, namespace("late"), moved, rollout)
    world.settle()
    result = world.reconcile()
    assert result is not None and not [one for one in result.asks if "rollout" in one and "no cluster" in one]
    assert world.bindings("late")["c1"].resource_snapshot is None


def test_nothing_is_asked_while_no_cluster_can_say_what_it_has() -> None:
    world = a_world()
    world.silence("c1")
    world.commit(trait(ELSEWHERE, clusters=labelled("prod")))
    world.settle()
    result = world.reconcile()
    assert result is not None and result.asks == ()
