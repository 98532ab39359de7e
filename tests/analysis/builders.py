"""Metrics, templates and answers as the tests of analyses need them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from gitfleet.analysis import Scope
from gitfleet.api.metrics import CanaryMetric, MetricProvider, MetricsRange, MetricTemplate, TemplateReference
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import MetricOutcome
from gitfleet.model.calls import MetricAnswer

BEGAN = datetime(2026, 1, 31, 10, 0, tzinfo=UTC)
TEMPLATE = NamespacedName("shop", "errors")
ADDRESS = "http://prometheus.example:9090"


def metric(name: str = "error-rate", **fields: Any) -> CanaryMetric:
    """A metric that fails above 0.05."""
    given = {"template_ref": TemplateReference(name="errors"), "metrics_range": MetricsRange(max=0.05)}
    return CanaryMetric(name=name, **{**given, **fields})


def scope(query: str = 'errors{cluster="{{ cluster }}"}', **fields: Any) -> Scope:
    """The analysis of cluster eu-1."""
    given = {"key": "one", "began": BEGAN, "namespace": "shop", "variables": {"cluster": "eu-1"}}
    templates = {TEMPLATE: MetricTemplate(key=TEMPLATE, provider=MetricProvider(address=ADDRESS), query=query)}
    return Scope(**{**given, "templates": templates, **fields})


def answer(id_: str, said: float | str | tuple[float, ...], now: datetime = BEGAN) -> MetricAnswer:
    """What came of a query: values, `none` (no data) or `error`."""
    if isinstance(said, str):
        outcome = {"none": MetricOutcome.NO_DATA, "error": MetricOutcome.FAILED}[said]
        return MetricAnswer(id=id_, at=now, outcome=outcome, message="connection refused" if said == "error" else "")
    values = said if isinstance(said, tuple) else (said,)
    return MetricAnswer(id=id_, at=now, outcome=MetricOutcome.MEASURED, values=values)


def template(key: NamespacedName, query: str) -> Mapping[NamespacedName, MetricTemplate]:
    """One template under its key."""
    return {key: MetricTemplate(key=key, provider=MetricProvider(address=ADDRESS), query=query)}
