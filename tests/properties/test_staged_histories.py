"""Random histories with staged update runs and evictions (see `staged_histories`): a fifth as many as `--histories N`
says of the others, since each run has stages to go through."""

from __future__ import annotations

import pytest

from tests.properties.options import number_of
from tests.properties.staged_histories import StagedHistory
from tests.properties.unchanged import check_histories

CHUNKS = 8


@pytest.mark.deeper("histories")
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_history_with_runs_breaks_a_law(chunk: int, pytestconfig: pytest.Config) -> None:
    first, count = pytestconfig.getoption("--first-history"), -(-number_of("histories", pytestconfig) // 5)
    seeds = range(first + chunk, first + count, CHUNKS)
    started = 0

    def ends(history: StagedHistory) -> None:
        nonlocal started
        history.check_runs()
        started += history.invariants.started

    check_histories(StagedHistory, seeds, ends)
    assert started or len(seeds) < 5  # a law of runs that never applies proves nothing
