"""Tells the destinations of `spec.notifications` what a continuous run does (docs/notifications.md, record 0032).

What happens in a pass is handed over with its report: so a hundred errors are one message. It follows from what this
process pushed to the state branch, and is kept in memory until a destination has taken it: what a process that is
killed had not delivered yet is told by nobody. Each destination has a queue and a thread: one that hangs or refuses
costs itself alone, and what happens while a message waits is told in the next one.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, Final

from gitfleet import status
from gitfleet.api.fleet import FleetConfig
from gitfleet.api.notifications import Notification, NotificationEvent
from gitfleet.errors import DestinationUnavailable, GiveUp
from gitfleet.formats.masking import without_secrets
from gitfleet.formats.near_names import did_you_mean
from gitfleet.loop.pulse import Pass
from gitfleet.model.backoff import Curve
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.model.notifications import NotificationMessage, Occurrence
from gitfleet.model.state import FleetState
from gitfleet.ports.clock import Clock
from gitfleet.ports.metrics import Metrics
from gitfleet.ports.notifiers import Notifier
from gitfleet.ports.publishers import Publisher, Report
from gitfleet.serving.texts import ServingText
from gitfleet.views.notifications import Occasion, notification_message
from gitfleet.views.rollout_documents import placements_of_rollout

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

    `notifier` makes what sends, from what the operator's file has now. Outcomes that are counted: `delivered`,
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
    _warned: int = 0
    _hurries: bool = False

    def add(self, occasion: Occasion, occurrences: Sequence[Occurrence]) -> None:
        """What is to be told, beside what waits already."""
        with self._lock:
            free = MOST_WAITING - len(self._waiting)
            self._waiting += occurrences[:free]
            self._uncounted += len(occurrences[free:])
            self._occasion = occasion

    def step(self) -> float | None:
        """Send a message if there is one and it is time; after how many seconds to come again, None when nothing
        waits."""
        if self._seconds_left() == 0.0 and (message := self._message or self._take()) is not None:
            subject = Subject("notification", self.name)
            notifier = attempt(subject, self.notifier)
            if isinstance(notifier, Failure):
                self._note(message, notifier, lasting=False)  # the operator's file may be replaced at any time
            else:
                sent = attempt(subject, notifier.send, message)
                self._note(message, sent, lasting=sent is not None and isinstance(sent.cause, GiveUp))
        return self._seconds_left()

    def hurry(self) -> None:
        """The process ends: let no pause between two messages keep the next one, only one after a failure."""
        self._hurries = True

    def _seconds_left(self) -> float | None:
        if self._message is None and not self._waiting:
            return None
        if self._hurries and not self._failures:
            return 0.0
        return max(0.0, self._not_before - self.clock.monotonic())

    def _take(self) -> NotificationMessage | None:
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
            if self._warned:
                log.info(ServingText.NOTIFICATIONS_DELIVERED_AGAIN(), self.name)
            self._message, self._warned, self._failures, self._not_before = None, 0, 0, now + PAUSE
            self._count("delivered")
            return
        self._failures += 1
        cause, over = sent.cause, lasting or self._failures >= MOST_TRIES
        requested = cause.after if isinstance(cause, DestinationUnavailable) else None
        pause = _PAUSES.after(self._failures) if requested is None else max(PAUSE, min(requested, _LONGEST_ASKED))
        self._not_before = now + (PAUSE if over else pause)
        if self._warned < 1 + over:  # once when it begins to fail and once when messages are lost, until it works again
            self._warned = 1 + over
            consequence = ServingText.MESSAGE_DROPPED(id=message.id) if over else ServingText.TRIED_AGAIN_LATER()
            log.warning(ServingText.NOTIFICATION_FLEET_RECONCILED_ALL_SAME(), self.name, sent.for_log, consequence)
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

    def submit(self, occasion: Occasion, occurrences: Sequence[Occurrence]) -> None:
        """Tell the destination, as soon as may be; returns at once."""
        self._queue.add(occasion, occurrences)
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


log = logging.getLogger(__name__)
FAILING_AFTER: Final = 3
"""So many reconciles in a row must fail before people are told."""
Start = Callable[[NotificationQueue], QueueThread]


@dataclass(slots=True, kw_only=True)
class Notifications(Publisher):
    """Hands what happens to the destinations that want it.

    `config` is the configuration that was read last; `destinations` are the names of those that the process was given;
    `connect` makes what sends to one of a type, from what its file has now. `standing` are destinations beside the
    configured ones. `secrets` never stand in a message.
    """

    config: Callable[[], FleetConfig]
    destinations: frozenset[str]
    connect: Callable[[str, str], Notifier]
    clock: Clock
    standing: tuple[Notification, ...] = ()
    secrets: tuple[str, ...] = ()
    metrics: Metrics | None = None
    start: Start = QueueThread
    name: ClassVar[str] = "notifications"
    _failed: int = 0
    _told_failing: bool = False
    _last: tuple[str, str, FleetState] = ("", "", FleetState())
    _checked: tuple[Notification, ...] | None = None
    _threads: dict[tuple[str, str], QueueThread] = field(default_factory=dict)

    def publish(self, report: Report) -> tuple[()]:
        """Hand over what happened since the report before."""
        self._last = (report.desired.commit, report.state_head or "", report.state)
        occurrences = [occurrence for event in report.events if (occurrence := status.occurrence_of(event)) is not None]
        if self._told_failing:
            sentence = ServingText.RECONCILING_AGAIN_AFTER_FAILURES(failed=self._failed)
            occurrences.append(Occurrence(NotificationEvent.RECONCILE_RECOVERED, sentence))
        self._failed, self._told_failing = 0, False
        self._check()
        self._hand_over(occurrences)
        return ()

    def on_pass(self, over: Pass) -> None:
        """A reconcile has ended: tell of the third failure in a row."""
        if not isinstance(over.result, Failure):
            return
        self._failed += 1
        if self._failed >= FAILING_AFTER and not self._told_failing:
            self._told_failing = True
            times = ServingText.RECONCILING_FAILED_TIMES_ROW(failed=self._failed)
            self._hand_over([Occurrence(NotificationEvent.RECONCILE_FAILING, f"{times}: {over.result.for_people}")])

    def _hand_over(self, occurrences: Iterable[Occurrence]) -> None:
        events = [event._replace(sentence=without_secrets(event.sentence, self.secrets)) for event in occurrences]
        if not events:
            return
        commit, head, state = self._last
        config = self.config()
        occasion = Occasion(config.name, self.clock.now(), commit, head)
        for target in (*config.notifications, *self.standing):
            selected = [event for event in events if target.wants(event.event) and _is_meant(target, event, state)]
            if selected and target.name in self.destinations:
                self._thread(target).submit(occasion, selected)

    def finish(self, seconds: float) -> None:
        """Wait until all is delivered, but no longer than so many seconds in all; says what is not. All are told to
        hurry before one is waited for: a destination that hangs costs no other one its last message."""
        end = self.clock.monotonic() + seconds
        for thread in self._threads.values():
            thread.finish(0.0)
        for (name, _), thread in self._threads.items():
            if not thread.finish(max(0.0, end - self.clock.monotonic())):
                log.warning(ServingText.NOTIFICATION_PROCESS_ENDS_BEFORE_ALL(), name)

    def _check(self) -> None:
        """Say at once what could not be told later."""
        configured = self.config().notifications
        if configured == self._checked:
            return
        names = [target.name for target in (*configured, *self.standing)]
        for name in sorted(self.destinations.difference(names)):
            meant = did_you_mean(name, names, ServingText.ADD_ONE_LEAVE_NOTIFY_OUT())
            log.warning(ServingText.NOTIFY_SPEC_NOTIFICATIONS_NO_DESTINATION(), name, meant)
        self._checked = configured
        for target in configured:
            if target.name not in self.destinations:
                log.warning(ServingText.NOBODY_TOLD_NOTIFICATION(), target.name, target.name)
                continue
            made = attempt(Subject("notification", target.name), self.connect, target.name, target.type)
            if isinstance(made, Failure):
                log.warning("notification %s: %s", target.name, made.for_log)

    def _thread(self, target: Notification) -> QueueThread:
        key = (target.name, target.type)
        if key not in self._threads:
            connect = partial(self.connect, target.name, target.type)
            queue = NotificationQueue(
                name=target.name,
                type=target.type,
                notifier=connect,
                clock=self.clock,
                metrics=lambda: self.metrics,
            )
            self._threads[key] = self.start(queue)
        return self._threads[key]


def _is_meant(notification: Notification, occurrence: Occurrence, state: FleetState) -> bool:
    cluster = state.clusters.get(occurrence.cluster) if occurrence.cluster is not None else None
    labels = cluster.scheduling_labels if cluster is not None else None
    placements = _placements_of(occurrence, state) if notification.scope.placements else frozenset[str]()
    return notification.scope.includes(placements, labels)


def _placements_of(occurrence: Occurrence, state: FleetState) -> frozenset[str]:
    """The placements that something is about: its own, those of its run, of its workload rollout and of its hold."""
    named = {occurrence.placement} if occurrence.placement is not None else set()
    for rollout in state.rollouts.values():
        if occurrence.rollout == str(rollout.key):
            named |= {str(key) for key in placements_of_rollout(rollout, state.placements.values())}
    named |= {str(run.placement) for run in state.runs.values() if occurrence.run == str(run.key)}
    hold = state.holds.get(occurrence.name or "")
    removals = hold.removals if hold is not None else ()
    named |= {str(removal.placement) for removal in removals if removal.placement is not None}
    return frozenset(named)
