"""The lengths of time after which something may move by itself."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gitfleet.api.conditions import Status
from gitfleet.api.strategies import RollingUpdate
from gitfleet.rollout.waits import requeue_after, until_over, until_plan_changes
from tests.rollout.builders import NOW, bound, condition

LIMITS = RollingUpdate(unavailable_period_seconds=60)


@pytest.mark.parametrize(
    ("age", "started", "left"),
    [(0, 600, 300), (299, 600, 1), (300, 600, 0), (400, 600, -100), (600, 100, 200)],
)
def test_a_period_runs_from_the_later_of_the_condition_and_the_start(age: float, started: float, left: float) -> None:
    held = condition("Available", Status.FALSE, "NotAllWorkAreAvailable", age=age)
    start = condition("RolloutStarted", Status.TRUE, "RolloutStarted", age=started)
    found = until_over(bound("a", held, start), held, timedelta(minutes=5), NOW)
    assert found == timedelta(seconds=left)


def test_the_next_look_is_at_the_first_wait_and_at_most_the_unavailable_period_away() -> None:
    near, far = timedelta(seconds=7), timedelta(seconds=90)
    assert requeue_after(LIMITS, [far, near]) == near
    assert requeue_after(LIMITS, [far]) == timedelta(seconds=60)
    assert requeue_after(LIMITS, []) == timedelta(seconds=60)


def test_without_a_clock_only_a_change_elsewhere_changes_the_plan() -> None:
    assert until_plan_changes([]) is None
    assert until_plan_changes([timedelta(seconds=90), timedelta(seconds=7)]) == timedelta(seconds=7)
