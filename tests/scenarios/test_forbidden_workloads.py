"""Rollouts that name what is not theirs to move: the fleet's policy and the reserved namespaces (decision D37) hold for
them, and what no placement has is moved from its own namespace alone."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.texts import ApiText
from tests.builders import an_object, deployment, fleet_config, member_cluster, namespace, placement
from tests.scenarios.world import World

DNS = deployment("kube-system", "dns", "dns:1", replicas=3)
OPEN = fleet_config(policy={"allow": [{"namespaces": ["kube-system"]}]})
DENIED = fleet_config(policy={"deny": [{"namespaces": ["ops"]}]})
RESERVED = "its namespace " + ApiText.RESERVED_PLACE_ELSEWHERE()
OTHERS = "is in another namespace, and gitfleet does not place it; write the rollout in namespace"


def rollout(target: dict[str, Any], *sources: dict[str, Any], inside: str = "web", **plan: Any) -> dict[str, Any]:
    """A RolloutTrait `move` of workloads on all clusters, wherever they are."""
    spec: dict[str, Any] = {"targetRef": _reference(target), "rolloutPlan": plan, "clusters": {}}
    if sources:
        spec["sourceRef"] = [_reference(one) for one in sources]
    return an_object("standard.oam.dev/v1alpha1", "RolloutTrait", "move", namespace=inside, spec=spec)


def _reference(body: dict[str, Any]) -> dict[str, Any]:
    metadata = body["metadata"]
    named = {"namespace": metadata["namespace"], "name": metadata["name"]}
    return {"apiVersion": body["apiVersion"], "kind": body["kind"], **named}


def a_world(by_hand: dict[str, Any], *bodies: dict[str, Any]) -> World:
    """One cluster with a Deployment that somebody made there, and with a placed Deployment web/web."""
    world = World()
    world.commit(member_cluster("c1"), namespace("web"), placement("web", "web"), WEB, *bodies)
    world.settle()
    cluster = world.fleet.cluster("c1")
    cluster.apply_by_hand(namespace(by_hand["metadata"]["namespace"]))
    cluster.apply_by_hand(by_hand)
    world.advance(seconds=60)
    world.settle()
    return world


WEB = deployment("web", "web", "web:1", replicas=2)
OPS = deployment("ops", "dns", "dns:1", replicas=3)


def replicas(world: World, body: dict[str, Any]) -> int:
    """How many pods a Deployment asks for."""
    metadata = body["metadata"]
    live = world.live("c1", "Deployment", metadata["name"], metadata["namespace"])
    assert live is not None
    assert "paused" not in live["spec"]
    return int(live["spec"]["replicas"])


def asks(world: World) -> str:
    """What a person is asked to do."""
    result = world.reconcile()
    assert result is not None
    return "\n".join(result.asks)


@pytest.mark.parametrize("config", [fleet_config(), fleet_config(policy={"deny": [{"namespaces": ["kube-*"]}]})])
@pytest.mark.parametrize("written", [rollout(DNS, targetSize=0), rollout(WEB, DNS)], ids=["target", "source"])
def test_a_reserved_workload_is_not_moved(written: dict[str, Any], config: dict[str, Any]) -> None:
    world = a_world(DNS)
    world.commit(written, config)
    world.settle()
    assert (replicas(world, DNS), replicas(world, WEB)) == (3, 2)
    assert [fault.field.rpartition(".")[2] for fault in world.state().faults] == ["namespace"]
    assert not world.state().rollouts


@pytest.mark.parametrize("size", [0, 9])
def test_a_rollout_that_was_permitted_stops_and_asks(size: int) -> None:
    inside = rollout(DNS, inside="kube-system", numBatches=2, lastBatchToRollout=0, targetSize=size)
    world = a_world(DNS, OPEN, inside)
    half = replicas(world, DNS)
    assert half not in (3, size)
    world.commit(fleet_config(), rollout(DNS, inside="kube-system", numBatches=2, targetSize=size))
    world.settle()
    assert replicas(world, DNS) == half
    assert f"rollout kube-system/move on c1: Deployment/kube-system/dns: {RESERVED}" in asks(world)
    world.fleet.cluster("c1").apply_by_hand(deployment("kube-system", "dns", "dns:1", replicas=7))
    world.advance(seconds=3600)
    world.settle()
    assert replicas(world, DNS) == 7
    world.commit(OPEN)
    world.settle()
    assert replicas(world, DNS) == size
    world.commit(fleet_config(), remove=[inside])
    world.settle()
    assert replicas(world, DNS) == size
    assert not world.state().rollouts


@pytest.mark.parametrize("written", [rollout(OPS, targetSize=0), rollout(WEB, OPS)], ids=["target", "source"])
def test_what_no_placement_has_is_moved_from_its_own_namespace_alone(written: dict[str, Any]) -> None:
    world = a_world(OPS, written)
    world.settle()
    assert (replicas(world, OPS), replicas(world, WEB)) == (3, 2)
    assert f"Deployment/ops/dns {OTHERS} ops, or place the workload" in asks(world)
    world.commit(rollout(OPS, inside="ops", targetSize=1), remove=[written])
    world.settle()
    assert (replicas(world, OPS), replicas(world, WEB)) == (1, 2)


def test_what_is_placed_may_be_moved_from_another_namespace() -> None:
    world = a_world(OPS, rollout(WEB, inside="ops", numBatches=2))
    world.commit(deployment("web", "web", "web:2", replicas=2))
    world.settle()
    assert world.image("c1") == "web:2"
    assert asks(world) == ""
