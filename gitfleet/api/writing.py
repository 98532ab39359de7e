"""Values of declarations as plain JSON: camelCase, defaults left out."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, is_dataclass
from enum import Enum
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, Literal, Union, get_args, get_origin

from gitfleet.api.annotations import FIRST_OF_LIST, Form
from gitfleet.api.layout import Document, find, layout_of, parts_of

_Write = Callable[[Any], Any]


def write(value: Any) -> dict[str, Any]:
    """The file's content of a value: plain dicts, lists and scalars. What equals its default is left out."""
    body: dict[str, Any] = _writer_of_class(value.__class__)(value)
    return body


def write_as(hint: Any, value: Any) -> Any:
    """The file's content of one field of a type."""
    writer = _writer_of(hint)
    return value if writer is None else writer(value)


_Row = tuple[str, Any, _Write | None]
"""A key, what its field is when it is left out, and how it is written."""


@cache
def _writer_of_class(cls: Any) -> _Write:
    """The writer of a declaration. All attributes are got at once, in the order of the mappings they stand in."""
    layout = layout_of(cls)
    fields = sorted(layout.fields, key=lambda item: item.path[:-1])
    sources = [item.attribute if item.part is None else f"{item.attribute}.{item.part}" for item in fields]
    get = attrgetter(*sources) if len(sources) > 1 else _alone(attrgetter(*sources))
    sections: dict[tuple[str, ...], list[_Row]] = {}
    for item in fields:
        row = (item.path[-1], item.absent, _writer_of(item.type))
        sections.setdefault(item.path[:-1], []).append(row)
    if list(sections) == [()] and layout.document.identify is None and not layout.document.derived:
        plain = _plain_writer(get, sections[()])
        return lru_cache(maxsize=4096)(plain) if layout.document.shared else plain
    return _nested_writer(get, list(sections.items()), layout.document)


def _alone(get: Any) -> Any:
    return lambda value: (get(value),)


def _plain_writer(get: Any, rows: list[_Row]) -> _Write:
    def write_plain(value: Any) -> dict[str, Any]:
        out = {}
        for (key, default, writer), item in zip(rows, get(value), strict=False):  # as many of both
            if default is MISSING or (item is not default and item != default):
                out[key] = item if writer is None else writer(item)
        return out

    return write_plain


def _nested_writer(get: Any, sections: list[tuple[tuple[str, ...], list[_Row]]], described: Document) -> _Write:
    identify, derived = described.identify, list(described.derived.items())

    def write_nested(value: Any) -> dict[str, Any]:
        out: dict[str, Any] = {}
        if identify is not None:
            out["apiVersion"], out["kind"] = identify(value)
        for path, derive in derived:
            _below(out, path[:-1])[path[-1]] = derive(value)
        items = iter(get(value))
        for path, rows in sections:
            section = {}
            for (key, default, writer), item in zip(rows, items, strict=False):  # each section takes its own items
                if default is MISSING or (item is not default and item != default):
                    section[key] = item if writer is None else writer(item)
            if section:
                _below(out, path).update(section)
        return out

    return write_nested


def _below(out: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    for step in path:
        out = out.setdefault(step, {})
    return out


@cache
def _writer_of(hint: Any) -> _Write | None:
    """How a value of a type is written; None when it is written as it is."""
    bare, extras = parts_of(hint)
    form = find(Form, extras)
    if form is not None:
        return form.write
    if FIRST_OF_LIST in extras:
        inner = _writer_of(bare) or (lambda item: item)
        return lambda item: [] if item is None else [inner(item)]
    origin = get_origin(bare)
    if origin in (Union, types.UnionType):
        parts = [_writer_of(part) for part in get_args(bare) if part is not type(None)]
        return _optional(next((writer for writer in parts if writer is not None), None))
    if origin is tuple:
        return _list_writer(_writer_of(get_args(bare)[0]))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping_writer(_writer_of(get_args(bare)[1]))
    if origin is Literal or not isinstance(bare, type):
        return None
    if issubclass(bare, Enum):
        return attrgetter("value")
    return _writer_of_class(bare) if is_dataclass(bare) else None


def _optional(writer: _Write | None) -> _Write | None:
    return None if writer is None else lambda item: None if item is None else writer(item)


def _list_writer(writer: _Write | None) -> _Write:
    return list if writer is None else lambda items: [writer(item) for item in items]


def _mapping_writer(writer: _Write | None) -> _Write:
    if writer is None:
        return lambda items: items if items.__class__ is dict else dict(items)
    return lambda items: {name: writer(item) for name, item in items.items()}
