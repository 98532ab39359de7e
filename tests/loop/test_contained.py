"""Nothing that one reconcile raises ends the process, except what concerns the whole process."""

from __future__ import annotations

import pytest

from gitfleet.model.failures import Failure, Failures, Subject, attempt
from tests.loop.test_runner import SETTLED, Loop

SUBJECT = Subject("MemberCluster", "c1")


def raising(error: BaseException) -> None:
    raise error


def test_an_unforeseen_error_is_outlived_and_tried_again_with_growing_pauses() -> None:
    loop = Loop([ZeroDivisionError("hunter2"), ZeroDivisionError("hunter2"), SETTLED], waits=3)
    loop.runner.until_stopped()
    assert loop.wake.pauses == [5.0, 2.0, 30.0]


@pytest.mark.parametrize("error", [MemoryError(), KeyboardInterrupt(), SystemExit(1)], ids=repr)
def test_what_concerns_the_whole_process_passes_through(error: BaseException) -> None:
    with pytest.raises(type(error)):
        attempt(SUBJECT, raising, error)


def test_a_report_names_the_place_and_repeats_nothing() -> None:
    first, again = (attempt(SUBJECT, raising, KeyError("hunter2")) for _ in range(2))
    assert isinstance(first, Failure) and first == again
    assert first.sentence == f"unexpected KeyError (report {first.id})"
    assert "hunter2" not in first.report and "test_contained.py" in first.report and "raising" in first.report


def test_a_failure_is_noted_once_and_the_kept_value_counts() -> None:
    failures = Failures()
    assert [failures.contain(SUBJECT, None, raising, KeyError("x")) for _ in range(2)] == [None, None]
    assert len(failures.found) == 1 and SUBJECT in failures
    assert failures.contain(SUBJECT, 0, int, "7") == 7
