"""The life of a small fleet goes as it is told in life.txt (life.py writes it anew)."""

from __future__ import annotations

from itertools import zip_longest

from tests.reconcile.life import TOLD, tell
from tests.texts import said


def test_the_life_of_a_fleet_goes_as_it_is_told() -> None:
    for number, (happens, told) in enumerate(zip_longest(tell(), said(TOLD.read_text()).splitlines()), 1):
        assert happens == told, f"life.txt:{number}; python -m tests.texts writes it anew"
