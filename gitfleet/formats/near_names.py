"""Which known name a name was probably meant to be: the one place where gitfleet decides that two names are alike."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from string import ascii_letters
from typing import Final

from gitfleet.formats.texts import FormatsText

_NEAR: Final = 0.75
_SHORTEST: Final = 3
"""Shorter names are alike by chance."""
_NUMBERS: Final = re.compile("[0-9]+")


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The known name that a name was probably meant to be, None where none is near; of several equally near ones the
    first by alphabet."""
    near = [candidate for candidate in sorted(set(names)) if is_near(candidate, name)]
    return max(near, key=lambda candidate: likeness(candidate, name), default=None)


def did_you_mean(name: str, names: Iterable[str], otherwise: str) -> str:
    """The end of a sentence about a name that does not exist: the nearest known one, or what else to do."""
    near = nearest(name, names)
    return otherwise if near is None else FormatsText.YOU_MEAN(near=near)


def is_near(first: str, second: str) -> bool:
    """Whether one name may be a misspelling of the other, whatever their case.

    They differ by one typing error, or begin with the same letter and are alike. Names that differ from the first
    letter on (`eu-1`, `us-1`), or in their numbers alone (`eu-1`, `eu-2`), are taken for different ones.
    """
    first, second = first.lower(), second.lower()
    if first == second:
        return True
    shorter, longer = sorted((len(first), len(second)))
    if shorter < _SHORTEST:
        return False
    if is_typing_error(first, second):
        return True
    # What costs nothing comes first: most names are not near, and thousands are compared.
    if (
        first[0] != second[0]
        or 2 * shorter < _NEAR * (shorter + longer)
        or _NUMBERS.sub("0", first) == _NUMBERS.sub("0", second)
    ):
        return False
    matcher = SequenceMatcher(None, first, second)
    return matcher.quick_ratio() >= _NEAR and matcher.ratio() >= _NEAR


def likeness(first: str, second: str) -> float:
    """How much two names are alike, from 0 to 1, whatever their case."""
    return SequenceMatcher(None, first.lower(), second.lower()).ratio()


def is_typing_error(old: str, new: str) -> bool:
    """Whether one letter was added, left out, exchanged, or swapped with its neighbour.

    Digits do not count, nor does a letter that stands alone: names that differ by one are versions (`migrate-1` and
    `migrate-2`, `worker-a` and `worker-b`, `eu-1a` and `eu-1b`).
    """
    if abs(len(old) - len(new)) > 1:
        return False
    start = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    a, b = old[start:], new[start:]
    while a and b and a[-1] == b[-1]:
        a, b = a[:-1], b[:-1]
    if old == new or any(sign.isdigit() for sign in a + b):
        return False
    alone = max(_letters_around(old, start, len(a)), _letters_around(new, start, len(b))) <= 1
    return (len(a) <= 1 and len(b) <= 1 and not alone) or (len(a) == 2 and a == b[::-1])


def _letters_around(name: str, start: int, length: int) -> int:
    """How many letters the word has in which so many signs stand from `start` on."""
    before, after = name[:start], name[start + length :]
    return len(before) - len(before.rstrip(ascii_letters)) + length + len(after) - len(after.lstrip(ascii_letters))
