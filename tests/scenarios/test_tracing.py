"""Phases and traces of whole reconciles: in memory, and to a real receiver of OTLP over HTTP."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from gitfleet.adapters.tracing import OpenTelemetry, SaidOnce, by_environment
from gitfleet.errors import RemoteUnreachable
from gitfleet.loop.pulse import Phases, Pulse
from gitfleet.model.failures import Subject, attempt
from tests import builders
from tests.loop.test_pulse import Counted
from tests.scenarios.world import World

CANARY = "canary-2e91"


class Watched:
    """A world whose reconciles are traced and measured."""

    def __init__(self, tracing: OpenTelemetry) -> None:
        self.world, self.pulse, self.metrics, self.tracing = World(), Pulse(), Counted(), tracing
        phases = Phases(clock=self.world.clock, tracing=tracing, metrics=self.metrics)
        driver = self.world.driver
        phases.watch(driver, self.pulse)
        driver.clusters.fanout = replace(driver.clusters.fanout, tracing=tracing)
        self.world.commit(
            builders.member_cluster("c1"),
            builders.member_cluster("c2"),
            builders.namespace("web"),
            builders.deployment("web", "web"),
            builders.placement("web"),
        )

    def reconcile(self) -> None:
        self.pulse.begin(0.0)
        result = attempt(Subject("reconcile", ""), self.world.driver.reconcile)
        assert not self.pulse.end(result, 1.0, 1.0).found

    @property
    def phases(self) -> list[object]:
        return [call[0] for call in self.metrics.calls]


def tree(spans: tuple[ReadableSpan, ...]) -> list[tuple[str, str, str]]:
    """Each span with its parent's name, and how it ended; clusters with theirs."""
    names = {span.context.span_id: span.name for span in spans if span.context}
    found = []
    for span in spans:
        cluster = (span.attributes or {}).get("gitfleet.cluster")
        said = span.status.description or ("ok" if span.status.is_unset else span.status.status_code.name)
        parent = names.get(span.parent.span_id, "?") if span.parent else ""
        found.append((f"{span.name} {cluster}" if cluster else span.name, parent, said))
    return found


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def watched(exporter: InMemorySpanExporter) -> Watched:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return Watched(OpenTelemetry(provider))


def taken(exporter: InMemorySpanExporter) -> list[tuple[str, str, str]]:
    spans = exporter.get_finished_spans()
    exporter.clear()
    assert len({span.context.trace_id for span in spans if span.context}) == 1
    return tree(spans)


def test_a_reconcile_is_a_trace_its_phases_and_clusters_are_spans(
    watched: Watched, exporter: InMemorySpanExporter
) -> None:
    watched.reconcile()
    assert watched.phases == ["fetch", "gather", "decide", "publish_intent", "perform", "publish_report", "finish"]
    assert taken(exporter) == [
        ("fetch", "reconcile", "ok"),
        ("observe c1", "gather", "ok"),
        ("observe c2", "gather", "ok"),
        ("gather", "reconcile", "ok"),
        ("observe c1", "decide", "ok"),  # what was not observed yet
        ("observe c2", "decide", "ok"),
        ("decide", "reconcile", "ok"),
        ("publish_intent", "reconcile", "ok"),
        ("perform c1", "perform", "ok"),
        ("perform c2", "perform", "ok"),
        ("perform", "reconcile", "ok"),
        ("publish_report", "reconcile", "ok"),
        ("finish", "reconcile", "ok"),
        ("reconcile", "", "ok"),
    ]


def test_what_failed_is_named_without_its_words(
    watched: Watched, exporter: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched.reconcile()
    watched.world.silence("c1")
    exporter.clear()
    watched.reconcile()
    assert ("observe c1", "gather", "Unreachable") in taken(exporter)

    def gone(*_: Any) -> Any:
        raise RemoteUnreachable(f"https://{CANARY} does not answer")

    monkeypatch.setattr(watched.world.repo, "fetch", gone)
    watched.reconcile()
    assert CANARY not in str([span.to_json() for span in exporter.get_finished_spans()])
    (root,) = [span for span in exporter.get_finished_spans() if span.name == "reconcile"]
    assert dict(root.attributes or {}) == {"gitfleet.outcome": "failed", "error.type": "RemoteUnreachable"}
    assert taken(exporter) == [("finish", "reconcile", "ok"), ("reconcile", "", "RemoteUnreachable")]


def test_a_cluster_call_that_raises_is_a_failed_span(watched: Watched, exporter: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError, match=CANARY), watched.tracing.cluster("observe", "c1"):
        raise ValueError(CANARY)
    (span,) = exporter.get_finished_spans()
    assert span.status.description == "ValueError" and CANARY not in span.to_json()


def test_phases_that_are_not_of_a_reconcile_are_not_measured(watched: Watched) -> None:
    watched.world.driver.reconcile()
    assert watched.phases == []


@contextmanager
def collecting() -> Iterator[tuple[str, list[ExportTraceServiceRequest], list[int]]]:
    """A receiver of OTLP over HTTP: its address, what it got, and the statuses that it answers before 200."""
    got: list[ExportTraceServiceRequest] = []
    statuses: list[int] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = statuses.pop(0) if statuses else 200
            if status == 200 and self.path == "/v1/traces":
                got.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", got, statuses
    finally:
        server.shutdown()
        server.server_close()


def test_a_real_receiver_gets_the_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    with collecting() as (url, got, _):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        tracing = by_environment("1.2.3")
        Watched(tracing).reconcile()
        tracing.close()
    (resource,) = [spans for request in got for spans in request.resource_spans]
    named = {one.key: one.value.string_value for one in resource.resource.attributes}
    assert (named["service.name"], named["service.version"]) == ("gitfleet", "1.2.3")
    spans = [span.name for scope in resource.scope_spans for span in scope.spans]
    assert spans.count("observe") == 4 and {"reconcile", "fetch", "publish_report"} <= set(spans)


def test_a_collector_that_is_gone_is_said_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, bad = SpanExportResult.SUCCESS, SpanExportResult.FAILURE
    results = [good, bad, bad, good, good]
    monkeypatch.setattr(OTLPSpanExporter, "export", lambda self, spans: results.pop(0))
    exporter = SaidOnce()
    with caplog.at_level(logging.INFO):
        for _ in range(5):
            exporter.export(())
    assert caplog.messages == [
        "traces are not taken by the OTLP endpoint and are lost; the fleet is reconciled all the same",
        "traces are taken again by the OTLP endpoint",
    ]
