"""What people change while a workload rollout is under way, or after it: nothing goes out at once, nothing is lost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest

from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from gitfleet.api.workload_records import RollingState, RolloutMode
from gitfleet.ports.clock import Clock
from gitfleet.ports.transport import Request
from tests.builders import an_object, deployment, fleet_config, member_cluster, namespace, placement, stateful_set
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
    body = world.live(cluster, "Deployment", name, "web")
    assert body is not None
    return dict(body["spec"])


def test_a_chain_of_three_with_the_one_rollout() -> None:
    one, two, three = (deployment("web", f"web-{n}", f"web:{n}", replicas=4) for n in (1, 2, 3))
    world = a_world(one)
    world.commit(two, rollout(two, one, numBatches=2))
    world.settle()
    seen: list[tuple[int, int, int]] = []

    def look() -> None:
        seen.append((replicas(world, "web-1"), replicas(world, "web-2"), replicas(world, "web-3")))

    world.commit(three, rollout(three, two, numBatches=2))
    world.settle(each=look)
    assert status(world).rolling_state is RollingState.SUCCEEDED, status(world)
    assert list(dict.fromkeys(seen)) == [(0, 4, 0), (0, 4, 2), (0, 2, 2), (0, 2, 4), (0, 0, 4)]


def test_other_content_for_the_target_of_a_pair_that_is_through_gives_the_source_no_pods_back() -> None:
    one, two = (deployment("web", f"web-{n}", f"web:{n}", replicas=4) for n in (1, 2))
    world = a_world(one)
    world.commit(two, rollout(two, one, numBatches=2))
    world.settle()
    world.commit(deployment("web", "web-2", "web:3", replicas=4))
    world.settle()
    assert status(world).rolling_state is RollingState.SUCCEEDED
    assert images(world) == {"web:3": 4}
    world.commit(deployment("web", "web-2", "web:3", replicas=6))
    world.settle()
    assert images(world) == {"web:3": 6}


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


@pytest.mark.parametrize("strategy", ["IncreaseFirst", "DecreaseFirst"])
def test_a_bad_content_between_two_good_ones_takes_no_ready_pod_of_the_first_batch(strategy: str) -> None:
    """The pods of the second content were never available to their controller, which takes such pods first."""
    bad = ClusterRule(object=ObjectPattern(image="*:bad"), available="never")
    manifest = deployment("web", "web", "web:1", replicas=10)
    batch = {"replicas": 5, "maxUnavailable": 1}
    plan: dict[str, Any] = {"rolloutStrategy": strategy, "rolloutBatches": [batch, batch]}
    world = a_world(manifest, rollout(manifest, lastBatchToRollout=0, **plan), rules=(bad,))
    ready: list[int] = []

    def look() -> None:
        body = world.live("c1", "Deployment", "web", "web")
        assert body is not None
        ready.append(int(body["status"].get("readyReplicas") or 0))

    world.watch = lambda _: look()
    for image in ("web:2", "web:bad", "web:4"):
        world.commit(deployment("web", "web", image, replicas=10))
        world.settle(each=look)
    world.commit(rollout(manifest, **plan))
    world.settle(each=look)
    assert images(world) == {"web:4": 10}
    assert min(ready) >= 9, ready
    assert (spec(world).get("minReadySeconds", 0), status(world).rolling_state) == (0, RollingState.SUCCEEDED)


@pytest.mark.parametrize("back", [True, False])
def test_a_rollout_in_place_whose_file_goes_half_way_and_then_the_manifest_changes(back: bool) -> None:
    old, new = deployment("web", "web", "web:1", replicas=4), deployment("web", "web", "web:2", replicas=4)
    trait = rollout(old, numBatches=2, lastBatchToRollout=0)
    world = a_world(old, trait)
    world.commit(new)
    world.settle()
    assert images(world) == {"web:1": 2, "web:2": 2}
    world.commit(remove=[trait])
    world.settle()
    assert images(world) == {"web:1": 2, "web:2": 2}
    world.commit(old if back else deployment("web", "web", "web:2", replicas=5))
    world.settle()
    assert images(world) == ({"web:1": 4} if back else {"web:2": 5})
    assert not spec(world).get("paused")
    assert spec(world).get("minReadySeconds", 0) == 0
    assert not world.state().rollouts


def test_the_content_and_the_rollout_of_one_commit_are_reverted_in_one_commit() -> None:
    old, new = deployment("web", "web", "web:1", replicas=4), deployment("web", "web", "web:2", replicas=4)
    trait = rollout(old, numBatches=2, lastBatchToRollout=0)
    world = a_world(old)
    world.commit(new, trait)
    world.settle()
    world.commit(old, remove=[trait])
    world.settle()
    assert images(world) == {"web:1": 4}
    assert not spec(world).get("paused")
    assert not world.state().rollouts


def test_a_rollout_that_holds_and_has_moved_nothing_lets_go_when_its_file_goes() -> None:
    old, new = deployment("web", "web", "web:1", replicas=4), deployment("web", "web", "web:2", replicas=4)
    trait = rollout(old, paused=True)
    world = a_world(old, trait)
    world.commit(new)
    world.settle()
    assert (images(world), spec(world)["paused"]) == ({"web:1": 4}, True)
    world.commit(remove=[trait])
    world.settle()
    assert images(world) == {"web:2": 4}
    assert not world.state().rollouts


def test_a_rollout_in_place_that_is_renamed_half_way_goes_on() -> None:
    old, new = deployment("web", "web", "web:1", replicas=4), deployment("web", "web", "web:2", replicas=4)
    trait = rollout(old, numBatches=2, lastBatchToRollout=0)
    world = a_world(old, trait)
    world.commit(new)
    world.settle()
    other = an_object(
        "standard.oam.dev/v1alpha1", "RolloutTrait", "web2", namespace="web",
        spec={**trait["spec"], "rolloutPlan": {"numBatches": 2}},
    )  # fmt: skip
    world.commit(other, remove=[trait])
    world.settle()
    assert images(world) == {"web:2": 4}
    assert [str(key) for key in world.state().rollouts] == ["web/web2"]


def test_a_cluster_that_is_deselected_and_selected_again() -> None:
    old, new = deployment("web", "web", "web:1", replicas=4), deployment("web", "web", "web:2", replicas=4)
    trait = rollout(old, numBatches=2, lastBatchToRollout=0)
    trait["spec"]["clusters"] = {"matchLabels": {"env": "prod"}}
    world = World()
    chosen, other = member_cluster("c1", labels={"env": "prod"}), member_cluster("c1", labels={"env": "dev"})
    world.commit(chosen, namespace("web"), placement("web", "web"), old, trait)
    world.settle()
    world.commit(new)
    world.settle()
    world.commit(other)
    world.settle()
    trait["spec"]["rolloutPlan"] = {"numBatches": 2}
    world.commit(chosen, trait)
    world.settle()
    assert images(world) == {"web:2": 4}


@pytest.mark.parametrize("half", [True, False])
def test_a_cluster_that_leaves_gets_nothing_new(half: bool) -> None:
    old, new = deployment("web", "web", "web:1", replicas=4), deployment("web", "web", "web:2", replicas=4)
    trait = rollout(old, numBatches=2, **({"lastBatchToRollout": 0} if half else {}))
    world = a_world(fleet_config(massDelete={"maxPercent": 100, "minClusters": 9, "minObjects": 99}), old, trait)
    world.commit(new)
    world.settle()
    before = images(world)
    assert before == ({"web:1": 2, "web:2": 2} if half else {"web:2": 4})
    world.commit(remove=[member_cluster("c1")])
    world.settle()
    assert images(world) in (before, {})
    body = world.live("c1", "Deployment", "web", "web")
    assert half or body is None or not body["spec"].get("paused")


def test_the_file_of_a_pair_goes_half_way_when_the_manifest_of_the_source_is_gone() -> None:
    one, two = (deployment("web", f"web-{n}", f"web:{n}", replicas=4) for n in (1, 2))
    world = a_world(one)
    trait = rollout(two, one, numBatches=2, lastBatchToRollout=0)
    world.commit(two, trait, remove=[one])
    world.settle()
    assert images(world) == {"web:1": 2, "web:2": 2}
    world.commit(remove=[trait])
    world.settle()
    assert images(world) == {"web:1": 2, "web:2": 2}


def test_revisions_that_are_swapped_half_way_delete_nothing() -> None:
    one, two = (deployment("web", f"web-{n}", f"web:{n}", replicas=4) for n in (1, 2))
    world = a_world(one)
    world.commit(two, app_rollout("web", "1", "0", numBatches=2, lastBatchToRollout=0), remove=[one])
    world.settle()
    assert images(world) == {"web:1": 2, "web:2": 2}
    world.commit(app_rollout("web", "0", "1", numBatches=2))
    world.settle()
    assert images(world) == {"web:1": 2, "web:2": 2}
    result = world.reconcile()
    assert result is not None and result.asks and "targetRevision is 0" in result.asks[0]


def test_batches_that_no_longer_add_up_move_and_release_nothing() -> None:
    old, new = stateful_set("web", "web", "web:1", replicas=4), stateful_set("web", "web", "web:2", replicas=4)
    batches = [{"replicas": 1}, {"replicas": 3}]
    world = a_world(old, rollout(old, rolloutBatches=batches, lastBatchToRollout=0))
    world.commit(new)
    world.settle()
    assert images(world) == {"web:1": 3, "web:2": 1}
    world.commit(rollout(old, rolloutBatches=[{"replicas": 1}, {"replicas": 4}], lastBatchToRollout=0))
    world.settle()
    assert images(world) == {"web:1": 3, "web:2": 1}
    world.commit(rollout(old, rolloutBatches=batches))
    world.settle()
    assert images(world) == {"web:2": 4}


@dataclass(slots=True)
class Behind:
    """The clock of a machine that is so many seconds late."""

    clock: Clock
    seconds: float

    def now(self) -> datetime:
        """See Clock."""
        return self.clock.now() - timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        """See Clock."""
        return self.clock.monotonic()


@pytest.mark.parametrize("seconds", [2, 3600])
def test_a_clock_that_is_put_back_takes_no_pod_away(seconds: float) -> None:
    one, two = (deployment("web", f"web-{n}", f"web:{n}", replicas=6) for n in (1, 2))
    world = a_world(one)
    world.commit(two, rollout(two, one, rolloutBatches=[{"replicas": 3}, {"replicas": 3, "instanceInterval": 120}]))
    world.settle(timedelta(seconds=150))
    before = replicas(world, "web-2")
    assert before == 5
    world.driver.clock = Behind(world.clock, seconds)
    world.settle(timedelta(seconds=10))
    assert replicas(world, "web-2") >= before
    assert sum(images(world).values()) >= 6


def test_a_target_whose_manifest_asks_for_no_pods_keeps_those_that_a_rollout_gave_it() -> None:
    old, new = deployment("web", "web-1", "web:1", replicas=4), deployment("web", "web-2", "web:2", replicas=0)
    world = a_world(old)
    trait = rollout(new, old)
    world.commit(new, trait)
    world.settle()
    assert images(world) == {"web:2": 4}
    for gone in (trait, old):
        world.commit(remove=[gone])
        world.settle()
        assert images(world) == {"web:2": 4}
    world.commit(deployment("web", "web-2", "web:3", replicas=0))
    world.settle()
    assert images(world) == {"web:3": 4}
    result = world.reconcile()
    said = "the manifest of Deployment/web/web-2 asks for no pods and 4 run; write their number into it, or remove it"
    assert result is not None and result.asks == (f"rollout web/web on c1: {said}",)
    world.commit(deployment("web", "web-2", "web:3", replicas=3))
    world.settle()
    assert images(world) == {"web:3": 3}
    assert not world.state().rollouts


def test_a_number_of_pods_that_is_ignored_outlives_a_rollout() -> None:
    rule = {"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]}
    old, new = deployment("web", "web-1", "web:1", replicas=4), deployment("web", "web-2", "web:2", replicas=4)
    world = a_world(fleet_config(ignoreDifferences=[rule]), old)
    trait = rollout(new, old)
    world.commit(new, trait)
    world.settle()
    world.commit(remove=[trait])
    world.settle()
    world.commit(deployment("web", "web-2", "web:2", replicas=4, labels={"a": "b"}))
    world.settle()
    assert replicas(world, "web-2") == 4


@pytest.mark.parametrize("make", [deployment, stateful_set], ids=["Deployment", "StatefulSet"])
def test_the_file_of_a_rollout_goes_that_has_nothing_to_roll_out(make: Any) -> None:
    old = make("web", "web", "web:1", replicas=4)
    trait = rollout(old)
    world = a_world(old, trait)
    world.commit(remove=[trait])
    world.settle()
    world.commit(make("web", "web", "web:2", replicas=4))
    world.settle()
    assert images(world) == {"web:2": 4}


def test_a_cluster_that_comes_back_after_a_pair_is_through() -> None:
    one, two = (deployment("web", f"web-{n}", f"web:{n}", replicas=4) for n in (1, 2))
    keep = fleet_config(massDelete={"maxPercent": 100, "minClusters": 9, "minObjects": 99})
    world = a_world(keep, one)
    world.commit(two, rollout(two, one))
    world.settle()
    assert images(world) == {"web:2": 4}
    world.commit(remove=[member_cluster("c1")])
    world.settle()
    world.commit(member_cluster("c1"))
    world.settle()
    assert images(world) == {"web:2": 4}


def test_a_target_that_was_there_a_commit_before_its_rollout() -> None:
    one, two = (deployment("web", f"web-{n}", f"web:{n}", replicas=4) for n in (1, 2))
    world = a_world(one)
    world.commit(two)
    world.settle()
    world.commit(rollout(two, one))
    world.settle()
    assert images(world) == {"web:2": 4}
