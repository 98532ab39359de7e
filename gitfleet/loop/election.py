"""Leader election: of several processes on one repository, one reconciles and the others stand by.

It saves work and noise. What keeps two from undoing each other is the compare-and-swap of the branches, which works
without it. Only durations are compared, each on the clock of one machine that never goes back: clocks may differ.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass

from gitfleet.errors import Forbidden, Stopped
from gitfleet.loop.texts import LoopText
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.ports.clock import Clock
from gitfleet.ports.leases import Lease, LeaseRecord
from gitfleet.ports.repos import BranchChange, RepoWriter
from gitfleet.settings import LeaseTerms

log = logging.getLogger(__name__)
_LONGEST_WAIT = 2.0
"""So many seconds a request that is under way delays the end of the process; then the lease runs out by itself."""


class Election:
    """Owns a lease or tries to get it, in a thread of its own. `optional`: a lease that may not be used from the start
    means that there is no election; otherwise it is tried until it may. `changed` is called when this process has
    become the leader."""

    def __init__(
        self,
        lease: Lease,
        identity: str,
        terms: LeaseTerms,
        clock: Clock,
        *,
        optional: bool,
        changed: Callable[[], None],
    ) -> None:
        self._lease, self._identity, self._terms, self._clock = lease, identity, terms, clock
        self._optional, self._changed = optional, changed
        self._until = float("-inf")
        self._record: LeaseRecord | None = None
        self._seen: tuple[LeaseRecord, float] | None = None
        self._trouble, self._standing = _ChangeLog(), _ChangeLog()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="leader-election", daemon=True)

    def leads(self) -> bool:
        """Whether this process may act now. A leader that cannot renew stops being one before its lease runs out."""
        return self._clock.monotonic() < self._until

    def start(self) -> None:
        """Begin to try."""
        self._thread.start()

    def stop(self) -> None:
        """Lead no more, and release the lease at once: whoever stands by need not wait until it runs out."""
        self._ended.set()
        self._until = float("-inf")
        if self._thread.ident is not None:
            self._thread.join(_LONGEST_WAIT)
        record, self._record = self._record, None
        if record is not None and not self._thread.is_alive():
            failed = attempt(Subject("Lease", str(self._lease)), self._lease.write, "", 1.0, record)
            log.info("%s %s", self._lease, LoopText.NOT_RELEASED() if isinstance(failed, Failure) else "is released")
        self._lease.close()

    def try_once(self) -> bool:
        """Renew the lease or try to get it; False when there is to be no election."""
        result = attempt(Subject("Lease", str(self._lease)), self._try_lease)
        if not isinstance(result, Failure):
            self._optional = False
            self._trouble.forget()
            self._standing.log(logging.INFO, self._sentence(result))
            return True
        if self._optional and isinstance(result.cause, Forbidden):
            log.info(LoopText.NO_LEADER_ELECTION(), result.error)
            self._until = float("inf")
            self._changed()
            return False
        self._trouble.log(logging.WARNING, LoopText.LEADER_ELECTION_GOES_TRYING(sentence=result.for_log))
        if self._record is not None and not self.leads():
            self._standing.log(logging.WARNING, LoopText.STANDING_NOT_RENEWED_TIME(lease=self._lease))
        return True

    def _run(self) -> None:
        while not self._ended.is_set() and self.try_once():
            self._ended.wait(self._terms.retry)

    def _try_lease(self) -> LeaseRecord | None:
        """The lease as it is after a try."""
        if self._record is not None and self.leads() and self._written(self._record):
            return self._record
        record = self._lease.read()
        if record is not None and record.holder not in ("", self._identity):
            self._record, self._until = None, float("-inf")
            now = self._clock.monotonic()
            if self._seen is None or self._seen[0] != record:
                self._seen = (record, now)
            if now - self._seen[1] < (record.seconds or self._terms.duration):
                return record
        if not self._written(record):
            self._until = float("-inf")
        return self._record or record

    def _written(self, over: LeaseRecord | None) -> bool:
        """Whether the lease could be written over that record; what it is good for counts from before the request."""
        began = self._clock.monotonic()
        self._record = self._lease.write(self._identity, self._terms.duration, over)
        if self._record is None:
            return False
        led = self.leads()
        if not self._ended.is_set():
            self._until = began + self._terms.renew
        if not led and self.leads():
            self._changed()
        return True

    def _sentence(self, record: LeaseRecord | None) -> str:
        if self.leads():
            return LoopText.LEADING_HELD(lease=self._lease, identity=self._identity)
        holder = record.holder if record is not None else ""
        return LoopText.STANDING_HELD(lease=self._lease, holder=holder or "nobody")


class _ChangeLog:
    """Logs a sentence once for as long as nothing else is to be said."""

    def __init__(self) -> None:
        self._last = ""

    def log(self, level: int, sentence: str) -> None:
        """Log it unless it was the last."""
        if sentence != self._last:
            log.log(level, "%s", sentence)
            self._last = sentence

    def forget(self) -> None:
        """The next sentence is logged whatever it is."""
        self._last = ""


@dataclass(frozen=True, slots=True)
class FencedWriter:
    """A RepoWriter that moves no branch while its process does not lead: then it raises Stopped."""

    inner: RepoWriter
    leads: Callable[[], bool]

    def commit(self, change: BranchChange) -> str:
        """See RepoWriter."""
        self._check(change.branch)
        return self.inner.commit(change)

    def remove_branch(self, branch: str, expected: str) -> None:
        """See RepoWriter."""
        self._check(branch)
        self.inner.remove_branch(branch, expected)

    def _check(self, branch: str) -> None:
        if not self.leads():
            raise Stopped(LoopText.NOT_MOVED_PROCESS_NOT_LEAD(branch=branch))
