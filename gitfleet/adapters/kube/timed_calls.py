"""Calls into code that may never return: one at a time, each with a time limit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NotReturned:
    """No result, and why in one word: TimedOut (it did not come in time) or TooManyCalls (an earlier call has not
    returned, so none was made). The words are KubeFleet's."""

    reason: str


@dataclass(frozen=True, slots=True)
class Raised:
    """What a call raised instead of returning."""

    error: Exception


@dataclass(frozen=True, slots=True)
class Returned(Generic[T]):
    """What a call returned."""

    value: T


class TimedCaller:
    """At most one thread, however many calls: while one is stuck no other begins."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._thread: threading.Thread | None = None

    def call(self, work: Callable[[], T], seconds: float | None) -> Returned[T] | Raised | NotReturned:
        """The result of `work`, waited for so many seconds; None waits for ever, and needs no thread."""
        if self._thread is not None and self._thread.is_alive():
            return NotReturned("TooManyCalls")
        box: list[Returned[T] | Raised] = []

        def run() -> None:
            try:
                box.append(Returned(work()))
            except Exception as error:  # noqa: BLE001 - somebody else's code: whatever it raises is its result
                box.append(Raised(error))

        if seconds is None:
            run()
            return box[0]
        # A daemon: a stuck call must not keep the process from ending.
        self._thread = threading.Thread(target=run, name=self._name, daemon=True)
        self._thread.start()
        self._thread.join(seconds)
        return box[0] if box else NotReturned("TimedOut")
