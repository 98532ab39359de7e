"""What people change while a workload rollout is under way, or after it: nothing goes out at once, nothing is lost."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.workload_records import RollingState, RolloutMode
from gitfleet.ports.transport import Request
from gitfleet.workload.texts import WorkloadText
from tests.builders import deployment, fleet_config, member_cluster, namespace, placement, stateful_set
from tests.scenarios.test_workload_rollouts import a_world, app_rollout, replicas, rollout, status
from tests.scenarios.world import World


def images(world: World, cluster: str = "c1") -> dict[str, int]:
    """How many pods have each image."""
    listed = world.fleet.cluster(cluster).request(Request(method="GET", path="/api/v1/namespaces/web/pods")).json()
    found: dict[str, int] = {}
    for pod in listed["items"]:
        image = pod["spec"]["containers"][0]["image"]
        found[image] = found.get(image, 0) + 1
    return found


def spec(world: World, name: str = "web", cluster: str = "c1") -> dict[str, Any]:
    """The spec of a Deployment."""
    body = world.body(cluster, "Deployment", name, "web")
    return dict(body["spec"])


def test_a_chain_of_three_with_the_one_rollout() -> None:
    one, two, three = (deployment("web", f"web-{n}", f"web:{n}", replicas=4) for n in (1, 2, 3))
    world = a_world(one)
    world.roll_out(two, rollout(two, one, numBatches=2))
    seen: list[tuple[int, int, int]] = []

    def look() -> None:
        seen.append((replicas(world, "web-1"), replicas(world, "web-2"), replicas(world, "web-3")))

    world.commit(three, rollout(three, two, numBatches=2))
    world.settle(each=look)
    assert status(world).rolling_state is RollingState.SUCCEEDED, status(world)
    assert list(dict.fromkeys(seen)) == [(0, 4, 0), (0, 4, 2), (0, 2, 2), (0, 2, 4), (0, 0, 4)]


@pytest.mark.parametrize("left", [2, 0])
def test_other_content_of_a_target_whose_sources_have_given_up_pods_that_it_has_not_got_yet(left: int) -> None:
    one, two = (deployment("web", f"web-{n}", f"web:{n}", replicas=6) for n in (1, 2))
    world = a_world(one)
    world.commit(two, rollout(two, one, numBatches=3, rolloutStrategy="DecreaseFirst"))
    while replicas(world, "web-1") > left:
        world.rest()
        world.advance(seconds=5)
    assert replicas(world, "web-1") + max(0, replicas(world, "web-2")) < 6
    sizes = [replicas(world, "web-1")]
    world.commit(deployment("web", "web-2", "web:3", replicas=6))
    world.settle(each=lambda: sizes.append(replicas(world, "web-1")))
    assert (status(world).rolling_state, images(world)) == (RollingState.SUCCEEDED, {"web:3": 6})
    assert (status(world).original_size, status(world).mode) == (6, RolloutMode.SOURCE_TO_TARGET)
    assert sizes == sorted(sizes, reverse=True), "a source never gets pods back"


def test_a_rollout_in_place_whose_file_is_deleted_half_way_gives_its_fields_back() -> None:
    old, new = deployment("web", "web", "web:1", replicas=4), deployment("web", "web", "web:2", replicas=4)
    trait = rollout(old, numBatches=2, lastBatchToRollout=0)
    world = a_world(old, trait)
    world.roll_out(new)
    assert images(world) == {"web:1": 2, "web:2": 2}
    world.roll_out(remove=[trait])
    assert images(world) == {"web:2": 4}
    fields = spec(world)
    assert (fields.get("paused", False), fields.get("minReadySeconds", 0)) == (False, 0)
    result = world.driver.reconcile()
    assert (result.asks, result.settled) == ((), True)
    assert not world.state().rollouts


def test_a_cluster_that_is_deselected_and_selected_again() -> None:
    old, new = deployment("web", "web", "web:1", replicas=4), deployment("web", "web", "web:2", replicas=4)
    trait = rollout(old, numBatches=2, lastBatchToRollout=0)
    trait["spec"]["clusters"] = {"matchLabels": {"env": "prod"}}
    world = World()
    chosen, other = member_cluster("c1", labels={"env": "prod"}), member_cluster("c1", labels={"env": "dev"})
    world.roll_out(chosen, namespace("web"), placement("web", "web"), old, trait)
    world.roll_out(new)
    world.roll_out(other)
    trait["spec"]["rolloutPlan"] = {"numBatches": 2}
    world.roll_out(chosen, trait)
    assert images(world) == {"web:2": 4}


@pytest.mark.parametrize("half", [True, False])
def test_a_cluster_that_leaves_gets_nothing_new(half: bool) -> None:
    old, new = deployment("web", "web", "web:1", replicas=4), deployment("web", "web", "web:2", replicas=4)
    trait = rollout(old, numBatches=2, **({"lastBatchToRollout": 0} if half else {}))
    world = a_world(fleet_config(removals={"approval": "Never"}), old, trait)
    world.roll_out(new)
    before = images(world)
    assert before == ({"web:1": 2, "web:2": 2} if half else {"web:2": 4})
    world.roll_out(remove=[member_cluster("c1")])
    assert images(world) in (before, {})
    body = world.live("c1", "Deployment", "web", "web")
    assert half or body is None or not body["spec"].get("paused")


def test_revisions_that_are_swapped_half_way_delete_nothing() -> None:
    one, two = (deployment("web", f"web-{n}", f"web:{n}", replicas=4) for n in (1, 2))
    world = a_world(one)
    world.roll_out(two, app_rollout("web", "1", "0", numBatches=2, lastBatchToRollout=0), remove=[one])
    assert images(world) == {"web:1": 2, "web:2": 2}
    world.roll_out(app_rollout("web", "0", "1", numBatches=2))
    assert images(world) == {"web:1": 2, "web:2": 2}
    result = world.driver.reconcile()
    why = WorkloadText.CLUSTER_TARGETREVISION_NAME(snapshot="web-1-snapshot", index=0, there=1)
    assert result.asks and why in result.asks[0]


def test_batches_that_no_longer_add_up_move_and_release_nothing() -> None:
    old, new = stateful_set("web", "web", "web:1", replicas=4), stateful_set("web", "web", "web:2", replicas=4)
    batches = [{"replicas": 1}, {"replicas": 3}]
    world = a_world(old, rollout(old, rolloutBatches=batches, lastBatchToRollout=0))
    world.roll_out(new)
    assert images(world) == {"web:1": 3, "web:2": 1}
    world.roll_out(rollout(old, rolloutBatches=[{"replicas": 1}, {"replicas": 4}], lastBatchToRollout=0))
    assert images(world) == {"web:1": 3, "web:2": 1}
    world.roll_out(rollout(old, rolloutBatches=batches))
    assert images(world) == {"web:2": 4}


def test_a_number_of_pods_that_is_ignored_outlives_a_rollout() -> None:
    rule = {"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]}
    old, new = deployment("web", "web-1", "web:1", replicas=4), deployment("web", "web-2", "web:2", replicas=4)
    world = a_world(fleet_config(ignoreDifferences=[rule]), old)
    trait = rollout(new, old)
    world.roll_out(new, trait)
    world.roll_out(remove=[trait])
    world.roll_out(deployment("web", "web-2", "web:2", replicas=4, labels={"a": "b"}))
    assert replicas(world, "web-2") == 4
