"""Whether the loop lives and does its work: what the loop notes of each reconcile, and what /healthz and /readyz say.

The loop's thread writes, others read: what is noted is replaced as a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

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
from gitfleet.loop.results import ReconcileResult
from gitfleet.loop.texts import LoopText
from gitfleet.model.failures import Failure, Failures, Subject

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

    def end(self, result: ReconcileResult | Failure, began: float, now: float, pause: float) -> Failures:
        """It is over, and the next one follows after the pause; what listeners failed with."""
        failed = isinstance(result, Failure)
        if not isinstance(result, Failure):
            self.last = result
        self.rest(now + pause, failed_by=result.cause if isinstance(result, Failure) else None, worked=not failed)
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
