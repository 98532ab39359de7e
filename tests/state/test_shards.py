"""Which entries share a file: at most 64, split by the bits of their addresses, and never two files for one address."""

from __future__ import annotations

import pytest

from gitfleet.state.shards import shards

HALF, QUARTER = 1 << 47, 1 << 46


@pytest.mark.parametrize(
    ("addresses", "files"),
    [
        ([], {}),
        (range(64), {"all": 64}),
        ([*range(64), *range(HALF, HALF + 64)], {"0": 64, "1": 64}),
        ([*range(32), *range(QUARTER, QUARTER + 33), HALF], {"00": 32, "01": 33, "1": 1}),
        ([*range(64), QUARTER], {"00": 64, "01": 1}),
        (range(HALF, HALF + 65), {f"1{'0' * 40}0": 64, f"1{'0' * 40}1": 1}),
        ([7] * 65, {f"{7:048b}": 65}),
        ([6] * 64 + [7], {f"{6:048b}": 64, f"{7:048b}": 1}),
    ],
)
def test_files_of_at_most_64_entries(addresses: list[int], files: dict[str, int]) -> None:
    found = shards("f", addresses, lambda address: address)

    assert {path: len(entries) for path, entries in found.items()} == {f"f/{name}.yaml": n for name, n in files.items()}
