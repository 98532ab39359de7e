"""Random histories of workload rollouts, with crashes (see rollout_histories).

A history that breaks something is played again by its seed alone: `--first-history SEED --histories 1`.
"""

from __future__ import annotations

import pytest

from tests.properties.options import number_of
from tests.properties.rollout_histories import RolloutHistory

CHUNKS = 20


@pytest.mark.deeper("histories")
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_what_must_hold_holds_at_every_moment(chunk: int, pytestconfig: pytest.Config) -> None:
    first, count = pytestconfig.getoption("--first-history"), number_of("histories", pytestconfig)
    for seed in range(first + chunk, first + count, CHUNKS):
        history = RolloutHistory(seed)
        history.play()
        assert history.checks, seed
