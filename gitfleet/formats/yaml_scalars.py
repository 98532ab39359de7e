"""What a YAML scalar means to Kubernetes: the rules of sigs.k8s.io/yaml (YAML 1.1 words, Go's numbers, JSON's types).

They differ from PyYAML's: `y` is true, `1e3` is 1000, `2001-01-01` and `12:30` stay strings, `0777` is octal and `08`
is 8. Nothing here knows about lines; `BadScalar` is caught by whoever has the node.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from functools import lru_cache
from typing import Final

from gitfleet.formats.texts import FormatsText

Scalar = None | bool | int | float | str

_TRUE: Final = ("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON")
_FALSE: Final = ("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF")
_NULL: Final = ("", "~", "null", "Null", "NULL")
_WORDS: Final[dict[str, Scalar]] = {
    **dict.fromkeys(_TRUE, True),
    **dict.fromkeys(_FALSE, False),
    **dict.fromkeys(_NULL, None),
}
_NOT_FINITE: Final = frozenset(
    [sign + word for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")] + [".nan", ".NaN", ".NAN"]
)
_TOO_LARGE: Final = FormatsText.NUMBER_LARGER_BIT_FLOATING_POINT()
_MAY_BE_NUMBER: Final = frozenset("0123456789+-.")
_INTEGER: Final = re.compile(
    r"(?P<sign>[-+]?)(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|0[oO]?(?P<oct>[0-7]+)|(?P<dec>0|[1-9][0-9]*))"
)
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INT64_MIN: Final = -(2**63)
_INT64_MAX: Final = 2**63 - 1
_UINT64_MAX: Final = 2**64 - 1
_LONGEST_DECIMAL: Final = 20
_LONGEST_SHOWN: Final = 100

_CORE: Final = "tag:yaml.org,2002:"


class BadScalar(ValueError):
    """A scalar that JSON cannot say, or that is not what its tag claims; the sentence never repeats the value."""


@lru_cache(maxsize=8192)
def resolve_plain(text: str) -> Scalar:
    """The value of an unquoted scalar without a tag. BadScalar for infinities and not-a-number."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _MAY_BE_NUMBER:
        return text
    if text in _NOT_FINITE:
        raise BadScalar(FormatsText.INFINITY_NOT_NUMBER_CANNOT_WRITTEN())
    # Go strips underscores only on its integer path, which a leading dot never reaches (yaml.v2 resolve.go).
    plain = text if text[0] == "." else text.replace("_", "")
    integer = _integer(plain)
    if integer is not None:
        return integer
    number = _decimal(plain)
    return text if number is None else number


def resolve_tagged(tag: str, text: str) -> Scalar:
    """The value of a scalar with an explicit tag; tags outside YAML's core leave the text as it is."""
    kind = tag.removeprefix(_CORE) if tag.startswith(_CORE) else ""
    if kind == "binary":
        return _from_base64(text)
    if kind not in ("int", "float", "bool", "null"):
        return text
    value = resolve_plain(text)
    fits = {
        "int": isinstance(value, int) and not isinstance(value, bool),
        "float": isinstance(value, int | float) and not isinstance(value, bool),
        "bool": isinstance(value, bool),
        "null": value is None,
    }[kind]
    if not fits:
        raise BadScalar(FormatsText.VALUE_NOT_TAG_SAYS(kind=kind))
    return value


def number_of_float(number: float) -> int | float:
    """JSON as Go writes it: a whole number that fits 64 bits is an integer (`1.0` is 1)."""
    if number.is_integer() and _INT64_MIN <= number <= _UINT64_MAX:
        return int(number)
    return number


def number_of_digits(digits: str) -> int | float:
    """A decimal integer of any length: an int when it fits 64 bits, otherwise a float; BadScalar beyond its range."""
    if len(digits.lstrip("-")) <= _LONGEST_DECIMAL:
        number = int(digits)
        if _INT64_MIN <= number <= _UINT64_MAX:
            return number
    return finite(digits)


def finite(text: str) -> int | float:
    """A float that JSON can say, as `number_of_float` has it; BadScalar when it is too large."""
    number = float(text)
    if not math.isfinite(number):
        raise BadScalar(_TOO_LARGE)
    return number_of_float(number)


def key_text(value: Scalar) -> str | None:
    """A mapping key as JSON has it, always a string (`true: 1` has the key "true"); None for a null key."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


def shown(name: str) -> str:
    """A name as a message may carry it: its beginning, on one line, without control characters."""
    short = name if len(name) <= _LONGEST_SHOWN else name[:_LONGEST_SHOWN] + "..."
    return "".join(character if character.isprintable() else "?" for character in short)


def _integer(plain: str) -> int | None:
    """Go's strconv.ParseInt and then ParseUint with base 0; None when neither takes it."""
    match = _INTEGER.fullmatch(plain)
    if match is None:
        return None
    decimal = match["dec"]
    if decimal is not None:
        if len(decimal) > _LONGEST_DECIMAL:
            return None
        size = int(decimal)
    else:
        size = int(match["hex"] or match["bin"] or match["oct"], 16 if match["hex"] else 2 if match["bin"] else 8)
    if match["sign"] == "-":
        return -size if -size >= _INT64_MIN else None
    # ParseUint, which takes what is beyond int64, allows no sign at all.
    return size if size <= (_INT64_MAX if match["sign"] else _UINT64_MAX) else None


def _decimal(plain: str) -> int | float | None:
    if _FLOAT.fullmatch(plain) is None:
        return None
    number = float(plain)
    return number_of_float(number) if math.isfinite(number) else None


def _from_base64(text: str) -> str:
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        raise BadScalar(FormatsText.VALUE_NOT_BASE64_UTF_TEXT()) from None
