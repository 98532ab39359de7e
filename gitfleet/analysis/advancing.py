"""One step of an analysis: answers are taken in, metrics are measured when they are due, and the verdict follows.

A metric has at most one measurement under way. Its answer is judged once, whenever it comes and however often: so
neither the order of answers nor a crash, after which the query goes out again with the same id and moment, changes what
an analysis comes to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from gitfleet.analysis.standings import (
    AnalysisVerdict,
    Judgement,
    Standing,
    judged,
    sentence_of,
    standing_of,
    verdict_of,
)
from gitfleet.analysis.templates import Unresolved, resolved
from gitfleet.analysis.texts import AnalysisText
from gitfleet.api.metrics import CanaryMetric, MetricTemplate
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import Measurement, MeasurementVerdict, MetricOutcome
from gitfleet.formats.canonical_json import digest_of
from gitfleet.model.calls import Answers, MetricAnswer, MetricQuery

KEPT: Final = 10
"""Measurements of each metric that are kept; counts of earlier ones are in the first of them."""
_BASELINE: Final = "-baseline"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What one analysis is about: `key` begins the ids of its measurements, and is another one for another batch,
    stage, cluster or attempt; `began` is when it began; `variables` are those of the templates (cluster, namespace,
    name and so on); `templates` are the templates that its metrics name, with namespace `namespace` where they say
    none.

    `baseline` are the variables that differ in a second query, with which each measurement is compared; None: there is
    none. `cluster` is whose measurements these are, where each cluster has its own. `goes_on` measures on although
    it failed, until it passes; `retained` is how many measurements of each metric are kept.
    """

    key: str
    began: datetime
    namespace: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    templates: Mapping[NamespacedName, MetricTemplate] = field(default_factory=dict)
    baseline: Mapping[str, str] | None = None
    cluster: str = ""
    goes_on: bool = False
    retained: int = KEPT


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysed:
    """The measurements with what came of them (the oldest first, a bounded number), the queries that are to be under
    way now, the verdict, why in one sentence with the numbers, and when the next measurement is due."""

    measurements: tuple[Measurement, ...]
    queries: tuple[MetricQuery, ...] = ()
    verdict: AnalysisVerdict = AnalysisVerdict.RUNNING
    message: str = ""
    wake_at: datetime | None = None


def advance(
    metrics: Sequence[CanaryMetric], measurements: Sequence[Measurement], scope: Scope, answers: Answers, now: datetime
) -> Analysed:
    """One step of an analysis: take in the answers, say which measurements are due, and judge.

    Without metrics it has passed. A metric has passed once `count` of its measurements passed, and failed once more
    than `failureLimit` of them running failed, or more than `inconclusiveLimit` running were neither; the analysis has
    failed once one of them has, and passed once all have. Measurements of another scope are left out.
    """
    own = [m for m in sorted(measurements, key=lambda m: m.number) if m.id.startswith(_prefix(scope))]
    of = {metric.name: [m for m in own if m.metric == metric.name] for metric in metrics}
    standings = [standing_of(metric, of[metric.name]) for metric in metrics]
    if _is_measured(scope, standings):
        of = {metric.name: _with_answers(metric, of[metric.name], answers) for metric in metrics}
        standings = [standing_of(metric, of[metric.name]) for metric in metrics]
    for at, standing in enumerate(standings):
        due = _due(scope, standing, now)
        if due is not None and due <= now and _is_measured(scope, standings):
            of[standing.metric.name].append(_measured(standing, scope, now.replace(microsecond=0)))
            standings[at] = standing_of(standing.metric, of[standing.metric.name])
    asking = standings if _is_measured(scope, standings) else []
    recent = (m for metric in metrics for m in of[metric.name][-scope.retained :])
    return Analysed(
        measurements=tuple(sorted(recent, key=lambda m: m.at)),
        queries=tuple(query for standing in asking if standing.open is not None for query in _queries(standing.open)),
        verdict=verdict_of(standings),
        message=sentence_of(standings),
        wake_at=min((due for standing in asking if (due := _due(scope, standing, now)) is not None), default=None),
    )


def _is_measured(scope: Scope, standings: Sequence[Standing]) -> bool:
    """Whether anything is still measured: not once the analysis is over."""
    verdict = verdict_of(standings)
    return verdict is AnalysisVerdict.RUNNING or (verdict is AnalysisVerdict.FAILED and scope.goes_on)


