"""Durations and moments as people write them in scenarios: `90s`, `1h30m`, `2026-01-01T00:00:00Z`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

_UNITS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_WHOLE: Final = re.compile(rf"(?:{_PART.pattern})+")
_LONGEST: Final = timedelta(days=3650)


def read_duration(text: object) -> timedelta:
    """A duration in Go's notation, at most ten years; a bare 0 needs no unit. ValueError says what is wrong."""
    if text in (0, "0") and not isinstance(text, bool):
        return timedelta(0)
    if isinstance(text, int | float) and not isinstance(text, bool):
        raise ValueError(f"{text} has no unit; write {text}s if seconds are meant")
    if not isinstance(text, str) or not _WHOLE.fullmatch(text):
        raise ValueError("is not a duration such as 90s, 5m, 24h or 1h30m")
    seconds = sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))
    if seconds > _LONGEST.total_seconds():
        raise ValueError("is longer than ten years")
    return timedelta(seconds=seconds)


def read_moment(text: object) -> datetime:
    """A time in RFC 3339 with its zone, as UTC. ValueError says what is wrong."""
    try:
        moment = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ValueError("is not a time with a zone such as 2026-01-01T00:00:00Z")
    return moment.astimezone(UTC)
