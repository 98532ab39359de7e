"""Metrics that gate a rollout: what is measured, and what a measurement must be (seed 004, CanaryMetric).

A canary metric of a batch and an Analysis task of a stage are the same thing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Final

from annotated_types import Interval, Len

from gitfleet.api.annotations import Break, Check, Form, OneOf
from gitfleet.api.fleet import GITFLEET_GROUP
from gitfleet.api.layout import document
from gitfleet.api.objects import Authored
from gitfleet.api.texts import ApiText
from gitfleet.api.values import HttpUrl, Key, NamespaceName, NonEmpty, ObjectName, Seconds, matching
from gitfleet.formats.cel import SCHEMA as CEL_SCHEMA
from gitfleet.formats.cel import Expression, read_metric_condition
from gitfleet.formats.numbers import SCHEMA as NUMBER_SCHEMA
from gitfleet.formats.numbers import plain_number, read_number
from gitfleet.formats.query_variables import VARIABLE, query_fault

METRIC_TEMPLATE: Final = "MetricTemplate"
_API_VERSION: Final = f"{GITFLEET_GROUP}/v1alpha1"
ROLLOUT_VARIABLES: Final = frozenset({"cluster", "namespace", "name", "kind", "rollout", "batch", "interval"})
"""What a workload rollout gives the queries of its templates."""
RUN_VARIABLES: Final = frozenset(
    {"run", "stage", "placement", "snapshot", "clusters", "namespace", "name", "kind", "interval"}
)
"""What a staged run gives them; namespace, name and kind where its placement has one workload."""
VariableName = Annotated[str, matching(VARIABLE.pattern, ApiText.MUST_NAME_LETTERS())]
Number = Annotated[float, Form(read_number, NUMBER_SCHEMA, plain_number)]
"""A number, also in quotes: what KubeVela writes as an IntOrString may have a fraction."""
MetricCondition = Annotated[Expression, Form(read_metric_condition, CEL_SCHEMA, lambda expression: expression.source)]


class NoData(StrEnum):
    """What a measurement without data counts as: a failed one, a passed one, or none."""

    FAIL = "Fail"
    COUNT_AS_PASSED = "Pass"
    INCONCLUSIVE = "Inconclusive"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsRange:
    """Between which values a measurement passes, both included.

    min: the smallest value that passes
    max: the largest value that passes
    """

    min: Number | None = None
    max: Number | None = None

    def breaks(self) -> Iterator[Break]:
        """It says something, and some value can be in it."""
        if self.min is None and self.max is None:
            yield (), ApiText.NEEDS_MIN_MAX()
        elif self.min is not None and self.max is not None and self.min > self.max:
            yield ("min",), ApiText.MUST_NOT_ABOVE_MAX()


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateReference:
    """The MetricTemplate with the query.

    apiVersion: gitfleet.dev/v1alpha1, which may be left out
    kind: MetricTemplate, which may be left out
    namespace: its namespace; the rollout's own where it is absent
    name: its name
    """

    api_version: Annotated[str, OneOf(_API_VERSION)] = _API_VERSION
    kind: Annotated[str, OneOf(METRIC_TEMPLATE)] = METRIC_TEMPLATE
    namespace: NamespaceName = ""
    name: ObjectName


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryMetric:
    """One metric, measured again and again, and what lets the rollout go on.

    name: what the metric is called in messages
    interval: the time between two measurements
    initialDelay: the time before the first measurement
    count: how many measurements must pass
    metricsRange: between which values a measurement passes
    successCondition: a CEL expression over `result` (the first value) and `results` (all) that is true of a passed one
    failureCondition: a CEL expression that is true of a failed one
    failureLimit: how many measurements running may fail; one more fails the rollout
    inconclusiveLimit: how many measurements running may be neither; one more fails the rollout
    noData: what a measurement without data counts as
    templateRef: the MetricTemplate with the query
    args: values for the variables of the template, beside those that are always there
    """

    name: ObjectName
    interval: Seconds = 60.0
    initial_delay: Seconds | None = None
    count: Annotated[int, Interval(ge=1, le=1000)] = 1
    metrics_range: MetricsRange | None = None
    success_condition: MetricCondition | None = None
    failure_condition: MetricCondition | None = None
    failure_limit: Annotated[int, Interval(ge=0, le=1000)] = 0
    inconclusive_limit: Annotated[int, Interval(ge=0, le=1000)] = 3
    no_data: NoData = NoData.FAIL
    template_ref: TemplateReference
    args: Mapping[VariableName, str] = field(default_factory=dict)

    def breaks(self) -> Iterator[Break]:
        """Something says which measurement passes."""
        if self.metrics_range is None and self.success_condition is None and self.failure_condition is None:
            yield ("metricsRange",), ApiText.NEEDS_METRICSRANGE_SUCCESSCONDITION_FAILURECONDITION()


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricProvider:
    """Who evaluates a query.

    type: the name of the provider: prometheus, or one that is installed
    address: where it is, as a URL; the process must allow the host
    """

    type: NonEmpty = "prometheus"
    address: HttpUrl


@document("spec", identify=lambda _: (_API_VERSION, METRIC_TEMPLATE))
@dataclass(frozen=True, slots=True, kw_only=True)
class MetricTemplate(Authored):
    """A query with variables in double braces, such as {{ cluster }}, {{ namespace }} and {{ name }}.

    provider: who evaluates the query
    query: the query
    """

    key: Key
    provider: MetricProvider
    query: Annotated[str, Len(1, 10_000), Check(query_fault)]
