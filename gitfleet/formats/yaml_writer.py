"""Values to YAML text: the block style of `kubectl get -o yaml`, keys sorted, one line a scalar, the same bytes
everywhere.

Every string reads back equal under YAML 1.1 (PyYAML, kubectl) and YAML 1.2 (ruamel) alike: what any of them could
take for a number, a boolean, a date or a null is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from gitfleet.formats.json_values import JsonValue

_INSIDE: Final = r"""A-Za-z0-9_./@()%'`"+=*&|!?$<>^~-"""
_PLAIN: Final = re.compile(rf"[A-Za-z/](?:[,;{_INSIDE}]|:(?=[A-Za-z0-9_./@-])|[ ](?=[{_INSIDE}]))*")
"""Text that needs no quotes: starts with a letter or a slash, no `: `, no ` #`, no bracket, no trailing blank."""
_QUANTITY: Final = re.compile(r"[0-9][A-Za-z0-9_./@-]*[G-MP-SU-WYg-mp-su-wy%/@][A-Za-z0-9_./@-]*")
"""Text that begins with a digit and yet is no number or time to anybody, for a letter or sign that those never have."""
_MEANINGFUL: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_ASCII: Final = re.compile(r"[ -~]*")
_AS_IT_IS: Final = re.compile(
    "[ !#-\\[\\]-~\u00a1-\u00ac\u00ae-\u061b\u061d-\u180d\u180f-\u1fff\u2010-\u2027\u2030-\u205e\u2070-\u2fff"
    "\u3001-\ud7ff\uf900-\ufdcf\U00010000-\U0001ffff]+"
)
"""What a double-quoted string shows unescaped: no control, no line break, no sign that hides or turns text around."""
_LONGEST_KEY: Final = 1000
"""YAML reads a key in front of its colon only up to 1024 characters."""
_LONGEST_KEPT: Final = 300


def yaml_text(value: JsonValue) -> str:
    """One document with a line break at its end. Takes what JSON can say; ValueError for NaN, infinities and other
    types."""
    lines: list[str] = []
    if value.__class__ is dict and value:
        _mapping(lines, value, "")
    elif value.__class__ is list and value:
        _sequence(lines, value, "")
    else:
        lines.append(_scalar(value))
    lines.append("")
    return "\n".join(lines)


def yaml_bytes(documents: Iterable[JsonValue]) -> bytes:
    """A stream of documents, divided by `---`."""
    return "---\n".join(yaml_text(document) for document in documents).encode()


def _mapping(lines: list[str], mapping: Mapping[str, Any], pad: str) -> None:
    for key in sorted(mapping):
        value = mapping[key]
        name = _string(key)
        kind = value.__class__
        if len(name) > _LONGEST_KEY:
            lines.append(f"{pad}? {name}")
            _item(lines, value, pad, ":")
        elif kind is str:
            lines.append(f"{pad}{name}: {_string(value)}")
        elif kind is dict and value:
            lines.append(f"{pad}{name}:")
            _mapping(lines, value, pad + "  ")
        elif kind is list and value:
            lines.append(f"{pad}{name}:")
            _sequence(lines, value, pad)
        else:
            lines.append(f"{pad}{name}: {_scalar(value)}")


def _sequence(lines: list[str], items: Iterable[JsonValue], pad: str) -> None:
    for item in items:
        _item(lines, item, pad, "-")


def _item(lines: list[str], value: JsonValue, pad: str, sign: str) -> None:
    """A value behind a one-letter sign: its first line stands on the sign's line, as kubectl writes it."""
    first = len(lines)
    inner = pad + "  "
    if value.__class__ is dict and value:
        _mapping(lines, value, inner)
    elif value.__class__ is list and value:
        _sequence(lines, value, inner)
    else:
        lines.append(f"{pad}{sign} {_scalar(value)}")
        return
    lines[first] = f"{pad}{sign} {lines[first][len(inner) :]}"


def _scalar(value: JsonValue) -> str:
    if isinstance(value, str):
        return _string(value)
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value)
    if not value and isinstance(value, list | tuple | Mapping):
        return "{}" if isinstance(value, Mapping) else "[]"
    raise ValueError(f"{type(value).__name__} is not a JSON value")


def _float(value: float) -> str:
    """With a point, which YAML 1.1 wants in every float."""
    text = repr(value)
    if text.endswith(("n", "f")):
        raise ValueError(f"{text} is not a JSON value")
    head, sign, exponent = text.partition("e")
    head = head if "." in head else head + ".0"
    if not sign:
        return head
    return f"{head}e{exponent if exponent[0] in '+-' else '+' + exponent}"


def _string(text: str) -> str:
    return _kept(text) if len(text) <= _LONGEST_KEPT else _quoted(text)


@lru_cache(maxsize=32768)
def _kept(text: str) -> str:
    return _quoted(text)


def _quoted(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return f'"{text}"' if text.lower() in _MEANINGFUL else text
    if _QUANTITY.fullmatch(text):
        return text
    if text and text[0] not in "0123456789+-.~" and "'" not in text and _ASCII.fullmatch(text):
        return f"'{text}'"
    parts: list[str] = []
    place = 0
    while place < len(text):
        plain = _AS_IT_IS.match(text, place)
        if plain:
            parts.append(plain.group())
            place = plain.end()
        else:
            parts.append(_escape(text[place]))
            place += 1
    return f'"{"".join(parts)}"'


_SHORT: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _escape(sign: str) -> str:
    if sign in _SHORT:
        return _SHORT[sign]
    code = ord(sign)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
