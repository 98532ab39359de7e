"""OpenTelemetry traces by OTLP over HTTP (extra `otel`), set up by the standard OTEL_* variables."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.trace import Span, Status, StatusCode, set_span_in_context

from gitfleet.adapters.texts import AdaptersText
from gitfleet.ports.tracing import SpanFailed

log = logging.getLogger(__name__)
LAST_SECONDS: Final = 3.0
"""So long a run that ends waits for its last spans to be taken."""


class OpenTelemetry:
    """See ports.tracing.Tracing. Spans hold names, counts and classes of errors: no message of an error."""

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("gitfleet")
        self._root: Span | None = None
        self._phase: Span | None = None
        self._within: Context | None = None

    def began(self) -> None:
        """See the port."""
        self._end(self._phase)
        self._end(self._root)  # of a reconcile that was given up
        self._root = self._tracer.start_span("reconcile", context=Context())
        self._start()

    def phase(self, name: str) -> None:
        """See the port."""
        if self._phase is not None:
            self._phase.update_name(name)
            self._phase.end()
            self._start()

    def ended(self, outcome: str, attributes: Mapping[str, str]) -> None:
        """See the port. Of the phase that had begun there is nothing to say."""
        root, self._root, self._phase, self._within = self._root, None, None, None
        if root is not None:
            root.set_attributes({"gitfleet.outcome": outcome, **attributes})
            if outcome == "failed":
                root.set_status(Status(StatusCode.ERROR, attributes.get("error.type", "")))
            root.end()

    @contextmanager
    def cluster(self, action: str, name: str) -> Iterator[SpanFailed]:
        """See the port."""
        span = self._tracer.start_span(action, context=self._within, attributes={"gitfleet.cluster": name})

        def failed(why: str) -> None:
            span.set_status(Status(StatusCode.ERROR, why))

        try:
            yield failed
        except Exception as error:
            failed(type(error).__name__)
            raise
        finally:
            span.end()

    def close(self) -> None:
        """Hand over what is left, within LAST_SECONDS: a collector that hangs keeps no process from ending."""
        self._end(self._phase)
        self._end(self._root)
        thread = threading.Thread(target=self._provider.shutdown, name="traces", daemon=True)
        thread.start()
        thread.join(LAST_SECONDS)

    def _start(self) -> None:
        if self._root is not None:
            self._phase = self._tracer.start_span("phase", context=set_span_in_context(self._root, Context()))
            self._within = set_span_in_context(self._phase, Context())

    @staticmethod
    def _end(span: Span | None) -> None:
        if span is not None and span.is_recording():
            span.end()


class SaidOnce(OTLPSpanExporter):
    """Says once that spans are not taken, and once that they are again; the library would say it each time, with what
    the other end answered."""

    _fails = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """See SpanExporter."""
        result = super().export(spans)
        fails = result is not SpanExportResult.SUCCESS
        if fails and not self._fails:
            log.warning(AdaptersText.TRACES_LOST())
        elif self._fails and not fails:
            log.info(AdaptersText.TRACES_TAKEN_AGAIN())
        self._fails = fails
        return result


def by_environment(version: str) -> OpenTelemetry:
    """What sends traces to where OTEL_EXPORTER_OTLP_ENDPOINT says."""
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)  # see SaidOnce
    named = {} if os.environ.get("OTEL_SERVICE_NAME") else {SERVICE_NAME: "gitfleet"}
    provider = TracerProvider(resource=Resource.create({SERVICE_VERSION: version, **named}), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(SaidOnce()))
    return OpenTelemetry(provider)
