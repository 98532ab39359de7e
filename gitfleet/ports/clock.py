"""Time as a dependency: only an adapter reads the machine's clock."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """`now` in UTC with a time zone; read once a reconcile and passed down."""

    def now(self) -> datetime:
        """The present moment, timezone-aware, UTC."""

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back, for measuring durations."""
