"""Random histories of workload rollouts, with crashes (see rollout_histories).

`GITFLEET_ROLLOUT_HISTORIES=1000` plays a thousand of them.
"""

from __future__ import annotations

import os

import pytest

from tests.properties.rollout_histories import RolloutHistory

COUNT = int(os.environ.get("GITFLEET_ROLLOUT_HISTORIES", "40"))


@pytest.mark.parametrize("seed", range(COUNT))
def test_what_must_hold_holds_at_every_moment(seed: int) -> None:
    history = RolloutHistory(seed)
    history.play()
    assert history.checks
