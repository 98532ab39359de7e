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


@pytest.mark.parametrize(("between", "passes"), [("web:bad", 2), ("web:bad", 4), ("web:2", 1), ("web:2", 2)])
@pytest.mark.parametrize(
    ("strategy", "unavailable"), [("IncreaseFirst", 0), ("IncreaseFirst", 1), ("DecreaseFirst", 1)]
)
def test_another_content_amid_a_rollout_in_place_takes_no_ready_pod_too_many(
    between: str, passes: int, strategy: str, unavailable: int
) -> None:
    """A bad image that is put right, and a good one that is followed by another: it succeeds by itself."""
    old = deployment("web", "web", "web:1", replicas=5)
    plan = {"replicas": 2, "maxUnavailable": unavailable}, {"replicas": 3, "maxUnavailable": unavailable}
    trait = rollout(old, rolloutStrategy=strategy, rolloutBatches=list(plan))
    bad = ClusterRule(object=ObjectPattern(image="*:bad"), available="never")
    world = a_world(old, trait, rules=(bad,))
    ready: list[int] = []

    def count() -> None:
        body = world.live("c1", "Deployment", "web", "web")
        assert body is not None
        ready.append(int(body["status"].get("readyReplicas") or 0))

    world.watch = lambda _: count()
    world.commit(deployment("web", "web", between, replicas=5))
    for _ in range(passes):  # into the middle of the first batch, or of the second
        world.rest()
        count()
        world.advance(seconds=5)
    began = status(world)
    assert began.rolling_state is RollingState.ROLLING_IN_BATCHES
    world.commit(deployment("web", "web", "web:3", replicas=5))
    world.settle(each=count)
    assert status(world).rolling_state is RollingState.SUCCEEDED, status(world)
    body = world.live("c1", "Deployment", "web", "web")
    assert body is not None and body["status"]["updatedReplicas"] == body["status"]["replicas"] == 5
    assert min(ready) >= 5 - unavailable, ready


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
    world.commit(app_rollout("app", "1", "0", lastBatchToRollout=0, numBatches=2), rollout(old))
    world.settle()
    world.commit(deployment("web", "web", "web:2", replicas=2))
    world.settle()
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
        world.commit(deployment("web", "web", f"web:{version}", replicas=None))
        world.settle()
        assert (status(world).rolling_state, replicas(world, "web")) == (RollingState.SUCCEEDED, 5)
    world.commit(deployment("web", "web", "web:3", replicas=None, labels={"a": "b"}))
    world.settle()
    assert replicas(world, "web") == 5


def test_a_target_that_nothing_brings_is_said_once_and_is_no_work() -> None:
    old, new = deployment("web", "web-1", "web:1", replicas=4), deployment("web", "web-2", "web:2", replicas=4)
    world = a_world(old)
    world.commit(rollout(new, old))
    world.settle()
    said = WorkloadText.NOT_CLUSTER_NO_PLACEMENT_BRINGS(target="Deployment/web/web-2", wrong="targetRef")
    assert status(world).conditions[0].message == said
    commits = world.state_commits()
    result = world.reconcile()
    assert result is not None and result.asks == (f"rollout web/web on c1: {said}",)
    assert world.state_commits() == commits
    world.commit(new)
    world.settle()
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
    world.commit(new, trait)
    world.settle()
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
    world.commit(new, rollout(new, old, numBatches=2))
    world.settle()
    assert (replicas(world, "web-1"), replicas(world, "web-2")) == (4, 2)
    world.commit(deployment("web", "web-2", "web:2", replicas=4))
    world.settle()
    assert status(world).rolling_state is RollingState.SUCCEEDED, status(world)
    assert (replicas(world, "web-1"), replicas(world, "web-2")) == (0, 4)


def test_two_sides_that_were_named_the_wrong_way_round_are_not_added_up() -> None:
    one, two = deployment("web", "web-1", "web:1", replicas=4), deployment("web", "web-2", "web:2", replicas=4)
    world = a_world(one, two)
    world.commit(rollout(one, two))
    world.settle()
    assert (replicas(world, "web-1"), replicas(world, "web-2")) == (4, 0)


def test_a_revision_that_the_cluster_has_left_behind_is_asked_for() -> None:
    old = deployment("web", "web", "web:1", replicas=2)
    world = a_world(old)
    world.commit(deployment("web", "web", "web:2", replicas=2), app_rollout("web", "1", "0"))
    world.settle()
    assert status(world).rolling_state is RollingState.SUCCEEDED
    world.commit(deployment("web", "web", "web:3", replicas=2))
    world.settle()
    result = world.reconcile()
    said = WorkloadText.CLUSTER_TARGETREVISION_NAME(snapshot="web-2-snapshot", index="1", there="2")
    assert result is not None and result.asks == (f"rollout web/web on c1: {said}",)
    world.commit(app_rollout("web", "2", "1"))
    world.settle()
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
    world.commit(rollout(old, rolloutBatches=batches))
    world.settle()
    assert (upgraded(world, kind), status(world).rolling_state) == ((after, after), RollingState.SUCCEEDED)
    assert status(world).upgraded_ready_replicas == after, "counted until the last one is ready"


