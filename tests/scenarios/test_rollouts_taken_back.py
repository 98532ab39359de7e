"""Content of before, or corrected content, comes while a rollout in place is half way: it goes on by itself."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.objects import JsonObject
from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from gitfleet.api.workload_records import BatchState, RollingState
from gitfleet.simulation.virtual_pods import POD, virtual_in
from tests.builders import deployment, stateful_set
from tests.scenarios.test_workload_rollouts import a_world, rollout, status
from tests.scenarios.world import World

BAD = ClusterRule(object=ObjectPattern(image="web:bad"), available="never")


def pods(world: World) -> list[JsonObject]:
    """The pods of now."""
    return list(virtual_in(world.fleet.cluster("c1").memory, POD, "", world.clock.now()))


def images(world: World) -> dict[str, int]:
    """How many pods have which image."""
    found = [pod["spec"]["containers"][0]["image"] for pod in pods(world)]
    return {image: found.count(image) for image in sorted(set(found))}


def ready(world: World) -> int:
    """How many pods are ready."""
    conditions = [one for pod in pods(world) for one in pod["status"].get("conditions", ())]
    return sum(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


class Held:
    """A Deployment of some size in batches of two, whose canary alone may go; what its pods go through is watched."""

    def __init__(self, size: int, strategy: str) -> None:
        self.size, self.strategy, self.lowest, self.most = size, strategy, size, size
        self.world = a_world(self.web(1), self.rollout(lastBatchToRollout=0))
        self.world.watch = lambda happening: self.look()

    def web(self, version: int) -> dict[str, Any]:
        return deployment("web", "web", f"web:{version}", replicas=self.size)

    def rollout(self, **plan: Any) -> dict[str, Any]:
        counts = [2, 2, self.size - 4] if self.size > 4 else [2, 2]
        batches = [{"replicas": count, "maxUnavailable": 1} for count in counts]
        return rollout(self.web(1), rolloutStrategy=self.strategy, rolloutBatches=batches, **plan)

    def look(self) -> None:
        self.lowest = min(self.lowest, ready(self.world))
        self.most = max(self.most, len(pods(self.world)))

    def give(self, version: int, seconds: float | None = None) -> None:
        """Another content, for so long; without an end, until nothing moves any more."""
        self.world.roll_out(
            self.web(version), limit=timedelta(days=365) if seconds is None else timedelta(seconds=seconds)
        )


@pytest.mark.table("histories")
@pytest.mark.parametrize("strategy", ["IncreaseFirst", "DecreaseFirst"])
@pytest.mark.parametrize("size", [4, 5])
@pytest.mark.parametrize(
    "between",
    [[(2, None)], [(2, 0)], [(2, 5)], [(2, 10)], [(2, None), (1, 5)], [(2, None), (1, None), (2, 5)], [(2, 5), (3, 5)]],
    ids=str,
)
@pytest.mark.parametrize("last", [1, 2])
def test_a_deployment_is_taken_back_half_way(
    strategy: str, size: int, between: list[tuple[int, float | None]], last: int
) -> None:
    held = Held(size, strategy)
    for version, seconds in between:
        held.give(version, seconds)
    held.give(last)
    found = status(held.world)
    assert (found.batch_rolling_state, found.current_batch) == (BatchState.READY, 0), found
    assert sum(images(held.world).values()) == size
    held.world.commit(held.rollout())
    held.world.settle(each=held.look)
    assert status(held.world).rolling_state is RollingState.SUCCEEDED
    assert images(held.world) == {f"web:{last}": size}
    held.look()
    assert held.lowest >= size - 1
    assert held.most <= size + (2 if strategy == "IncreaseFirst" else 0)


@pytest.mark.parametrize("corrected", ["web:2", "web:1"])
@pytest.mark.parametrize("last_batch", [0, None])
def test_a_bad_image_of_a_stateful_set_is_corrected(corrected: str, last_batch: int | None) -> None:
    """Its controller replaces no pod before all are ready: the one that will never be is deleted for it."""
    old = stateful_set("web", "db", "web:1", replicas=4)
    plan = {"numBatches": 2} | ({} if last_batch is None else {"lastBatchToRollout": last_batch})
    world, lowest = a_world(old, rollout(old, **plan), rules=(BAD,)), [4]
    world.roll_out(stateful_set("web", "db", "web:bad", replicas=4))
    assert images(world) == {"web:1": 3, "web:bad": 1}
    world.watch = lambda happening: lowest.append(ready(world))
    world.roll_out(stateful_set("web", "db", corrected, replicas=4))
    wanted = {"web:1": 2, "web:2": 2} if last_batch == 0 and corrected == "web:2" else {corrected: 4}
    assert images(world) == wanted
    assert ready(world) == 4 and min(lowest) >= 3
    world.roll_out(rollout(old, numBatches=2))
    assert (status(world).rolling_state, images(world)) == (RollingState.SUCCEEDED, {corrected: 4})
