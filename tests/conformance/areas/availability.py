"""Vectors of availability: a live object and its verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gitfleet.observe import availability_of


def run_availability(case: dict[str, Any]) -> str | None:
    """One live object; the plural resource name of the case is implied by the object's kind."""
    got = availability_of(case["in"]["object"])
    expected = case["out"]["result"]
    if got.availability.value == expected:
        return None
    return f"expected {expected}, got {got.availability.value}: {got.reason}"


AREAS: Mapping[str, Callable[[dict[str, Any]], str | None]] = {"availability": run_availability}
