"""What the process answers over HTTP (/healthz, /readyz, /metrics, and the webhooks that are configured), and what it
counts for /metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from gitfleet.loop.driver import Listener
from gitfleet.loop.pulse import Pass, Pulse, outcome_of, why_dead, why_unready
from gitfleet.loop.runner import Wake
from gitfleet.model.events import Event
from gitfleet.model.failures import Failure
from gitfleet.ports.clock import Clock
from gitfleet.ports.http import HttpHandler, HttpRequest, HttpResponse, sentence_response
from gitfleet.ports.metrics import Metrics
from gitfleet.serving.texts import ServingText
from gitfleet.views.metrics import FleetGauge, fleet_gauges


def probes(pulse: Pulse, wake: Wake, clock: Clock) -> Mapping[str, HttpHandler]:
    """/healthz and /readyz of a loop."""

    def healthy(_: HttpRequest) -> HttpResponse:
        return _state(why_dead(pulse.beat, clock.monotonic()))

    def ready(_: HttpRequest) -> HttpResponse:
        return _state(why_unready(pulse.beat, clock.monotonic(), stopped=wake.stopped))

    return {"/healthz": healthy, "/readyz": ready}


def metrics_page(page: Callable[[str], tuple[bytes, str]]) -> HttpHandler:
    """/metrics: `page` gives body and type for what a client accepts."""

    def metrics(request: HttpRequest) -> HttpResponse:
        body, content_type = page(request.headers.get("accept", ""))
        return HttpResponse(status=200, body=body, content_type=content_type)

    return metrics


def routes(reads: Mapping[str, HttpHandler], posts: Mapping[str, HttpHandler]) -> HttpHandler:
    """One handler of paths that are read (GET, HEAD) and of paths that are posted to."""

    def handle(request: HttpRequest) -> HttpResponse:
        allowed, handlers = ("GET, HEAD", reads) if request.path in reads else ("POST", posts)
        handler = handlers.get(request.path)
        if handler is None:
            return sentence_response(404, ServingText.NOTHING_PATH())
        if request.method not in allowed.split(", "):
            return sentence_response(405, f"only {allowed}", Allow=allowed)
        return handler(request)

    return handle


def _state(trouble: str) -> HttpResponse:
    return sentence_response(503, trouble) if trouble else sentence_response(200, "ok")


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
    yield FleetGauge("gitfleet_leader", ServingText.WHETHER_PROCESS_RECONCILES_STANDS(), (), (((), float(leading)),))
    if leading and pulse.last is not None:
        yield from fleet_gauges(pulse.last.state)
