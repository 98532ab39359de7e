"""When to reconcile: once, until nothing moves any more, or for as long as the process lives.

A reconcile is level-triggered: everything here only decides when the next one starts, never what it does.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from queue import Empty, SimpleQueue

from gitfleet.errors import GitfleetError, GiveUp, RetryLater, Stopped
from gitfleet.formats.sentences import counted
from gitfleet.loop.driver import Driver
from gitfleet.loop.pulse import Pulse
from gitfleet.loop.results import ReconcileResult
from gitfleet.loop.texts import LoopText
from gitfleet.model.backoff import Backoff, Curve
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.ports.clock import Clock

log = logging.getLogger(__name__)
_BUSY_PAUSE = 1.0
_PAUSES = Curve(most=300.0)
_WAITING = Curve.growing(_BUSY_PAUSE, 1.5, 3600.0)
_MORE_TRIES = 4
_RACES_AT_ONCE = 5
"""So many lost races in a row are tried again without a pause. More are none: the server shows one head and compares
with another, as one that answers from a copy which is late."""
_STAND_BY = 60.0


@dataclass(slots=True, kw_only=True)
class Wake:
    """`trigger` makes the next reconcile start at once. `stop` ends the loop after the present reconcile.

    A queue in C: unlike the locks of `threading` it may be used by a signal handler whatever it interrupts.
    """

    stopped: bool = False
    """Whether the loop is to end."""
    leads: Callable[[], bool] = lambda: True
    """Whether this process may act: with leader election, whether it is the leader now."""
    _events: SimpleQueue[None] = field(default_factory=SimpleQueue)

    def trigger(self) -> None:
        """Wake the loop; safe from any thread and from a signal handler."""
        self._events.put(None)

    def stop(self) -> None:
        """End the loop after the reconcile that is under way; safe from any thread and from a signal handler."""
        self.stopped = True
        self.trigger()

    def gives_up(self) -> bool:
        """Whether the reconcile that is under way is to be given up."""
        return self.stopped or not self.leads()

    def wait(self, seconds: float) -> None:
        """Wait until triggered or the time is over; not at all once the loop is to end."""
        with suppress(Empty):
            self._events.get(timeout=0.0 if self.stopped else max(0.0, seconds))
            while True:  # many triggers are one
                self._events.get_nowait()


@dataclass(slots=True, kw_only=True)
class Runner:
    """Reconciles a driver. `interval` is the poll interval in seconds; `watch` starts what triggers the
    loop, and returns what ends it; `pulse` is told of each reconcile."""

    driver: Driver
    clock: Clock
    wake: Wake
    interval: Callable[[], float]
    watch: Callable[[Wake], Callable[[], None]]
    pulse: Pulse = field(default_factory=Pulse)
    _without_change: int = 0
    _races: int = 0

    def once(self) -> ReconcileResult:
        """One reconcile; a lost race is tried again a few times, as somebody else's commit is no reason to do
        nothing."""
        result = self.driver.reconcile()
        for _ in range(_MORE_TRIES):
            if not result.lost_race or self.wake.stopped:
                break
            result = self.driver.reconcile()
        return result

    def until_settled(self, timeout: float) -> ReconcileResult:
        """Reconcile until nothing moves any more, `timeout` seconds at most; the last reconcile's result (see its
        `settled`). Where all that waits is frozen for longer than that, it ends at once (see its `frozen`).

        A passing error is tried again until the time is over; then it is raised.
        """
        end = self.clock.monotonic() + timeout
        while True:
            try:
                result = self.driver.reconcile()
            except Stopped:
                raise
            except RetryLater as error:
                if self.wake.stopped or self.clock.monotonic() >= end:
                    raise
                log.warning("%s; trying again", error)
                self.wake.wait(min(_BUSY_PAUSE, end - self.clock.monotonic()))
                continue
            left = end - self.clock.monotonic()
            frozen = result.frozen and (
                result.wake_at is None or self.clock.now() + timedelta(seconds=left) < result.wake_at
            )
            if result.settled or frozen or self.wake.stopped or left <= 0:
                return result
            if not result.changed:
                self.wake.wait(min(_BUSY_PAUSE, end - self.clock.monotonic()))

    def until_stopped(self) -> int:
        """Reconcile until stopped; exit status 0. Whatever goes wrong is tried again with growing pauses.

        GiveUp on the very first reconcile is raised: then the process was started wrongly. Later it is somebody's
        bad push,
        and what runs must outlive it.
        """
        end_watch = self.watch(self.wake)
        backoff, reconciles, failures = Backoff(_PAUSES), 0, 0
        try:
            while not self.wake.stopped:
                if not self.wake.leads():
                    self.pulse.stand_by()
                    self.wake.wait(_STAND_BY)
                    continue
                began = self.clock.monotonic()
                self.pulse.begin(began)
                result = attempt(Subject("reconcile", LoopText.WHOLE_FLEET()), self.driver.reconcile)
                if isinstance(result, Failure):
                    if isinstance(result.cause, Stopped) and self.wake.gives_up():
                        continue
                    if isinstance(result.cause, GiveUp) and reconciles == 0:
                        raise result.cause
                    message = str(result.cause) if isinstance(result.cause, GitfleetError) else result.report
                    pause, failures = backoff.after(type(result.cause)), failures + 1
                    log.warning(LoopText.TRYING_AGAIN_G(), message, pause)
                else:
                    if failures:
                        log.info(LoopText.RECONCILING_AGAIN_AFTER(), counted(failures, "failure"))
                    backoff.forget()
                    reconciles, failures, pause = reconciles + 1, 0, self._pause(result)
                self._note(result, began, pause)
                self.wake.wait(pause)
        finally:
            end_watch()
        return 0

    def _note(self, result: ReconcileResult | Failure, began: float, pause: float) -> None:
        for failure in self.pulse.end(result, began, self.clock.monotonic(), pause).found:
            log.error("%s", failure.report)

    def _pause(self, result: ReconcileResult) -> float:
        self._races = self._races + 1 if result.lost_race else 0
        if result.lost_race:
            late = self._races - _RACES_AT_ONCE
            return 0.0 if late <= 0 else min(_WAITING.after(late), self.interval())
        if result.settled:
            self._without_change = 0
            return self.interval()
        # Something is under way: reconcile again soon, less and less often while nothing changes (an image that never
        # gets ready, an object that the server refuses), and at the moment at which time alone may change the decision.
        self._without_change = 0 if result.changed else self._without_change + 1
        pause = 0.0 if result.changed else _WAITING.after(self._without_change)
        until = (result.wake_at - self.clock.now()).total_seconds() if result.wake_at is not None else 0.0
        if until > 0:
            pause = min(pause, until) if result.waiting else max(pause, until)
        return min(pause, self.interval())
