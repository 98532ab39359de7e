"""From source Deployments to a target: whole answers, and what holds in every order of events."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.api.rollout_plans import RolloutStrategy
from gitfleet.api.workload_records import RolloutMode
from gitfleet.model.rollout_fields import ABSENT
from gitfleet.workload.handlers import Goal, Step, Workloads
from gitfleet.workload.handlers.deployments import DeploymentHandler
from tests.workload.handlers.models import Deployment
from tests.workload.handlers.playing import Play, goals

HANDLER = DeploymentHandler()
INCREASE, DECREASE = RolloutStrategy.INCREASE_FIRST, RolloutStrategy.DECREASE_FIRST


def pair(*sources: int, has: int = 0, broken: int = 0) -> Play:
    olds = [Deployment.running(f"old-{n}", size, broken=broken if n == 0 else 0) for n, size in enumerate(sources)]
    return Play(HANDLER, Deployment.running("new", has, "new"), olds)


def goal_of(*sources: int, size: int, strategy: RolloutStrategy = INCREASE, has: int = 0, unavailable: int = 0) -> Goal:
    return Goal(
        mode=RolloutMode.SOURCE_TO_TARGET,
        strategy=strategy,
        original=sum(sources) + has,
        size=size,
        source_sizes=sources,
        unavailable=unavailable,
        before=has,
        upgraded=has,
    )


def sizes(seen: Workloads, goal: Goal, step: Step) -> tuple[tuple[object, object], ...]:
    """replicas and `paused` of the target, then of each source."""
    fields = HANDLER.scale(seen, goal, step).fields
    return tuple((values["/spec/replicas"], values.get("/spec/paused", "-")) for _, values in sorted(fields.items()))


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (Step.HOLD, ((1, True), (4, "-"), (2, "-"))),
        (Step.CLAIM, ((1, False), (4, "-"), (2, "-"))),
        (Step.FIRST, ((4, False), (4, "-"), (2, "-"))),
        (Step.SECOND, ((4, False), (4, "-"), (2, "-"))),  # none of the target's new pods is ready yet
        (Step.RELEASE, ((7, False), (0, "-"), (0, "-"))),
        (Step.KEEP, ((1, ABSENT), (4, "-"), (2, "-"))),
        (Step.REVERT, ((1, False), (4, "-"), (2, "-"))),
    ],
)
def test_what_each_step_wants(step: Step, expected: tuple[object, ...]) -> None:
    play = pair(4, 2, has=1)
    goal = Goal(
        mode=RolloutMode.SOURCE_TO_TARGET, strategy=INCREASE, original=7, size=7, source_sizes=(4, 2),
        before=1, upgraded=4,
    )  # fmt: skip
    assert sizes(play.seen, goal, step) == expected


def test_the_first_source_goes_first_and_pods_that_are_not_ready_before_all() -> None:
    play = pair(3, 3)
    play.target = Deployment.running("new", 4, "new")
    goal = Goal(
        mode=RolloutMode.SOURCE_TO_TARGET, strategy=INCREASE, original=6, size=6, source_sizes=(3, 3), upgraded=4
    )
    assert sizes(play.seen, goal, Step.SECOND) == ((4, False), (0, "-"), (2, "-"))
    play.sources = [play.sources[0], Deployment.running("old-1", 3, broken=2)]
    assert sizes(play.seen, goal, Step.SECOND) == ((4, False), (1, "-"), (1, "-"))


def test_pods_beyond_a_size_that_are_not_ready_go_first_too() -> None:
    play = pair(4, 3)
    play.target = Deployment.running("new", 4, "new")
    play.sources[1].bad = ("bad",)
    play.sources[1].give_template("bad")
    play.sources[1].sync()
    assert len(play.sources[1].pods) == 4
    goal = replace(goal_of(4, 3, size=7), upgraded=4)
    assert sizes(play.seen, goal, Step.SECOND) == ((4, False), (1, "-"), (2, "-"))


def test_a_target_that_is_still_to_be_made_has_no_pods() -> None:
    play = pair(3)
    body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"namespace": "web", "name": "new"}}
    seen = Workloads(target=None, sources=play.seen.sources, wanted=body)
    for mode in RolloutMode.IN_PLACE, RolloutMode.SOURCE_TO_TARGET:
        goal = Goal(mode=mode, strategy=INCREASE, original=0, size=0)
        assert sizes(seen, goal, Step.HOLD) == ((0, False), (3, "-"))
    goal = Goal(mode=RolloutMode.IN_PLACE, strategy=INCREASE, original=0, size=0)
    assert HANDLER.scale(Workloads(target=None, wanted=body), goal, Step.HOLD).fields == {}


@st.composite
def rollouts(draw: st.DrawFn) -> tuple[Play, Goal, list[int]]:
    sources = draw(st.lists(st.integers(0, 6), min_size=1, max_size=3))
    has = draw(st.integers(0, 3))
    broken = draw(st.integers(0, min(2, sources[0])))
    size = sum(sources) + has + draw(st.integers(0, 4))
    goal = goal_of(
        *sources,
        size=size,
        has=has,
        strategy=draw(st.sampled_from(RolloutStrategy)),
        unavailable=draw(st.integers(0, 3)),
    )
    play = pair(*sources, has=has, broken=broken)
    play.order = Random(draw(st.integers(0, 2**16)))
    return play, goal, draw(splits(size))


def splits(size: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, size), max_size=4).map(
        lambda cuts: [b - a for a, b in zip([0, *sorted(cuts)], [*sorted(cuts), size], strict=True)]
    )


def watched(play: Play, goal: Goal, most: int) -> None:
    """From now on: no ready pod goes while too few would be left, and there are never too many."""
    missing = max(goal.unavailable, goal.strategy is DECREASE)
    last = [play.ready]

    def watch(play: Play) -> None:
        ready = play.ready
        assert ready >= last[0] or ready >= goal.size - missing
        assert play.there <= most
        last[0] = ready

    play.watch = watch


@given(rollouts())
def test_it_comes_to_its_end_with_enough_ready_pods_and_never_too_many(case: tuple[Play, Goal, list[int]]) -> None:
    play, goal, batches = case
    most = goal.size if goal.strategy is DECREASE else goal.size + max(batches)
    watched(play, goal, most)
    play.roll(goal, batches)
    assert [len(one.pods) for one in play.models] == [goal.size, *[0] * len(play.sources)]


@given(rollouts(), st.integers(0, 4))
def test_a_revert_brings_back_the_pods_of_before(case: tuple[Play, Goal, list[int]], batches_done: int) -> None:
    play, goal, batches = case
    for source in play.sources:
        for pod in source.pods:
            pod.ready = pod.can = True
        source.sync()
    last = goal
    play.step(goal, Step.CLAIM, lambda: True)
    for last in list(goals(goal, batches))[:batches_done]:
        play.step(last, Step.FIRST, lambda: True)
        play.step(last, Step.SECOND, lambda: True)
    decreases = goal.strategy is DECREASE
    most = max(play.there, goal.original + (0 if decreases else max(1, last.upgraded - last.before)))
    watched(play, replace(goal, size=goal.original), most)
    play.settle(last, Step.REVERT)
    had = goal.original - sum(goal.source_sizes)
    assert [len(one.pods) for one in play.models] == [had, *goal.source_sizes]


@given(rollouts(), st.integers(0, 4))
def test_pods_stay_as_they_are_once_kept(case: tuple[Play, Goal, list[int]], batches_done: int) -> None:
    play, goal, batches = case
    last = goal
    for last in list(goals(goal, batches))[:batches_done]:
        play.step(last, Step.FIRST, lambda: True)
    before = [one.spec["replicas"] for one in play.models]
    play.settle(last, Step.KEEP)
    assert [len(one.pods) for one in play.models] == before
