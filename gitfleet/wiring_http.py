"""Composition root of what a continuous `run` answers over HTTP (`--listen`): probes, metrics, webhooks."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from gitfleet import __version__
from gitfleet.adapters.http_server import HttpServer
from gitfleet.adapters.metrics import PrometheusMetrics
from gitfleet.loop.counting import Counting, count_events, count_reconciles, gauges_of
from gitfleet.loop.driver import Listener
from gitfleet.loop.endpoints import metrics_page, probes, routes
from gitfleet.loop.webhook_signatures import secrets_of
from gitfleet.loop.webhooks import Hints, Receiver
from gitfleet.loop.workspace import Workspace
from gitfleet.ports.http import HttpHandler
from gitfleet.settings import HttpSettings

log = logging.getLogger(__name__)


@contextmanager
def served(
    workspace: Workspace, http: HttpSettings, then: Listener, counted: Sequence[Counting] = ()
) -> Iterator[Listener]:
    """While this lasts, the loop of the workspace answers at an address, and those of `counted` count; the listener
    that is to get its events. BadInput where the address cannot be had."""
    pulse, clock = workspace.pulse, workspace.clock
    metrics = PrometheusMetrics(__version__, partial(gauges_of, pulse, lambda: workspace.wake.leads()))
    for one in counted:
        one.metrics = metrics
    pulse.listeners.append(count_reconciles(metrics, clock))
    reads = {**probes(pulse, workspace.wake, clock), "/metrics": metrics_page(metrics.page)}
    hints = Hints(trigger=workspace.wake.trigger, clock=clock)
    posts: dict[str, HttpHandler] = {}
    for provider, file in http.webhooks:
        secrets = partial(secrets_of, file)
        secrets()  # what cannot be used ends the process at its start
        receiver = Receiver(provider=provider, secrets=secrets, hint=hints.hint, clock=clock, metrics=metrics)
        posts[f"/webhook/{provider}"] = receiver.receive
    server = HttpServer(http.host, http.port, routes(reads, posts), clock.monotonic)
    server.start()
    log.info("listening on %s", server.address)
    try:
        yield count_events(metrics, then)
    finally:
        server.stop()
