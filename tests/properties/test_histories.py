"""Invariant 4 and its neighbours in random histories (see `invariants`, `unchanged`); `--histories N` plays more.

A history that breaks an invariant is played again by its seed alone: `--first-history SEED --histories 1`.
"""

from __future__ import annotations

import pytest

from tests.properties.histories import History
from tests.properties.options import number_of
from tests.properties.unchanged import check_histories

CHUNKS = 20
"""Enough to keep several workers busy to the end."""


@pytest.mark.deeper("histories")
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_history_breaks_a_law(chunk: int, pytestconfig: pytest.Config) -> None:
    first, count = pytestconfig.getoption("--first-history"), number_of("histories", pytestconfig)
    checked = check_histories(History, range(first + chunk, first + count, CHUNKS), lambda history: None)
    assert checked or count < CHUNKS  # an invariant that never applies proves nothing


def test_the_same_seed_gives_the_same_history() -> None:
    one, other = History(7), History(7)
    one.play()
    other.play()
    assert one.log == other.log
    assert one.world.repo.fetch() == other.world.repo.fetch()
