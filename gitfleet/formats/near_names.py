"""Which known name a name was probably meant to be: the one place where gitfleet decides that two names are alike."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Final

from gitfleet.formats.texts import FormatsText

_NEAR: Final = 0.66
_SHORTEST: Final = 3
"""Shorter names are alike by chance."""
_NUMBERS: Final = re.compile("[0-9]+")


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The known name that a name was probably meant to be, None where none is near; of several equally near ones the
    first by alphabet."""
    near = [candidate for candidate in sorted(set(names)) if is_near(candidate, name)]
    return max(near, key=lambda candidate: _likeness(candidate, name), default=None)


def did_you_mean(name: str, names: Iterable[str], otherwise: str) -> str:
    """The end of a sentence about a name that does not exist: the nearest known one, or what else to do."""
    near = nearest(name, names)
    return otherwise if near is None else FormatsText.YOU_MEAN(near=near)


def is_near(first: str, second: str) -> bool:
    """Whether one name may be a misspelling of the other, whatever their case.

    Names that differ from the first letter on (`eu-1`, `us-1`), or in their numbers alone (`eu-1`, `eu-2`), are taken
    for different ones.
    """
    first, second = first.lower(), second.lower()
    if first == second:
        return True
    shorter, longer = sorted((len(first), len(second)))
    # What costs nothing comes first: most names are not near, and thousands are compared.
    if (
        shorter < _SHORTEST
        or first[0] != second[0]
        or 2 * shorter < _NEAR * (shorter + longer)
        or _NUMBERS.sub("0", first) == _NUMBERS.sub("0", second)
    ):
        return False
    matcher = SequenceMatcher(None, first, second)
    return matcher.quick_ratio() >= _NEAR and matcher.ratio() >= _NEAR


def _likeness(first: str, second: str) -> float:
    """How much two names are alike, from 0 to 1, whatever their case."""
    return SequenceMatcher(None, first.lower(), second.lower()).ratio()
