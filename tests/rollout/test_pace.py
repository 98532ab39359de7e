"""`startRate` counts the newest starts, however many there were: a clock may have been put back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from gitfleet.api.staged import Stage
from gitfleet.rollout.staged.pace import next_start

NOW = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("ago", "wait"),
    [
        ([], None),
        ([50], None),
        ([50, 10], 10),
        ([55, 20, 10], 40),
        ([55, 50, 20, 10], 40),
        ([60, 10], None),
        ([59, 10], 1),
    ],
)
def test_the_next_start_is_a_minute_after_the_newest_that_the_rate_allows(ago: list[int], wait: int | None) -> None:
    found = next_start(Stage(name="all", start_rate=2), [NOW - timedelta(seconds=one) for one in ago], NOW)
    assert found == (None if wait is None else NOW + timedelta(seconds=wait))
