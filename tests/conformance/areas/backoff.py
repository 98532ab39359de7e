"""Vectors of the back-off: the pauses after attempts that end alike, and otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from gitfleet.model.backoff import Backoff, Curve


def run_backoff(case: dict[str, Any]) -> str | None:
    """Each step of a case is so many attempts of one generation with the same results."""
    given = case["in"]["params"]
    # `skipToFast` allows the jump for what is available or has its differences reported; no case here is either.
    curve = Curve(
        fixed_attempts=given["attemptsFixed"],
        fixed=given["fixedDelay"],
        first=given["initialSlow"],
        slow=given["slowBase"],
        slow_until=given["maxSlow"],
        fast=given["fastBase"],
        most=given["maxFast"],
    )
    backoff = Backoff(curve)
    ends = [(step["generation"], step["results"]) for step in case["in"]["steps"] for _ in range(step["repeat"])]
    got, expected = [backoff.after(end) for end in ends], case["out"]["delays_seconds"]
    return None if got == pytest.approx(expected, abs=0.001) else f"expected {expected}, got {got}"


AREAS: Mapping[str, Callable[[dict[str, Any]], str | None]] = {"backoff": run_backoff}
