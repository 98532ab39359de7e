"""Whether the time that something takes grows as its input does: what anybody may write must not end a reconcile.

Times are compared with each other, never with a limit, and those of the thread alone: a busy machine changes neither.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

_SMALLEST: Final = 8
_LARGEST: Final = 1 << 14
_MEASURABLE: Final = 0.001
_MORE: Final = 16
_MOST: Final = 4 * _MORE
"""A square would be `_MORE * _MORE`, a cube far more."""


def growth(run: Callable[[int], Callable[[], object]]) -> float:
    """How many times longer an input of sixteen times the size takes than one that takes a time that can be measured,
    if there is such an input; `run` gives the work for a size, its input made beforehand.

    Ends at the first doubling that takes far longer than twice the time: what grows without bound must not be waited
    for.
    """
    size, now = _SMALLEST, _seconds(run(_SMALLEST))
    while now < _MEASURABLE and size < _LARGEST:
        before, size = max(now, _MEASURABLE / 10), size * 2
        now = _seconds(run(size))
        if now > before * _MOST:
            return now / before
    return _seconds(run(size * _MORE)) / max(now, _MEASURABLE)


def grows_with_its_input(run: Callable[[int], Callable[[], object]]) -> bool:
    """Whether the time of `run` is bounded by its input's size, but for a factor."""
    return growth(run) < _MOST


def _seconds(work: Callable[[], object]) -> float:
    times = []
    for _ in range(3):
        begun = time.thread_time()
        work()
        times.append(time.thread_time() - begun)
        if times[-1] > 1:
            break
    return min(times)
