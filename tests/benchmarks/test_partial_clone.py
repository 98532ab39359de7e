"""The benchmark of partial clones, on a small repository."""

from __future__ import annotations

import pytest

from benchmarks.partial_clone import compared

pytestmark = [pytest.mark.real, pytest.mark.soak("scale")]


def test_a_partial_clone_brings_less_of_a_long_history() -> None:
    whole, part = compared("30x60x10", rounds=1)
    assert 0 < part.bytes < whole.bytes
