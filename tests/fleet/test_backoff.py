"""Pauses between attempts; those of KubeFleet are in the vectors."""

from __future__ import annotations

import pytest

from gitfleet.model.backoff import Backoff, Curve


@pytest.mark.parametrize(
    ("curve", "pauses"),
    [
        (Curve(), [5.0, 2.0, 2.4, 2.88]),
        (Curve(skips_to_fast=True, most=10), [5.0, 2.0, 3.0, 4.5, 6.75, 10.0, 10.0]),
        (Curve(fixed_attempts=0, slow_until=3), [2.0, 2.4, 2.88, 4.32]),
        (Curve(fixed_attempts=2, first=3, slow_until=3), [5.0, 5.0, 3.0, 4.5]),
        (Curve(fixed_attempts=0, first=9, most=4), [4.0, 4.0]),
    ],
)
def test_the_pauses_grow(curve: Curve, pauses: list[float]) -> None:
    assert [curve.after(attempts) for attempts in range(1, len(pauses) + 1)] == pytest.approx(pauses)
    assert curve.after(10**9) <= curve.most


def test_another_end_begins_anew() -> None:
    backoff = Backoff(Curve())
    assert [backoff.after(end) for end in ("a", "a", "a", "b", "b", "a")] == pytest.approx([5, 2, 2.4, 5, 2, 5])
    assert backoff.attempts == 1
    backoff.forget()
    assert (backoff.attempts, backoff.after("a")) == (0, 5)
