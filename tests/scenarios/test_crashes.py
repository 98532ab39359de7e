"""kill -9 anywhere: after every checkpoint of a tick and after every operation on a cluster, a fresh process that knows
only the remote reaches the very end that an undisturbed one reaches."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from gitfleet.api.faults import is_error
from gitfleet.api.objects import JsonObject
from gitfleet.formats.managed_fields import is_own_apply
from gitfleet.simulation.cluster import ClusterEvent, SimulatedCrash
from tests import builders
from tests.scenarios.world import World, end_of

STEPS = ("gathered", "decided", "intent published", "performed", "reported")
NAMES = ("c1", "c2", "c3")


def members(*, leave: str = "Abandon") -> list[JsonObject]:
    """Three clusters in a row of zones; `leave` says what they do with placed objects when they leave."""
    found = [builders.member_cluster(name, labels={"zone": name}) for name in NAMES]
    for body in found:
        body["spec"]["deleteOptions"] = {"propagationPolicy": leave}
    return list(found)


def web(**policy: Any) -> JsonObject:
    """The placement `web`, one cluster down at a time."""
    strategy = builders.rolling_update(maxUnavailable=1, maxSurge=1)
    return builders.placement("web", policy=policy.get("policy") or builders.pick_n(3), strategy=strategy)


def payload(image: str = "web:1") -> list[JsonObject]:
    """What is placed: cluster-scoped and namespaced, tracked and data only."""
    return [
        builders.namespace("web"),
        builders.deployment("web", "web", image=image),
        builders.config_map("web", "settings", {"image": image}),
    ]


def begin(world: World, **more: Any) -> None:
    """A settled fleet."""
    world.roll_out(*members(**more), *payload(), web())


def first_rollout(world: World) -> None:
    """Everything is new."""
    world.commit(*members(), *payload(), web())


def update(world: World) -> None:
    """Another image, and another ConfigMap, on all clusters."""
    begin(world)
    world.commit(*payload("web:2"))


def unpick(world: World) -> None:
    """One cluster fewer."""
    begin(world)
    world.commit(web(policy=builders.pick_n(2)))


def move(world: World) -> None:
    """Elsewhere: one cluster instead of three, and it is one that had nothing."""
    world.roll_out(*members(), *payload(), web(policy=builders.pick_n(2, match_labels={"zone": "c1"})))
    world.commit(web(policy=builders.pick_n(1, match_labels={"zone": "c3"})), *payload("web:2"))


def prune(world: World) -> None:
    """Two objects leave the repo."""
    begin(world)
    world.commit(remove=payload()[1:])


def prune_all(world: World) -> None:
    """The whole namespace leaves the repo, and what was in it."""
    begin(world)
    world.commit(remove=payload())


def placement_deleted(world: World) -> None:
    """The placement goes; everything of it goes from the clusters."""
    begin(world)
    world.commit(remove=[web()])


def placement_abandons(world: World) -> None:
    """The placement goes, and what it placed stays (decision D15)."""
    keeping = web()
    keeping["spec"]["strategy"]["deleteStrategy"] = {"propagationPolicy": "Abandon"}
    world.roll_out(*members(), *payload(), keeping)
    world.commit(remove=[keeping])


def cluster_leaves(world: World) -> None:
    """A cluster leaves the fleet and keeps what it has."""
    begin(world)
    world.commit(remove=members()[:1])


def cluster_leaves_empty(world: World) -> None:
    """A cluster leaves the fleet and gives back what it has."""
    begin(world, leave="Delete")
    world.commit(remove=members()[:1])


def replaced(world: World) -> None:
    """A placement is deleted and comes back while its resources are still being removed."""
    begin(world)
    world.commit(remove=[web()])
    world.driver.reconcile()
    world.commit(web(policy=builders.pick_n(2)), *payload("web:2"))


def evicted(world: World) -> None:
    """A tainted cluster is evicted and another one may not be: the budget has room for one."""
    world.roll_out(*members(), *payload(), web(), builders.placement_budget("web", minAvailable=2))
    taint = {"key": "maintenance", "value": "true", "effect": "NoSchedule"}
    world.commit(
        builders.member_cluster("c1", labels={"zone": "c1"}, taints=[taint]),
        builders.eviction("first", "web", "c1"),
        builders.eviction("second", "web", "c2"),
    )


def evicted_for_a_moment(world: World) -> None:
    """A cluster is evicted, and picked again as soon as its objects are gone."""
    begin(world)
    world.commit(builders.eviction("drain", "web", "c2"))


def migrated(world: World) -> None:
    """Another image, which a Job comes before and another one after; the Job before is deleted when it is complete."""
    policy = {"argocd.argoproj.io/hook-delete-policy": "HookSucceeded"}
    migrate = builders.job("web", "migrate", annotations={"argocd.argoproj.io/hook": "PreSync", **policy})
    check = builders.job("web", "check", annotations={"argocd.argoproj.io/hook": "PostSync"})
    world.roll_out(*members(), *payload(), web(), migrate, check)
    world.commit(*payload("web:2"))


SITUATIONS: tuple[Callable[[World], None], ...] = (
    first_rollout, update, unpick, move, prune, prune_all, placement_deleted, placement_abandons, cluster_leaves,
    cluster_leaves_empty, replaced, evicted, evicted_for_a_moment, migrated,
)  # fmt: skip
RELEASING = (placement_abandons, cluster_leaves)
"""Where objects stay and belong to nobody in the end."""
each_situation = pytest.mark.parametrize("situation", SITUATIONS, ids=lambda s: s.__name__)


class Killer:
    """Kills a process at the n-th checkpoint that it passes, and remembers which that was."""

    def __init__(self, at: int) -> None:
        self.left = at
        self.step = ""

    def __call__(self, step: str) -> None:
        self.left -= 1
        if self.left == 0:
            self.step = step
            raise SimulatedCrash(step)


def prepared(situation: Callable[[World], None]) -> World:
    """A world in the situation, in which no removal waits for a person, with a process that knows nothing."""
    world = World()
    world.commit(builders.fleet_config(removals={"approval": "Never"}))
    situation(world)
    world.happenings.clear()
    world.restart()
    return world


def undisturbed(situation: Callable[[World], None]) -> tuple[dict[str, Any], int, int]:
    """The end that has to be reached, how many checkpoints lie on the way, and how many operations."""
    world = prepared(situation)
    passed: list[str] = []
    world.driver.checkpoint = passed.append
    world.settle()
    assert set(passed) >= set(STEPS)
    assert not any(map(is_error, world.state().faults))
    return end_of(world), len(passed), sum(h.what in ("apply", "delete") for h in world.happenings)


def assert_all_is_owned(world: World) -> None:
    """invariant 1: whatever gitfleet put on a cluster stands in the inventory that is already pushed."""
    inventory = world.state().inventory
    for name, cluster in world.fleet.clusters.items():
        for live in cluster.objects():
            ours = any(is_own_apply(entry) for entry in live.body["metadata"].get("managedFields") or ())
            assert not ours or live.key in inventory.get(name, {}), f"{live.key} on {name}"


@each_situation
def test_a_crash_at_any_checkpoint_changes_nothing_in_the_end(situation: Callable[[World], None]) -> None:
    wanted, checkpoints, _ = undisturbed(situation)
    killed_at: set[str] = set()
    for at in range(1, checkpoints + 1):
        world = prepared(situation)
        killer = Killer(at)
        world.driver.checkpoint = killer
        world.settle()
        assert world.crashes == 1
        killed_at.add(killer.step)
        assert end_of(world) == wanted, f"killed when {killer.step}, checkpoint {at}"
    assert killed_at >= set(STEPS)


@each_situation
def test_a_crash_after_any_operation_changes_nothing_in_the_end(situation: Callable[[World], None]) -> None:
    wanted, _, operations = undisturbed(situation)
    assert operations >= (0 if situation in RELEASING else 2)
    for after in range(operations + 1):
        world = prepared(situation)
        if situation not in RELEASING:
            world.mourn = partial(assert_all_is_owned, world)
        world.fleet.crash.arm(after)
        world.settle()
        assert world.crashes == (1 if operations else 0)
        assert end_of(world) == wanted, f"killed after {after} operations"


@each_situation
def test_crashing_again_and_again_still_gets_there(situation: Callable[[World], None]) -> None:
    """Each process lives for one operation only."""
    wanted, _, operations = undisturbed(situation)
    world = prepared(situation)
    for _ in range(3 * operations + 3):
        world.fleet.crash.arm(1)
        world.reconcile()
        next_change = world.fleet.next_change()
        if next_change is not None:
            world.move_to(next_change)
    world.fleet.crash.arm(None)
    world.restart()
    world.settle()
    assert end_of(world) == wanted


@pytest.mark.parametrize("step", STEPS)
def test_no_budget_is_broken_by_a_crash(step: str) -> None:
    """A process that dies at the same step of every other tick never counts a cluster as available that is just being
    updated: at no moment are two of them down."""
    world = prepared(update)
    most = 0

    def count(_: ClusterEvent) -> None:
        nonlocal most
        most = max(most, sum(bool(cluster.unavailable()) for cluster in world.fleet.clusters.values()))

    def die(passed: str) -> None:
        if passed == step:
            raise SimulatedCrash(step)

    world.watch = count
    for _ in range(40):
        world.driver.checkpoint = die
        world.reconcile()
        world.reconcile()
        change = world.fleet.next_change()
        if change is not None:
            world.move_to(change)
    world.settle()
    assert most == 1
    assert [world.image(name) for name in NAMES] == ["web:2"] * 3
