"""Into which batches the pods of a workload fall (seed 004, RolloutPlan)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.api import read
from gitfleet.api.rollout_plans import RolloutPlan, RolloutStrategy
from gitfleet.workload.goals import UnusablePlan, batches_of, last_batch, named_pods
from gitfleet.workload.texts import WorkloadText

NOW = datetime(2026, 1, 1, tzinfo=UTC)
INCREASE, DECREASE = RolloutStrategy.INCREASE_FIRST, RolloutStrategy.DECREASE_FIRST


def plan(**fields: Any) -> RolloutPlan:
    """A plan as people write it."""
    found, breaks = read(RolloutPlan, fields)
    assert found is not None, breaks
    return found


def batches(*replicas: int | str) -> RolloutPlan:
    return plan(rolloutBatches=[{"replicas": one} for one in replicas])


@pytest.mark.parametrize(
    ("given_plan", "span", "ends"),
    [
        (plan(), 5, [5]),
        (plan(numBatches=3), 10, [3, 6, 10]),
        (plan(numBatches=3), 11, [3, 7, 11]),
        (plan(numBatches=3), 2, [0, 1, 2]),
        (plan(numBatches=2), 0, [0, 0]),
        (batches(1, 4), 5, [1, 5]),
        (batches("20%", "40%", "40%"), 5, [1, 3, 5]),
        (batches("33%", "33%", "34%"), 10, [4, 8, 10]),
        (batches("50%", "50%", "0%"), 3, [2, 3, 3]),
        (batches(1, "100%"), 5, [1, 5]),
        (plan(rolloutBatches=[{"podList": ["a", "b"]}, {"replicas": 1}]), 3, [2, 3]),
    ],
)
def test_how_many_pods_are_upgraded_after_each_batch(given_plan: RolloutPlan, span: int, ends: list[int]) -> None:
    found = batches_of(given_plan, span)
    assert [batch.upgraded for batch in found] == ends
    assert [batch.before for batch in found] == [0, *ends[:-1]]
    assert [batch.number for batch in found] == list(range(len(ends)))


@pytest.mark.parametrize(
    ("given_plan", "span", "has"), [(batches(1, 3), 5, 4), (batches(3, 3), 5, 6), (batches("50%", 1), 5, 4)]
)
def test_batches_that_do_not_add_up(given_plan: RolloutPlan, span: int, has: int) -> None:
    with pytest.raises(UnusablePlan, match=WorkloadText.BATCHES_PLAN_PODS(sum=has, span=span)):
        batches_of(given_plan, span)


@given(st.integers(1, 30), st.integers(0, 200))
def test_an_even_split_differs_by_one_at_most_and_the_last_ones_are_larger(number: int, span: int) -> None:
    counts = [batch.upgraded - batch.before for batch in batches_of(plan(numBatches=number), span)]
    assert sum(counts) == span
    assert counts == sorted(counts)
    assert counts[-1] - counts[0] <= 1


@pytest.mark.parametrize(
    ("batch", "strategy", "unavailable"),
    [
        ({"replicas": 4}, INCREASE, 0),
        ({"replicas": 4}, DECREASE, 4),
        ({"replicas": 4, "maxUnavailable": 1}, DECREASE, 1),
        ({"replicas": 4, "maxUnavailable": 1}, INCREASE, 1),
        ({"replicas": 4, "maxUnavailable": "25%"}, INCREASE, 3),
    ],
)
def test_how_many_pods_may_be_not_ready(batch: dict[str, Any], strategy: RolloutStrategy, unavailable: int) -> None:
    first = batches_of(plan(rolloutBatches=[batch, {"replicas": 6}]), 10)[0]
    assert first.unavailable(strategy, 10) == unavailable


@pytest.mark.parametrize(
    ("seconds", "upgraded", "next_at"), [(0, 1, 60), (59, 1, 1), (60, 2, 60), (125, 3, None), (9000, 3, None)]
)
def test_pods_that_follow_each_other_at_an_interval(seconds: int, upgraded: int, next_at: float | None) -> None:
    (batch,) = batches_of(plan(rolloutBatches=[{"replicas": 3, "instanceInterval": 60}]), 3)
    now = NOW + timedelta(seconds=seconds)
    assert (batch.upgraded_at(NOW, now), batch.next_at(NOW, now)) == (upgraded, next_at)


@pytest.mark.parametrize(("last", "number"), [(None, 2), (0, 0), (2, 2)])
def test_the_batch_after_which_it_waits(last: int | None, number: int) -> None:
    given_plan = plan(numBatches=3, **({} if last is None else {"lastBatchToRollout": last}))
    assert last_batch(given_plan, batches_of(given_plan, 6)) == number


def test_the_pods_that_batches_name() -> None:
    found = batches_of(plan(rolloutBatches=[{"podList": ["a"]}, {"podList": ["b", "c"]}]), 3)
    assert [named_pods(found, number) for number in (0, 1)] == [("a",), ("a", "b", "c")]
