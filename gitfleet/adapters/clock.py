"""The machine's clock: the only module that reads it."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    """Clock port on the machine's own time."""

    def now(self) -> datetime:
        """UTC, whole seconds dropped to microseconds as the machine has them."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """time.monotonic, in seconds."""
        return time.monotonic()
