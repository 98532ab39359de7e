"""Kubernetes quantities ("500m", "1.5Gi", "2e3"): exact to compare, and readable as the float that Kubernetes makes.

The grammar, the limits and the rounding are those of apimachinery's `resource.Quantity`: at most nano precision (finer
values are rounded away from zero), values that need more than 18 digits are capped at 2^63-1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, total_ordering

from gitfleet.formats.texts import FormatsText

_GRAMMAR = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?\d+|[numkMGTPE]?)", re.ASCII)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_NANO = -9
_EXACT_DIGITS = 18
_LARGEST = 2**63 - 1
_MAX_LENGTH = 256
SCHEMA = {
    "pattern": r"^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?[0-9]+|[numkMGTPE]?)$",
    "maxLength": _MAX_LENGTH,
}
"""The JSON Schema of the text, for editors; it does not say how large an exponent may be."""
_MAX_EXPONENT = 300
"""A value of more digits would not be finite as the float that scores are made of; Kubernetes reads it all the same."""


class InvalidQuantity(ValueError):
    """The text is not a Kubernetes quantity; the sentence shows it, `reason` says what is wrong without it."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(f'"{text[:64]}" {reason}')
        self.reason = reason


@total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """`unscaled` times ten to the power of `exponent`. Equality and order are of the value, not of the spelling."""

    unscaled: int
    exponent: int

    @property
    def value(self) -> Fraction:
        """The exact value."""
        if self.exponent >= 0:
            return Fraction(self.unscaled * 10**self.exponent)
        return Fraction(self.unscaled, 10**-self.exponent)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.value == other.value

    def __lt__(self, other: Quantity) -> bool:
        return self.value < other.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __float__(self) -> float:
        """As `AsApproximateFloat64`: the unscaled number as a float times the power of ten as a float."""
        base = float(self.unscaled)
        return base if self.exponent == 0 else base * float(f"1e{self.exponent}")

    def __str__(self) -> str:
        """The value in plain decimal digits, without a suffix: a quantity again when parsed."""
        return format(Decimal(self.unscaled).scaleb(self.exponent), "f")


@lru_cache(maxsize=65536)
def parse_quantity(text: str) -> Quantity:
    """The quantity that a text means; InvalidQuantity when it means none."""
    match = _GRAMMAR.fullmatch(text) if len(text) <= _MAX_LENGTH else None
    if match is None or not (match[2] or match[3]):
        raise InvalidQuantity(text, FormatsText.NOT_KUBERNETES_QUANTITY())
    sign, whole, fraction, suffix = match[1], match[2].lstrip("0"), match[3] or "", match[4]
    digits = int((whole or "0") + fraction)
    if suffix in _BINARY:
        unscaled, exponent = digits << _BINARY[suffix], -len(fraction)
        exact = not fraction and len(whole) + _BINARY[suffix] * 3 // 10 < _EXACT_DIGITS - 3
    else:
        power = _DECIMAL[suffix] if suffix in _DECIMAL else int(suffix[1:])
        if power < -_MAX_EXPONENT or power + len(whole) > _MAX_EXPONENT:
            raise InvalidQuantity(text, FormatsText.MORE_DIGITS_CANNOT_COMPARED(max_exponent=_MAX_EXPONENT))
        unscaled, exponent = digits, power - len(fraction)
        exact = len(whole) + len(fraction) <= _EXACT_DIGITS and exponent >= _NANO
    if not exact:
        unscaled, exponent = _within_limits(unscaled, exponent)
    return Quantity(-unscaled if sign == "-" else unscaled, exponent)


def _within_limits(unscaled: int, exponent: int) -> tuple[int, int]:
    """Round up to nano, and cap at 2^63-1, as apimachinery does with what does not fit its fast form."""
    if exponent < _NANO:
        divisor = 10 ** (_NANO - exponent)
        unscaled, exponent = -(-unscaled // divisor), _NANO
    limit = _LARGEST * 10**-exponent if exponent < 0 else _LARGEST // 10**exponent
    return (_LARGEST, 0) if unscaled > limit else (unscaled, exponent)
