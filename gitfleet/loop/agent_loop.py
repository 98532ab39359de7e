"""When an agent reconciles: at an interval, when it is woken, and again with growing pauses while its remote fails."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from gitfleet.errors import GitfleetError, GiveUp, LostRace, Stopped
from gitfleet.formats.sentences import counted
from gitfleet.loop.agent import Agent, AgentPass
from gitfleet.loop.pulse import Pulse
from gitfleet.loop.runner import Wake
from gitfleet.loop.texts import LoopText
from gitfleet.model.backoff import Backoff, Curve
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.ports.clock import Clock

log = logging.getLogger(__name__)
_PAUSES = Curve(most=300.0)
_SOON = 1.0


@dataclass(slots=True, kw_only=True)
class AgentLoop:
    """Reconciles an agent; `interval` is in seconds, `watch` starts what wakes the loop, and returns what ends it."""

    agent: Agent
    clock: Clock
    wake: Wake
    interval: float
    watch: Callable[[Wake], Callable[[], None]]
    pulse: Pulse = field(default_factory=Pulse)

    def once(self) -> AgentPass:
        """One pass; a lost race is tried once more."""
        try:
            return self.agent.reconcile()
        except LostRace:
            return self.agent.reconcile()

    def until_stopped(self) -> None:
        """Reconcile until stopped. Whatever goes wrong is tried again with growing pauses; GiveUp in the very first
        pass is raised: then the process was started wrongly."""
        end_watch = self.watch(self.wake)
        backoff, passes, failures = Backoff(_PAUSES), 0, 0
        try:
            while not self.wake.stopped:
                self.pulse.begin(self.clock.monotonic())
                result = attempt(Subject("agent", self.agent.cluster.name), self.agent.reconcile)
                if isinstance(result, Failure):
                    if isinstance(result.cause, Stopped):
                        break
                    if isinstance(result.cause, GiveUp) and passes == 0:
                        raise result.cause
                    message = str(result.cause) if isinstance(result.cause, GitfleetError) else result.report
                    pause, failures = backoff.after(type(result.cause)), failures + 1
                    if isinstance(result.cause, LostRace):
                        pause = _SOON
                    log.warning(LoopText.TRYING_AGAIN_G(), message, pause)
                else:
                    if failures:
                        log.info(LoopText.REPORTING_AGAIN_AFTER(), counted(failures, "failure"))
                    backoff.forget()
                    passes, failures = passes + 1, 0
                    pause = min(self.interval, _SOON) if result.reported else self.interval
                    pause = min(pause, max(_SOON, result.again)) if result.again is not None else pause
                cause = result.cause if isinstance(result, Failure) else None
                due = self.clock.monotonic() + pause
                self.pulse.rest(due, worked=not isinstance(result, Failure), failed_by=cause)
                self.wake.wait(pause)
        finally:
            end_watch()
