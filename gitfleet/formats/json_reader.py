"""JSON files as JSON: tabs, escapes and surrogate pairs that libyaml does not take, with Kubernetes' numbers.

A text that is not JSON after all gives None: the caller then reads it as YAML, of which JSON is nearly a part.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

import orjson

from gitfleet.formats.json_values import JsonValue
from gitfleet.formats.texts import FormatsText
from gitfleet.formats.yaml_scalars import BadScalar, finite, number_of_digits
from gitfleet.formats.yaml_values import MAX_DEPTH, TOO_DEEP, LineFault

_SPACE: Final = re.compile(r"[ \t\r\n]*")


class _GivenTwice(ValueError):
    """An object has a key twice; only the YAML nodes know on which line."""


def starts_as_json(text: str) -> bool:
    """Whether a text begins as a JSON object does; Kubernetes' own decoder guesses by the same sign."""
    return text.lstrip(" \t\r\n").startswith("{")


def read_json(text: str) -> tuple[list[tuple[int, JsonValue]], list[LineFault]] | None:
    """(1-based line, value) of each JSON document, and faults; None when it is not JSON or has a key twice."""
    documents: list[tuple[int, JsonValue]] = []
    position = _after_space(text, 0)
    while position < len(text):
        line = text.count("\n", 0, position) + 1
        try:
            value, end = _DECODER.raw_decode(text, position)
        except BadScalar as bad:
            return documents, [(line, str(bad))]
        except RecursionError:
            return documents, [(line, TOO_DEEP)]
        except ValueError:
            return None
        if _too_deep(value, text.count("{", position, end) + text.count("[", position, end)):
            return documents, [(line, TOO_DEEP)]
        if not _is_text(value, text[position:end]):
            return documents, [(line, FormatsText.U_ESCAPE_NAMES_HALF_SURROGATE())]
        documents.append((line, value))
        position = _after_space(text, end)
    return documents, []


def yaml_lines_of(text: str) -> str:
    """The same lines in a form that libyaml takes, for finding places only: tabs and \\u escapes are flattened."""
    return text.replace("\t", " ").replace("\\u", "u").replace("\\/", "/")


def _after_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise _GivenTwice
    return out


def _no_constant(_name: str) -> None:
    raise BadScalar(FormatsText.INFINITY_NOT_NUMBER_CANNOT_WRITTEN())


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_once, parse_int=number_of_digits, parse_float=finite, parse_constant=_no_constant
)


def _too_deep(value: JsonValue, openers: int) -> bool:
    if openers <= MAX_DEPTH:
        return False
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [
            child
            for item in level
            for child in (item.values() if isinstance(item, dict) else item)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def _is_text(value: JsonValue, source: str) -> bool:
    """Whether every string can be written as UTF-8; only a \\u escape can make one that cannot."""
    if "\\u" not in source:
        return True
    try:
        orjson.dumps(value)
    except TypeError:
        return False
    return True
