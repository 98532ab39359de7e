"""Kubernetes quantities (`2`, `1.5`, `800Mi`, `12e3`), exactly, for comparing what property selectors ask for."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

_QUANTITY: Final = re.compile(
    r"(?P<number>[+-]?(?:[0-9]{1,64}(?:\.[0-9]{0,64})?|\.[0-9]{1,64}))"
    r"(?P<unit>[eE][+-]?[0-9]{1,3}|[KMGTPE]i|[numkMGTPE])?"
)
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY: Final = "KMGTPE"


def parse_quantity(text: str) -> Fraction | None:
    """The exact value, or None when the text is no quantity (apimachinery resource.ParseQuantity)."""
    match = _QUANTITY.fullmatch(text)
    if match is None:
        return None
    number = Fraction(match["number"])
    unit = match["unit"] or ""
    if unit.endswith("i"):
        return number * Fraction(1024) ** (_BINARY.index(unit[0]) + 1)
    if unit in _DECIMAL:
        return number * Fraction(10) ** _DECIMAL[unit]
    return number * Fraction(10) ** int(unit[1:]) if unit else number
