"""When to reconcile: once, until nothing moves any more, or for as long as the process lives.

A reconcile is level-triggered: everything here only decides when the next one starts, never what it does.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from queue import Empty, SimpleQueue
from typing import ClassVar, Generic, TypeVar

from gitfleet.errors import GiveUp, LostRace, RetryLater, Stopped
from gitfleet.formats.sentences import counted
from gitfleet.loop.driver import Driver
from gitfleet.loop.pulse import Pulse
from gitfleet.loop.results import ReconcileResult
from gitfleet.loop.texts import LoopText
from gitfleet.model.backoff import Backoff, Curve
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.ports.clock import Clock

log = logging.getLogger(__name__)
Result = TypeVar("Result")
BUSY_PAUSE = 1.0
_PAUSES = Curve(most=300.0)
_WAITING = Curve.growing(BUSY_PAUSE, 1.5, 3600.0)
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
class Loop(ABC, Generic[Result]):
    """Reconciles until it is stopped. `watch` starts what triggers the loop, and returns what ends it; `pulse` is told
    of each reconcile."""

    recovered: ClassVar[str]
    """What is logged when a reconcile succeeds after failures, with their number."""
    clock: Clock
    wake: Wake
    watch: Callable[[Wake], Callable[[], None]]
    pulse: Pulse = field(default_factory=Pulse)

    @property
    @abstractmethod
    def subject(self) -> Subject:
        """What the loop reconciles."""

    @abstractmethod
    def reconcile(self) -> Result:
        """One reconcile."""

    @abstractmethod
    def pause_after(self, result: Result) -> float:
        """Seconds until the next reconcile, after one that succeeded."""

    @abstractmethod
    def note(self, result: Result | Failure, pause: float) -> None:
        """Tell the pulse that a reconcile is over."""

    def until_stopped(self) -> None:
        """Reconcile until stopped. Whatever goes wrong is tried again with growing pauses.

        GiveUp on the very first reconcile is raised: then the process was started wrongly. Later it is somebody's bad
        push, and what runs must outlive it.
        """
        end_watch = self.watch(self.wake)
        backoff, reconciles, failures = Backoff(_PAUSES), 0, 0
        try:
            while not self.wake.stopped:
                if not self.wake.leads():
                    self.pulse.stand_by()
                    self.wake.wait(_STAND_BY)
                    continue
                self.pulse.begin(self.clock.monotonic())
                result = attempt(self.subject, self.reconcile)
                if isinstance(result, Failure):
                    if isinstance(result.cause, Stopped) and self.wake.gives_up():
                        continue
                    if isinstance(result.cause, GiveUp) and reconciles == 0:
                        raise result.cause
                    pause, failures = backoff.after(type(result.cause)), failures + 1
                    if isinstance(result.cause, LostRace):
                        pause = BUSY_PAUSE
                    log.warning(LoopText.TRYING_AGAIN_G(), result.for_log, pause)
                else:
                    if failures:
                        log.info(self.recovered, counted(failures, "failure"))
                    backoff.forget()
                    reconciles, failures, pause = reconciles + 1, 0, self.pause_after(result)
                self.note(result, pause)
                self.wake.wait(pause)
        finally:
            end_watch()


@dataclass(slots=True, kw_only=True)
class Runner(Loop[ReconcileResult]):
    """Reconciles a driver; `interval` is the poll interval in seconds."""

    recovered = LoopText.RECONCILING_AGAIN_AFTER()
    driver: Driver
    interval: Callable[[], float]
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
        `settled`). Where all that waits is frozen for longer than that, or waits for people, it ends at once (see its
        `frozen` and `asks_only`).

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
                self.wake.wait(min(BUSY_PAUSE, end - self.clock.monotonic()))
                continue
            remaining = end - self.clock.monotonic()
            stays = (result.frozen or result.asks_only) and (
                result.wake_at is None or self.clock.now() + timedelta(seconds=remaining) < result.wake_at
            )
            if result.settled or stays or self.wake.stopped or remaining <= 0:
                return result
            if not result.changed:
                self.wake.wait(min(BUSY_PAUSE, end - self.clock.monotonic()))

    @property
    def subject(self) -> Subject:
        """See Loop."""
        return Subject("reconcile", LoopText.WHOLE_FLEET())

    def reconcile(self) -> ReconcileResult:
        """See Loop."""
        return self.driver.reconcile()

    def note(self, result: ReconcileResult | Failure, pause: float) -> None:
        """See Loop."""
        for failure in self.pulse.end(result, self.clock.monotonic(), pause).found:
            log.error("%s", failure.report)

    def pause_after(self, result: ReconcileResult) -> float:
        """See Loop."""
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
