"""How long is waited is what the pages say: the other tests take these lengths from the code."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gitfleet.approvals.judging import _CLOCKS_DIFFER
from gitfleet.rollout.leaving import FORCED_LEAVE
from gitfleet.rollout.readiness import STUCK_AFTER
from gitfleet.rollout.silence import LEFT_OUT_AFTER
from tests.architecture.sources import ROOT


@pytest.mark.parametrize(
    ("length", "minutes", "page", "said"),
    [
        (FORCED_LEAVE, 15, "clusters", "not answer for 15 minutes, unless"),
        (STUCK_AFTER, 5, "staged-runs", "takes longer than five minutes keeps its slot"),
        (STUCK_AFTER, 5, "rollout", "in progress for more than five minutes"),
        (LEFT_OUT_AFTER, 5, "staged-runs", "have not answered for five minutes"),
        (LEFT_OUT_AFTER, 5, "rollout", "For five minutes a cluster that does not answer"),
        (_CLOCKS_DIFFER, 5, "approvals", "a clock that is more than five minutes ahead"),
    ],
)
def test_a_length_of_time(length: timedelta, minutes: int, page: str, said: str) -> None:
    assert length == timedelta(minutes=minutes)
    assert said in (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
