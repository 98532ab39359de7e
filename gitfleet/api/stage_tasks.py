"""What stands before and after a stage of a staged update: approvals, waits, and (gitfleet's own) metrics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Annotated, Final

from annotated_types import Len

from gitfleet.api.annotations import At, Break, Form, names_taken
from gitfleet.api.metrics import CanaryMetric
from gitfleet.api.texts import ApiText
from gitfleet.formats.durations import SCHEMA_WITH_ZERO, read_seconds, seconds_text

_WAIT: Final = Form(partial(read_seconds, zero=True), SCHEMA_WITH_ZERO, seconds_text)
"""Hubs write 0s in approvals (seed 003); a TimedWait needs more."""


class TaskType(StrEnum):
    """What must be over before a run goes on: a person's approval, a time, or what metrics say."""

    APPROVAL = "Approval"
    TIMED_WAIT = "TimedWait"
    ANALYSIS = "Analysis"


class OnStageFailure(StrEnum):
    """What a run does where a stage, or an analysis after it, fails."""

    WAIT = "Wait"
    STOP = "Stop"
    ROLLBACK = "Rollback"


class AnalysisScope(StrEnum):
    """What an Analysis measures: all clusters of the stage together, each of them by itself, or all of them together
    against those of the later stages."""

    STAGE = "Stage"
    CLUSTER = "Cluster"
    CANARY = "Canary"


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTask:
    """Something that must be over before the run goes on.

    type: Approval waits for a person, TimedWait for its time, Analysis for metrics
    waitTime: how long a TimedWait takes, such as 1h
    metrics: what an Analysis measures, and what lets the run go on
    scope: whether an Analysis asks once for all clusters of the stage (Stage), for each of them (Cluster), or compares
      them with those of the later stages (Canary)
    onFailure: what the run does where an Analysis fails; as onFailure of the stage where it is absent, else Stop
    """

    type: TaskType
    wait_seconds: Annotated[float | None, _WAIT, At("waitTime")] = None
    metrics: Annotated[tuple[CanaryMetric, ...], Len(0, 20)] = ()
    scope: AnalysisScope | None = None
    on_failure: OnStageFailure | None = None

    def breaks(self) -> Iterator[Break]:
        """TimedWait alone has a time, Analysis alone metrics, each under a name of its own."""
        waits, analyses = self.type is TaskType.TIMED_WAIT, self.type is TaskType.ANALYSIS
        if waits and not self.wait_seconds:
            yield ("waitTime",), ApiText.REQUIRED_TYPE_TIMEDWAIT()
        if analyses and not self.metrics:
            yield ("metrics",), ApiText.REQUIRED_TYPE_ANALYSIS()
        fields = {"metrics": self.metrics, "scope": self.scope, "onFailure": self.on_failure} if not analyses else {}
        for name, value in {**fields, "waitTime": not waits and self.wait_seconds}.items():
            if value:
                yield (name,), ApiText.NOT_GO_TYPE(name=self.type)
        yield from names_taken((metric.name for metric in self.metrics), ("metrics",), "metric")
