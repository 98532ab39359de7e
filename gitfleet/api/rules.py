"""The rules between fields, methods named `breaks` of declarations; they run on every part whose own fields hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, get_origin

from gitfleet.api.annotations import Break, Location
from gitfleet.api.layout import Field, class_in, layout_of, parts_of


def broken_rules(value: Any, body: Any, here: Location = ()) -> Iterator[Break]:
    """What breaks the rules of a value and of all declarations in it, located from the top of the file.

    `body` is what the value was read from, for rules on what stands there though it says nothing new.
    """
    if hasattr(value, "breaks"):
        for location, sentence in value.breaks():
            yield (*here, *location), sentence
    if hasattr(value, "breaks_as_written") and isinstance(body, Mapping):
        for location, sentence in value.breaks_as_written(body):
            yield (*here, *location), sentence
    for item in _ruled_fields(value.__class__):
        part, place = getattr(value, item.attribute), (*here, *item.path)
        written = _below(body, item.path)
        if isinstance(part, tuple):
            for index, one in enumerate(part):
                yield from broken_rules(one, written[index], (*place, index))
        elif part is not None:
            yield from broken_rules(part, written, place)


def rules_of_parts(cls: type, body: Any, read: Callable[[type, Any], Any], here: Location = ()) -> Iterator[Break]:
    """The same for a body of which only parts may be sound: `read` gives a value, None where the fields are wrong."""
    value = read(cls, body)
    if value is not None:
        yield from broken_rules(value, body, here)
        return
    for item in _ruled_fields(cls):
        inner, part, place = class_in(item.type), _below(body, item.path), (*here, *item.path)
        if isinstance(part, list):
            for index, one in enumerate(part):
                yield from rules_of_parts(inner, one, read, (*place, index))
        elif part is not None:
            yield from rules_of_parts(inner, part, read, place)


def _below(body: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        if not isinstance(body, Mapping):
            return None
        body = body.get(step)
    return body


@cache
def _ruled_fields(cls: Any) -> tuple[Field, ...]:
    """The fields that lead to a rule; fields inside mappings of declarations are none of them."""
    return tuple(
        item
        for item in layout_of(cls).fields
        if item.part is None
        and (inner := class_in(item.type)) is not None
        and get_origin(parts_of(item.type)[0]) is not Mapping
        and (hasattr(inner, "breaks") or hasattr(inner, "breaks_as_written") or _ruled_fields(inner))
    )
