"""What the OpenAPI document of Kubernetes 1.36 says of the built-in kinds: the types of their fields, as an API server
decodes them, how server-side apply merges their lists, and which versions are served; and what server-side apply
refuses of an object before anything else looks at it: fields that its schema does not declare, and two items of a list
that have the same key (structured-merge-diff `typed/validate.go`). Wrong types are not judged here.

The data are in data/kind_fields.json, made by tests/formats/kind_fields.py: the stable versions of what placements
may select, since other versions change from release to release, without the `apiVersion`, `kind`, `metadata` and
`status` of the kinds themselves. A type is a kind (`group/version/kind`) or one that others consist of:

string  boolean  int32  int64  number  quantity  int-or-string  base64    scalars
[T  {T                                                                    lists of T, mappings from names to T
mapping  any                                                              a mapping of anything, anything
?T                                                                        T where it is a mapping, anything otherwise
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from gitfleet.formats.canonical_json import json_text, packaged_json
from gitfleet.formats.json_values import JsonObject

RELEASE: Final = "1.36"
"""The release of Kubernetes that the data are of."""


@cache
def _data() -> Mapping[str, Any]:
    data: Mapping[str, Any] = packaged_json("kind_fields.json")
    return data


def field_types() -> Mapping[str, Mapping[str, str]]:
    """The types of the fields of each kind (`group/version/kind`, the core group without its slash) and type."""
    types: Mapping[str, Mapping[str, str]] = _data()["fields"]
    return types


def list_keys() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """By type and field, the lists that server-side apply merges: the keys of their items, none for sets of values."""
    lists: Mapping[str, Mapping[str, Sequence[str]]] = _data()["lists"]
    return lists


def keys_by_field() -> Mapping[str, tuple[tuple[str, ...], ...]]:
    """The keys of the lists of each field name, whatever the type that has it."""
    by_field: dict[str, set[tuple[str, ...]]] = {}
    for lists in list_keys().values():
        for field, keys in lists.items():
            by_field.setdefault(field, set()).update([tuple(keys)] if keys else [])
    return {field: tuple(sorted(keys)) for field, keys in by_field.items() if keys}


@cache
def served_kinds() -> frozenset[str]:
    """Every built-in kind (`group/version/kind`) that an API server of the release serves, if only when asked to."""
    return frozenset(_data()["served"])


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
    fields = {name: value for name, value in body.items() if name != "metadata" and name not in _JUDGED_ELSEWHERE}
    yield from _in_value(kind, fields, (), "")


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
            inner_place, inner_path = (*place, name), f"{path}.{name}"
            if name not in types:
                yield Misfit(inner_place, inner_path, declared=tuple(types))
            elif name in lists and isinstance(inner, list):
                yield from _in_list(types[name][1:], lists[name], inner, inner_place, inner_path)
            else:
                yield from _in_value(types[name], inner, inner_place, inner_path)


def _in_list(code: str, keys: Sequence[str], items: Sequence[Any], place: Place, path: str) -> Iterator[Misfit]:
    """A list that is a map by `keys`, or a set."""
    indexes: dict[str, int] = {}
    for index, item in enumerate(items):
        if keys and item is None:
            yield Misfit((*place, index), path, is_null=True)
            return  # the server looks no further
        if keys and not isinstance(item, Mapping):
            return
        named = _key_text(item, keys)
        if indexes.setdefault(named, index) != index:
            yield Misfit((*place, index), path, first=indexes[named], keys=keys, item=named)
        yield from _in_value(code, item, (*place, index), f"{path}{named}")


def _key_text(item: Any, keys: Sequence[str]) -> str:
    if not keys:
        return f"[={json_text(item)}]"
    values = sorted((key, item.get(key, _KEY_DEFAULTS.get(key, ""))) for key in keys)
    return f"[{','.join(f'{key}={json_text(value)}' for key, value in values)}]"
