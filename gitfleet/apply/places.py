"""Places in an object: what is there, and the object with or without it. Nothing is changed in place."""

from __future__ import annotations

from typing import Final

from gitfleet.api.objects import JsonValue
from gitfleet.formats.managed_fields import MAPPING

NOTHING: Final = object()
Parts = tuple[str | int, ...]
"""A way into an object: names of fields, and positions in lists."""


def value_at(value: JsonValue, parts: Parts) -> JsonValue:
    """What is at a place; NOTHING where it is not there."""
    for part in parts:
        if not isinstance(part, int) and not (isinstance(value, MAPPING) and part in value):
            return NOTHING
        value = value[part]
    return value


def without(value: JsonValue, parts: Parts) -> JsonValue:
    """The value without what is at a place; the very same where nothing is."""
    if value_at(value, parts) is NOTHING:
        return value
    first, rest = parts[0], parts[1:]
    if isinstance(first, int):
        return [*value[:first], *([without(value[first], rest)] if rest else []), *value[first + 1 :]]
    return {name: without(v, rest) if name == first else v for name, v in value.items() if rest or name != first}


def put(value: JsonValue, parts: Parts, new: JsonValue) -> JsonValue:
    """The value with another one at a place."""
    if not parts:
        return new
    first, rest = parts[0], parts[1:]
    if isinstance(first, int):
        return [*value[:first], put(value[first], rest, new), *value[first + 1 :]]
    there = value if isinstance(value, MAPPING) else {}
    return {**there, first: put(there.get(first), rest, new)}
