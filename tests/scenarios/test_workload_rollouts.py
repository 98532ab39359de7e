"""Workload rollouts through whole reconciles, on simulated clusters: the scenarios of seed 004."""

from __future__ import annotations

from typing import Any

from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import ClusterRolloutStatus, RollingState
from tests.builders import an_object, deployment, member_cluster, namespace, placement, stateful_set
from tests.scenarios.world import World

KEY = NamespacedName("web", "web")


def rollout(target: dict[str, Any], *sources: dict[str, Any], **plan: Any) -> dict[str, Any]:
    """A RolloutTrait web/web."""
    spec: dict[str, Any] = {"targetRef": _reference(target), "rolloutPlan": plan}
    if sources:
        spec["sourceRef"] = [_reference(one) for one in sources]
    return an_object("standard.oam.dev/v1alpha1", "RolloutTrait", "web", namespace="web", spec=spec)


def _reference(body: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": body["apiVersion"], "kind": body["kind"], "name": body["metadata"]["name"]}


def a_world(*bodies: dict[str, Any]) -> World:
    """One cluster with the namespace web and these objects, settled."""
    world = World()
    world.commit(member_cluster("c1"), namespace("web"), placement("web", "web"), *bodies)
    world.settle()
    return world


def status(world: World, cluster: str = "c1") -> ClusterRolloutStatus:
    """How far the rollout is."""
    return next(one for one in world.state().rollouts[KEY].clusters if one.cluster == cluster)


def replicas(world: World, name: str, kind: str = "Deployment") -> int:
    """How many pods a workload asks for."""
    body = world.live("c1", kind, name, "web")
    return -1 if body is None else int(body["spec"]["replicas"])


def test_from_source_to_target_in_batches() -> None:
    old = deployment("web", "web-1", "web:1", replicas=5)
    world = a_world(old)
    new = deployment("web", "web-2", "web:2", replicas=5)
    seen: list[tuple[int, int]] = []
    world.commit(new, rollout(new, old, numBatches=2))
    world.settle(each=lambda: seen.append((replicas(world, "web-1"), replicas(world, "web-2"))))
    assert status(world).rolling_state is RollingState.SUCCEEDED, status(world)
    assert list(dict.fromkeys(seen)) == [(5, 0), (5, 2), (3, 2), (3, 5), (0, 5)]


def test_in_place_by_partition() -> None:
    old = stateful_set("web", "db", "db:1", replicas=4)
    world = a_world(old, rollout(old, numBatches=2))
    assert status(world).rolling_state is RollingState.VERIFYING_SPEC
    world.commit(stateful_set("web", "db", "db:2", replicas=4))
    world.settle()
    assert status(world).rolling_state is RollingState.SUCCEEDED, status(world)


def test_in_place_where_the_rollout_and_the_new_content_come_in_one_commit() -> None:
    old = stateful_set("web", "db", "db:1", replicas=4)
    world = a_world(old)
    world.commit(stateful_set("web", "db", "db:2", replicas=4), rollout(old, numBatches=2))
    world.settle()
    assert status(world).rolling_state is RollingState.SUCCEEDED, status(world)
    assert status(world).last_template == status(world).new_template
