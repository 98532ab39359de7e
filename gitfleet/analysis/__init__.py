"""analysis: what metrics say of a rollout.

    advance(metrics, measurements, scope, answers, now) -> Analysed    which measurement is due, and the verdict so far

Everything here is pure. It lies below the domain packages: batches of a workload and stages of a run are gated by the
same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from gitfleet.api.metrics import CanaryMetric, MetricTemplate
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import Measurement
from gitfleet.model.calls import Answers, MetricQuery


class AnalysisVerdict(StrEnum):
    """What metrics say so far."""

    RUNNING = "Running"
    PASSED = "Passed"
    FAILED = "Failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What one analysis is about: `key` begins the ids of its measurements, and is another one for another batch,
    stage, cluster or attempt; `began` is when it began; `variables` are those of the templates (cluster, namespace,
    name and so on); `templates` are the templates that its metrics name, with namespace `namespace` where they say
    none."""

    key: str
    began: datetime
    namespace: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    templates: Mapping[NamespacedName, MetricTemplate] = field(default_factory=dict)


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
    failed once one of them has, and passed once all have.
    """
    raise NotImplementedError
