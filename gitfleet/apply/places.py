"""Places in an object: what is there, and the object with or without it. Nothing is changed in place."""

from __future__ import annotations

from gitfleet.api.objects import JsonValue
from gitfleet.formats.json_values import section
from gitfleet.formats.managed_fields import OwnedFields
from gitfleet.model.rollout_fields import ABSENT

Parts = tuple[str | int, ...]
"""A way into an object: names of fields, and positions in lists."""


def all_are(kind: type | tuple[type, ...], *values: JsonValue) -> bool:
    """Whether all values are of a kind."""
    return all(isinstance(value, kind) for value in values)


def is_set(owned: OwnedFields) -> bool:
    """Whether the server merges a list as a set, by the node of whoever owns it."""
    return any(name.startswith("v:") for name in owned or ())


def value_at(value: JsonValue, parts: Parts) -> JsonValue:
    """What is at a place; ABSENT where it is not there."""
    for part in parts:
        if not isinstance(part, int) and part not in section(value):
            return ABSENT
        value = value[part]
    return value


def without(value: JsonValue, parts: Parts) -> JsonValue:
    """The value without what is at a place; the very same where nothing is."""
    if value_at(value, parts) is ABSENT:
        return value
    first, deeper = parts[0], parts[1:]
    copy: JsonValue = list(value) if isinstance(first, int) else dict(value)
    if deeper:
        copy[first] = without(value[first], deeper)
    else:
        del copy[first]
    return copy


def put(value: JsonValue, parts: Parts, new: JsonValue) -> JsonValue:
    """The value with another one at a place, or without any where that is ABSENT."""
    if new is ABSENT:
        return without(value, parts)
    if not parts:
        return new
    first, deeper = parts[0], parts[1:]
    if isinstance(first, int):
        return [*value[:first], put(value[first], deeper, new), *value[first + 1 :]]
    parent = section(value)
    return {**parent, first: put(parent.get(first), deeper, new)}
