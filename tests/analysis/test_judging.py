"""What one measurement means: a table over conditions and answers."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.analysis.standings import judged
from gitfleet.analysis.texts import AnalysisText
from gitfleet.api.metrics import MetricsRange, NoData
from gitfleet.api.workload_records import MeasurementVerdict
from gitfleet.formats.cel import read_metric_condition
from tests.analysis.builders import answer, metric

P, F, N = MeasurementVerdict.PASSED, MeasurementVerdict.FAILED, MeasurementVerdict.INCONCLUSIVE
_ALONE: dict[str, Any] = {"metrics_range": None}


def cel(*, success: str | None = None, failure: str | None = None) -> dict[str, Any]:
    """Conditions alone."""
    given = {"success_condition": success, "failure_condition": failure}
    return _ALONE | {name: read_metric_condition(text) for name, text in given.items() if text is not None}


@pytest.mark.parametrize(
    ("fields", "said", "verdict", "values", "why"),
    [
        ({}, 0.01, P, (0.01,), ""),
        ({}, 0.05, P, (0.05,), ""),
        ({}, 0.12, F, (0.12,), AnalysisText.ABOVE_LARGEST_ALLOWED(named="", number_text="0.05")),
        (
            {"metrics_range": MetricsRange(min=0.99)},
            0.5,
            F,
            (0.5,),
            AnalysisText.BELOW_SMALLEST_ALLOWED(named="", number_text="0.99"),
        ),
        ({"metrics_range": MetricsRange(min=0, max=1)}, 0, P, (0.0,), ""),
        (
            {},
            (0.01, 0.12),
            F,
            (0.01, 0.12),
            ("0.12 is " + AnalysisText.ABOVE_LARGEST_ALLOWED(named="", number_text="0.05")),
        ),
        ({}, float("inf"), F, (), ("infinite: " + AnalysisText.ABOVE_LARGEST_ALLOWED(named="", number_text="0.05"))),
        (_ALONE, float("-inf"), P, (), "infinite"),
        (_ALONE, 7, P, (7.0,), ""),
        ({}, float("nan"), F, (), "noData is Fail"),
        ({}, "none", F, (), "noData is Fail"),
        ({}, (), F, (), "noData is Fail"),
        ({"no_data": NoData.COUNT_AS_PASSED}, "none", P, (), "noData is Pass"),
        ({"no_data": NoData.INCONCLUSIVE}, "none", N, (), "noData is Inconclusive"),
        ({}, "error", N, (), "connection refused"),
        (cel(success="result < 0.05"), 0.01, P, (0.01,), ""),
        (cel(success="result < 0.05"), 0.12, F, (0.12,), AnalysisText.SUCCESSCONDITION_FALSE(source="result < 0.05")),
        (cel(failure="result > 0.5"), 0.12, P, (0.12,), ""),
        (cel(failure="result > 0.5"), 0.7, F, (0.7,), AnalysisText.FAILURECONDITION_TRUE(source="result > 0.5")),
        (cel(success="result < 0.05", failure="result > 0.5"), 0.01, P, (0.01,), ""),
        (
            cel(success="result < 0.05", failure="result > 0.5"),
            0.12,
            N,
            (0.12,),
            (
                AnalysisText.SUCCESSCONDITION_FALSE(source="result < 0.05")
                + AnalysisText.AND_SO_IS_FAILURECONDITION(why="", source="result > 0.5")
            ),
        ),
        (
            cel(success="results.all(r, r < 0.05)"),
            (0.01, 0.12),
            F,
            (0.01, 0.12),
            AnalysisText.SUCCESSCONDITION_FALSE(source="results.all(r, r < 0.05)"),
        ),
        (cel(success="results[0] < results[1] * 1.5"), (0.01, 0.02), P, (0.01, 0.02), ""),
        (cel(success="results[1] < 2.0"), 0.01, N, (0.01,), AnalysisText.CONDITION_CANNOT_EVALUATED(error="")),
        (
            cel(success="result > 0.0") | {"metrics_range": MetricsRange(max=0.05)},
            0.12,
            F,
            (0.12,),
            AnalysisText.ABOVE_LARGEST_ALLOWED(named="", number_text="0.05"),
        ),
        ({}, (0.0,) * 51, N, (), AnalysisText.VALUES_MOST_JUDGED(count="51", most_values="50")),
    ],
)
def test_a_measurement(
    fields: dict[str, Any], said: Any, verdict: MeasurementVerdict, values: tuple[float, ...], why: str
) -> None:
    found = judged(metric(**fields), answer("x", said))
    assert (found.verdict, found.values) == (verdict, values)
    assert found.why.startswith(why) and bool(found.why) == bool(why)


def test_the_range_is_the_measured_value_alone_where_it_is_compared() -> None:
    assert judged(metric(), answer("x", (0.01, 0.9)), compares=True).verdict is P
    assert judged(metric(), answer("x", (0.9, 0.01)), compares=True).verdict is F
