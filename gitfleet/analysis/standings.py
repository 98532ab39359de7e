"""How each metric of an analysis stands, recomputed from its recorded measurements alone.

Only a measurement that passed ends a sequence of failed or of inconclusive ones: one that fails each other time does
not go on for ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from gitfleet.analysis.judging import number_text
from gitfleet.analysis.texts import AnalysisText
from gitfleet.api.metrics import CanaryMetric
from gitfleet.api.workload_records import Measurement, MeasurementVerdict
from gitfleet.formats.sentences import counted, named_briefly
from gitfleet.formats.times import moment_text
from gitfleet.model.calls import MetricOutcome

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
            case _:
                return f"passed {passed} of {self.metric.count}"


def standing_of(metric: CanaryMetric, measurements: Iterable[Measurement]) -> Standing:
    """How a metric stands by its measurements, the oldest first. Those that were forgotten before the first are in the
    counts which that one records."""
    counts, last, pending = Counts(), None, None
    for one in sorted(measurements, key=lambda one: one.number):
        if one.verdict is None:
            pending = one
        elif last is None:
            counts, last = Counts(one.passed, one.failed, one.inconclusive), one
        else:
            counts, last = counts.after(one.verdict, metric), one
    return Standing(metric, counts, last, pending)


def standings_of(metrics: Iterable[CanaryMetric], measurements: Sequence[Measurement]) -> tuple[Standing, ...]:
    """How each metric stands by the recorded measurements of one analysis."""
    return tuple(standing_of(metric, (one for one in measurements if one.metric == metric.name)) for metric in metrics)


def verdict_of(standings: Sequence[Standing]) -> AnalysisVerdict:
    """What all metrics together say: failed once one has, passed once all have."""
    found = {standing.verdict for standing in standings}
    if AnalysisVerdict.FAILED in found:
        return AnalysisVerdict.FAILED
    return AnalysisVerdict.RUNNING if AnalysisVerdict.RUNNING in found else AnalysisVerdict.PASSED


def sentence_of(standings: Sequence[Standing]) -> str:
    """Why the analysis is where it is, with the numbers: of the metrics that failed where some did, else of all."""
    failed = [standing for standing in standings if standing.verdict is AnalysisVerdict.FAILED]
    return "; ".join(standing.sentence for standing in failed or standings)


def measurement_text(one: Measurement) -> str:
    """What one measurement was, when, and why it counts as it does."""
    where = f"{one.metric} on {one.cluster}" if one.cluster else one.metric
    at, why = moment_text(one.at), f", {one.message}" if one.message else ""
    match one.outcome:
        case MetricOutcome.MEASURED.value if one.values:
            return f"{where} was {_values(one)} at {at}{why}"
        case MetricOutcome.MEASURED.value:
            return AnalysisText.WAS_MEASURED_AT(where=where, at=at, why=why)
        case MetricOutcome.NO_DATA.value:
            return AnalysisText.NO_DATA(where=where, at=at, why=why)
        case _:
            return AnalysisText.COULD_NOT_MEASURED(where=where, at=at, why=why)


def _values(one: Measurement) -> str:
    numbers = [number_text(value) for value in one.values]
    if one.baseline and len(numbers) > 1:
        return f"{numbers[0]} against {numbers[1]}"
    return named_briefly(numbers, _MOST_NUMBERS)
