"""Composition root of the traces of a continuous `run`, where the standard variables of OpenTelemetry ask for them."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from gitfleet import __version__, extra
from gitfleet.loop.phases import Phases
from gitfleet.loop.workspace import Workspace

log = logging.getLogger(__name__)


@contextmanager
def traced(workspace: Workspace, phases: Phases) -> Iterator[None]:
    """While this lasts, each reconcile is a trace. Without the extra a warning says what is missing."""
    try:
        from gitfleet.adapters.tracing import by_environment
    except ImportError:
        hint = f"install it with: {extra('otel')}"
        log.warning("OTEL_EXPORTER_OTLP_ENDPOINT asks for traces, and OpenTelemetry is not installed; %s", hint)
        yield
        return
    tracing = by_environment(__version__)
    driver = workspace.driver
    phases.tracing, driver.fanout = tracing, replace(driver.fanout, tracing=tracing)
    try:
        yield
    finally:
        tracing.close()
