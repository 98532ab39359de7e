"""The conditions of metrics: CEL over `result` (the first value) and `results` (all)."""

from __future__ import annotations

from collections.abc import Sequence

from gitfleet.formats.cel import CannotEvaluate

__all__ = ["CannotEvaluate", "holds"]


def holds(condition: str, values: Sequence[float]) -> bool:
    """Whether a condition is true of a measurement; CannotEvaluate where it is neither true nor false."""
    raise CannotEvaluate("conditions are not evaluated yet; use metricsRange")
