"""CloneSets: whole answers, and what their controller makes of them."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.api.rollout_plans import RolloutStrategy
from gitfleet.api.workload_records import RolloutMode
from gitfleet.model.rollout_fields import ABSENT
from gitfleet.workload.handlers import Counts, Goal, Step, Workloads
from gitfleet.workload.handlers.clone_sets import CloneSetHandler
from gitfleet.workload.texts import WorkloadText
from tests.workload.handlers.models import CloneSet
from tests.workload.handlers.playing import Play, goals, hold_new_template
from tests.workload.handlers.test_pairs import splits

HANDLER = CloneSetHandler()
S = "/spec/updateStrategy"
FIELDS = ("/spec/replicas", f"{S}/partition", f"{S}/paused", f"{S}/maxUnavailable")


def goal_of(size: int, upgraded: int = 0, away: int = 0, *names: str) -> Goal:
    return Goal(
        mode=RolloutMode.IN_PLACE, strategy=RolloutStrategy.INCREASE_FIRST, original=size, size=size,
        upgraded=upgraded, unavailable=away, pod_list=names,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("step", "strategy", "away", "expected"),
    [
        (Step.HOLD, {"partition": "10%"}, 0, (10, 10, True, ABSENT)),
        (Step.CLAIM, {}, 0, (10, 10, False, 1)),
        (Step.FIRST, {"partition": "50%"}, 0, (10, 7, False, 1)),
        (Step.SECOND, {}, 2, (10, 7, False, 2)),
        (Step.FIRST, {"maxSurge": 1}, 0, (10, 7, False, 0)),
        (Step.FIRST, {"maxSurge": "0%"}, 0, (10, 7, False, 1)),
        (Step.KEEP, {"partition": "70%", "maxUnavailable": 3}, 0, (10, "70%", True, 3)),
        (Step.REVERT, {"partition": 7}, 0, (10, 10, False, 1)),
    ],
)
def test_what_each_step_wants(step: Step, strategy: dict[str, Any], away: int, expected: tuple[object, ...]) -> None:
    model = CloneSet.running("game", 10, **strategy)
    model.status["updateRevision"] = "new"
    (fields,) = HANDLER.scale(Workloads(target=model.live), goal_of(10, 3, away), step).fields.values()
    assert fields == dict(zip(FIELDS, expected, strict=True))


@pytest.mark.parametrize(
    ("manifest", "originals", "expected"),
    [
        (None, None, (10, 0, False, "20%")),
        (None, {f"{S}/maxUnavailable": 4}, (10, 0, False, 4)),
        ({"replicas": 12, "updateStrategy": {"paused": True, "partition": 5}}, None, (12, 0, False, "20%")),
    ],
)
def test_what_is_given_back(
    manifest: dict[str, Any] | None, originals: dict[str, Any] | None, expected: tuple[object, ...]
) -> None:
    wanted = None if manifest is None else {"spec": manifest}
    seen = Workloads(target=CloneSet.running("game", 10).live, wanted=wanted, originals=originals)
    (fields,) = HANDLER.scale(seen, goal_of(10, 10), Step.RELEASE).fields.values()
    assert fields == dict(zip(FIELDS, expected, strict=True))


def test_its_controller_chooses_the_pods() -> None:
    seen = Workloads(target=CloneSet.running("game", 3).live)
    assert HANDLER.refusal(seen, goal_of(3, 1, 0, "game-01")) == (
        WorkloadText.CONTROLLER_CHOOSES_PODS(name_of="CloneSet/web/game")
    )
    assert HANDLER.refusal(seen, goal_of(3, 1)) == ""


@given(st.integers(0, 8), st.data(), st.integers(0, 2**16), st.integers(0, 3))
def test_it_comes_to_its_end_with_enough_ready_pods(size: int, data: st.DataObject, seed: int, away: int) -> None:
    batches = data.draw(splits(size))
    play = Play(HANDLER, CloneSet.running("game", size), order=Random(seed))
    goal, allowed = goal_of(size, 0, away), [0]

    def watch(play: Play) -> None:
        assert play.ready >= size - max(1, away)
        assert sum(pod.revision == "new" for pod in play.target.pods) <= allowed[0]

    play.watch = watch
    hold_new_template(play, goal)
    play.step(goal, Step.CLAIM, lambda: True)
    for one in goals(goal, batches):
        allowed[0] = one.upgraded
        play.step(one, Step.FIRST, partial(play.is_done, one))
    play.settle(goal, Step.RELEASE)
    assert [pod.revision for pod in play.target.pods] == ["new"] * size


@given(st.integers(1, 8), st.data())
def test_kept_pods_stay_and_a_revert_brings_back_those_of_before(size: int, data: st.DataObject) -> None:
    upgraded = data.draw(st.integers(0, size - 1))
    play = Play(HANDLER, CloneSet.running("game", size), order=Random(size))
    goal = goal_of(size, upgraded)
    hold_new_template(play, goal)
    for _ in range(3):
        play.patch(goal, Step.FIRST)
        play.target.sync()
    names = [pod.name for pod in play.target.pods]
    play.settle(goal, Step.KEEP)
    assert [pod.name for pod in play.target.pods] == names
    assert HANDLER.irreversible(play.seen, goal) == ""
    play.settle(goal, Step.REVERT)
    assert [pod.revision for pod in play.target.pods] == ["old"] * size


@pytest.mark.parametrize(
    ("strategy", "status", "expected"),
    [
        (
            {"partition": 3},
            {"updatedReplicas": 2, "updatedReadyReplicas": 1},
            Counts(upgraded=2, upgraded_ready=1, old=3, old_ready=3),
        ),
        ({"partition": "40%"}, {"updatedReplicas": 2}, Counts(upgraded=2, old=3, old_ready=4, observed=False)),
        (
            {"partition": 3},
            {"updatedReplicas": 5, "updatedReadyReplicas": 4, "observedGeneration": 0},
            Counts(old=5, old_ready=4, observed=False),
        ),
    ],
)
def test_counts(strategy: dict[str, Any], status: dict[str, int], expected: Counts) -> None:
    model = CloneSet.running("game", 5, **strategy)
    model.status |= {"readyReplicas": 4, "updatedReadyReplicas": 0, **status}
    assert HANDLER.counts(Workloads(target=model.live), goal_of(5, 2)) == expected
