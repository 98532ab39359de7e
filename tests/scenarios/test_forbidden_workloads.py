"""Rollouts that name what is not theirs to move: the fleet's policy and the reserved namespaces (decision D37) hold for
them, and they act on their own namespace alone (decision D39)."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.texts import ApiText
from gitfleet.workload.texts import WorkloadText
from tests.builders import an_object, deployment, fleet_config, member_cluster, namespace, placement
from tests.scenarios.world import World

DNS = deployment("kube-system", "dns", "dns:1", replicas=3)
OPEN = fleet_config(policy={"allow": [{"namespaces": ["kube-system"]}]})
RESERVED = "its namespace " + ApiText.RESERVED_PLACE_ELSEWHERE()


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
    world.roll_out(member_cluster("c1"), namespace("web"), placement("web", "web"), WEB, *bodies)
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
    live = world.body("c1", "Deployment", metadata["name"], metadata["namespace"])
    assert "paused" not in live["spec"]
    return int(live["spec"]["replicas"])


def asks(world: World) -> str:
    """What a person is asked to do."""
    result = world.driver.reconcile()
    return "\n".join(result.asks)


@pytest.mark.parametrize("config", [fleet_config(), fleet_config(policy={"deny": [{"namespaces": ["kube-*"]}]})])
@pytest.mark.parametrize("written", [rollout(DNS, targetSize=0), rollout(WEB, DNS)], ids=["target", "source"])
def test_a_reserved_workload_is_not_moved(written: dict[str, Any], config: dict[str, Any]) -> None:
    world = a_world(DNS)
    world.roll_out(written, config)
    assert (replicas(world, DNS), replicas(world, WEB)) == (3, 2)
    assert [fault.field.rpartition(".")[2] for fault in world.state().faults] == ["namespace"]
    assert not world.state().rollouts


@pytest.mark.parametrize("size", [0, 9])
def test_a_rollout_that_was_permitted_stops_and_asks(size: int) -> None:
    inside = rollout(DNS, inside="kube-system", numBatches=2, lastBatchToRollout=0, targetSize=size)
    world = a_world(DNS, OPEN, inside)
    half = replicas(world, DNS)
    assert half not in (3, size)
    world.roll_out(fleet_config(), rollout(DNS, inside="kube-system", numBatches=2, targetSize=size))
    assert replicas(world, DNS) == half
    assert f"rollout kube-system/move on c1: Deployment/kube-system/dns: {RESERVED}" in asks(world)
    world.fleet.cluster("c1").apply_by_hand(deployment("kube-system", "dns", "dns:1", replicas=7))
    world.advance(seconds=3600)
    world.settle()
    assert replicas(world, DNS) == 7
    world.roll_out(OPEN)
    assert replicas(world, DNS) == size
    world.roll_out(fleet_config(), remove=[inside])
    assert replicas(world, DNS) == size
    assert not world.state().rollouts


@pytest.mark.parametrize("written", [rollout(OPS, targetSize=0), rollout(WEB, OPS)], ids=["target", "source"])
def test_what_no_placement_has_is_moved_from_its_own_namespace_alone(written: dict[str, Any]) -> None:
    world = a_world(OPS)
    world.roll_out(written)
    assert (replicas(world, OPS), replicas(world, WEB)) == (3, 2)
    world.roll_out(rollout(OPS, inside="ops", targetSize=1), remove=[written])
    assert (replicas(world, OPS), replicas(world, WEB)) == (1, 2)


SHOP = deployment("shop", "web", "web:1", replicas=4)
PLACED = (namespace("shop"), placement("shop"), SHOP)
APP = an_object("core.oam.dev/v1beta1", "AppRollout", "move", namespace="web")
ATTACKS = {
    "target": rollout(SHOP, targetSize=0),
    "source": rollout(WEB, SHOP),
    "snapshot": {
        **APP,
        "spec": {"placementRef": {"name": "shop"}, "targetRevision": "0", "rolloutPlan": {"targetSize": 0}},
    },
    "two snapshots": {
        **APP,
        "spec": {
            "placementRef": {"name": "shop"},
            "targetRevision": "1",
            "sourceRevision": "0",
            "rolloutPlan": {"numBatches": 2, "lastBatchToRollout": 0},
        },
    },
    "held by an error": rollout(SHOP, numBatchs=2),
    "held by a pause": rollout(SHOP, paused=True),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_rollout_neither_moves_nor_holds_what_is_placed_in_another_namespace(attack: str) -> None:
    world = World()
    world.roll_out(member_cluster("c1"), namespace("web"), placement("web"), WEB, *PLACED)
    world.roll_out(ATTACKS[attack])
    assert replicas(world, SHOP) == 4
    newer = deployment("shop", "web", "web:2", replicas=5)
    world.roll_out(newer)
    assert (world.image_in("c1", "shop"), replicas(world, SHOP)) == ("web:2", 5)
    world.roll_out(rollout(SHOP, inside="shop", targetSize=6))
    assert replicas(world, SHOP) == 6


@pytest.mark.parametrize("to", ["shop", "other"])
def test_the_fleet_may_allow_a_namespace_by_name(to: str) -> None:
    world = World()
    allows = fleet_config(policy={"crossNamespace": [{"from": "web", "to": [to]}]})
    world.roll_out(member_cluster("c1"), namespace("web"), placement("web"), WEB, *PLACED, allows)
    half = rollout(SHOP, numBatches=2, lastBatchToRollout=0, targetSize=2)
    world.roll_out(half)
    assert replicas(world, SHOP) == (3 if to == "shop" else 4)
    world.roll_out(fleet_config(), rollout(SHOP, numBatches=2, targetSize=2))
    assert replicas(world, SHOP) == (3 if to == "shop" else 4)
    if to == "shop":
        assert WorkloadText.ANOTHER_NAMESPACE(key="Deployment/shop/web", namespace="shop") in asks(world)
    world.roll_out(allows)
    assert replicas(world, SHOP) == (2 if to == "shop" else 4)
