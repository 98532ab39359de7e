"""Objects that move between placements in the midst of rollouts: every history ends, deletes nothing that somebody
wants, sets no content back, and changes no more clusters at once than maxUnavailable allows."""

from __future__ import annotations

import pytest

from tests.scenarios.moving import History

FOUND = (29, 130, 134, 202, 255, 303, 321, 352, 2324)
"""Some that never ended, or changed too many clusters at once, before that was corrected."""


@pytest.mark.parametrize("seed", [*FOUND, *range(9000, 9008)])
def test_a_history_of_moves_ends_well(seed: int) -> None:
    history = History(seed)
    assert not history.play(), history.said
