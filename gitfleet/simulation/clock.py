"""A manual clock: its time stands still until `advance` is called."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

DEFAULT_START: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""Where virtual time begins unless a scenario says otherwise (contracts.md §5)."""


class ManualClock:
    """The Clock port in memory: `now` and `monotonic` move only by `advance`, and never back."""

    def __init__(self, start: datetime = DEFAULT_START) -> None:
        """Begin at `start`; ValueError when it has no time zone."""
        if start.tzinfo is None:
            raise ValueError("a clock needs a start with a time zone")
        self._start = start.astimezone(UTC)
        self._now = self._start

    def now(self) -> datetime:
        """The present moment of the simulation, UTC."""
        return self._now

    def monotonic(self) -> float:
        """Seconds since the start."""
        return (self._now - self._start).total_seconds()

    def advance(self, seconds: float) -> datetime:
        """Go `seconds` forward and give the new moment; ValueError when that is back in time."""
        if seconds < 0:
            raise ValueError("time does not go back")
        self._now += timedelta(seconds=seconds)
        return self._now
