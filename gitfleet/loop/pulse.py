"""Whether the loop lives and does its work: what the loop notes of each reconcile, what /healthz and /readyz say, and
how long each phase of a reconcile takes.

The loop's thread writes, others read: what is noted is replaced as a whole. What the driver calls between its steps
says where it is, so that nothing in it depends on being watched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from gitfleet.api.fleet import FleetConfig
from gitfleet.branches.steps import Step
from gitfleet.errors import (
    BadInput,
    DiskFull,
    Forbidden,
    MissingPart,
    NoRepository,
    RefusedForNow,
    RemoteRefuses,
    RemoteUnreachable,
)
from gitfleet.fleet.fanout import Untraced
from gitfleet.loop.driver import Driver
from gitfleet.loop.results import ReconcileResult
from gitfleet.loop.texts import LoopText
from gitfleet.model.failures import Failure, Failures, Subject
from gitfleet.ports.clock import Clock
from gitfleet.ports.metrics import Metrics
from gitfleet.ports.tracing import Tracing

LONGEST_RECONCILE: Final = 900.0
"""Seconds after which a reconcile that has not ended counts as hanging. The longest that is sound is a first clone over
a slow link, and rounds of calls to clusters of a minute each."""
LONGEST_DELAY: Final = 60.0
"""Seconds that the next reconcile may be late."""


_REASONS: Final = (
    (DiskFull, LoopText.DISK_MACHINE_FULL()),
    (RefusedForNow, LoopText.GIT_REMOTE_CANNOT_ASKED_NOW()),
    (RemoteUnreachable, LoopText.GIT_REMOTE_NOT_ANSWER_SHOULD()),
    (NoRepository, LoopText.GIT_REMOTE_NO_REPOSITORY()),
    (Forbidden, LoopText.GIT_REMOTE_REFUSES_CREDENTIALS()),
    (RemoteRefuses, LoopText.GIT_REMOTE_REFUSES_SENT()),
    (MissingPart, LoopText.PROGRAM_FILE_FOLDER_MISSING()),
)
"""What /readyz says of errors, the first that fits: no names and nothing that a server said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """One reconcile as the loop saw it: its result or its failure, and how long it took."""

    result: ReconcileResult | Failure
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """Where the loop is: in a reconcile that began at `began`, or waiting for the one that is to begin at `due` (times
    of a clock that never goes back). `has_worked` once a reconcile succeeded; `trouble` is why the last one did not,
    as far as that is no fault of a file. `stands_by`: another process leads, and this one waits to take its place."""

    began: float | None = None
    due: float | None = None
    has_worked: bool = False
    trouble: str = ""
    stands_by: bool = False


@dataclass(slots=True, kw_only=True)
class Pulse:
    """What is known of the loop. `starting` are called as a reconcile begins, `listeners` get it when it is over; what
    they raise stops nothing."""

    beat: Beat = Beat()
    last: ReconcileResult | None = None
    listeners: list[Callable[[Pass], None]] = field(default_factory=list)
    starting: list[Callable[[], None]] = field(default_factory=list)
    _failures: Failures = field(default_factory=Failures)

    def begin(self, now: float) -> None:
        """A reconcile begins."""
        self.beat = Beat(began=now, has_worked=self.beat.has_worked, trouble=self.beat.trouble)
        self._failures = Failures()
        for start in self.starting:
            self._failures.contain(Subject(LoopText.START_RECONCILE(), _name(start)), None, start)

    def stand_by(self) -> None:
        """Another process leads: nothing is due here."""
        self.beat = Beat(has_worked=self.beat.has_worked, stands_by=True)

    def rest(self, due: float, *, worked: bool, failed_by: Exception | None = None) -> None:
        """A reconcile is over, and the next one is to begin at `due`."""
        trouble = "" if worked else _trouble(failed_by)
        self.beat = Beat(due=due, has_worked=self.beat.has_worked or worked, trouble=trouble)

    def end(self, result: ReconcileResult | Failure, now: float, pause: float) -> Failures:
        """It is over, and the next one follows after the pause; what listeners failed with."""
        began = self.beat.began if self.beat.began is not None else now
        if isinstance(result, Failure):
            self.rest(now + pause, worked=False, failed_by=result.cause)
        else:
            self.rest(now + pause, worked=True)
            self.last = result
        over, failures = Pass(result=result, seconds=now - began), self._failures
        for listener in self.listeners:
            failures.contain(Subject(LoopText.END_RECONCILE(), _name(listener)), None, listener, over)
        return failures


