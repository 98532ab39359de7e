"""Parts of sentences that several packages say."""

from __future__ import annotations

from collections.abc import Sequence, Sized


def named_briefly(names: Sequence[str], most: int, total: int = 0) -> str:
    """`a`, `a and b`, `a, b, c and 7 more`: at most so many names, then how many there are besides; in `total`, where
    that is more than are given."""
    total = max(total, len(names))
    shown = [*names[:most], *([f"{total - min(len(names), most)} more"] if total > min(len(names), most) else [])]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def shortened(text: str, most: int) -> str:
    """The text, cut to so many characters where it is longer."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def agreeing(number: int, singular: str, plural: str) -> str:
    """The word that goes with a number: `is` or `are`."""
    return singular if number == 1 else plural


def counted(number: int | str, word: str) -> str:
    """`1 cluster`, `2 clusters`, `no errors`."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def and_more(number: int) -> str:
    """` and 3 more`; "" where there are no more."""
    return f" and {number} more" if number > 0 else ""


def more_than_first(items: Sized) -> str:
    """` (and 2 more)` behind the first of several; "" behind an only one."""
    return f" (and {len(items) - 1} more)" if len(items) > 1 else ""
