"""Composition root of what a continuous `run` answers over HTTP (`--listen`): probes, metrics, webhooks."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from gitfleet import __version__
from gitfleet.adapters.http_server import HttpServer
from gitfleet.adapters.metrics import PrometheusMetrics
from gitfleet.loop.counting import count_events, count_reconciles, gauges_of
from gitfleet.loop.driver import Listener
from gitfleet.loop.endpoints import metrics_page, probes, routes
from gitfleet.loop.workspace import Workspace
from gitfleet.settings import HttpSettings

log = logging.getLogger(__name__)


@contextmanager
def served(workspace: Workspace, http: HttpSettings, then: Listener) -> Iterator[Listener]:
    """While this lasts, the loop of the workspace answers at an address; the listener that is to get its events.
    BadInput where the address cannot be had."""
    pulse, clock = workspace.pulse, workspace.clock
    metrics = PrometheusMetrics(__version__, partial(gauges_of, pulse))
    pulse.listeners.append(count_reconciles(metrics, clock))
    reads = {**probes(pulse, workspace.wake, clock), "/metrics": metrics_page(metrics.page)}
    server = HttpServer(http.host, http.port, routes(reads, {}), clock.monotonic)
    server.start()
    log.info("listening on %s", server.address)
    try:
        yield count_events(metrics, then)
    finally:
        server.stop()
