"""Shows on a forge what was decided: pull requests for requests for approval, and commit statuses.

A reconcile hands over what is to be shown and goes on; a thread of its own does the rest. What a forge refuses or does
not answer is logged, once, and is no error of the reconcile.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar, assert_never

from gitfleet.api.fleet import Branches
from gitfleet.errors import Forbidden, ForgeUnavailable, GitfleetError, GiveUp
from gitfleet.loop.request_branches import Asked
from gitfleet.loop.said_once import SaidOnce
from gitfleet.loop.texts import LoopText
from gitfleet.model.backoff import Curve
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.model.forges import (
    ClosePull,
    CommitStatus,
    EditPull,
    ForgeCall,
    ForgeView,
    OpenPull,
    PullCall,
    PullRequest,
    SetStatus,
)
from gitfleet.model.state import FleetState
from gitfleet.ports.clock import Clock
from gitfleet.ports.forges import Forge
from gitfleet.views import closed_by_a_person, forge_view, pull_calls, status_calls

log = logging.getLogger(__name__)
T = TypeVar("T")
MOST_CALLS: Final = 20
"""In one pass; GitHub takes 80 requests that write in a minute."""
PAUSE: Final = 15.0
"""Seconds between passes that called the forge, and before the first pass after a failure: then doubled each time."""
_PAUSES: Final = Curve.growing(PAUSE, 2.0, 900.0)
_LONGEST_ASKED: Final = 3600.0
"""Seconds that a forge may make us wait."""
_PULLS: Final = "pull requests"
_STATUSES: Final = "commit statuses"


@dataclass(slots=True, kw_only=True)
class ForgePublisher:
    """Brings a forge to what it is to show, in passes of a few calls.

    `token` reads what the operator gave, before each pass; `connect` makes a forge for it. What the forge shows is
    remembered; a new process asks for it, and so does every process for a new commit and after a failure. A call that
    the forge refuses is not made again until it would be another one. Where the forge refuses the token, nothing of
    that kind is called until the token changes or the process starts again. What failed is tried last in the next pass,
    so that it keeps nothing else from being shown.
    """

    token: Callable[[], str]
    connect: Callable[[str], Forge]
    clock: Clock
    _forge: tuple[str, Forge] | None = None
    _pulls: dict[str, PullRequest] | None = None
    _statuses: tuple[str, dict[str, CommitStatus]] | None = None
    _refused: set[Hashable] = field(default_factory=set)
    _trying: tuple[Hashable, ...] = ()
    _failing: set[Hashable] = field(default_factory=set)
    _said: SaidOnce = field(default_factory=SaidOnce)
    _not_before: float = 0.0
    _failures: int = 0
    _calls: int = 0

    def prepare(self) -> None:
        """Make a forge, so that what cannot be used ends the process at its start."""
        token = self.token()
        self._forge = (token, self.connect(token))

    def show(self, wanted: ForgeView) -> float | None:
        """One pass; after how many seconds there is more to do, None for not before something else is to be shown."""
        wait = self._not_before - self.clock.monotonic()
        if wait > 0:
            return wait
        self._calls = 0
        more = attempt(Subject("forge", ""), self._pass, wanted)
        if isinstance(more, Failure):
            self._wait_after(more)
        elif self._calls:
            self._not_before = self.clock.monotonic() + PAUSE
            if self._failures:
                self._failures = 0
                self._failing.clear()
                self._said.forget()
        return self._not_before - self.clock.monotonic() if more else None

    def _wait_after(self, failure: Failure) -> None:
        self._failures += 1
        self._failing |= set(self._trying)
        self._pulls = self._statuses = None  # whether the last call was carried out is not known
        known = failure.cause if isinstance(failure.cause, GitfleetError) else failure.report
        self._said.say(LoopText.TRYING_AGAIN_LATER(known=known))
        asked = failure.cause.after if isinstance(failure.cause, ForgeUnavailable) else None
        backoff = _PAUSES.after(self._failures)
        pause = backoff if asked is None else max(PAUSE, min(asked, _LONGEST_ASKED))
        self._not_before = self.clock.monotonic() + pause

    def _pass(self, wanted: ForgeView) -> bool:
        """Whether calls are left for another pass."""
        self._trying = ()
        token = self.token()
        if self._forge is None or self._forge[0] != token:
            self._forge = (token, self.connect(token))
            self._pulls = self._statuses = None
            self._refused.clear()
        forge, more = self._forge[1], False
        parts = {_PULLS: self._pull_calls, _STATUSES: self._status_calls}
        for kind in sorted(parts, key=lambda kind: (kind in self._failing, kind == _STATUSES)):
            more = self._make(forge, wanted.target, parts[kind](forge, wanted), kind) or more
        return more

    def _pull_calls(self, forge: Forge, wanted: ForgeView) -> Iterable[ForgeCall]:
        if self._pulls is None:
            found = self._listed((_PULLS,), lambda: forge.pulls(wanted.target))
            self._pulls = None if found is None else {pull.branch: pull for pull in found}
        return () if self._pulls is None else tuple(pull_calls(wanted, self._pulls))

    def _status_calls(self, forge: Forge, wanted: ForgeView) -> Iterable[ForgeCall]:
        if wanted.commit and (self._statuses is None or self._statuses[0] != wanted.commit):
            self._refused = {one for one in self._refused if not isinstance(one, SetStatus)}  # those of older commits
            found = self._listed((_STATUSES, wanted.commit), lambda: forge.statuses(wanted.commit))
            self._statuses = None if found is None else (wanted.commit, {one.context: one for one in found})
        return () if self._statuses is None else tuple(status_calls(wanted, self._statuses[1]))

    def _listed(self, what: tuple[str, ...], call: Callable[[], Iterable[T]]) -> tuple[T, ...] | None:
        """What the forge lists; None where it refuses that."""
        if what in self._refused or what[0] in self._refused:
            return None
        self._calls += 1
        return self._tried(what, what[0], lambda: tuple(call()))

    def _make(self, forge: Forge, target: str, calls: Iterable[ForgeCall], kind: str) -> bool:
        """Make so many calls as a pass may; whether some are left."""
        for call in sorted(calls, key=lambda call: call in self._failing):
            if call in self._refused or kind in self._refused:
                continue
            if self._calls >= MOST_CALLS:
                return True
            self._calls += 1
            self._tried(call, kind, partial(self._call, forge, target, call))
        return False

    def _tried(self, what: Hashable, kind: str, call: Callable[[], T]) -> T | None:
        self._trying = (what, kind)
        try:
            return call()
        except GiveUp as error:
            lasting = isinstance(error, Forbidden)
            until = LoopText.NO_MORE_UNTIL_TOKEN_CHANGES(kind=kind) if lasting else LoopText.NOT_TRIED_AGAIN()
            self._refused.add(kind if lasting else what)
            self._said.say(LoopText.FLEET_RECONCILED_ALL_SAME(error=error, until=until))
            return None

    def _call(self, forge: Forge, target: str, call: ForgeCall) -> None:
        """Make one call, and remember what the forge shows then."""
        if isinstance(call, SetStatus):
            forge.set_status(call.commit, call.status)
            if self._statuses is not None:
                self._statuses[1][call.status.context] = call.status
        elif self._pulls is not None:
            self._call_pull(forge, target, call, self._pulls)

    def _call_pull(self, forge: Forge, target: str, call: PullCall, shown: dict[str, PullRequest]) -> None:
        match call:
            case OpenPull():
                self._calls += 1
                closed = closed_by_a_person(call.pull, forge.pulls(target, call.pull.branch))
                shown[call.pull.branch] = closed or forge.open_pull(call.pull, target)
            case EditPull():
                forge.edit_pull(call.pull)
                shown[call.pull.branch] = call.pull
            case ClosePull():
                forge.close_pull(call.pull.number)
                del shown[call.pull.branch]
            case _:
                assert_never(call)


class ForgeThread:
    """Runs a publisher beside the reconciles: at most one thread, whatever the forge does."""

    def __init__(self, publisher: ForgePublisher) -> None:
        self._publisher = publisher
        self._lock = threading.Lock()
        self._changed, self._idle = threading.Event(), threading.Event()
        self._idle.set()
        self._thread: threading.Thread | None = None
        self._known: tuple[FleetState, Asked, ForgeView] | None = None

    def submit(self, state: FleetState, asked: Asked, branches: Branches) -> None:
        """What is to be shown from now on; returns at once."""
        known = self._known
        if known is None or known[0] is not state or known[1] != asked:
            view = forge_view(state, asked, target=branches.watch, prefix=branches.approvals)
            self._known = (state, asked, view)
        with self._lock:
            self._idle.clear()
            self._changed.set()
        if self._thread is None:
            # A daemon: a forge that hangs must not keep the process from ending.
            self._thread = threading.Thread(target=self._work, name="forge", daemon=True)
            self._thread.start()

    def finish(self, seconds: float) -> None:
        """Wait until a pass over what was submitted last has ended, but no longer than so many seconds."""
        self._idle.wait(seconds)

    def _work(self) -> None:
        pause: float | None = None
        while True:
            self._changed.wait(pause)
            self._changed.clear()
            if self._known is not None:
                pause = self._publisher.show(self._known[2])
            with self._lock:
                if not self._changed.is_set():
                    self._idle.set()
