"""What the loop counts for /metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from gitfleet.loop.driver import Listener
from gitfleet.loop.pulse import Pass, Pulse, outcome_of
from gitfleet.loop.texts import LoopText
from gitfleet.model.events import Event
from gitfleet.model.failures import Failure
from gitfleet.ports.clock import Clock
from gitfleet.ports.metrics import Metrics
from gitfleet.views import FleetGauge, fleet_gauges


class Counting(Protocol):
    """What counts, once it is given where."""

    metrics: Metrics | None


def count_reconciles(metrics: Metrics, clock: Clock) -> Callable[[Pass], None]:
    """What counts each reconcile, and the operations that it carried out."""

    def count(over: Pass) -> None:
        succeeded = not isinstance(over.result, Failure)
        metrics.reconciled(outcome_of(over.result), over.seconds, clock.now().timestamp() if succeeded else None)
        if not isinstance(over.result, Failure):
            for outcome in over.result.outcomes:
                metrics.performed(type(outcome.operation).__name__.lower(), outcome.code.value)
            for step in over.result.steps:
                metrics.performed(type(step.operation).__name__.lower(), step.code.value)

    return count


def count_events(metrics: Metrics, then: Listener) -> Listener:
    """A listener that counts events and hands them on."""

    def on_event(event: Event) -> None:
        metrics.happened(event.type.value)
        then(event)

    return on_event


def gauges_of(pulse: Pulse, leads: Callable[[], bool]) -> Iterable[FleetGauge]:
    """Whether this process leads, and, if it does, the gauges of the state after its last reconcile that succeeded:
    what it knew when it led before is old."""
    leading = leads()
    yield FleetGauge("gitfleet_leader", LoopText.WHETHER_PROCESS_RECONCILES_STANDS(), (), (((), float(leading)),))
    if leading and pulse.last is not None:
        yield from fleet_gauges(pulse.last.state)