def _due(scope: Scope, standing: Standing, now: datetime) -> datetime | None:
    """When a metric is to be measured next; None while it is being measured, and once it has passed. After a
    measurement of a later moment, by a clock that was put back, at once."""
    if standing.open is not None or standing.verdict is AnalysisVerdict.PASSED:
        return None
    if standing.last is None:
        return scope.began + timedelta(seconds=standing.metric.initial_delay or 0.0)
    return now if standing.last.at > now else standing.last.at + timedelta(seconds=standing.metric.interval)


def _with_answers(metric: CanaryMetric, measurements: Sequence[Measurement], answers: Answers) -> list[Measurement]:
    """The measurements of a metric; one that had no answer is judged where one came."""
    judged_so_far: list[Measurement] = []
    for measurement in measurements:
        answer = _answer(measurement, answers) if measurement.verdict is None else None
        if answer is not None:
            judgement = judged(metric, answer, compares=bool(measurement.baseline))
            measurement = _with_judgement(measurement, judgement, standing_of(metric, judged_so_far))
        judged_so_far.append(measurement)
    return judged_so_far


def _answer(measurement: Measurement, answers: Answers) -> MetricAnswer | None:
    """What came of a measurement; of one with a baseline, of both queries together, once both have an answer."""
    first, second = answers.get(measurement.id), answers.get(measurement.id + _BASELINE)
    if not isinstance(first, MetricAnswer) or not measurement.baseline:
        return first if isinstance(first, MetricAnswer) else None
    if not isinstance(second, MetricAnswer):
        return None
    if not _has_values(first):
        return first
    if not _has_values(second):
        return replace(second, message=f"the baseline: {second.message or 'no data'}")
    return replace(first, values=(first.values[0], second.values[0]))


def _has_values(answer: MetricAnswer) -> bool:
    return answer.outcome is MetricOutcome.MEASURED and bool(answer.values)


def _measured(standing: Standing, scope: Scope, at: datetime) -> Measurement:
    """The next measurement of a metric, without an answer; one that cannot be made is inconclusive at once."""
    metric, number = standing.metric, standing.last.number + 1 if standing.last is not None else 0
    measurement = Measurement(
        id=f"{_prefix(scope)}{metric.name}-{number}",
        metric=metric.name,
        number=number,
        cluster=scope.cluster,
        provider="",
        address="",
        query="",
        at=at,
    )
    key = NamespacedName(metric.template_ref.namespace or scope.namespace, metric.template_ref.name)
    template = scope.templates.get(key)
    try:
        if template is None:
            raise Unresolved(AnalysisText.NO_METRICTEMPLATE_ADD(key=key))
        variables = {**scope.variables, "interval": _promql_duration(metric.interval), **metric.args}
        query = resolved(template.query, variables)
        baseline = "" if scope.baseline is None else resolved(template.query, {**variables, **scope.baseline})
    except Unresolved as error:
        judgement = Judgement(MeasurementVerdict.INCONCLUSIVE, MetricOutcome.FAILED, (), str(error))
        return _with_judgement(measurement, judgement, standing)
    provider = template.provider
    return replace(measurement, provider=provider.type, address=provider.address, query=query, baseline=baseline)


def _with_judgement(measurement: Measurement, judgement: Judgement, before: Standing) -> Measurement:
    counts = before.counts.after(judgement.verdict, before.metric)
    return replace(
        measurement,
        values=judgement.values,
        outcome=judgement.outcome,
        verdict=judgement.verdict,
        message=judgement.why,
        passed=counts.passed,
        failed=counts.failed,
        inconclusive=counts.inconclusive,
    )


def _queries(m: Measurement) -> Iterator[MetricQuery]:
    """The queries of a measurement that has no answer yet, as they are recorded."""
    query = MetricQuery(id=m.id, provider=m.provider, address=m.address, query=m.query, at=m.at)
    yield query
    if m.baseline:
        yield replace(query, id=m.id + _BASELINE, query=m.baseline)


def _prefix(scope: Scope) -> str:
    return f"{digest_of(scope.key)[:24]}-"


def _promql_duration(seconds: float) -> str:
    return f"{int(seconds)}s" if seconds == int(seconds) else f"{round(seconds * 1000)}ms"
