"""Fields that are left alone by `ignoreDifferences` of the FleetConfig: they are not compared, and an apply keeps the
value that the cluster has (as Argo CD's RespectIgnoreDifferences)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gitfleet.api.fleet import IgnoreDifferences
from gitfleet.api.objects import JsonObject, JsonValue, Manifest, ObjectKey
from gitfleet.formats.field_trees import FieldTree, tree_of
from gitfleet.formats.managed_fields import MAPPING, is_own_apply, item_name, managed_entries, named_item
from gitfleet.formats.secret_objects import as_stored

_ABSENT: Final = object()
_Parts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ignored:
    """The rules of a fleet. An object that is not there yet is made as its manifest says."""

    rules: tuple[IgnoreDifferences, ...] = ()

    def compared(self, key: ObjectKey, body: JsonObject, live: JsonObject) -> tuple[JsonObject, JsonObject]:
        """A manifest and the live object without what is left alone; the very same two where that is nothing."""
        rules = [rule for rule in self.rules if rule.matches(key)]
        if not rules:
            return body, live
        wanted, there = as_stored(body), live
        for tree in _trees(rules, live):
            wanted, there = _without_fields(wanted, tree), _without_fields(there, tree)
        for parts in _pointers(rules):
            wanted, there = _without(wanted, parts), _without(there, parts)
        return wanted, there

    def written(self, manifest: Manifest, live: JsonObject) -> Manifest:
        """The manifest to apply to a live object, with the digest that it had.

        What another manager owns is left out; a server then keeps it. Of all else the value is the live one: a field
        that is gitfleet's would go if it was left out, and so would the rest of a value that is written as a whole."""
        rules = [rule for rule in self.rules if rule.matches(manifest.key)]
        if not rules:
            return manifest
        body = as_stored(manifest.body)
        for tree in _trees(rules, live):
            body = _without_fields(body, tree)
        for parts in _pointers(rules):
            value = _at(live, parts)
            if value is _ABSENT:
                continue
            owners = [(is_own_apply(e), _is_owned(tree_of(e), live, parts)) for e in managed_entries(live)]
            if (False, True) in owners:
                body = _without(body, parts)
            elif _at(body, parts) is not _ABSENT or any(own and owned is not None for own, owned in owners):
                body = _with(body, parts, value)
        return replace(manifest, body=body)


NOTHING_IGNORED: Final = Ignored()


def _trees(rules: Sequence[IgnoreDifferences], live: JsonObject) -> Iterator[FieldTree]:
    managers = {manager for rule in rules for manager in rule.managers}
    return (tree_of(entry) for entry in managed_entries(live) if entry.get("manager") in managers)


def _pointers(rules: Sequence[IgnoreDifferences]) -> Iterator[_Parts]:
    for rule in rules:
        for pointer in rule.json_pointers:
            yield tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])


def _index(value: JsonValue, part: str) -> int | None:
    """The position that a part of a pointer names in a list."""
    is_one = isinstance(value, list) and part.isdecimal() and int(part) < len(value)
    return int(part) if is_one else None


def _at(value: JsonValue, parts: _Parts) -> JsonValue:
    for part in parts:
        index = _index(value, part)
        if index is not None:
            value = value[index]
        elif isinstance(value, MAPPING) and part in value:
            value = value[part]
        else:
            return _ABSENT
    return value


def _without(value: JsonValue, parts: _Parts) -> JsonValue:
    """The value without what a pointer names; the very same where that is not there."""
    if _at(value, parts) is _ABSENT:
        return value
    first, rest = parts[0], parts[1:]
    index = _index(value, first)
    if index is not None:
        return [*value[:index], *([_without(value[index], rest)] if rest else []), *value[index + 1 :]]
    return {name: _without(v, rest) if name == first else v for name, v in value.items() if rest or name != first}


def _with(value: JsonValue, parts: _Parts, new: JsonValue) -> JsonValue:
    """The value with another one where a pointer leads; unchanged where that is in a list that has no such item."""
    if not parts:
        return new
    index = _index(value, parts[0])
    if index is not None:
        return [*value[:index], _with(value[index], parts[1:], new), *value[index + 1 :]]
    if isinstance(value, list):
        return value
    there = value if isinstance(value, MAPPING) else {}
    return {**there, parts[0]: _with(there.get(parts[0]), parts[1:], new)}


def _is_owned(tree: FieldTree, value: JsonValue, parts: _Parts) -> bool | None:
    """Whether a manager's tree names the field itself; False where it names a value that the field is a part of, None
    where it names neither."""
    for part in parts:
        index = _index(value, part)
        name = f"f:{part}" if index is None else None
        if index is not None and isinstance(value[index], MAPPING):
            name = item_name(tree, value[index])
        if name is None or name not in tree:
            return None if tree else False
        tree, value = tree[name], value[index] if index is not None else value[part]
    return True


def _without_fields(value: JsonValue, tree: FieldTree) -> JsonValue:
    """The value without the leaves of a manager's tree; items of lists keep the keys that name them."""
    if isinstance(value, MAPPING):
        kept = {}
        for name, item in value.items():
            below = tree.get(f"f:{name}")
            if below is None:
                kept[name] = item
            elif below:
                kept[name] = _without_fields(item, below)
        return kept
    if not isinstance(value, list):
        return value
    return [_item_without(item, tree) for item in value]


def _item_without(item: JsonValue, tree: FieldTree) -> JsonValue:
    below = named_item(tree, item) if isinstance(item, MAPPING) else None
    if below is None:
        return item
    keys = {key for name in tree if name.startswith("k:") for key in item if f'"{key}":' in name}
    return {**_without_fields(item, below), **{key: item[key] for key in keys}}
