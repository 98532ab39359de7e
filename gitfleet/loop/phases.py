"""The phases of a reconcile, as the driver passes them: measured, and told to whoever traces.

What the driver calls between its steps says where it is, so that nothing in it depends on being watched.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from gitfleet.api.fleet import FleetConfig
from gitfleet.loop.driver import Driver
from gitfleet.loop.pulse import Pass, Pulse, outcome_of
from gitfleet.loop.steps import Step
from gitfleet.loop.untraced import Untraced
from gitfleet.model.failures import Failure
from gitfleet.ports.clock import Clock
from gitfleet.ports.metrics import Metrics
from gitfleet.ports.tracing import Tracing

FETCH: Final = "fetch"
LAST: Final = "finish"
PHASES: Final = {
    Step.GATHERED: "gather",
    Step.DECIDED: "decide",
    Step.INTENT_PUBLISHED: "publish_intent",
    Step.RENDERED: "render",
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
        pulse.starting.append(self._began)
        pulse.listeners.append(self._ended)

    def _began(self) -> None:
        self._since = self.clock.monotonic()
        self.tracing.began()

    def _phase(self, name: str) -> None:
        now = self.clock.monotonic()
        if self._since is not None:
            if self.metrics is not None:
                self.metrics.phase(name, now - self._since)
            self.tracing.phase(name)
        self._since = now if self._since is not None else None

    def _ended(self, over: Pass) -> None:
        self._phase(LAST)
        self._since = None
        result = over.result
        if isinstance(result, Failure):
            self.tracing.ended(outcome_of(result), {"error.type": type(result.cause).__name__})
        else:
            self.tracing.ended(outcome_of(result), {"gitfleet.commit": result.commit})
