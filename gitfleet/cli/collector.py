"""How often Python searches for cyclic garbage. A fleet's state is millions of small values that form no cycle."""

from __future__ import annotations

import gc


def collect_rarely() -> None:
    """For a process that reads or decides whole fleets: search for cycles once in 100,000 new values, not once in 700.

    What forms no cycle is freed at once as ever: memory grows by no more than the cycles among that many values. What
    was searched once is searched again only after 200 times as many: it stays for long.
    """
    gc.set_threshold(100_000, 200, 20)
    gc.freeze()
