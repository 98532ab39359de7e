"""The receiver of webhooks: a signed request wakes the loop, and is nothing but that.

What a request says is not read: the loop fetches, and decides on what the remote has. So a forged, repeated or late
request costs one `ls-remote` at most, and a lost one a poll interval.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from gitfleet.errors import GitfleetError
from gitfleet.loop.texts import LoopText
from gitfleet.loop.webhook_signatures import is_signed
from gitfleet.ports.clock import Clock
from gitfleet.ports.http import HttpRequest, HttpResponse, sentence_response
from gitfleet.ports.metrics import Metrics

log = logging.getLogger(__name__)
BURST: Final = 60
"""So many requests of one provider at once are looked at."""
PER_SECOND: Final = 5.0
"""So many more each second."""
BETWEEN_HINTS: Final = 1.0
"""Seconds between two hints that wake the loop; those between are one."""
_BETWEEN_LINES: Final = 60.0


def after(seconds: float, call: Callable[[], None]) -> None:
    """Call something later, in a thread that keeps no process from ending."""
    timer = threading.Timer(seconds, call)
    timer.daemon = True
    timer.start()


@dataclass(slots=True, kw_only=True)
class Hints:
    """Wakes the loop, at most once in BETWEEN_HINTS; a hint in between is late by that and never lost."""

    trigger: Callable[[], None]
    clock: Clock
    later: Callable[[float, Callable[[], None]], None] = after
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _free_at: float | None = None
    _waits: bool = False

    def hint(self) -> None:
        """Something may have changed."""
        with self._lock:
            now = self.clock.monotonic()
            left = 0.0 if self._free_at is None else self._free_at - now
            if left > 0:
                if not self._waits:
                    self._waits = True
                    self.later(left, self._late)
                return
            self._free_at = now + BETWEEN_HINTS
        self.trigger()

    def _late(self) -> None:
        with self._lock:
            self._waits, self._free_at = False, self.clock.monotonic() + BETWEEN_HINTS
        self.trigger()


@dataclass(slots=True, kw_only=True)
class Receiver:
    """Answers the requests of one provider. `secrets` reads those that count now."""

    provider: str
    secrets: Callable[[], tuple[bytes, ...]]
    hint: Callable[[], None]
    clock: Clock
    metrics: Metrics
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _left: float = BURST
    _since: float | None = None
    _said: float | None = None

    def receive(self, request: HttpRequest) -> HttpResponse:
        """202 for a signed request; else 429 (too many), 401 (not signed), 503 (the secret cannot be read)."""
        outcome, response = self._answer(request)
        self.metrics.delivered(self.provider, outcome)
        return response

    def _answer(self, request: HttpRequest) -> tuple[str, HttpResponse]:
        if not self._may():
            return "limited", sentence_response(429, LoopText.TOO_MANY_REQUESTS(), Retry_After="1")
        try:
            secrets = self.secrets()
        except GitfleetError as error:
            self._say(str(error))
            return "unavailable", sentence_response(503, LoopText.SECRET_WEBHOOK_CANNOT_READ())
        if not is_signed(self.provider, request.headers, request.body, secrets, self.clock.now().timestamp()):
            self._say(LoopText.REQUEST_REFUSED_SIGNATURE_MISSING_WRONG(request=request.path))
            return "refused", sentence_response(401, LoopText.SIGNATURE_MISSING_WRONG())
        self.hint()
        return "accepted", sentence_response(202, LoopText.LOOP_WOKEN())

    def _may(self) -> bool:
        """Take one of the requests that are allowed now."""
        with self._lock:
            now = self.clock.monotonic()
            passed = 0.0 if self._since is None else now - self._since
            self._left, self._since = min(BURST, self._left + passed * PER_SECOND), now
            if self._left < 1:
                return False
            self._left -= 1
            return True

    def _say(self, sentence: str) -> None:
        """Log it, once a minute: whoever can reach the port must not fill the log."""
        with self._lock:
            now = self.clock.monotonic()
            if self._said is not None and now - self._said < _BETWEEN_LINES:
                return
            self._said = now
        log.warning("%s", sentence)
