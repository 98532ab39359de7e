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
from tests.scenarios.test_workload_rollouts import app_rollout, rollout
from tests.scenarios.world import World
from tests.texts import part

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
        self.world.roll_out(CLUSTER, namespace("web"), placement("web", "web"), *first)
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
        result = self.world.driver.reconcile()
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


BAD, MORE, NEW = (
    web(2, "bad"),
    deployment("web", "web-2", "web:3", replicas=6),
    deployment("web", "web", "web:2", replicas=4),
)
OTHER = deployment("web", "other", "web:2", replicas=4)
HALF, HELD = half(ALONE), whole(ALONE, paused=True)
RENAMED = {**whole(ALONE), "metadata": {"name": "web2", "namespace": "web"}}
PLAYS: dict[str, tuple[Sequence[dict[str, Any]], Sequence[Commit], dict[str, int]]] = {
    "a failed release and another one": ([A], [([BAD, whole(BAD, A)], [A]), ([C, whole(C, A)], [BAD])], {"web:3": 4}),
    "another target half way": ([A], [([B, half(B, A)], []), ([C, whole(C, A, B)], [])], {"web:3": 4}),
    "another target than a bad one": ([A], [([BAD, half(BAD, A)], []), ([C, whole(C, A, BAD)], [])], {"web:3": 4}),
    "both manifests go": ([A], [([B, half(B, A)], []), ([C, whole(C, A, B)], [A, B])], {"web:3": 4}),
    "that of the source goes": ([A], [([B, half(B, A)], []), ([C, whole(C, A, B)], [A])], {"web:3": 4}),
    "that of the target goes": ([A], [([B, half(B, A)], []), ([C, whole(C, A, B)], [B])], {"web:3": 4}),
    "another target and back": (
        [A], [([B, half(B, A)], []), ([C, half(C, A, B)], []), ([whole(B, A, C)], [])], {"web:2": 4},
    ),
    "a workload in place is renamed": (
        [ALONE, HALF], [([NEW], []), ([OTHER, whole(OTHER, NEW)], [NEW])], {"web:2": 4},
    ),
    "the rollout in place is renamed": ([ALONE, HALF], [([NEW], []), ([RENAMED], [HALF])], {"web:2": 4}),
    "its file goes before it moved anything": ([ALONE, HELD], [([NEW], []), ([], [HELD])], {"web:2": 4}),
    "content and rollout are reverted": ([ALONE], [([NEW, HALF], []), ([ALONE], [HALF])], {"web:1": 4}),
    "the target came a commit earlier": ([A], [([B], []), ([whole(B, A)], [])], {"web:2": 4}),
    "more pods for a target that is through": ([A], [([B, whole(B, A)], []), ([MORE], [])], {"web:3": 6}),
    "the sides of a bad target are swapped": ([A], [([BAD, whole(BAD, A)], []), ([whole(A, BAD)], [])], {"web:1": 4}),
}  # fmt: skip


@pytest.mark.parametrize("name", PLAYS)
def test_all_pods_have_the_last_content_and_none_goes_too_early(name: str) -> None:
    first, commits, wanted = PLAYS[name]
    played = Played(first, *commits)
    assert (played.images, played.said) == (wanted, "")
    assert played.states <= {RollingState.SUCCEEDED}
    assert played.least >= (4 if played.states else 3), "25 % where no rollout holds it any more"


def test_another_target_half_way_and_then_no_rollout_any_more() -> None:
    played = Played([A], ([B, half(B, A)], []), ([C, half(C, A, B)], []))
    played.then(remove=[half(C, A, B)])
    assert played.least >= 4 and not any(one in RollingState.ABANDONING for one in played.states)


@pytest.mark.parametrize("plan", [{"lastBatchToRollout": 0}, {"paused": True}], ids=["half way", "not begun"])
@pytest.mark.parametrize("content", [2, "bad"])
def test_a_source_without_manifest_stays_until_the_target_has_its_pods(content: object, plan: dict[str, Any]) -> None:
    """The file of the rollout is deleted: all else is the manifest's again."""
    second = web(2, content)
    trait = whole(second, A, **plan)
    played = Played([A], ([second, trait], [A]), ([], [trait]))
    assert played.least >= 4 if content == 2 else played.images["web:1"] >= 2
    if content == "bad":
        assert part(WorkloadText.SOURCE_STAYS_UNTIL_READY) in played.said and "web-1" in played.said
        played.then(B)
    assert (played.images, played.said) == ({"web:2": 4}, "")
    assert played.world.live("c1", "Deployment", "web-1", "web") is None
    assert not played.world.state().rollouts


def test_pods_that_went_back_stay_until_the_manifest_changes() -> None:
    trait = whole(B, A, lastBatchToRollout=0, revertOnDelete=True)
    played = Played([A], ([B, trait], [A]), ([], [trait]))
    assert (played.images, played.least) == ({"web:1": 4}, 4)
    played.then(web(2, labels=LABEL))
    assert (played.images, played.said) == ({"web:2": 4}, "") and played.least >= 4
    assert not played.world.state().rollouts


@pytest.mark.parametrize("make", [deployment, stateful_set], ids=["Deployment", "StatefulSet"])
def test_a_cluster_that_comes_back_half_way_goes_on(make: Any) -> None:
    old, new = make("web", "web", "web:1", replicas=4), make("web", "web", "web:2", replicas=4)
    played = Played([old, half(old)], ([new], []), ([], [CLUSTER]), ([CLUSTER], []))
    assert (
        played.images == {"web:1": 2, "web:2": 2} and part(WorkloadText.LASTBATCHTOROLLOUT_COUNTS_FROM) in played.said
    )
    played.then(make("web", "web", "web:2", replicas=4, labels=LABEL))
    assert played.images == {"web:1": 2, "web:2": 2}
    played.then(whole(old))
    assert (played.images, played.states) == ({"web:2": 4}, {RollingState.SUCCEEDED})
    assert played.least >= 3
