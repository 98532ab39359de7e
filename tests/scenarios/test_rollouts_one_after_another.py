"""Rollouts whose workloads change: the next release, another target half way, the file gone, a cluster that comes back.
Nobody's pods go before others are ready, and nothing waits for itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pytest

from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from gitfleet.api.workload_records import RollingState
from gitfleet.workload.texts import WorkloadText
from tests.builders import deployment, member_cluster, namespace, placement, stateful_set
from tests.scenarios.test_workload_rollout_changes import images
from tests.scenarios.test_workload_rollouts import app_rollout, replicas, rollout
from tests.scenarios.world import World

LABEL: Final = {"a": "b"}
CLUSTER: Final = member_cluster("c1")
Commit = tuple[Sequence[dict[str, Any]], Sequence[dict[str, Any]]]


def web(number: int, content: object = None, **more: Any) -> dict[str, Any]:
    """A Deployment web-1, web-2 or web-3 of four pods, with an image of its own."""
    return deployment("web", f"web-{number}", f"web:{content or number}", replicas=4, **more)


A, B, C, ALONE = web(1), web(2), web(3), deployment("web", "web", "web:1", replicas=4)


def whole(target: dict[str, Any], *sources: dict[str, Any], **plan: Any) -> dict[str, Any]:
    return rollout(target, *sources, **{"numBatches": 2, **plan})


def half(target: dict[str, Any], *sources: dict[str, Any], **plan: Any) -> dict[str, Any]:
    return whole(target, *sources, lastBatchToRollout=0, **plan)


class Played:
    """Commits one after another, each settled; `least` is the smallest number of ready pods in the last one."""

    def __init__(self, first: Sequence[dict[str, Any]], *commits: Commit) -> None:
        bad = ClusterRule(object=ObjectPattern(image="*:bad"), available="never")
        self.world = World(rules=(bad,))
        self.world.commit(CLUSTER, namespace("web"), placement("web", "web"), *first)
        self.world.settle()
        self.ready: list[int] = []
        self.world.watch = lambda _: self._look()
        for bodies, removed in commits:
            self.then(*bodies, remove=removed)

    def then(self, *bodies: dict[str, Any], remove: Sequence[dict[str, Any]] = ()) -> None:
        self.ready.clear()
        self.world.commit(*bodies, remove=remove)
        self.world.settle(each=self._look)

    def _look(self) -> None:
        kinds = ("Deployment", "StatefulSet")
        there = [one.body for one in self.world.fleet.cluster("c1").objects() if one.key.kind in kinds]
        self.ready.append(sum(int((body.get("status") or {}).get("readyReplicas") or 0) for body in there))

    @property
    def least(self) -> int:
        return min(self.ready)

    @property
    def images(self) -> dict[str, int]:
        return images(self.world)

    @property
    def said(self) -> str:
        result = self.world.reconcile()
        assert result is not None
        return "\n".join((*result.asks, *result.waiting))

    @property
    def states(self) -> set[RollingState]:
        return {one.rolling_state for record in self.world.state().rollouts.values() for one in record.clusters}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (whole(B, A), whole(C, B)),
        (app_rollout("app", "1", "0", numBatches=2), app_rollout("app", "2", "1", numBatches=2)),
    ],
    ids=["RolloutTrait", "AppRollout"],
)
def test_the_target_of_one_release_is_the_source_of_the_next(first: dict[str, Any], second: dict[str, Any]) -> None:
    """Its manifest goes with the commit, as that of the first source did."""
    played = Played([A], ([B, first], [A]))
    assert played.least >= 4
    played.then(C, second, remove=[B])
    assert (played.images, played.states) == ({"web:3": 4}, {RollingState.SUCCEEDED})
    assert played.least >= 4
    assert played.world.live("c1", "Deployment", "web-2", "web") is None


@pytest.mark.parametrize(
    ("third", "plan"),
    [(web(3, "bad"), {}), (C, {"paused": True}), (web(3, "bad"), {"rolloutStrategy": "DecreaseFirst"})],
)
def test_it_stays_while_the_next_release_does_not_come(third: dict[str, Any], plan: dict[str, Any]) -> None:
    played = Played([A], ([B, whole(B, A)], [A]), ([third, whole(third, B, **plan)], [B]))
    least = 2 if "rolloutStrategy" in plan else 4
    assert played.least >= least and played.images["web:2"] >= least
    played.then(C, whole(C, B))
    assert played.images == {"web:3": 4} and played.least >= least


def test_a_failed_release_is_followed_by_another_one() -> None:
    bad = web(2, "bad")
    played = Played([A], ([bad, whole(bad, A)], [A]), ([C, whole(C, A)], [bad]))
    assert (played.images, played.states) == ({"web:3": 4}, {RollingState.SUCCEEDED})
    assert played.least >= 4


@pytest.mark.parametrize("content", [2, "bad"])
def test_another_workload_is_the_target_half_way(content: object) -> None:
    second = web(2, content)
    played = Played([A], ([second, half(second, A)], []), ([C, whole(C, A, second)], []))
    assert (played.images, played.states) == ({"web:3": 4}, {RollingState.SUCCEEDED})
    assert played.least >= 4
    assert [replicas(played.world, f"web-{number}") for number in (1, 2, 3)] == [0, 0, 4]


@pytest.mark.parametrize("removed", [[A, B], [A], [B]], ids=["both", "source", "target"])
def test_another_workload_is_the_target_half_way_and_manifests_go(removed: list[dict[str, Any]]) -> None:
    played = Played([A], ([B, half(B, A)], []), ([C, whole(C, A, B)], removed))
    assert (played.images, played.states) == ({"web:3": 4}, {RollingState.SUCCEEDED})
    assert played.least >= 4


def test_another_target_half_way_and_then_no_rollout_any_more() -> None:
    played = Played([A], ([B, half(B, A)], []), ([C, half(C, A, B)], []))
    played.then(remove=[half(C, A, B)])
    assert played.least >= 4 and not any(one in RollingState.ABANDONING for one in played.states)


def test_another_target_half_way_and_back() -> None:
    played = Played([A], ([B, half(B, A)], []), ([C, half(C, A, B)], []), ([whole(B, A, C)], []))
    assert played.images == {"web:2": 4} and played.least >= 4


def test_a_workload_in_place_is_renamed_half_way_with_its_rollout() -> None:
    new, renamed = deployment("web", "web", "web:2", replicas=4), deployment("web", "other", "web:2", replicas=4)
    played = Played([ALONE, half(ALONE)], ([new], []), ([renamed, whole(renamed, new)], [new]))
    assert (played.images, played.states) == ({"web:2": 4}, {RollingState.SUCCEEDED})
    assert played.least >= 4


@pytest.mark.parametrize(
    ("second", "plan"),
    [
        (web(2), {"lastBatchToRollout": 0, "revertOnDelete": True}),
        (web(2), {"lastBatchToRollout": 0}),
        (web(2, "bad"), {}),
    ],
    ids=["gone back", "half way", "bad"],
)
def test_a_source_that_nobody_wants_stays_until_the_target_has_its_pods(
    second: dict[str, Any], plan: dict[str, Any]
) -> None:
    """The file of the rollout goes, and then the manifest of the target changes."""
    trait = whole(second, A, **plan)
    played = Played([A], ([second, trait], [A]))
    played.then(remove=[trait])
    assert played.least >= 4
    bad = web(2, "bad", labels=LABEL)
    played.then(bad)
    assert played.least >= 4 - played.images.get("web:2", 0) and played.images["web:1"] >= 2, played.images
    played.then(web(2, labels=LABEL))
    assert (played.images, played.said) == ({"web:2": 4}, "")
    assert played.world.live("c1", "Deployment", "web-1", "web") is None
    assert not played.world.state().rollouts


@pytest.mark.parametrize("content", [2, "bad"])
def test_a_rollout_that_has_moved_nothing_goes_and_its_source_stays_until_the_target_is_ready(content: object) -> None:
    second = web(2, content)
    trait = whole(second, A, paused=True)
    played = Played([A], ([second, trait], [A]), ([], [trait]))
    assert played.least >= 4
    assert played.images == ({"web:2": 4} if content == 2 else {"web:1": 4, "web:bad": 4})
    assert (WorkloadText.PODS_READY(ready="0", wanted="4", live="Deployment/web/web-2") in played.said) == (
        content == "bad"
    )


def test_a_source_that_stays_for_a_rollout_without_its_file_says_what_ends_that() -> None:
    played = Played([A], ([B, half(B, A)], [A]))
    played.then(remove=[half(B, A)])
    assert "rollout web/web on c1: its file is gone" in played.said
    assert "change the manifest of Deployment/web/web-2" in played.said


@pytest.mark.parametrize("make", [deployment, stateful_set], ids=["Deployment", "StatefulSet"])
def test_a_cluster_that_comes_back_half_way_goes_on(make: Any) -> None:
    old, new = make("web", "web", "web:1", replicas=4), make("web", "web", "web:2", replicas=4)
    played = Played([old, half(old)], ([new], []), ([], [CLUSTER]), ([CLUSTER], []))
    assert played.images == {"web:1": 2, "web:2": 2} and "lastBatchToRollout" in played.said
    played.then(make("web", "web", "web:2", replicas=4, labels=LABEL))
    assert played.images == {"web:1": 2, "web:2": 2}
    played.then(whole(old))
    assert (played.images, played.states) == ({"web:2": 4}, {RollingState.SUCCEEDED})
    assert played.least >= 3


def test_nobody_is_asked_for_a_target_that_its_placement_still_brings() -> None:
    bad = web(2, "bad")
    played = Played([A, member_cluster("c2"), member_cluster("c3")], ([bad, whole(bad, A)], []))
    (record,) = played.world.state().rollouts.values()
    said = {one.cluster: one.conditions[-1].message for one in record.clusters}
    assert said["c3"] == WorkloadText.NOT_CLUSTER_YET(target="Deployment/web/web-2")
    assert "correct targetRef" not in played.said


@pytest.mark.parametrize("strategy", ["IncreaseFirst", "DecreaseFirst"])
def test_a_bad_target_is_left_by_swapping_the_sides(strategy: str) -> None:
    bad = web(2, "bad")
    played = Played([A], ([bad, whole(bad, A, rolloutStrategy=strategy)], []))
    played.then(whole(A, bad, rolloutStrategy=strategy))
    assert (played.images, played.states) == ({"web:1": 4}, {RollingState.SUCCEEDED})
    assert played.least >= 2