def outcome_of(result: ReconcileResult | Failure) -> str:
    """In one word what a reconcile came to: failed, lost_race, changed or unchanged."""
    if isinstance(result, Failure):
        return "failed"
    if result.lost_race:
        return "lost_race"
    return "changed" if result.changed or result.outcomes else "unchanged"


def _name(listener: Callable[..., None]) -> str:
    return getattr(listener, "__qualname__", type(listener).__name__)


def _trouble(cause: Exception | None) -> str:
    """Why a reconcile failed, "" where a file is at fault."""
    if isinstance(cause, BadInput) and not isinstance(cause, NoRepository):
        return ""
    why = next((reason for kind, reason in _REASONS if isinstance(cause, kind)), "")
    return LoopText.LAST_RECONCILE_FAILED(why=why) if why else LoopText.LAST_RECONCILE_FAILED_2()


def why_dead(beat: Beat, now: float) -> str:
    """Why the process is of no use any more, "" while the loop lives. Trouble with the remote is no reason: a restart
    changes nothing about that."""
    if beat.began is not None and now - beat.began > LONGEST_RECONCILE:
        return LoopText.RECONCILE_UNDER_WAY(now=now - beat.began)
    if beat.began is None and beat.due is not None and now - beat.due > LONGEST_DELAY:
        return LoopText.NEXT_RECONCILE_LATE(now=now - beat.due)
    return ""


def why_unready(beat: Beat, now: float, *, stopped: bool) -> str:
    """Why the process does not do its work now, "" while it does, or stands by: then it is as ready as it can be, and a
    rolling update that waits for it may end the one that leads."""
    if stopped:
        return LoopText.PROCESS_ENDING()
    if beat.stands_by:
        return ""
    return why_dead(beat, now) or beat.trouble or ("" if beat.has_worked else LoopText.NO_RECONCILE_SUCCEEDED_YET())


FETCH: Final = "fetch"
LAST: Final = "finish"
PHASES: Final = {
    Step.GATHERED: "gather",
    Step.DECIDED: "decide",
    Step.INTENT_PUBLISHED: "publish_intent",
    Step.PERFORMED: "perform",
    Step.REPORTED: "publish_report",
}
"""By the driver's step, the phase that it ends."""


@dataclass(slots=True, kw_only=True)
class Phases:
    """Measures each phase; see docs/metrics.md for what each of them is."""

    clock: Clock
    tracing: Tracing = field(default_factory=Untraced)
    metrics: Metrics | None = None
    _since: float | None = None

    def watch(self, driver: Driver, pulse: Pulse) -> None:
        """Follow the reconciles of a driver."""
        step, configure = driver.checkpoint, driver.configure

        def passed(name: Step) -> None:
            if name in PHASES:
                self._phase(PHASES[name])
            step(name)

        def configured(config: FleetConfig) -> None:
            self._phase(FETCH)  # what follows asks the clusters
            configure(config)

        driver.checkpoint, driver.configure = passed, configured
        pulse.starting.append(self._start)
        pulse.listeners.append(self._end)

    def _start(self) -> None:
        self._since = self.clock.monotonic()
        self.tracing.began()

    def _phase(self, name: str) -> None:
        now = self.clock.monotonic()
        if self._since is not None:
            if self.metrics is not None:
                self.metrics.phase(name, now - self._since)
            self.tracing.phase(name)
        self._since = now if self._since is not None else None

    def _end(self, over: Pass) -> None:
        self._phase(LAST)
        self._since = None
        result = over.result
        if isinstance(result, Failure):
            self.tracing.ended(outcome_of(result), {"error.type": type(result.cause).__name__})
        else:
            self.tracing.ended(outcome_of(result), {"gitfleet.commit": result.commit})
