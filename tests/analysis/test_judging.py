"""What one measurement means: a table over conditions and answers."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.analysis.judging import judged
from gitfleet.api.metrics import MetricsRange, NoData
from gitfleet.api.workload_records import MeasurementVerdict
from tests.analysis.builders import answer, metric

P, F, N = MeasurementVerdict.PASSED, MeasurementVerdict.FAILED, MeasurementVerdict.INCONCLUSIVE
_ALONE: dict[str, Any] = {"metrics_range": None}


@pytest.mark.parametrize(
    ("fields", "said", "verdict", "values", "why"),
    [
        ({}, 0.01, P, (0.01,), ""),
        ({}, 0.05, P, (0.05,), ""),
        ({}, 0.12, F, (0.12,), "above the largest allowed 0.05"),
        ({"metrics_range": MetricsRange(min=0.99)}, 0.5, F, (0.5,), "below the smallest allowed 0.99"),
        ({"metrics_range": MetricsRange(min=0, max=1)}, 0, P, (0.0,), ""),
        ({}, (0.01, 0.12), F, (0.01, 0.12), "0.12 is above the largest allowed 0.05"),
        ({}, float("inf"), F, (), "infinite: above the largest allowed 0.05"),
        (_ALONE, float("-inf"), P, (), "infinite"),
        (_ALONE, 7, P, (7.0,), ""),
        ({}, float("nan"), F, (), "noData is Fail"),
        ({}, "none", F, (), "noData is Fail"),
        ({}, (), F, (), "noData is Fail"),
        ({"no_data": NoData.COUNT_AS_PASSED}, "none", P, (), "noData is Pass"),
        ({"no_data": NoData.INCONCLUSIVE}, "none", N, (), "noData is Inconclusive"),
        ({}, "error", N, (), "connection refused"),
        ({}, (0.0,) * 51, N, (), "it has 51 values, and at most 50 are judged; aggregate them in the query"),
    ],
)
def test_a_measurement(
    fields: dict[str, Any], said: Any, verdict: MeasurementVerdict, values: tuple[float, ...], why: str
) -> None:
    found = judged(metric(**fields), answer("x", said))
    assert (found.verdict, found.values, found.why) == (verdict, values, why)


def test_the_range_is_the_measured_value_alone_where_it_is_compared() -> None:
    assert judged(metric(), answer("x", (0.01, 0.9)), compares=True).verdict is P
    assert judged(metric(), answer("x", (0.9, 0.01)), compares=True).verdict is F
