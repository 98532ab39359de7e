"""What the process answers over HTTP: /healthz, /readyz, /metrics, and the webhooks that are configured."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gitfleet.loop.pulse import Pulse, why_dead, why_unready
from gitfleet.loop.runner import Wake
from gitfleet.loop.texts import LoopText
from gitfleet.ports.clock import Clock
from gitfleet.ports.http import HttpHandler, HttpRequest, HttpResponse, sentence_response


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
            return sentence_response(404, LoopText.NOTHING_PATH())
        if request.method not in allowed.split(", "):
            return sentence_response(405, f"only {allowed}", Allow=allowed)
        return handler(request)

    return handle


def _state(trouble: str) -> HttpResponse:
    return sentence_response(503, trouble) if trouble else sentence_response(200, "ok")