def upgraded(world: World, kind: str) -> tuple[int, int]:
    """How many pods have the newest content, and how many there are."""
    body = world.live("c1", kind, "web", "web")
    assert body is not None
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


def with_template(body: dict[str, Any], **extra: Any) -> dict[str, Any]:
    """A workload whose pods have more than those of builders."""
    template = body["spec"]["template"]
    merged = {**template["metadata"], **extra}
    return {**body, "spec": {**body["spec"], "template": {**template, "metadata": merged}}}


def images(world: World) -> tuple[str, dict[str, Any], int, int]:
    """The image and the annotations of the template of the Deployment web, how many pods have it, and all of them."""
    body = world.live("c1", "Deployment", "web", "web")
    assert body is not None
    template, there = body["spec"]["template"], body["status"]
    image = template["spec"]["containers"][0]["image"]
    found = template["metadata"].get("annotations", {})
    return image, found, int(there.get("updatedReplicas") or 0), int(there.get("replicas") or 0)


@pytest.mark.parametrize("strategy", ["IncreaseFirst", "DecreaseFirst"])
@pytest.mark.parametrize("kind", ["RolloutTrait", "AppRollout"])
@pytest.mark.parametrize("image", ["web:2", "web:bad"])
def test_a_rollout_in_place_goes_back_to_the_template_of_the_source_snapshot(
    strategy: str, kind: str, image: str
) -> None:
    bad = ClusterRule(object=ObjectPattern(image="*:bad"), available="never")
    old = with_template(deployment("web", "web", "web:1", replicas=4), annotations={"from": "one"})
    plan: dict[str, Any] = {
        "rolloutStrategy": strategy, "numBatches": 2, "lastBatchToRollout": 0, "revertOnDelete": True,
    }  # fmt: skip
    world = a_world(old, rules=(bad,))
    file = rollout(old, **plan) if kind == "RolloutTrait" else app_rollout("web", "1", "0", **plan)
    new = with_template(deployment("web", "web", image, replicas=4), labels={"app": "web", "more": "yes"})
    world.commit(new, file)
    world.settle()
    assert images(world)[0] == image and images(world)[2] in (1, 2)
    ready: list[int] = []
    world.watch = lambda _: ready.append(ready_of(world))
    world.commit(remove=[file])
    world.settle()
    assert images(world) == ("web:1", {"from": "one"}, 4, 4)
    assert status(world).rolling_state is RollingState.ABANDONED, status(world)
    assert min(ready) >= (4 if strategy == "IncreaseFirst" else 2), ready
    world.settle()
    world.commit(with_template(deployment("web", "web", "web:3", replicas=4)))
    world.settle()
    assert images(world) == ("web:3", {}, 4, 4)
    body = world.live("c1", "Deployment", "web", "web")
    assert body is not None and body["spec"]["strategy"]["rollingUpdate"] == {
        "maxSurge": "25%",
        "maxUnavailable": "25%",
    }


def ready_of(world: World) -> int:
    body = world.live("c1", "Deployment", "web", "web")
    return int(body["status"].get("readyReplicas") or 0) if body is not None else 0


def autoscaler(name: str, **bounds: int) -> dict[str, Any]:
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    spec = {"scaleTargetRef": reference, **bounds}
    return an_object("autoscaling/v2", "HorizontalPodAutoscaler", name, namespace="web", spec=spec)


def bounds_of(world: World, name: str) -> tuple[int, int]:
    body = world.live("c1", "HorizontalPodAutoscaler", name, "web")
    assert body is not None
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
    world.commit(new)
    world.settle()
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
    world.commit(new, scalers[1], rollout(new, old, numBatches=2, lastBatchToRollout=0))
    world.settle()
    assert (replicas(world, "web-1"), replicas(world, "web-2")) == (2, 2)
    assert (bounds_of(world, "web-1"), bounds_of(world, "web-2")) == ((2, 2), (2, 2))
    world.commit(rollout(new, old, numBatches=2))
    world.settle()
    assert (replicas(world, "web-1"), replicas(world, "web-2")) == (0, 4)
    assert (bounds_of(world, "web-1"), bounds_of(world, "web-2")) == ((2, 9), (2, 9))
