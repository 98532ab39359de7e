"""Whether one name is another one with a typing error."""

from __future__ import annotations

from difflib import get_close_matches


def is_typing_error(old: str, new: str) -> bool:
    """Whether one letter was added, left out, exchanged, or swapped with its neighbour.

    Digits do not count: names that differ by a number are versions (`migrate-1`, `migrate-2`).
    """
    start = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    a, b = old[start:], new[start:]
    while a and b and a[-1] == b[-1]:
        a, b = a[:-1], b[:-1]
    if old == new or any(sign.isdigit() for sign in a + b):
        return False
    return (len(a) <= 1 and len(b) <= 1) or (len(a) == 2 and a == b[::-1])


def is_near_kind(old: str, new: str) -> bool:
    """Whether a group or a kind is so near to another one that one of them must be misspelt."""
    return bool(get_close_matches(new, [old], n=1, cutoff=0.8))
