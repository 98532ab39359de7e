"""What server-side apply refuses of a built-in kind's object before anything else looks at it: fields that its schema
does not declare, and two items of a list that have the same key (structured-merge-diff `typed/validate.go`).

Wrong types are not judged here, and nothing is said of kinds and versions whose types are not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gitfleet.formats.canonical_json import json_text
from gitfleet.formats.json_values import JsonObject
from gitfleet.formats.kind_fields import field_types, list_keys

_JUDGED_ELSEWHERE: Final = frozenset({"apiVersion", "kind", "status"})
_KEY_DEFAULTS: Final[Mapping[str, Any]] = {"protocol": "TCP", "containerPort": 0, "port": 0}
"""What stands for a missing key; "" for those that are not here."""

Place = tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Misfit:
    """One thing that is refused: where it stands, and the same place in the server's words.

    A doubled item has the index of the `first` one with its key, and the `keys`, none for the items of a set. With
    neither it is null (`is_null`), or a field that is not declared beside those of `declared`.
    """

    place: Place
    path: str
    first: int | None = None
    keys: Sequence[str] = ()
    is_null: bool = False
    declared: Sequence[str] = ()
    item: str = ""

    @property
    def said(self) -> str:
        """The server's words."""
        if self.first is not None:
            return f"{self.path}: duplicate entries for key {self.item}"
        if self.is_null:
            return f"{self.path}: element {self.place[-1]}: associative list with keys may not have a null element"
        return f"{self.path}: field not declared in schema"


def misfits(body: JsonObject) -> Iterator[Misfit]:
    """Everything of an object that server-side apply refuses for its schema."""
    kind = f"{body.get('apiVersion')}/{body.get('kind')}"
    if kind not in field_types():
        return
    metadata = body.get("metadata")
    if isinstance(metadata, Mapping):
        metadata = {name: value for name, value in metadata.items() if name != "managedFields"}
    yield from _in_value("ObjectMeta", metadata, ("metadata",), ".metadata")
    rest = {name: value for name, value in body.items() if name != "metadata" and name not in _JUDGED_ELSEWHERE}
    yield from _in_value(kind, rest, (), "")


def _in_value(code: str, value: Any, place: Place, path: str) -> Iterator[Misfit]:
    if code[0] == "{" and isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _in_value(code[1:], inner, (*place, name), f"{path}.{name}")
    elif code[0] == "[" and isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _in_value(code[1:], inner, (*place, index), f"{path}[{index}]")
    elif (types := field_types().get(code)) is not None and isinstance(value, Mapping):
        lists = list_keys().get(code, {})
        for name, inner in value.items():
            here, there = (*place, name), f"{path}.{name}"
            if name not in types:
                yield Misfit(here, there, declared=tuple(types))
            elif name in lists and isinstance(inner, list):
                yield from _in_list(types[name][1:], lists[name], inner, here, there)
            else:
                yield from _in_value(types[name], inner, here, there)


def _in_list(code: str, keys: Sequence[str], items: Sequence[Any], place: Place, path: str) -> Iterator[Misfit]:
    """A list that is a map by `keys`, or a set."""
    known: dict[str, int] = {}
    for index, item in enumerate(items):
        if keys and item is None:
            yield Misfit((*place, index), path, is_null=True)
            return  # the server looks no further
        if keys and not isinstance(item, Mapping):
            return
        named = _key_text(item, keys)
        if known.setdefault(named, index) != index:
            yield Misfit((*place, index), path, first=known[named], keys=keys, item=named)
        yield from _in_value(code, item, (*place, index), f"{path}{named}")


def _key_text(item: Any, keys: Sequence[str]) -> str:
    if not keys:
        return f"[={json_text(item)}]"
    values = sorted((key, item.get(key, _KEY_DEFAULTS.get(key, ""))) for key in keys)
    return f"[{','.join(f'{key}={json_text(value)}' for key, value in values)}]"
