"""Brings messages to one destination, beside the reconciles: bounded in number, one at a time, with growing pauses.

A destination that hangs or refuses costs itself alone. What happens while a message waits is told in the next one.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from gitfleet.errors import DestinationUnavailable, GitfleetError, GiveUp
from gitfleet.loop.texts import LoopText
from gitfleet.model.backoff import Curve
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.model.notifications import NotificationMessage, Occurrence
from gitfleet.ports.clock import Clock
from gitfleet.ports.metrics import Metrics
from gitfleet.ports.notifiers import Notifier
from gitfleet.views import Occasion, notification_message

log = logging.getLogger(__name__)
PAUSE: Final = 10.0
"""Seconds between two messages to one destination: what happens meanwhile is one message."""
MOST_TRIES: Final = 10
"""Of one message, over about twenty minutes."""
MOST_WAITING: Final = 500
"""Occurrences that wait for one destination; more are counted."""
_PAUSES: Final = Curve.growing(5.0, 2.0, 300.0)
_LONGEST_ASKED: Final = 600.0
"""Seconds that a destination may make us wait."""


@dataclass(slots=True, kw_only=True)
class NotificationQueue:
    """What waits for one destination, and the message that is being delivered.

    `notifier` makes what sends, from what the operator's file holds now. Outcomes that are counted: `delivered`,
    `failed` (the message comes again), `refused` (by the destination) and `dropped` (after too many failures).
    """

    name: str
    type: str
    notifier: Callable[[], Notifier]
    clock: Clock
    metrics: Callable[[], Metrics | None]
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _waiting: list[Occurrence] = field(default_factory=list)
    _uncounted: int = 0
    _occasion: Occasion | None = None
    _message: NotificationMessage | None = None
    _failures: int = 0
    _not_before: float = 0.0
    _said: int = 0
    _hurries: bool = False

    def add(self, occasion: Occasion, found: Sequence[Occurrence]) -> None:
        """What is to be told, beside what waits already."""
        with self._lock:
            free = MOST_WAITING - len(self._waiting)
            self._waiting += found[:free]
            self._uncounted += len(found[free:])
            self._occasion = occasion

    def step(self) -> float | None:
        """Send a message if there is one and it is time; after how many seconds to come again, None when nothing
        waits."""
        if self._left() == 0.0 and (message := self._message or self._taken()) is not None:
            subject = Subject("notification", self.name)
            notifier = attempt(subject, self.notifier)
            if isinstance(notifier, Failure):
                self._note(message, notifier, lasting=False)  # the operator's file may be replaced at any time
            else:
                sent = attempt(subject, notifier.send, message)
                self._note(message, sent, lasting=sent is not None and isinstance(sent.cause, GiveUp))
        return self._left()

    def hurry(self) -> None:
        """The process ends: let no pause between two messages keep the next one, only one after a failure."""
        self._hurries = True

    def _left(self) -> float | None:
        if self._message is None and not self._waiting:
            return None
        if self._hurries and not self._failures:
            return 0.0
        return max(0.0, self._not_before - self.clock.monotonic())

    def _taken(self) -> NotificationMessage | None:
        """What waits, as one message."""
        with self._lock:
            if self._occasion is None:
                return None
            self._message = notification_message(self._occasion, self._waiting, self._uncounted)
            self._waiting, self._uncounted, self._failures = [], 0, 0
            return self._message

    def _note(self, message: NotificationMessage, sent: Failure | None, *, lasting: bool) -> None:
        now = self.clock.monotonic()
        if sent is None:
            if self._said:
                log.info(LoopText.NOTIFICATIONS_DELIVERED_AGAIN(), self.name)
            self._message, self._said, self._failures, self._not_before = None, 0, 0, now + PAUSE
            self._count("delivered")
            return
        self._failures += 1
        cause, over = sent.cause, lasting or self._failures >= MOST_TRIES
        asked = cause.after if isinstance(cause, DestinationUnavailable) else None
        pause = _PAUSES.after(self._failures) if asked is None else max(PAUSE, min(asked, _LONGEST_ASKED))
        self._not_before = now + (PAUSE if over else pause)
        if self._said < 1 + over:  # once when it begins to fail and once when messages are lost, until it works again
            self._said = 1 + over
            why = str(cause) if isinstance(cause, GitfleetError) else sent.report
            then = LoopText.MESSAGE_DROPPED(id=message.id) if over else LoopText.TRIED_AGAIN_LATER()
            log.warning(LoopText.NOTIFICATION_FLEET_RECONCILED_ALL_SAME(), self.name, why, then)
        if over:
            self._message, self._failures = None, 0
        self._count("refused" if lasting else "dropped" if over else "failed")

    def _count(self, outcome: str) -> None:
        if (metrics := self.metrics()) is not None:
            metrics.notified(self.type, outcome)


class QueueThread:
    """Works a queue off: one thread, which is there once something is to be told."""

    def __init__(self, queue: NotificationQueue) -> None:
        self._queue = queue
        self._lock = threading.Lock()
        self._more, self._idle = threading.Event(), threading.Event()
        self._idle.set()
        self._thread: threading.Thread | None = None

    def submit(self, occasion: Occasion, found: Sequence[Occurrence]) -> None:
        """Tell the destination, as soon as may be; returns at once."""
        self._queue.add(occasion, found)
        with self._lock:
            self._idle.clear()
            self._more.set()
        if self._thread is None:
            # A daemon: a destination that hangs must not keep the process from ending.
            self._thread = threading.Thread(target=self._work, name="notify", daemon=True)
            self._thread.start()

    def finish(self, seconds: float) -> bool:
        """Wait until nothing is left to tell, but no longer than so many seconds; whether nothing is left."""
        self._queue.hurry()
        self._more.set()
        return self._idle.wait(seconds)

    def _work(self) -> None:
        while True:
            with self._lock:
                self._more.clear()
            pause = self._queue.step()
            with self._lock:
                if pause is None and not self._more.is_set():
                    self._idle.set()
            self._more.wait(pause)
