"""Moments in RFC 3339, as Kubernetes reads and writes them: `2026-01-31T12:00:00Z`."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from gitfleet.formats.texts import FormatsText

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""What stands for a time that nobody wrote, since nothing here reads a clock."""

_LOCAL: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?"
_ZONE: Final = "Z|[+-][0-9]{2}:[0-9]{2}"
_FORM: Final = re.compile(f"{_LOCAL}(?P<zone>{_ZONE})?")
SCHEMA: Final = {"type": "string", "format": "date-time", "pattern": f"^{_LOCAL}(?:{_ZONE})$"}
"""The JSON Schema for editors; whether a calendar has the day is said by its format alone."""


def read_time(text: Any) -> datetime:
    """The moment, in UTC. ValueError with a sentence about the field when it is none or has no zone."""
    if text.__class__ is not str:
        raise ValueError(_WRONG)
    return _moment(text)


@lru_cache(maxsize=8192)
def time_text(moment: datetime) -> str:
    """To the second as metav1.Time, with microseconds (metav1.MicroTime) only where there are any."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat()}Z"


_WRONG: Final = FormatsText.MUST_TIME_T12_Z()


@lru_cache(maxsize=8192)
def _moment(text: str) -> datetime:
    match = _FORM.fullmatch(text)
    if match is None:
        raise ValueError(_WRONG)
    if not match["zone"]:
        raise ValueError(FormatsText.MUST_TIME_ZONE())
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(_WRONG) from None


def moment_text(moment: datetime) -> str:
    """For sentences: `2026-01-31 12:00:00 UTC`."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
