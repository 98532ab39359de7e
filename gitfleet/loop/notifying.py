"""Tells the destinations of `spec.notifications` what a continuous run does (docs/notifications.md, record 0032).

What happens in a pass is collected and handed over when the pass has ended: so a hundred errors are one message. It
follows from what this process pushed to the state branch, and is kept in memory until a destination has taken it: what
a process that is killed had not delivered yet is told by nobody.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from gitfleet import status
from gitfleet.api.fleet import FleetConfig
from gitfleet.api.notifications import Notification, NotificationEvent
from gitfleet.errors import GitfleetError
from gitfleet.formats.masking import without_secrets
from gitfleet.formats.near_names import did_you_mean
from gitfleet.loop.driver import Listener
from gitfleet.loop.notification_queue import NotificationQueue, QueueThread
from gitfleet.loop.pulse import Pass
from gitfleet.loop.results import ReconcileResult
from gitfleet.loop.texts import LoopText
from gitfleet.model.events import Event
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.model.notifications import Occurrence
from gitfleet.model.state import FleetState
from gitfleet.ports.clock import Clock
from gitfleet.ports.metrics import Metrics
from gitfleet.ports.notifiers import Notifier
from gitfleet.views import Occasion, placements_of_rollout

log = logging.getLogger(__name__)
FAILING_AFTER: Final = 3
"""So many reconciles in a row must fail before people are told."""
_MOST_COLLECTED: Final = 20_000
"""Of one pass: one for each cluster of a large fleet, and no more memory than that."""
Start = Callable[[NotificationQueue], QueueThread]


@dataclass(slots=True, kw_only=True)
class Notifications:
    """Collects what happens and hands it to the destinations that want it.

    `config` is the configuration that was read last; `given` the names of the destinations that the process was given;
    `connect` makes what sends to one of a type, from what its file holds now. `standing` are destinations beside the
    configured ones. `secrets` never stand in a message.
    """

    config: Callable[[], FleetConfig]
    given: frozenset[str]
    connect: Callable[[str, str], Notifier]
    clock: Clock
    standing: tuple[Notification, ...] = ()
    secrets: tuple[str, ...] = ()
    metrics: Metrics | None = None
    start: Start = QueueThread
    _collected: list[Occurrence] = field(default_factory=list)
    _failed: int = 0
    _told_failing: bool = False
    _last: tuple[str, str, FleetState] = ("", "", FleetState())
    _checked: tuple[Notification, ...] | None = None
    _threads: dict[tuple[str, str], QueueThread] = field(default_factory=dict)

    def listening(self, then: Listener) -> Listener:
        """A listener that notes events and hands them on."""

        def on_event(event: Event) -> None:
            self.on_event(event)
            then(event)

        return on_event

    def on_event(self, event: Event) -> None:
        """Note what people want to be told of."""
        found = status.occurrence_of(event)
        if found is not None:
            self._collect(found)

    def on_pass(self, over: Pass) -> None:
        """A reconcile has ended: hand over what happened since the one before."""
        self._note_result(over.result)
        self._check(read=not isinstance(over.result, Failure))
        found, self._collected = self._collected, []
        if not found:
            return
        commit, head, state = self._last
        config = self.config()
        occasion = Occasion(config.name, self.clock.now(), commit, head)
        for one in (*config.notifications, *self.standing):
            wanted = [each for each in found if one.wants(each.event) and _is_meant(one, each, state)]
            if wanted and one.name in self.given:
                self._thread(one).submit(occasion, wanted)

    def finish(self, seconds: float) -> None:
        """Wait until all is delivered, but no longer than so many seconds in all; says what is not. All are told to
        hurry before one is waited for: a destination that hangs costs no other one its last message."""
        end = self.clock.monotonic() + seconds
        for thread in self._threads.values():
            thread.finish(0.0)
        for (name, _), thread in self._threads.items():
            if not thread.finish(max(0.0, end - self.clock.monotonic())):
                log.warning(LoopText.NOTIFICATION_PROCESS_ENDS_BEFORE_ALL(), name)

    def _collect(self, found: Occurrence) -> None:
        if len(self._collected) < _MOST_COLLECTED:
            self._collected.append(found._replace(sentence=without_secrets(found.sentence, self.secrets)))

    def _note_result(self, result: ReconcileResult | Failure) -> None:
        if isinstance(result, Failure):
            self._failed += 1
            if self._failed >= FAILING_AFTER and not self._told_failing:
                self._told_failing = True
                why = str(result.cause) if isinstance(result.cause, GitfleetError) else result.sentence
                times = LoopText.RECONCILING_FAILED_TIMES_ROW(failed=self._failed)
                self._collect(Occurrence(NotificationEvent.RECONCILE_FAILING, f"{times}: {why}"))
            return
        self._last = (result.commit, result.state_head or "", result.state)
        if self._told_failing:
            said = LoopText.RECONCILING_AGAIN_AFTER_FAILURES(failed=self._failed)
            self._collect(Occurrence(NotificationEvent.RECONCILE_RECOVERED, said))
        self._failed, self._told_failing = 0, False

    def _check(self, *, read: bool) -> None:
        """Say at once what could not be told later. Unless it was `read`, a configuration without destinations may be
        the one that stands in for it."""
        configured = self.config().notifications
        if configured == self._checked or not (read or configured):
            return
        names = [one.name for one in (*configured, *self.standing)]
        for name in sorted(self.given.difference(names)):
            meant = did_you_mean(name, names, LoopText.ADD_ONE_LEAVE_NOTIFY_OUT())
            log.warning(LoopText.NOTIFY_SPEC_NOTIFICATIONS_NO_DESTINATION(), name, meant)
        self._checked = configured
        for one in configured:
            if one.name not in self.given:
                log.warning(LoopText.NOBODY_TOLD_NOTIFICATION(), one.name, one.name)
                continue
            made = attempt(Subject("notification", one.name), self.connect, one.name, one.type)
            if isinstance(made, Failure):
                why = str(made.cause) if isinstance(made.cause, GitfleetError) else made.report
                log.warning("notification %s: %s", one.name, why)

    def _thread(self, one: Notification) -> QueueThread:
        key = (one.name, one.type)
        if key not in self._threads:
            connect = partial(self.connect, one.name, one.type)
            queue = NotificationQueue(
                name=one.name, type=one.type, notifier=connect, clock=self.clock, metrics=lambda: self.metrics
            )
            self._threads[key] = self.start(queue)
        return self._threads[key]


def _is_meant(one: Notification, found: Occurrence, state: FleetState) -> bool:
    cluster = state.clusters.get(found.cluster) if found.cluster is not None else None
    labels = cluster.scheduling_labels if cluster is not None else None
    placements = _placements_of(found, state) if one.scope.placements else frozenset[str]()
    return one.scope.includes(placements, labels)


def _placements_of(found: Occurrence, state: FleetState) -> frozenset[str]:
    """The placements that something is about: its own, those of its run, of its workload rollout and of its hold."""
    named = {found.placement} if found.placement is not None else set()
    for rollout in state.rollouts.values():
        if found.rollout == str(rollout.key):
            named |= {str(key) for key in placements_of_rollout(rollout, state.placements.values())}
    named |= {str(run.placement) for run in state.runs.values() if found.run == str(run.key)}
    hold = state.holds.get(found.name) if found.name is not None else None
    named |= {str(one.placement) for one in hold.removals if one.placement is not None} if hold is not None else set()
    return frozenset(named)
