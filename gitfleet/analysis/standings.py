"""How each metric of an analysis stands, recomputed from its recorded measurements alone.

Only a measurement that passed ends a sequence of failed or of inconclusive ones: one that fails each other time does
not go on for ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isinf, isnan
from typing import Final, NamedTuple

from gitfleet.analysis.texts import AnalysisText
from gitfleet.api.metrics import CanaryMetric, NoData
from gitfleet.api.workload_records import Measurement, MeasurementVerdict, MetricOutcome
from gitfleet.formats.cel import CannotEvaluate, Expression
from gitfleet.formats.sentences import counted, named_briefly
from gitfleet.formats.times import moment_text
from gitfleet.model.calls import MetricAnswer

MOST_VALUES: Final = 50
"""A query that gives more values is to aggregate them."""
_PASSED, _FAILED = MeasurementVerdict.PASSED, MeasurementVerdict.FAILED
_INCONCLUSIVE: Final = MeasurementVerdict.INCONCLUSIVE
_NO_DATA: Final = {NoData.FAIL: _FAILED, NoData.COUNT_AS_PASSED: _PASSED, NoData.INCONCLUSIVE: _INCONCLUSIVE}


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a measurement means, its values as they are recorded, and why in half a sentence ("" where nothing is to be
    said)."""

    verdict: MeasurementVerdict
    outcome: MetricOutcome
    values: tuple[float, ...] = ()
    why: str = ""


def judged(metric: CanaryMetric, answer: MetricAnswer, *, compares: bool = False) -> Judgement:
    """What an answer means. An error of the provider is neither passed nor failed, and NaN is no data.

    Every value must be in `metricsRange`; with `compares` the first is the one that must, and the second is the
    baseline's.
    """
    values = answer.values
    if answer.outcome is MetricOutcome.FAILED:
        return Judgement(_INCONCLUSIVE, answer.outcome, (), answer.message or AnalysisText.PROVIDER_SAYS_NOTHING_WHY())
    if answer.outcome is MetricOutcome.NO_DATA or not values or any(map(isnan, values)):
        verdict = _NO_DATA[metric.no_data]
        prefix = f"{answer.message}; " if answer.message and not values else ""
        return Judgement(verdict, MetricOutcome.NO_DATA, (), f"{prefix}noData is {metric.no_data.value}")
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
        if metric.failure_condition is not None and _is_true(metric.failure_condition, values):
            return _FAILED, AnalysisText.FAILURECONDITION_TRUE(source=metric.failure_condition.source)
        if why := _out_of_range(metric, ranged):
            return _FAILED, why
        if metric.success_condition is None or _is_true(metric.success_condition, values):
            return _PASSED, ""
    except CannotEvaluate as error:
        return _INCONCLUSIVE, AnalysisText.CONDITION_CANNOT_EVALUATED(error=error)
    why = AnalysisText.SUCCESSCONDITION_FALSE(source=metric.success_condition.source)
    if metric.failure_condition is None:
        return _FAILED, why
    return _INCONCLUSIVE, AnalysisText.AND_SO_IS_FAILURECONDITION(why=why, source=metric.failure_condition.source)


def _is_true(condition: Expression, values: Sequence[float]) -> bool:
    return condition.is_true_with({"result": values[0], "results": list(values)})


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


_MOST_NUMBERS = 5


class AnalysisVerdict(StrEnum):
    """What metrics say so far."""

    RUNNING = "Running"
    PASSED = "Passed"
    FAILED = "Failed"


class Counts(NamedTuple):
    """How many measurements passed, and how many failed or were neither since the last that passed."""

    passed: int = 0
    failed: int = 0
    inconclusive: int = 0

    def after(self, verdict: MeasurementVerdict, metric: CanaryMetric) -> Counts:
        """The counts after one more measurement. Once too many failed, those that passed before count no more."""
        if verdict is MeasurementVerdict.PASSED:
            return Counts(self.passed + 1)
        failed = verdict is MeasurementVerdict.FAILED
        new = Counts(self.passed, self.failed + failed, self.inconclusive + (not failed))
        return new._replace(passed=0) if new.exceed(metric) else new

    def exceed(self, metric: CanaryMetric) -> bool:
        """Whether more measurements running failed, or were neither, than the metric allows."""
        return self.failed > metric.failure_limit or self.inconclusive > metric.inconclusive_limit

    def verdict(self, metric: CanaryMetric) -> AnalysisVerdict:
        """What a metric with these counts says."""
        if self.exceed(metric):
            return AnalysisVerdict.FAILED
        return AnalysisVerdict.PASSED if self.passed >= metric.count else AnalysisVerdict.RUNNING


