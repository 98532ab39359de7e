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
from typing import ClassVar, Final, TypeVar, assert_never

from gitfleet.branches.log_once import WarnOnce
from gitfleet.branches.request_branches import BranchRequests
from gitfleet.errors import Forbidden, ForgeUnavailable, GiveUp
from gitfleet.model.backoff import Curve
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.model.forges import (
    ClosePull,
    Comment,
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
from gitfleet.ports.publishers import Publisher, Report
from gitfleet.serving.texts import ServingText
from gitfleet.views.forge import closed_by_a_person, forge_view, pull_calls, status_calls
from gitfleet.views.markdown import shortened

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
    _warnings: WarnOnce = field(default_factory=WarnOnce)
    _not_before: float = 0.0
    _failures: int = 0
    _calls: int = 0

    def prepare(self) -> None:
        """Make a forge, so that what cannot be used ends the process at its start."""
        token = self.token()
        self._forge = (token, self.connect(token))

    def show(self, view: ForgeView) -> float | None:
        """One pass; after how many seconds there is more to do, None for not before something else is to be shown."""
        wait = self._not_before - self.clock.monotonic()
        if wait > 0:
            return wait
        self._calls = 0
        more = attempt(Subject("forge", ""), self._pass, view)
        if isinstance(more, Failure):
            self._wait_after(more)
        elif self._calls:
            self._not_before = self.clock.monotonic() + PAUSE
            if self._failures:
                self._failures = 0
                self._failing.clear()
                self._warnings.forget()
        return self._not_before - self.clock.monotonic() if more else None

    def _wait_after(self, failure: Failure) -> None:
        self._failures += 1
        self._failing |= set(self._trying)
        self._pulls = self._statuses = None  # whether the last call was carried out is not known
        self._warnings.warn(ServingText.TRYING_AGAIN_LATER(known=failure.for_log))
        requested = failure.cause.after if isinstance(failure.cause, ForgeUnavailable) else None
        backoff = _PAUSES.after(self._failures)
        pause = backoff if requested is None else max(PAUSE, min(requested, _LONGEST_ASKED))
        self._not_before = self.clock.monotonic() + pause

    def _pass(self, view: ForgeView) -> bool:
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
            more = self._make(forge, view.target, parts[kind](forge, view), kind) or more
        return more

    def _pull_calls(self, forge: Forge, view: ForgeView) -> Iterable[ForgeCall]:
        if self._pulls is None:
            pulls = self._listed((_PULLS,), lambda: forge.pulls(view.target))
            self._pulls = None if pulls is None else {pull.branch: pull for pull in pulls}
        return () if self._pulls is None else tuple(pull_calls(view, self._pulls))

    def _status_calls(self, forge: Forge, view: ForgeView) -> Iterable[ForgeCall]:
        if view.commit and (self._statuses is None or self._statuses[0] != view.commit):
            self._refused -= {call for call in self._refused if isinstance(call, SetStatus)}  # those of older commits
            listed = self._listed((_STATUSES, view.commit), lambda: forge.statuses(view.commit))
            self._statuses = None if listed is None else (view.commit, {status.context: status for status in listed})
        return () if self._statuses is None else tuple(status_calls(view, self._statuses[1]))

    def _listed(self, key: tuple[str, ...], call: Callable[[], Iterable[T]]) -> tuple[T, ...] | None:
        """What the forge lists; None where it refuses that."""
        if key in self._refused or key[0] in self._refused:
            return None
        self._calls += 1
        return self._try(key, key[0], lambda: tuple(call()))

    def _make(self, forge: Forge, target: str, calls: Iterable[ForgeCall], kind: str) -> bool:
        """Make so many calls as a pass may; whether some are left."""
        for call in sorted(calls, key=lambda call: call in self._failing):
            if call in self._refused or kind in self._refused:
                continue
            if self._calls >= MOST_CALLS:
                return True
            self._calls += 1
            self._try(call, kind, partial(self._call, forge, target, call))
        return False

    def _try(self, key: Hashable, kind: str, call: Callable[[], T]) -> T | None:
        self._trying = (key, kind)
        try:
            return call()
        except GiveUp as error:
            lasting = isinstance(error, Forbidden)
            until = ServingText.NO_MORE_UNTIL_TOKEN_CHANGES(kind=kind) if lasting else ServingText.NOT_TRIED_AGAIN()
            self._refused.add(kind if lasting else key)
            self._warnings.warn(ServingText.FLEET_RECONCILED_ALL_SAME(error=error, until=until))
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


class ForgeThread(Publisher):
    """Runs a publisher beside the reconciles: at most one thread, whatever the forge does. `requests` says which
    branches ask for approval; None, while that is not known, shows nothing: none would close every pull request."""

    name: ClassVar[str] = "forge"

    def __init__(self, publisher: ForgePublisher, requests: Callable[[], BranchRequests | None]) -> None:
        self._publisher, self._requests = publisher, requests
        self._lock = threading.Lock()
        self._changed, self._idle = threading.Event(), threading.Event()
        self._idle.set()
        self._thread: threading.Thread | None = None
        self._shown: tuple[FleetState, BranchRequests, ForgeView] | None = None

    def publish(self, report: Report) -> tuple[()]:
        """What is to be shown from now on; returns at once."""
        shown, requests = self._shown, self._requests()
        if requests is None:
            return ()
        if shown is None or shown[0] is not report.state or shown[1] != requests:
            branches = report.branches
            view = forge_view(report.state, requests, target=branches.watch, prefix=branches.approvals)
            self._shown = (report.state, requests, view)
        with self._lock:
            self._idle.clear()
            self._changed.set()
        if self._thread is None:
            # A daemon: a forge that hangs must not keep the process from ending.
            self._thread = threading.Thread(target=self._work, name="forge", daemon=True)
            self._thread.start()
        return ()

    def finish(self, seconds: float) -> None:
        """Wait until a pass over what was submitted last has ended, but no longer than so many seconds."""
        self._idle.wait(seconds)

    def _work(self) -> None:
        pause: float | None = None
        while True:
            self._changed.wait(pause)
            self._changed.clear()
            if self._shown is not None:
                pause = self._publisher.show(self._shown[2])
            with self._lock:
                if not self._changed.is_set():
                    self._idle.set()


MARKER: Final = "<!-- gitfleet plan -->"
"""The first line of the comment, which no forge shows: by it the comment is found again among those of the user."""
MOST_CHARACTERS: Final = 60_000
"""GitHub takes 65,536."""


def put_comment(forge: Forge, number: int, markdown: str) -> str:
    """Put a text on a pull request, in the place of the one that this user put there before; what was done, in a word.
    Anybody can write a comment with the marker: those of others stay as they are."""
    text = f"{MARKER}\n{shortened(markdown, MOST_CHARACTERS)}"
    own = (comment for comment in forge.comments(number) if comment.own and comment.body.startswith(MARKER))
    existing = next(own, None)
    if existing is not None and existing.body.splitlines() == text.splitlines():
        return "unchanged"
    forge.write_comment(number, Comment(id=existing.id if existing is not None else 0, body=text))
    return "added" if existing is None else "replaced"
