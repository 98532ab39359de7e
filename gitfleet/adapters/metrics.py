"""Prometheus metrics of one process: what it counts itself, and at each scrape the gauges of the fleet's state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, disable_created_metrics
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from gitfleet.views.metrics import FleetGauge

_PHASE_SECONDS = (0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


class PrometheusMetrics:
    """See ports.metrics.Metrics. Its registry is its own: what other code of the process registers is not shown."""

    def __init__(self, version: str, gauges: Callable[[], Iterable[FleetGauge]]) -> None:
        """`gauges` gives the fleet's gauges, at each scrape."""
        disable_created_metrics()  # type: ignore[no-untyped-call] # the library's; a second series for each counter
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        registry.register(_Gauges(gauges))
        build = Gauge("gitfleet_build_info", "The version that runs", ["version"], registry=registry)
        build.labels(version).set(1)
        self._reconciles = Counter("gitfleet_reconciles", "Reconciles by outcome", ["outcome"], registry=registry)
        self._seconds = Histogram(
            "gitfleet_reconcile_duration_seconds", "How long reconciles took", buckets=_SECONDS, registry=registry
        )
        self._phases = Histogram(
            "gitfleet_reconcile_phase_seconds",
            "How long phases took",
            ["phase"],
            buckets=_PHASE_SECONDS,
            registry=registry,
        )
        self._success = Gauge(
            "gitfleet_reconcile_last_success_timestamp_seconds", "When the last one succeeded", registry=registry
        )
        self._operations = Counter(
            "gitfleet_operations", "Operations on member clusters", ["action", "outcome"], registry=registry
        )
        self._events = Counter("gitfleet_events", "Events of the timeline by type", ["type"], registry=registry)
        self._deliveries = Counter(
            "gitfleet_webhook_requests", "Requests to webhooks", ["provider", "outcome"], registry=registry
        )
        self._notifications = Counter(
            "gitfleet_notifications", "Attempts to notify", ["type", "outcome"], registry=registry
        )
        self._calls = Counter(
            "gitfleet_rollout_calls", "Calls that rollouts made", ["kind", "outcome"], registry=registry
        )

    def reconciled(self, outcome: str, seconds: float, at: float | None) -> None:
        """See the port."""
        self._reconciles.labels(outcome).inc()
        self._seconds.observe(seconds)
        if at is not None:
            self._success.set(at)

    def phase(self, name: str, seconds: float) -> None:
        """See the port."""
        self._phases.labels(name).observe(seconds)

    def performed(self, action: str, outcome: str) -> None:
        """See the port."""
        self._operations.labels(action, outcome).inc()

    def happened(self, event: str) -> None:
        """See the port."""
        self._events.labels(event).inc()

    def delivered(self, provider: str, outcome: str) -> None:
        """See the port."""
        self._deliveries.labels(provider, outcome).inc()

    def notified(self, type_: str, outcome: str) -> None:
        """See the port."""
        self._notifications.labels(type_, outcome).inc()

    def called(self, kind: str, outcome: str) -> None:
        """See the port."""
        self._calls.labels(kind, outcome).inc()

    def page(self, accepts: str) -> tuple[bytes, str]:
        """The text of a scrape and its content type, in the format that the client accepts; the ordinary one for an
        Accept that cannot be read, which anybody may send."""
        try:
            encode, content_type = choose_encoder(accepts)
        except (TypeError, ValueError):
            encode, content_type = choose_encoder("")
        return encode(self._registry), content_type


class _Gauges(Collector):
    def __init__(self, gauges: Callable[[], Iterable[FleetGauge]]) -> None:
        self._gauges = gauges

    def collect(self) -> Iterator[Metric]:
        for gauge in self._gauges():
            family = GaugeMetricFamily(gauge.name, gauge.says, labels=gauge.labels)
            for labels, value in gauge.values:
                family.add_metric(labels, value)
            yield family

    def describe(self) -> Iterable[Metric]:
        """Nothing at registration: there is no state yet."""
        return ()
