"""An object as `kubectl describe` prints a custom resource: titles from field names, nested by indentation, the values
of neighbouring lines under one another (kubectl's tabwriter)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, Final, TypeAlias

from gitfleet.api.objects import JsonObject, JsonValue
from gitfleet.state import OURS

_BOUNDARY: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SHOWN_ABOVE: Final = ("name", "namespace", "labels", "annotations")

_Line: TypeAlias = tuple[str, str | None]
"""A title with its indentation, and the value beside it; None for a line without a second column."""


def describe_lines(body: JsonObject) -> Iterator[str]:
    """The lines of a description; what gitfleet keeps for itself in the status is left out."""
    for aligned, group in groupby(_lines(body), key=lambda line: line[1] is not None):
        lines = list(group)
        width = max(len(title) for title, _ in lines) + 2
        yield from (f"{title:<{width}}{value}".rstrip() if aligned else title for title, value in lines)


def _lines(body: JsonObject) -> Iterator[_Line]:
    metadata: Mapping[str, Any] = body.get("metadata") or {}
    yield "Name:", _text(metadata.get("name", ""))
    yield "Namespace:", _text(metadata.get("namespace", ""))
    yield from _pairs("Labels:", metadata.get("labels") or {})
    yield from _pairs("Annotations:", metadata.get("annotations") or {})
    yield "API Version:", _text(body.get("apiVersion", ""))
    yield "Kind:", _text(body.get("kind", ""))
    further = {name: value for name, value in metadata.items() if name not in _SHOWN_ABOVE}
    shown = {name: value for name, value in body.items() if name not in ("apiVersion", "kind", "metadata")}
    yield from _mapping({"metadata": further, **shown}, "")


def _pairs(title: str, pairs: Mapping[str, Any]) -> Iterator[_Line]:
    texts = [f"{key}={_text(value)}" for key, value in sorted(pairs.items())] or ["<none>"]
    yield title, texts[0]
    yield from (("", text) for text in texts[1:])


def _title(name: str) -> str:
    """`observedResourceIndex` is `Observed Resource Index`; a name that is no field name stays as it is."""
    if not name.isalnum() or not name[0].islower():
        return name
    return " ".join(word[0].upper() + word[1:] for word in _BOUNDARY.split(name))


def _mapping(mapping: Mapping[str, JsonValue], pad: str) -> Iterator[_Line]:
    for name in sorted(mapping):
        value = mapping[name]
        title = f"{pad}{_title(name)}:"
        if isinstance(value, dict) and not (name == OURS and pad):
            yield title, None
            yield from _mapping(value, pad + "  ")
        elif isinstance(value, list):
            yield title, None
            yield from _sequence(value, pad + "  ")
        elif not isinstance(value, dict):
            yield title, _text(value)


def _sequence(items: Iterable[JsonValue], pad: str) -> Iterator[_Line]:
    for item in items:
        if isinstance(item, dict):
            yield from _mapping(item, pad)
        elif isinstance(item, list):
            yield from _sequence(item, pad + "  ")
        else:
            yield f"{pad}{_text(item)}", None


def _text(value: JsonValue) -> str:
    if value is None:
        return "<nil>"
    return str(value).lower() if isinstance(value, bool) else " ".join(str(value).split())
