"""What one measurement means: passed, failed, or neither (seed 004, CanaryMetric; Argo Rollouts for the conditions)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isinf, isnan
from typing import Final, Protocol

from gitfleet.analysis.texts import AnalysisText
from gitfleet.api.metrics import CanaryMetric, NoData
from gitfleet.api.workload_records import MeasurementVerdict
from gitfleet.formats.cel import CannotEvaluate, Expression
from gitfleet.model.calls import MetricOutcome

MOST_VALUES: Final = 50
"""A query that gives more values is to aggregate them."""
_PASSED, _FAILED = MeasurementVerdict.PASSED, MeasurementVerdict.FAILED
_INCONCLUSIVE: Final = MeasurementVerdict.INCONCLUSIVE
_NO_DATA: Final = {
    NoData.FAIL: _FAILED,
    NoData.COUNT_AS_PASSED: _PASSED,
    NoData.INCONCLUSIVE: _INCONCLUSIVE,
}


class Answered(Protocol):
    """What came of a query, or of a query and its baseline."""

    @property
    def outcome(self) -> MetricOutcome:
        """Whether there are values."""

    @property
    def values(self) -> tuple[float, ...]:
        """The values."""

    @property
    def message(self) -> str:
        """One sentence where there are none."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a measurement means, its values as they are recorded, and why in half a sentence ("" where nothing is to be
    said)."""

    verdict: MeasurementVerdict
    outcome: MetricOutcome
    values: tuple[float, ...] = ()
    why: str = ""


def judged(metric: CanaryMetric, answer: Answered, *, compares: bool = False) -> Judgement:
    """What an answer means. An error of the provider is neither passed nor failed, and NaN is no data.

    Every value must be in `metricsRange`; with `compares` the first is the one that must, and the second is the
    baseline's.
    """
    values = answer.values
    if answer.outcome is MetricOutcome.FAILED:
        return Judgement(_INCONCLUSIVE, answer.outcome, (), answer.message or AnalysisText.PROVIDER_SAYS_NOTHING_WHY())
    if answer.outcome is MetricOutcome.NO_DATA or not values or any(map(isnan, values)):
        verdict = _NO_DATA[metric.no_data]
        said = f"{answer.message}; " if answer.message and not values else ""
        return Judgement(verdict, MetricOutcome.NO_DATA, (), f"{said}noData is {metric.no_data.value}")
    if len(values) > MOST_VALUES:
        why = AnalysisText.VALUES_MOST_JUDGED(count=len(values), most_values=MOST_VALUES)
        return Judgement(_INCONCLUSIVE, answer.outcome, (), why)
    verdict, why = _by_conditions(metric, values, values[:1] if compares else values)
    finite = () if any(map(isinf, values)) else values  # a file of JSON has no infinity
    return Judgement(verdict, answer.outcome, finite, why if finite else f"infinite: {why}" if why else "infinite")


def number_text(value: float) -> str:
    """A value in a sentence, to six digits."""
    return f"{value:.6g}"


def _by_conditions(
    metric: CanaryMetric, values: Sequence[float], ranged: Sequence[float]
) -> tuple[MeasurementVerdict, str]:
    try:
        if metric.failure_condition is not None and _holds(metric.failure_condition, values):
            return _FAILED, AnalysisText.FAILURECONDITION_TRUE(source=metric.failure_condition.source)
        if why := _out_of_range(metric, ranged):
            return _FAILED, why
        if metric.success_condition is None or _holds(metric.success_condition, values):
            return _PASSED, ""
    except CannotEvaluate as error:
        return _INCONCLUSIVE, AnalysisText.CONDITION_CANNOT_EVALUATED(error=error)
    why = AnalysisText.SUCCESSCONDITION_FALSE(source=metric.success_condition.source)
    if metric.failure_condition is None:
        return _FAILED, why
    return _INCONCLUSIVE, AnalysisText.AND_SO_IS_FAILURECONDITION(why=why, source=metric.failure_condition.source)


def _holds(condition: Expression, values: Sequence[float]) -> bool:
    return condition.holds_of({"result": values[0], "results": list(values)})


def _out_of_range(metric: CanaryMetric, values: Sequence[float]) -> str:
    span = metric.metrics_range
    if span is None:
        return ""
    most, least = max(values), min(values)
    if span.max is not None and most > span.max:
        return AnalysisText.ABOVE_LARGEST_ALLOWED(named=_named(most, values), number_text=number_text(span.max))
    if span.min is not None and least < span.min:
        return AnalysisText.BELOW_SMALLEST_ALLOWED(named=_named(least, values), number_text=number_text(span.min))
    return ""


def _named(value: float, values: Sequence[float]) -> str:
    return f"{number_text(value)} is " if len(values) > 1 else ""
