"""Values of declarations as plain JSON: camelCase, defaults left out."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import Any, Literal, Union, get_args, get_origin

from gitfleet.api.annotations import FIRST_OF_LIST, Form, Only
from gitfleet.api.layout import Field, Layout, find, layout_of, parts_of

_Write = Callable[[Any], Any]


def write(value: Any) -> dict[str, Any]:
    """The file's content of a value: plain dicts, lists and scalars. What equals its default is left out."""
    found: dict[str, Any] = _writer_of_class(value.__class__)(value)
    return found


def write_field(hint: Any, value: Any) -> Any:
    """The file's content of one field of a type."""
    one = _writer_of(hint)
    return value if one is None else one(value)


@cache
def _writer_of_class(cls: Any) -> _Write:
    layout = layout_of(cls)
    rows = [_row(item) for item in layout.fields if item.only is not Only.MEMORY]
    if all(len(path) == 1 for _, path, _, _ in rows) and layout.document.identify is None:
        return _plain_writer([(get, path[0], default, one) for get, path, default, one in rows])
    return _nested_writer(layout, rows)


def _row(item: Field) -> tuple[Any, tuple[str, ...], Any, _Write | None]:
    name = item.attribute if item.part is None else f"{item.attribute}.{item.part}"
    return attrgetter(name), item.path, item.absent, _writer_of(item.type)


def _plain_writer(rows: list[tuple[Any, str, Any, _Write | None]]) -> _Write:
    def write_plain(value: Any) -> dict[str, Any]:
        out = {}
        for get, key, default, one in rows:
            item = get(value)
            if item is not default and item != default:
                out[key] = item if one is None else one(item)
        return out

    return write_plain


def _nested_writer(layout: Layout, rows: list[tuple[Any, tuple[str, ...], Any, _Write | None]]) -> _Write:
    identify = layout.document.identify

    def write_nested(value: Any) -> dict[str, Any]:
        out: dict[str, Any] = {}
        if identify is not None:
            out["apiVersion"], out["kind"] = identify(value)
        for get, path, default, one in rows:
            item = get(value)
            if item is default or item == default:
                continue
            here = out
            for step in path[:-1]:
                inner = here.get(step)
                if inner is None:
                    inner = here[step] = {}
                here = inner
            here[path[-1]] = item if one is None else one(item)
        return out

    return write_nested


def _writer_of(hint: Any) -> _Write | None:
    """How a value of a type is written; None when it is written as it is."""
    bare, extras = parts_of(hint)
    form = find(Form, extras)
    if form is not None:
        return form.write  # type: ignore[no-any-return]  # annotations of a type are untyped
    if FIRST_OF_LIST in extras:
        inner = _writer_of(bare) or (lambda item: item)
        return lambda item: [] if item is None else [inner(item)]
    origin = get_origin(bare)
    if origin in (Union, types.UnionType):
        parts = [_writer_of(part) for part in get_args(bare) if part is not type(None)]
        return _optional(next((one for one in parts if one is not None), None))
    if origin is tuple:
        return _list_writer(_writer_of(get_args(bare)[0]))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping_writer(_writer_of(get_args(bare)[1]))
    if origin is Literal or not isinstance(bare, type):
        return None
    if issubclass(bare, Enum):
        return attrgetter("value")
    return _writer_of_class(bare) if is_dataclass(bare) else None


def _optional(one: _Write | None) -> _Write | None:
    return None if one is None else lambda item: None if item is None else one(item)


def _list_writer(one: _Write | None) -> _Write:
    return list if one is None else lambda items: [one(item) for item in items]


def _mapping_writer(one: _Write | None) -> _Write:
    if one is None:
        return lambda items: items if items.__class__ is dict else dict(items)
    return lambda items: {name: one(item) for name, item in items.items()}
