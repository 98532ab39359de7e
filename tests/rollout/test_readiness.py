"""The boundaries of time and generation in what a binding's conditions say."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gitfleet.api.bindings import Binding
from gitfleet.api.conditions import Condition, Status
from gitfleet.rollout import is_ready
from gitfleet.rollout.readiness import STUCK_AFTER, has_failed, is_diff_reported
from tests.rollout.builders import NOW, available, bound, condition, unavailable

PERIOD = timedelta(seconds=60)
STUCK = STUCK_AFTER.total_seconds()


def untrackable(age: float) -> Condition:
    """Available, as far as is known."""
    return condition("Available", Status.TRUE, "NotAllWorkAreAvailabilityTrackable", age=age)


def started(age: float, status: Status = Status.TRUE, generation: int = 1) -> Condition:
    """When the rollout of this generation (or of another) began."""
    return condition("RolloutStarted", status, "RolloutStarted", age=age, generation=generation)


@pytest.mark.parametrize(
    ("conditions", "ready", "wait"),
    [
        ((untrackable(60),), True, None),
        ((untrackable(59),), False, 1),
        ((untrackable(0),), False, 60),
        ((untrackable(3600), started(59)), False, 1),
        ((untrackable(3600), started(60)), True, None),
        ((untrackable(3600), started(0, Status.FALSE)), True, None),
        ((untrackable(59), started(3600)), False, 1),
        ((untrackable(3600), started(0, generation=0)), True, None),
        ((available(),), True, None),
        ((available(generation=0),), False, None),
        ((unavailable(age=9999),), False, None),
        ((condition("DiffReported", Status.TRUE, "AllWorkHaveDiffReported"),), True, None),
        ((condition("DiffReported", Status.FALSE, "x"),), False, None),
        ((condition("DiffReported", Status.TRUE, "x", generation=0),), False, None),
        ((), False, None),
    ],
)
def test_ready_and_how_long_until(conditions: tuple[Condition, ...], ready: bool, wait: float | None) -> None:
    found = is_ready(bound("a", *conditions), PERIOD, NOW)
    assert (found.ready, found.wait) == (ready, None if wait is None else timedelta(seconds=wait))


def applying(age: float) -> Binding:
    """Something is still being applied."""
    return bound("a", condition("Applied", Status.FALSE, "ApplyInProgress", age=age))


@pytest.mark.parametrize(
    ("binding", "trying", "failed"),
    [
        (bound("a", unavailable(age=STUCK)), False, True),
        (bound("a", unavailable(age=STUCK - 1)), False, False),
        (bound("a", unavailable(age=STUCK), started(STUCK - 1)), False, False),
        (bound("a", unavailable(age=STUCK), started(0, Status.FALSE)), False, True),
        (bound("a", unavailable(age=STUCK, generation=0)), False, False),
        (bound("a", unavailable(age=STUCK)), True, True),
        (applying(STUCK), False, True),
        (applying(STUCK), True, False),
        (applying(STUCK - 1), False, False),
        (bound("a", condition("Overridden", Status.FALSE, "OverriddenFailed", age=0)), True, True),
        (bound("a", condition("WorkSynchronized", Status.FALSE, "WorkNotSynchronizedYet", age=9999)), False, False),
        (bound("a", condition("Applied", Status.UNKNOWN, "ApplyFailed")), False, False),
        (bound("a", condition("Applied", Status.UNKNOWN, "ApplyInProgress", age=STUCK)), False, True),
        (bound("a", condition("Applied", Status.UNKNOWN, "ApplyInProgress", age=STUCK)), True, False),
        (bound("a", condition("Applied", Status.UNKNOWN, "ApplyInProgress", age=STUCK - 1)), False, False),
        (bound("a", condition("Applied", Status.TRUE, "ApplyInProgress", age=STUCK)), False, False),
        (bound("a"), False, False),
    ],
)
def test_failed_or_still_in_progress(binding: Binding, trying: bool, failed: bool) -> None:
    assert has_failed(binding, NOW, trying=trying) == failed


@pytest.mark.parametrize(("generation", "reported"), [(1, True), (0, False)])
def test_differences_count_for_the_generation_that_they_were_reported_for(generation: int, reported: bool) -> None:
    for status in (Status.TRUE, Status.FALSE):
        found = bound("a", condition("DiffReported", status, "x", generation=generation))
        assert is_diff_reported(found) == reported
    assert not is_diff_reported(bound("a", available()))
