"""Whole numbers or percentages, as in `maxUnavailable: 25%` (apimachinery intstr.IntOrString)."""

from __future__ import annotations

import re
from typing import Any, Final

from gitfleet.formats.texts import FormatsText

SCHEMA: Final = {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^(100|[0-9]{1,2})%$"}]}
"""The JSON Schema for editors."""
ABOVE_ZERO_SCHEMA: Final = {
    "anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "pattern": "^(100|[0-9]?[1-9]|[1-9]0)%$"}]
}
"""The same without nothing."""

_PERCENT: Final = re.compile(r"(?:100|[0-9]{1,2})%", re.ASCII)


def read_int_or_percent(value: Any) -> int | str:
    """A whole number of at least 0, or 0% to 100%; ValueError with a sentence about the field otherwise."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(FormatsText.MUST_WHOLE_NUMBER_PERCENTAGE())
    if isinstance(value, int):
        if value < 0:
            raise ValueError(FormatsText.MUST_LEAST_RAISE())
        return value
    if not _PERCENT.fullmatch(value):
        raise ValueError(FormatsText.MUST_WHOLE_NUMBER_WITHOUT_QUOTES())
    return value


def is_zero(value: int | str | None) -> bool:
    """Whether a whole number or a percentage is nothing."""
    return value in (0, "0%", "00%")


def scaled(value: int | str, total: int) -> int:
    """The value as a number: a percentage of `total` rounded up, an int (or its text) as it is.

    ValueError when the text is neither, which reading has refused long before.
    """
    if isinstance(value, int):
        return value
    text = value.strip()
    if text.endswith("%"):
        # Negated floor division is a ceiling without floats.
        return -(-int(text[:-1]) * total // 100)
    return int(text)