@dataclass(frozen=True, slots=True)
class Standing:
    """How one metric stands: its counts, its last measurement that was judged, and the one that has no answer yet."""

    metric: CanaryMetric
    counts: Counts
    last: Measurement | None = None
    open: Measurement | None = None

    @property
    def verdict(self) -> AnalysisVerdict:
        """What the metric says so far."""
        return self.counts.verdict(self.metric)

    @property
    def sentence(self) -> str:
        """Its last value, its limits and its counts in one sentence."""
        if self.last is None:
            return f"{self.metric.name} {(AnalysisText.HAS_NOT_BEEN() if self.open is None else 'is being')} measured"
        return f"{measurement_text(self.last)}, {self._counts(self.last)}"

    def _counts(self, last: Measurement) -> str:
        passed, failed, inconclusive = self.counts
        match last.verdict:
            case MeasurementVerdict.FAILED:
                return f"{counted(failed, 'time')} running (failureLimit {self.metric.failure_limit})"
            case MeasurementVerdict.INCONCLUSIVE:
                limit = self.metric.inconclusive_limit
                return f"inconclusive {counted(inconclusive, 'time')} running (inconclusiveLimit {limit})"
            case MeasurementVerdict.PASSED | None:
                return f"passed {passed} of {self.metric.count}"


def standing_of(metric: CanaryMetric, measurements: Iterable[Measurement]) -> Standing:
    """How a metric stands by its measurements, the oldest first. Those that were forgotten before the first are in the
    counts which that one records."""
    counts, last, pending = Counts(), None, None
    for measurement in sorted(measurements, key=lambda measurement: measurement.number):
        if measurement.verdict is None:
            pending = measurement
        elif last is None:
            counts, last = Counts(measurement.passed, measurement.failed, measurement.inconclusive), measurement
        else:
            counts, last = counts.after(measurement.verdict, metric), measurement
    return Standing(metric, counts, last, pending)


def verdict_of(standings: Sequence[Standing]) -> AnalysisVerdict:
    """What all metrics together say: failed once one has, passed once all have."""
    verdicts = {standing.verdict for standing in standings}
    if AnalysisVerdict.FAILED in verdicts:
        return AnalysisVerdict.FAILED
    return AnalysisVerdict.PASSED if verdicts <= {AnalysisVerdict.PASSED} else AnalysisVerdict.RUNNING


def sentence_of(standings: Sequence[Standing]) -> str:
    """Why the analysis is where it is, with the numbers: of the metrics that failed where some did, else of all."""
    failed = [standing for standing in standings if standing.verdict is AnalysisVerdict.FAILED]
    return "; ".join(standing.sentence for standing in failed or standings)


def measurement_text(measurement: Measurement) -> str:
    """What one measurement was, when, and why it counts as it does."""
    where = f"{measurement.metric} on {measurement.cluster}" if measurement.cluster else measurement.metric
    at, why = moment_text(measurement.at), f", {measurement.message}" if measurement.message else ""
    match measurement.outcome:
        case MetricOutcome.MEASURED if measurement.values:
            return f"{where} was {_values(measurement)} at {at}{why}"
        case MetricOutcome.MEASURED:
            return AnalysisText.WAS_MEASURED_AT(where=where, at=at, why=why)
        case MetricOutcome.NO_DATA:
            return AnalysisText.NO_DATA(where=where, at=at, why=why)
        case MetricOutcome.FAILED | None:
            return AnalysisText.COULD_NOT_MEASURED(where=where, at=at, why=why)


def _values(measurement: Measurement) -> str:
    numbers = [number_text(value) for value in measurement.values]
    if measurement.baseline and len(numbers) > 1:
        return f"{numbers[0]} against {numbers[1]}"
    return named_briefly(numbers, _MOST_NUMBERS)
