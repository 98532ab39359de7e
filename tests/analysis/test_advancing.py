"""Analyses step by step, and what must hold of every one: neither the order of answers, nor how often they come, nor a
crash changes the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitfleet.analysis import Analysed, AnalysisVerdict, Scope, advance
from gitfleet.analysis.standings import standing_of
from gitfleet.analysis.texts import AnalysisText
from gitfleet.api.metrics import CanaryMetric, TemplateReference
from gitfleet.model.calls import MetricAnswer, MetricQuery
from tests.analysis.builders import BEGAN, answer, metric, scope

RUNNING, PASSED, FAILED = AnalysisVerdict.RUNNING, AnalysisVerdict.PASSED, AnalysisVerdict.FAILED
_ABOVE = "error-rate was 0.12 at 2026-01-31 10:{}:00 UTC, " + AnalysisText.ABOVE_LARGEST_ALLOWED(
    named="", number_text="0.05"
)
_FAILED = AnalysisText.COULD_NOT_MEASURED(where="error-rate", at="", why="2026-01-31 10:{}:00 UTC, {}")
_MISSING = AnalysisText.NO_METRICTEMPLATE_ADD(key="shop/other")


def at(seconds: float) -> datetime:
    """So many seconds after the analysis began."""
    return BEGAN + timedelta(seconds=seconds)


def measured(metrics: Sequence[CanaryMetric], said: Sequence[Any], where: Scope) -> tuple[Analysed, datetime]:
    """Each measurement answered at once, with the next of what is `said`, until the analysis is over or nothing is
    left to be said; and when that was."""
    now, rest = BEGAN, list(said)
    found = advance(metrics, (), where, {}, now)
    while True:
        while found.queries and rest:
            found = advance(
                metrics, found.measurements, where, {q.id: answer(q.id, rest.pop(0)) for q in found.queries[:1]}, now
            )
        if found.wake_at is None or not rest:
            return found, now
        now = found.wake_at
        found = advance(metrics, found.measurements, where, {}, now)


def test_nothing_to_measure_has_passed() -> None:
    assert advance((), (), scope(), {}, BEGAN) == Analysed(measurements=(), verdict=PASSED)


@pytest.mark.parametrize(
    ("fields", "said", "verdict", "message"),
    [
        ({}, [0.01], PASSED, "error-rate was 0.01 at 2026-01-31 10:00:00 UTC, passed 1 of 1"),
        ({}, [0.12], FAILED, f"{_ABOVE.format('00')}, 1 time running (failureLimit 0)"),
        ({"count": 3}, [0.01, 0.01], RUNNING, "error-rate was 0.01 at 2026-01-31 10:01:00 UTC, passed 2 of 3"),
        ({"count": 3}, [0.01, 0.01, 0.01], PASSED, "error-rate was 0.01 at 2026-01-31 10:02:00 UTC, passed 3 of 3"),
        (
            {"count": 3, "failure_limit": 1},
            [0.12, 0.01, 0.12, 0.01, 0.01],
            PASSED,
            "error-rate was 0.01 at 2026-01-31 10:04:00 UTC, passed 3 of 3",
        ),
        (
            {"count": 3, "failure_limit": 1},
            [0.01, 0.01, 0.12, 0.12],
            FAILED,
            f"{_ABOVE.format('03')}, 2 times running (failureLimit 1)",
        ),
        ({"failure_limit": 1, "count": 2}, [0.12, "error", 0.12], FAILED, "2 times running (failureLimit 1)"),
        (
            {"inconclusive_limit": 1},
            ["error", "error"],
            FAILED,
            f"{_FAILED.format('01', 'connection refused')}, inconclusive 2 times running (inconclusiveLimit 1)",
        ),
        ({"inconclusive_limit": 1}, ["error", 0.01], PASSED, "passed 1 of 1"),
        (
            {},
            ["none"],
            FAILED,
            AnalysisText.NO_DATA(
                where="error-rate", at="", why="2026-01-31 10:00:00 UTC, noData is Fail, 1 time running"
            ),
        ),
        (
            {"template_ref": TemplateReference(name="other"), "inconclusive_limit": 0},
            [],
            FAILED,
            f"{_FAILED.format('00', _MISSING)}, inconclusive 1 time running (inconclusiveLimit 0)",
        ),
        ({"args": {"cluster": "eu-2"}}, [], RUNNING, "error-rate is being measured"),
    ],
)
def test_measurements_running(fields: dict[str, Any], said: list[Any], verdict: AnalysisVerdict, message: str) -> None:
    found, _ = measured([metric(**fields)], said, scope())
    assert found.verdict is verdict
    assert message in found.message
    if verdict is not RUNNING:
        assert (found.queries, found.wake_at) == ((), None)


def test_args_stand_for_variables_and_interval_is_always_there() -> None:
    one = metric(args={"cluster": "eu-2", "limit": "5"}, interval=0.5)
    found = advance([one], (), scope('x{c="{{cluster}}"}[{{interval}}] > {{args.limit}}'), {}, BEGAN)
    assert found.queries[0].query == 'x{c="eu-2"}[500ms] > 5'


def test_a_measurement_with_a_baseline_is_two_queries_and_waits_for_both() -> None:
    metrics, where = [metric()], scope(baseline={"cluster": "eu-2"})
    found = advance(metrics, (), where, {}, BEGAN)
    one, other = found.queries
    assert (one.query, other.query) == ('errors{cluster="eu-1"}', 'errors{cluster="eu-2"}')
    half = advance(metrics, found.measurements, where, {one.id: answer(one.id, 0.01)}, BEGAN)
    assert half == found
    both = {one.id: answer(one.id, 0.12), other.id: answer(other.id, 0.02)}
    found = advance(metrics, found.measurements, where, both, BEGAN)
    assert "error-rate was 0.12 against 0.02 at" in found.message and found.verdict is FAILED


def test_a_clock_that_was_put_back_makes_no_metric_wait_for_the_old_time() -> None:
    metrics, where = [metric(count=3)], scope()
    found, _ = measured(metrics, [0.01, 0.01], where)
    back = advance(metrics, found.measurements, where, {}, at(-3600))
    assert [one.at for one in back.queries] == [at(-3600)]
    back = advance(metrics, back.measurements, where, {q.id: answer(q.id, 0.12) for q in back.queries}, at(-3600))
    assert back.verdict is FAILED and "passed 2" not in back.message
    assert standing_of(metrics[0], back.measurements).verdict is FAILED


_SAID = st.lists(st.sampled_from([0.01, 0.12, "none", "error"]), max_size=40)
_FIELDS = st.fixed_dictionaries(
    {
        "count": st.integers(1, 15),
        "failure_limit": st.integers(0, 12),
        "inconclusive_limit": st.integers(0, 12),
        "interval": st.sampled_from([10.0, 60.0]),
    }
)


@given(
    seed=st.integers(0, 10**6),
    fields=st.lists(_FIELDS, min_size=1, max_size=3),
    said=st.lists(_SAID, min_size=3, max_size=3),
)
@settings(max_examples=60)
def test_order_repetition_and_loss_of_answers_change_no_verdict(
    seed: int, fields: list[dict[str, Any]], said: list[list[Any]]
) -> None:
    """The n-th measurement of a metric has the same answer in both: in one each comes at once, in the other late, more
    than once, together with those of other metrics or not, and some are lost with the process."""
    metrics, where, random = [metric(f"m{number}", **one) for number, one in enumerate(fields)], scope(), Random(seed)

    def answered(query: MetricQuery) -> MetricAnswer:
        name, _, number = query.id.partition("-")[2].rpartition("-")
        values = said[int(name.removeprefix("m"))]
        return answer(query.id, values[int(number) % len(values)] if values else 0.01)

    prompt, now = advance(metrics, (), where, {}, BEGAN), BEGAN
    while prompt.verdict is RUNNING:
        now = now if prompt.queries else prompt.wake_at or now
        prompt = advance(metrics, prompt.measurements, where, {q.id: answered(q) for q in prompt.queries}, now)
    late, now, old = advance(metrics, (), where, {}, BEGAN), BEGAN, dict[str, MetricAnswer]()
    asked = dict[str, MetricQuery]()
    while late.verdict is RUNNING:
        assert all(asked.setdefault(query.id, query) == query for query in late.queries)
        now += timedelta(seconds=random.choice([0, 45, 600]))
        new = {query.id: answered(query) for query in late.queries if random.random() < 0.6}
        old = {**old, **new} if random.random() < 0.8 else new
        late = advance(metrics, late.measurements, where, old, now)
    assert late.verdict is prompt.verdict
