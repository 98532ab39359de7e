"""Rollouts that select no cluster: `validate` warns, and nothing happens."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import an_object, deployment, member_cluster, namespace, placement
from tests.scenarios.world import World

WEB, OLD = (deployment("web", name, "web:1", replicas=2) for name in ("web", "old"))
ELSEWHERE = deployment("web", "wbe", "web:1")


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
    world.roll_out(
        member_cluster("c1", labels={"env": "prod"}), namespace("web"), placement("web", "web"), WEB, *bodies
    )
    return world


@pytest.mark.parametrize(
    "rollout",
    [trait(ELSEWHERE, OLD), trait(WEB, within="default"), trait(WEB, clusters=labelled("prd")), app("wbe")],
    ids=["target", "namespace", "labels", "placement"],
)
def test_nothing_happens(rollout: dict[str, Any]) -> None:
    world = a_world()
    world.roll_out(rollout)
    before = world.state_commits()
    result = world.driver.reconcile()
    assert (result.asks, result.settled) == ((), True)
    assert (world.state_commits(), [one.clusters for one in world.state().rollouts.values()]) == (before, [()])
    world.roll_out(remove=[rollout])
    assert not world.state().rollouts


def test_what_comes_later_is_rolled_out_and_not_asked_for() -> None:
    world = a_world()
    world.roll_out(trait(ELSEWHERE))
    world.roll_out(ELSEWHERE)
    result = world.driver.reconcile()
    assert result.asks == ()
    assert [status.cluster for one in world.state().rollouts.values() for status in one.clusters] == ["c1"]
