"""What a scenario answers to webhooks and queries: the first rule that holds and matches."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from gitfleet.api.scenarios import MetricRule, WebhookRule
from gitfleet.model.calls import MetricAnswer, MetricQuery, WebhookCall
from gitfleet.simulation.answers import SimulatedAnswers
from gitfleet.simulation.clock import ManualClock

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def seconds(number: float) -> timedelta:
    """So long after the start."""
    return timedelta(seconds=number)


METRICS = (
    MetricRule(query='rate(x[1m]){a="*"}', value=0.5, start=seconds(60), end=seconds(120)),
    MetricRule(query="*other*", values=(1.0, 2.0)),
    MetricRule(query="fails", fail=True),
    MetricRule(query="empty", no_data=True),
)
WEBHOOKS = (
    WebhookRule(url="https://a.example/*", status=403),
    WebhookRule(url="https://b.example", never=True),
    WebhookRule(url="https://c.example", fail=True),
    WebhookRule(url="https://d.example", status=202),
)


@pytest.mark.parametrize(
    ("query", "at", "outcome", "values"),
    [
        ('rate(x[1m]){a="b"}', 60, "Measured", (0.5,)),
        ('rate(x[1m]){a="b"}', 59, "NoData", ()),
        ('rate(x[1m]){a="b"}', 120, "NoData", ()),
        ("rate(x1){a=b}", 60, "NoData", ()),
        ("an\nother one", 0, "Measured", (1.0, 2.0)),
        ("fails", 0, "Failed", ()),
        ("empty", 0, "NoData", ()),
    ],
)
def test_a_query(query: str, at: float, outcome: str, values: tuple[float, ...]) -> None:
    calls = SimulatedAnswers(clock=ManualClock(BEGAN), began=BEGAN, metrics=METRICS)
    calls.start([MetricQuery(id="q", provider="prometheus", address="x", query=query, at=BEGAN + seconds(at))])
    (answer,) = calls.answers().values()
    assert isinstance(answer, MetricAnswer)
    assert (answer.id, answer.outcome, answer.values) == ("q", outcome, values)


@pytest.mark.parametrize(
    ("url", "expected", "outcome"),
    [
        ("https://a.example/x", (), "Rejected"),
        ("https://a.example/x", (403,), "Passed"),
        ("https://b.example", (), None),
        ("https://c.example", (), "Failed"),
        ("https://d.example", (), "Passed"),
        ("https://d.example", (200,), "Rejected"),
        ("https://e.example", (), "Passed"),
    ],
)
def test_a_webhook(url: str, expected: tuple[int, ...], outcome: str | None) -> None:
    calls = SimulatedAnswers(clock=ManualClock(BEGAN), began=BEGAN, webhooks=WEBHOOKS)
    calls.start([WebhookCall(id="w", url=url, body={}, expected_status=expected)])
    assert [answer.outcome for answer in calls.answers().values()] == ([outcome] if outcome else [])


def test_an_answer_stays_until_it_is_forgotten_or_asked_with_another_attempt() -> None:
    clock = ManualClock(BEGAN)
    calls = SimulatedAnswers(clock=clock, began=BEGAN, webhooks=(WebhookRule(url="*", fail=True, end=seconds(10)),))
    first, again = (WebhookCall(id="w", url="https://a.example", body={}, attempt=number) for number in (0, 1))
    calls.start([first])
    clock.advance(10)
    calls.start([first])
    assert calls.answers()["w"].outcome == "Failed"
    calls.start([again])
    assert (calls.answers()["w"].outcome, calls.answers()["w"].attempt) == ("Passed", 1)
    calls.forget(["w", "x"])
    assert calls.answers() == {}
