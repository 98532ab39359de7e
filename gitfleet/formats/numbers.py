"""Numbers that people may put in quotes, such as "0.95"."""

from __future__ import annotations

import math
import re
from typing import Any, Final

from gitfleet.formats.texts import FormatsText

_TEXT: Final = r"-?[0-9]{1,20}(?:\.[0-9]{1,20})?"
_PATTERN: Final = re.compile(_TEXT, re.ASCII)
SCHEMA: Final = {"anyOf": [{"type": "number"}, {"type": "string", "pattern": f"^{_TEXT}$"}]}
"""The JSON Schema for editors."""
_MOST_EXACT: Final = 2**53


def read_number(value: Any) -> float:
    """A finite number, plain or as a text; ValueError with a sentence about the field otherwise."""
    if isinstance(value, str) and _PATTERN.fullmatch(value):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(FormatsText.MUST_NUMBER_CORRECT())
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(FormatsText.MUST_NUMBER_NOT_INFINITE())
    return number


def plain_number(number: float | None) -> float | int | None:
    """The number as it is written: without a fraction where it has none."""
    is_whole = number is not None and number.is_integer() and abs(number) <= _MOST_EXACT
    return int(number) if number is not None and is_whole else number
