"""Makes the calls that decisions ask for, beside the reconciles: a bounded number at a time, few to one host, and the
hosts in turn.

Each step of a call has a thread, which is a daemon: one that hangs costs its host a place, and delays neither a pass
nor the end of the process. Nothing is tried again here. A failure is an answer, and the next decision says what then.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Final

from gitfleet.fleet.call_steps import SHORTEST_PAUSE, CallSteps, host_of
from gitfleet.fleet.texts import FleetText
from gitfleet.model.calls import Answer, Answers, Call, MetricQuery, WebhookAnswer
from gitfleet.ports.clock import Clock
from gitfleet.ports.metric_providers import MeasurementState
from gitfleet.ports.metrics import Metrics

log = logging.getLogger(__name__)
MOST_AT_ONCE: Final = 16
MOST_PER_HOST: Final = MOST_AT_ONCE // 4
MOST_KNOWN: Final = 5_000
"""Answers, of which the oldest make way. They are asked for again by the next decision, as are calls beyond those that
a host may have under way or waiting."""
MOST_OF_HOST: Final = 300
GRACE: Final = 5.0
"""Seconds beside a call's own, after which a thread that did not return is not waited for."""
_NO_THREAD_PAUSE: Final = 1.0
_STOP_PAUSE: Final = 0.2
"""A signal wakes nobody who waits for an answer."""


@dataclass(slots=True, eq=False)
class _Entry:
    """A call that has no answer yet, or (`stops`) a measurement that is to be ended. `begun`: when its first step
    began; `due`: when its next one may; `threaded`: whether a thread is taking a step; `lost`: whether that thread
    counts for its host alone, `stuck`: as it did not return in time; `state`: of a measurement that is under way
    elsewhere."""

    call: Call
    host: str
    due: float = 0.0
    begun: float | None = None
    threaded: bool = False
    lost: bool = False
    stuck: bool = False
    stops: bool = False
    state: MeasurementState | None = None

    @property
    def end(self) -> float | None:
        """When it is not waited for any more."""
        grace = GRACE if self.threaded else 0.0
        return None if self.begun is None else self.begun + self.call.timeout_seconds + grace


