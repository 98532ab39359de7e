"""Durations in Go's notation, as Kubernetes writes them: `90s`, `1h30m`, `500ms`."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, Final

from gitfleet.formats.texts import FormatsText

_PATTERN: Final = r"(?:[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h))+"
_LONGEST_TEXT: Final = 64
SCHEMA: Final = {"type": "string", "maxLength": _LONGEST_TEXT, "pattern": f"^(?=.*[1-9]){_PATTERN}$"}
"""The JSON Schema of a duration of more than zero; it does not say how long the longest one is."""
SCHEMA_WITH_ZERO: Final = {
    "anyOf": [{"const": 0}, {"type": "string", "maxLength": _LONGEST_TEXT, "pattern": f"^(?:0|{_PATTERN})$"}]
}
"""The same of one that may be zero."""
LONGEST_SECONDS: Final = 3650 * 24 * 3600
"""Ten years."""

_UNITS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_PART: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|h|m|s)")
_WHOLE: Final = re.compile(_PATTERN)


def read_seconds(text: Any, *, zero: bool = False) -> float:
    """The seconds of a duration of at most ten years; `zero` takes nothing at all too, with or without a unit.

    ValueError with a sentence about the field.
    """
    if zero and text in (0, "0") and not isinstance(text, bool):
        return 0.0
    if isinstance(text, int | float) and not isinstance(text, bool):
        raise ValueError(FormatsText.MUST_UNIT_WRITE_IF_SECONDS(text=text))
    if not isinstance(text, str) or len(text) > _LONGEST_TEXT or _WHOLE.fullmatch(text) is None:
        raise ValueError(FormatsText.MUST_DURATION_M_H30M())
    seconds = sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))
    if seconds > LONGEST_SECONDS:
        raise ValueError(FormatsText.MUST_MOST_TEN_YEARS())
    if not seconds and not zero:
        raise ValueError(FormatsText.MUST_DURATION_MORE_ZERO())
    return seconds


def seconds_text(seconds: float) -> str:
    """A duration in seconds, which reads back equal: in Go's notation with all its units where it is whole (`1m0s`)."""
    if seconds != int(seconds) or seconds < 60:
        return f"{format(Decimal(repr(seconds)), 'f').removesuffix('.0')}s"
    minutes, seconds_left = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes}m{seconds_left}s" if hours else f"{minutes}m{seconds_left}s"
