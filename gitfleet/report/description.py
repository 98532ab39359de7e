"""An object as `kubectl describe` prints a custom resource: titles from field names, nested by indentation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gitfleet.model.objects import JsonObject, JsonValue
from gitfleet.report.shapes.fields import OURS

_BOUNDARY: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_HEAD: Final = ("Name", "Namespace", "Labels", "Annotations", "API Version", "Kind")


def describe_lines(body: JsonObject) -> Iterator[str]:
    """The lines of a description; what gitfleet keeps for itself in the status is left out."""
    metadata: Mapping[str, Any] = body.get("metadata") or {}
    width = max(map(len, _HEAD)) + 3
    for title, value in (
        ("Name", metadata.get("name", "")),
        ("Namespace", metadata.get("namespace", "")),
        ("Labels", metadata.get("labels")),
        ("Annotations", metadata.get("annotations")),
        ("API Version", body.get("apiVersion", "")),
        ("Kind", body.get("kind", "")),
    ):
        if isinstance(value, str):
            yield f"{title + ':':<{width}}{value}".rstrip()
            continue
        pairs = [f"{key}={text}" for key, text in sorted((value or {}).items())] or ["<none>"]
        yield f"{title + ':':<{width}}{pairs[0]}"
        yield from (" " * width + pair for pair in pairs[1:])
    shown = {name: value for name, value in body.items() if name not in ("apiVersion", "kind", "metadata")}
    rest = {
        name: value for name, value in metadata.items() if name not in ("name", "namespace", "labels", "annotations")
    }
    yield from _mapping({"metadata": rest, **shown}, "")


def _title(name: str) -> str:
    """`observedResourceIndex` is `Observed Resource Index`; a name that is no field name stays as it is."""
    if not name.isalnum() or not name[0].islower():
        return name
    return " ".join(word[0].upper() + word[1:] for word in _BOUNDARY.split(name))


def _mapping(mapping: Mapping[str, JsonValue], pad: str) -> Iterator[str]:
    scalars = {name: value for name, value in mapping.items() if not isinstance(value, dict | list)}
    width = max((len(_title(name)) for name in scalars), default=0) + 3
    for name in sorted(mapping):
        value = mapping[name]
        if name == OURS and pad:
            continue
        if isinstance(value, dict):
            yield f"{pad}{_title(name)}:"
            yield from _mapping(value, pad + "  ")
        elif isinstance(value, list):
            yield f"{pad}{_title(name)}:"
            yield from _sequence(value, pad + "  ")
        else:
            yield f"{pad}{_title(name) + ':':<{width}}{_text(value)}".rstrip()


def _sequence(items: list[JsonValue], pad: str) -> Iterator[str]:
    for item in items:
        if isinstance(item, dict):
            yield from _mapping(item, pad)
        elif isinstance(item, list):
            yield from _sequence(item, pad + "  ")
        else:
            yield f"{pad}{_text(item)}"


def _text(value: JsonValue) -> str:
    if value is None:
        return "<nil>"
    return str(value).lower() if isinstance(value, bool) else " ".join(str(value).split())