@dataclass(slots=True, kw_only=True)
class CallQueue:
    """See ports.rollout_calls.RolloutCalls. `on_answer` is told, on some thread, that there is one."""

    steps: CallSteps
    clock: Clock
    on_answer: Callable[[], None]
    metrics: Metrics | None = None
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _under_way: dict[str, _Entry] = field(default_factory=dict)
    _stops: list[_Entry] = field(default_factory=list)
    _answers: dict[str, Answer] = field(default_factory=dict)
    _threads: Counter[str] = field(default_factory=Counter)
    _lost: Counter[str] = field(default_factory=Counter)
    _stuck: Counter[str] = field(default_factory=Counter)
    _turns: tuple[str, ...] = ()
    _keeper: bool = False
    _closed: bool = False

    def start(self, calls: Collection[Call]) -> None:
        """See the port."""
        with self._changed:
            per_host = Counter(entry.host for entry in self._under_way.values())
            for call in calls if not self._closed else ():
                host = host_of(call)
                if per_host[host] < MOST_OF_HOST and not self._knows(call):
                    per_host[host] += 1
                    self._answers.pop(call.id, None)
                    self._under_way[call.id] = _Entry(call, host)
            self._wake_keeper()

    def _knows(self, call: Call) -> bool:
        answered = self._answers.get(call.id)
        return call.id in self._under_way or (answered is not None and answered.attempt == call.attempt)

    def answers(self) -> Answers:
        """See the port."""
        with self._changed:
            return dict(self._answers)

    def forget(self, ids: Collection[str]) -> None:
        """See the port."""
        with self._changed:
            for call_id in ids:
                self._answers.pop(call_id, None)
                if call_id in self._under_way:
                    self._let_go(self._under_way.pop(call_id))
            self._wake_keeper()

    def wait(self, seconds: float, stopped: Callable[[], bool]) -> bool:
        """For a process that makes no other pass by itself: wait until nothing is under way, no longer than so many
        seconds and until it is stopped; whether there is an answer."""
        end = self.clock.monotonic() + seconds
        with self._changed:
            while self._under_way and not stopped() and (remaining := end - self.clock.monotonic()) > 0:
                self._changed.wait(min(remaining, _STOP_PAUSE))
            return bool(self._answers)

    def close(self, seconds: float) -> None:
        """Begin nothing more, and give what is under way so many seconds at most."""
        with self._changed:
            self._closed = True
            for call_id, entry in [*self._under_way.items()]:
                if not entry.threaded:
                    self._let_go(self._under_way.pop(call_id))
            self._wake_keeper()
            self._changed.wait_for(lambda: not self._stops and self._at_once() == 0, seconds)

    def _wake_keeper(self) -> None:
        if not self._keeper and (self._under_way or self._stops):
            self._keeper = _start_thread(self._keep)  # where there is no thread to be had, the next pass tries again
        self._changed.notify_all()

    def _at_once(self) -> int:
        return self._threads.total() - self._lost.total()

    def _let_go(self, entry: _Entry) -> None:
        """Nobody waits for it any more."""
        if entry.threaded:
            entry.lost = True
            self._lost[entry.host] += 1
        elif entry.state is not None:
            self._stops.append(_Entry(entry.call, entry.host, stops=True, lost=True, state=entry.state))

    def _keep(self) -> None:
        """The one thread that begins steps and ends what takes too long."""
        while True:
            with self._changed:
                if self._closed and not self._stops and not self._at_once():
                    return
                now = self.clock.monotonic()
                late = [self._give_up(entry, why) for entry, why in [*self._late(now)]]
                if not late:
                    self._changed.wait(self._begin_due(now))
            self._tell(late)

    def _late(self, now: float) -> Iterator[tuple[_Entry, str]]:
        """What is not waited for any more, and why."""
        for entry in self._under_way.values():
            if entry.end is not None and now >= entry.end:
                yield (
                    entry,
                    FleetText.GIVES_NO_ANSWER_WITHIN(host=entry.host, timeout_seconds=entry.call.timeout_seconds),
                )
            elif entry.begun is None and self._stuck[entry.host] >= MOST_PER_HOST:
                yield entry, FleetText.EARLIER_CALLS_NOT_RETURNED(stuck=self._stuck[entry.host], host=entry.host)

    def _give_up(self, entry: _Entry, why: str) -> Answer:
        answer = self.steps.failed(entry.call, why)
        if entry.threaded:
            entry.stuck = True
            self._stuck[entry.host] += 1
        self._let_go(entry)
        self._keep_answer(answer)
        return answer

    def _keep_answer(self, answer: Answer) -> None:
        del self._under_way[answer.id]
        self._answers[answer.id] = answer
        while len(self._answers) > MOST_KNOWN:
            del self._answers[next(iter(self._answers))]

    def _begin_due(self, now: float) -> float | None:
        """Begin what can be begun; seconds until something is to be done that nobody wakes the keeper for."""
        entries = [*self._stops, *(() if self._closed else self._under_way.values())]
        waiting: dict[str, deque[_Entry]] = {}
        for entry in entries:
            if not entry.threaded and entry.due <= now:
                waiting.setdefault(entry.host, deque()).append(entry)
        if not self._begin_in_turn(waiting, now):
            return _NO_THREAD_PAUSE
        moments = [entry.end for entry in entries if entry.end is not None and not entry.stops]
        moments += [entry.due for entry in entries if not entry.threaded and entry.due > now]
        return max(0.0, min(moments) - now) if moments else None

    def _begin_in_turn(self, waiting: dict[str, deque[_Entry]], now: float) -> bool:
        """Begin what has a place: of the host that has fewest, and of those of the one whose last turn is longest ago;
        whether there were threads."""
        turns = {host: waiting[host] for host in self._turns if host in waiting} | waiting
        while (host := self._next_host(turns)) is not None:
            entries = turns[host] = turns.pop(host)
            if not self._start_step(entries.popleft(), now):
                break
        self._turns = tuple(turns)
        return host is None

    def _next_host(self, turns: dict[str, deque[_Entry]]) -> str | None:
        full = self._at_once() >= MOST_AT_ONCE
        hosts = (host for host, entries in turns.items() if entries and (entries[0].lost or not full))
        able = (host for host in hosts if self._threads[host] < MOST_PER_HOST)
        return min(able, key=self._threads.__getitem__, default=None)

    def _start_step(self, entry: _Entry, now: float) -> bool:
        """Give the entry a thread for its next step; whether there was one."""
        if not _start_thread(self._take_step, entry):
            return False
        entry.threaded, entry.begun = True, now if entry.begun is None else entry.begun
        self._threads[entry.host] += 1
        if entry.lost:
            self._lost[entry.host] += 1
        return True

    def _take_step(self, entry: _Entry) -> None:
        call, state = entry.call, entry.state
        stepped: Answer | MeasurementState | None = None
        if state is None or not isinstance(call, MetricQuery):
            stepped = self.steps.begin(call)
        elif entry.stops:
            self.steps.stop(call, state)
        else:
            stepped = self.steps.resume(call, state)
        with self._changed:
            for counted, fewer in ((self._threads, 1), (self._lost, entry.lost), (self._stuck, entry.stuck)):
                counted[entry.host] -= fewer
                if not counted[entry.host]:
                    del counted[entry.host]  # hosts are those of a repository: as many as it likes
            answers = self._note(entry, stepped)
            self._changed.notify_all()
        self._tell(answers)

    def _note(self, entry: _Entry, stepped: Answer | MeasurementState | None) -> list[Answer]:
        """Note what a step came to; the answer, if it is one that somebody waits for."""
        entry.threaded, awaited = False, self._under_way.get(entry.call.id) is entry
        if entry.stops:
            self._stops.remove(entry)
        elif isinstance(stepped, MeasurementState):
            entry.state, entry.due = stepped, self.clock.monotonic() + max(SHORTEST_PAUSE, stepped.after)
            if not awaited or self._closed:
                self._let_go(entry)
        elif awaited and stepped is not None:
            self._keep_answer(stepped)
            return [stepped]
        return []

    def _tell(self, answers: list[Answer]) -> None:
        for answer in answers:
            if self.metrics is not None:
                self.metrics.called(kind_of(answer), answer.outcome.name.lower())
        if answers:
            self.on_answer()


def kind_of(answer: Answer) -> str:
    """What is counted: webhook or metric."""
    return "webhook" if isinstance(answer, WebhookAnswer) else "metric"


def _start_thread(work: Callable[..., None], *args: _Entry) -> bool:
    """Whether there was a thread for it: a machine may have none left."""
    try:
        threading.Thread(target=work, args=args, name="rollout-call", daemon=True).start()
    except RuntimeError as error:
        log.warning(FleetText.CALL_ROLLOUT_WAITS(), error)
        return False
    return True
