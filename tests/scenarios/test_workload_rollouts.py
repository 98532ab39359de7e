"""Workload rollouts through whole reconciles, on simulated clusters: the scenarios of seed 004."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import ClusterRolloutStatus, RollingState
from gitfleet.workload.texts import WorkloadText
from tests.builders import an_object, deployment, member_cluster, namespace, placement, stateful_set
from tests.scenarios.world import World

KEY = NamespacedName("web", "web")


def rollout(target: dict[str, Any], *sources: dict[str, Any], **plan: Any) -> dict[str, Any]:
    """A RolloutTrait web/web."""
    spec: dict[str, Any] = {"targetRef": _reference(target), "rolloutPlan": plan}
    if sources:
        spec["sourceRef"] = [_reference(one) for one in sources]
    return an_object("standard.oam.dev/v1alpha1", "RolloutTrait", "web", namespace="web", spec=spec)


def app_rollout(name: str, target: str, source: str | None = None, **plan: Any) -> dict[str, Any]:
    """An AppRollout of the placement web, from one snapshot of it to another one."""
    spec: dict[str, Any] = {"placementRef": {"name": "web"}, "targetRevision": target, "rolloutPlan": plan}
    if source is not None:
        spec["sourceRevision"] = source
    return an_object("core.oam.dev/v1beta1", "AppRollout", name, namespace="web", spec=spec)


def _reference(body: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": body["apiVersion"], "kind": body["kind"], "name": body["metadata"]["name"]}


def a_world(*bodies: dict[str, Any], rules: tuple[ClusterRule, ...] = ()) -> World:
    """One cluster with the namespace web and these objects, settled."""
    world = World(rules=rules)
    world.roll_out(member_cluster("c1"), namespace("web"), placement("web", "web"), *bodies)
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


def test_in_place_where_the_rollout_and_the_new_content_come_in_one_commit() -> None:
    old = stateful_set("web", "db", "db:1", replicas=4)
    world = a_world(old)
    world.roll_out(stateful_set("web", "db", "db:2", replicas=4), rollout(old, numBatches=2))
    assert status(world).rolling_state is RollingState.SUCCEEDED, status(world)
    assert status(world).last_template == status(world).new_template


def test_from_one_snapshot_to_another_and_the_source_stays_until_its_pods_have_moved() -> None:
    old, new = deployment("web", "web-1", "web:1", replicas=4), deployment("web", "web-2", "web:2", replicas=4)
    world = a_world(old)
    seen: list[tuple[int, int]] = []
    world.commit(new, app_rollout("web", "1", "0", numBatches=2), remove=[old])
    world.settle(each=lambda: seen.append((replicas(world, "web-1"), replicas(world, "web-2"))))
    assert status(world).rolling_state is RollingState.SUCCEEDED, status(world)
    assert list(dict.fromkeys(seen)) == [(4, 0), (4, 2), (2, 2), (2, 4), (0, 4), (-1, 4)]


def test_two_rollouts_of_one_workload_go_one_after_the_other() -> None:
    old = deployment("web", "web", "web:1", replicas=2)
    world = a_world(old)
    world.roll_out(app_rollout("app", "1", "0", lastBatchToRollout=0, numBatches=2), rollout(old))
    world.roll_out(deployment("web", "web", "web:2", replicas=2))
    trait, app = status(world), world.state().rollouts[NamespacedName("web", "app")].clusters[0]
    assert app.rolling_state is RollingState.ROLLING_IN_BATCHES
    assert trait.rolling_state is RollingState.VERIFYING_SPEC
    assert trait.conditions[0].message == WorkloadText.ROLLOUT_MOVES_LET_ONE_ROLLOUT(
        other="web/app", key="Deployment/web/web"
    )


def test_the_number_of_pods_of_a_manifest_without_one_outlives_a_rollout() -> None:
    old = deployment("web", "web", "web:1", replicas=None)
    world = a_world(old, rollout(old))
    key = next(one.key for one in world.fleet.cluster("c1").objects() if one.key.kind == "Deployment")
    world.fleet.cluster("c1").mutate(key, [{"op": "add", "path": "/spec/replicas", "value": 5}])
    world.settle()
    for version in (2, 3):
        world.roll_out(deployment("web", "web", f"web:{version}", replicas=None))
        assert (status(world).rolling_state, replicas(world, "web")) == (RollingState.SUCCEEDED, 5)
    world.roll_out(deployment("web", "web", "web:3", replicas=None, labels={"a": "b"}))
    assert replicas(world, "web") == 5


def test_a_target_that_nothing_brings_is_said_once_and_is_no_work() -> None:
    old, new = deployment("web", "web-1", "web:1", replicas=4), deployment("web", "web-2", "web:2", replicas=4)
    world = a_world(old)
    world.roll_out(rollout(new, old))
    said = WorkloadText.NOT_CLUSTER(target="Deployment/web/web-2")
    assert status(world).conditions[0].message == said
    commits = world.state_commits()
    result = world.driver.reconcile()
    assert result.asks == (f"rollout web/web on c1: {said}",)
    assert world.state_commits() == commits
    world.roll_out(new)
    assert (replicas(world, "web-1"), replicas(world, "web-2")) == (0, 4)


def test_a_source_that_no_placement_has_is_read_before_the_target_is_made() -> None:
    old, new = deployment("web", "web-1", "web:1", replicas=4), deployment("web", "web-2", "web:2", replicas=4)
    world = a_world()
    world.fleet.cluster("c1").apply_by_hand(old)
    seen: list[tuple[int, int]] = []
    world.commit(new, rollout(new, old, numBatches=2))
    world.settle(each=lambda: seen.append((replicas(world, "web-1"), replicas(world, "web-2"))))
    assert list(dict.fromkeys(seen))[-4:] == [(4, 2), (2, 2), (2, 4), (0, 4)]
    assert max(new for _, new in seen) == 4


@pytest.mark.parametrize("after", ["half", "success"])
@pytest.mark.parametrize("with_file", [True, False])
def test_a_target_whose_manifest_goes_is_deleted_once_its_pods_are_back(after: str, with_file: bool) -> None:
    old, new = deployment("web", "web-1", "web:1", replicas=4), deployment("web", "web-2", "web:2", replicas=4)
    world = a_world(old)
    trait = rollout(new, old, numBatches=2, **({"lastBatchToRollout": 0} if after == "half" else {}))
    world.roll_out(new, trait)
    ready: list[int] = []

    def count() -> None:
        bodies = [world.live("c1", "Deployment", name, "web") for name in ("web-1", "web-2")]
        ready.append(sum(int(body["status"].get("readyReplicas") or 0) for body in bodies if body is not None))

    world.watch = lambda _: count()
    world.commit(remove=[new, trait] if with_file else [new])
    world.settle(each=count)
    assert (replicas(world, "web-1"), replicas(world, "web-2")) == (4, -1)
    assert min(ready) >= 4, ready


def test_pods_in_excess_of_a_bad_image_do_not_count_once_it_is_corrected() -> None:
    old, new = deployment("web", "web-1", "web:1", replicas=4), deployment("web", "web-2", "web:bad", replicas=4)
    bad = ClusterRule(object=ObjectPattern(image="*:bad"), available="never")
    world = a_world(old, rules=(bad,))
    world.roll_out(new, rollout(new, old, numBatches=2))
    assert (replicas(world, "web-1"), replicas(world, "web-2")) == (4, 2)
    world.roll_out(deployment("web", "web-2", "web:2", replicas=4))
    assert status(world).rolling_state is RollingState.SUCCEEDED, status(world)
    assert (replicas(world, "web-1"), replicas(world, "web-2")) == (0, 4)


def test_two_sides_that_were_named_the_wrong_way_round_are_not_added_up() -> None:
    one, two = deployment("web", "web-1", "web:1", replicas=4), deployment("web", "web-2", "web:2", replicas=4)
    world = a_world(one, two)
    world.roll_out(rollout(one, two))
    assert (replicas(world, "web-1"), replicas(world, "web-2")) == (4, 0)


def test_a_revision_that_the_cluster_has_left_behind_is_asked_for() -> None:
    old = deployment("web", "web", "web:1", replicas=2)
    world = a_world(old)
    world.roll_out(deployment("web", "web", "web:2", replicas=2), app_rollout("web", "1", "0"))
    assert status(world).rolling_state is RollingState.SUCCEEDED
    world.roll_out(deployment("web", "web", "web:3", replicas=2))
    result = world.reconcile()
    said = WorkloadText.CLUSTER_TARGETREVISION_NAME(snapshot="web-2-snapshot", index="1", there="2")
    assert result is not None and result.asks == (f"rollout web/web on c1: {said}",)
    world.roll_out(app_rollout("web", "2", "1"))
    assert status(world).rolling_state is RollingState.SUCCEEDED
    assert world.image("c1", "web") == "web:3"


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
@pytest.mark.parametrize(("before", "after"), [(1, 4), (4, 2)])
def test_other_content_and_another_number_of_pods_in_one_commit_go_out_in_batches_of_that_number(
    kind: str, before: int, after: int
) -> None:
    make = deployment if kind == "Deployment" else stateful_set
    old, new = make("web", "web", "web:1", replicas=before), make("web", "web", "web:2", replicas=after)
    batches = [{"replicas": 1}, {"replicas": after - 1}]
    world = a_world(old, rollout(old, rolloutBatches=batches, lastBatchToRollout=0))
    world.commit(new)
    seen: list[tuple[int, int]] = []
    world.settle(each=lambda: seen.append(upgraded(world, kind)))
    assert upgraded(world, kind) == (1, after) and max(seen)[0] == 1
    assert (status(world).original_size, status(world).target_size) == (before, after)
    world.roll_out(rollout(old, rolloutBatches=batches))
    assert (upgraded(world, kind), status(world).rolling_state) == ((after, after), RollingState.SUCCEEDED)
    assert status(world).upgraded_ready_replicas == after, "counted until the last one is ready"


def upgraded(world: World, kind: str) -> tuple[int, int]:
    """How many pods have the newest content, and how many there are."""
    body = world.body("c1", kind, "web", "web")
    return int(body["status"].get("updatedReplicas") or 0), int(body["status"].get("replicas") or 0)


def test_pods_that_the_manifest_of_a_target_has_more_than_its_source_go_out_in_batches() -> None:
    old, new = deployment("web", "web-1", "web:1", replicas=1), deployment("web", "web-2", "web:2", replicas=4)
    world = a_world(old)
    seen: list[tuple[int, int]] = []
    world.commit(new, rollout(new, old, numBatches=4, lastBatchToRollout=0))
    world.settle(each=lambda: seen.append((replicas(world, "web-1"), replicas(world, "web-2"))))
    assert seen[-1] == (1, 1)
    world.commit(rollout(new, old, numBatches=4))
    world.settle(each=lambda: seen.append((replicas(world, "web-1"), replicas(world, "web-2"))))
    assert list(dict.fromkeys(seen)) == [(1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (0, 4)]


def autoscaler(name: str, **bounds: int) -> dict[str, Any]:
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    spec = {"scaleTargetRef": reference, **bounds}
    return an_object("autoscaling/v2", "HorizontalPodAutoscaler", name, namespace="web", spec=spec)


def bounds_of(world: World, name: str) -> tuple[int, int]:
    body = world.body("c1", "HorizontalPodAutoscaler", name, "web")
    return int(body["spec"].get("minReplicas", 1)), int(body["spec"]["maxReplicas"])


@pytest.mark.parametrize("bounds", [{"maxReplicas": 9}, {"minReplicas": 2, "maxReplicas": 9}])
@pytest.mark.parametrize("ends_by", ["success", "file"])
def test_an_autoscaler_is_bounded_to_the_size_that_it_has_set_while_its_workload_is_rolled_out(
    bounds: dict[str, int], ends_by: str
) -> None:
    free = (bounds.get("minReplicas", 1), 9)
    old, new = (deployment("web", "web", f"web:{number}", replicas=None) for number in (1, 2))
    plan = {"numBatches": 5, "revertOnDelete": True}
    world = a_world(old, autoscaler("web", **bounds), rollout(old, **plan, lastBatchToRollout=0))
    key = next(one.key for one in world.fleet.cluster("c1").objects() if one.key.kind == "Deployment")
    world.fleet.cluster("c1").mutate(key, [{"op": "add", "path": "/spec/replicas", "value": 5}])
    world.settle()
    assert bounds_of(world, "web") == free
    world.roll_out(new)
    assert (upgraded(world, "Deployment"), bounds_of(world, "web")) == ((1, 5), (5, 5))
    if ends_by == "success":
        world.commit(rollout(old, **plan))
    else:
        world.commit(remove=[rollout(old)])
    world.settle()
    assert (upgraded(world, "Deployment"), bounds_of(world, "web")) == ((5, 5), free)
    commits = world.state_commits()
    world.reconcile()
    assert world.state_commits() == commits


def test_each_autoscaler_of_a_pair_is_bounded_to_the_size_of_its_side() -> None:
    old, new = (deployment("web", f"web-{number}", f"web:{number}", replicas=4) for number in (1, 2))
    scalers = [autoscaler(f"web-{number}", minReplicas=2, maxReplicas=9) for number in (1, 2)]
    world = a_world(old, scalers[0])
    world.roll_out(new, scalers[1], rollout(new, old, numBatches=2, lastBatchToRollout=0))
    assert (replicas(world, "web-1"), replicas(world, "web-2")) == (2, 2)
    assert (bounds_of(world, "web-1"), bounds_of(world, "web-2")) == ((2, 2), (2, 2))
    world.roll_out(rollout(new, old, numBatches=2))
    assert (replicas(world, "web-1"), replicas(world, "web-2")) == (0, 4)
    assert (bounds_of(world, "web-1"), bounds_of(world, "web-2")) == ((2, 9), (2, 9))
