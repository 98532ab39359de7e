"""Values to YAML text: the block style of `kubectl get -o yaml`, the same bytes everywhere.

gitfleet's own files have sorted keys and one line a scalar; for people, keys may keep their order (`sort_keys=False`)
and texts of many lines may be shown as such (`blocks=True`).

Every string reads back equal under YAML 1.1 (PyYAML, kubectl) and YAML 1.2 (ruamel) alike: what any of them could
take for a number, a boolean, a date or a null is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from gitfleet.formats.json_values import JsonValue
from gitfleet.formats.texts import FormatsText

_INSIDE: Final = r"""A-Za-z0-9_./@()%'`"+=*&|!?$<>^~-"""
_PLAIN: Final = re.compile(rf"[A-Za-z/](?:[,;{_INSIDE}]|:(?=[A-Za-z0-9_./@-])|[ ](?=[{_INSIDE}]))*")
"""Text that needs no quotes: starts with a letter or a slash, no `: `, no ` #`, no bracket, no trailing blank."""
_QUANTITY: Final = re.compile(r"[0-9](?=[A-Za-z0-9_./@-]*[G-MP-SU-WYg-mp-su-wy%/@])[%A-Za-z0-9_./@-]*")
"""Text that begins with a digit and yet is no number or time to anybody, for a letter or sign that those never have."""
_MEANINGFUL: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_ASCII: Final = re.compile(r"[ -~]*")
_VISIBLE: Final = (
    " !#-\\[\\]-~\u00a1-\u00ac\u00ae-\u061b\u061d-\u180d\u180f-\u1fff\u2010-\u2027\u2030-\u205e\u2070-\u2fff"
    "\u3001-\ud7ff\uf900-\ufdcf\U00010000-\U0001ffff"
)
_AS_IT_IS: Final = re.compile(f"[{_VISIBLE}]+")
"""What a double-quoted string shows unescaped: no control, no line break, no sign that hides or turns text around."""
_BLOCK: Final = re.compile(rf'(?![ \t\n])[\t\n"\\{_VISIBLE}]+')
"""What may be shown line by line: nothing that needs an escape, and a first line that shows where the text begins."""
_LONGEST_KEY: Final = 1000
"""YAML reads a key in front of its colon only up to 1024 characters."""
_LONGEST_KEPT: Final = 300


def yaml_text(value: JsonValue, *, sort_keys: bool = True, blocks: bool = False) -> str:
    """One document with a line break at its end. Takes what JSON can say; ValueError for NaN, infinities and other
    types."""
    writer = _Writer(sort_keys, blocks)
    writer.item(value, "", "")
    writer.lines.append("")
    return "\n".join(writer.lines)


def write_documents(documents: Iterable[JsonValue], *, sort_keys: bool = True, blocks: bool = False) -> bytes:
    """A stream of documents, divided by `---`; see `yaml_text`."""
    return "---\n".join(yaml_text(document, sort_keys=sort_keys, blocks=blocks) for document in documents).encode()


class _Writer:
    """The lines of one document."""

    def __init__(self, sort_keys: bool, blocks: bool) -> None:
        self.lines: list[str] = []
        self.sort_keys, self.blocks = sort_keys, blocks

    def mapping(self, mapping: Mapping[str, Any], pad: str) -> None:
        """The entries of a mapping that is not empty."""
        for key in sorted(mapping) if self.sort_keys else mapping:
            value = mapping[key]
            name = _string(key)
            kind = value.__class__
            if len(name) > _LONGEST_KEY:
                self.lines.append(f"{pad}? {name}")
                self.item(value, pad, ": ")
            elif kind is str:
                self.string(f"{pad}{name}: ", value, pad)
            elif kind is dict and value:
                self.lines.append(f"{pad}{name}:")
                self.mapping(value, pad + "  ")
            elif kind is list and value:
                self.lines.append(f"{pad}{name}:")
                for item in value:
                    self.item(item, pad, "- ")
            else:
                self.lines.append(f"{pad}{name}: {_scalar(value)}")

    def item(self, value: JsonValue, pad: str, sign: str) -> None:
        """A value behind a sign: its first line stands on the sign's line, as kubectl writes it."""
        first = len(self.lines)
        inner = pad + " " * len(sign)
        if value.__class__ is dict and value:
            self.mapping(value, inner)
        elif value.__class__ is list and value:
            for item in value:
                self.item(item, inner, "- ")
        elif value.__class__ is str and sign:
            self.string(f"{pad}{sign}", value, pad)
            return
        else:
            self.lines.append(f"{pad}{sign}{_scalar(value)}")
            return
        self.lines[first] = f"{pad}{sign}{self.lines[first][len(inner) :]}"

    def string(self, head: str, text: str, pad: str) -> None:
        """A text behind its key or sign; line by line where that is wanted and gives the same text back."""
        if not self.blocks or "\n" not in text or _BLOCK.fullmatch(text) is None:
            self.lines.append(f"{head}{_string(text)}")
            return
        body = text.removesuffix("\n")
        keep = "-" if body is text else "+" if body.endswith("\n") else ""
        self.lines.append(f"{head}|{keep}")
        self.lines += [f"{pad}  {line}" if line else "" for line in body.split("\n")]


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
    raise ValueError(FormatsText.NOT_JSON_VALUE(name=type(value).__name__))


def _float(value: float) -> str:
    """With a point, which YAML 1.1 wants in every float."""
    text = repr(value)
    if text.endswith(("n", "f")):
        raise ValueError(FormatsText.NOT_JSON_VALUE(name=text))
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
