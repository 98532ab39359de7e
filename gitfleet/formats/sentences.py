"""Parts of sentences that several packages say."""

from __future__ import annotations

from collections.abc import Sequence


def named_briefly(names: Sequence[str], most: int) -> str:
    """`a`, `a and b`, `a, b, c and 7 more`: at most so many names, then how many there are besides."""
    shown = [*names[:most], *([f"{len(names) - most} more"] if len(names) > most else [])]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
