"""Invariants 2, 3, 8 and 9 under random damage of one file at a time (see `mutations`, `mutating`); `--mutations N`
plays more.

One that breaks something is played again by its seed alone: `--first-mutation SEED --mutations 1`.
"""

from __future__ import annotations

import pytest

from tests.properties.mutating import Mutated
from tests.properties.mutations import mutation

CHUNKS = 6
"""Enough to keep several workers busy to the end."""


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_damaged_file_harms_what_is_beside_it(chunk: int, pytestconfig: pytest.Config) -> None:
    first, count = pytestconfig.getoption("--first-mutation"), pytestconfig.getoption("--mutations")
    fleet = Mutated()
    for seed in range(first + chunk, first + count, CHUNKS):
        try:
            fleet.play(seed)
        except Exception as error:
            done = mutation(seed)
            raise AssertionError(
                f"mutation {seed}: {done.path}: {done.what}: {error or type(error).__name__}"
            ) from error
    assert (fleet.refused and fleet.applied) or count < 20 * CHUNKS  # or it proves nothing


def test_the_same_seed_does_the_same_damage() -> None:
    assert [mutation(seed) for seed in range(50)] == [mutation(seed) for seed in range(50)]
    assert len({mutation(seed).what for seed in range(200)}) > 150
