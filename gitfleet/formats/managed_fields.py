"""What the server records of who applied which fields (`metadata.managedFields`), and how lists merge by it.

`k:` entries of a FieldsV1 tree make a list a map by those keys, `v:` entries a set, anything else one whole value.
Where there is no such bookkeeping, the lists of the built-in kinds are known by their field names. Source: server-side
apply (Kubernetes documentation, "Merge strategy"; structured-merge-diff FieldsV1).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, Final

from gitfleet.formats.canonical_json import NotJson, parse_json
from gitfleet.formats.json_values import JsonObject, JsonValue
from gitfleet.formats.kind_fields import keys_by_field

MAPPING: Final = (dict, Mapping)
"""Checked in this order: isinstance of an abstract class is slow."""
FIELD_MANAGER: Final = "gitfleet"
"""The name under which gitfleet applies. It is never changed: ownership on every cluster hangs on it."""
ROLLOUT_MANAGER: Final = "gitfleet-rollout"
"""The name under which steps of workload rollouts are written, which no apply is. It is never changed either."""

OwnedFields = Mapping[str, Any] | None
"""A node of the FieldsV1 tree of gitfleet's own manager; None where the server did not report it."""

OwnedItems = tuple[tuple[tuple[tuple[str, JsonValue], ...], Mapping[str, Any]], ...] | None
"""The items of a list that is a map: the keys and values of each, and the node below it."""

LIST_KEYS: Final = keys_by_field()
"""By which fields the items of a list of a built-in kind are identified, the first of them always there; where a field
name stands for several lists, each in turn."""
_KEY_DEFAULTS: Final[Mapping[str, JsonValue]] = {"protocol": "TCP"}
"""What a server fills in for such a field. Source: Kubernetes API reference, ContainerPort and ServicePort."""


def managed_entries(live_body: JsonObject) -> tuple[JsonObject, ...]:
    """The managedFields entries of an object as a server gave it; none where that is no list of objects."""
    metadata = live_body.get("metadata")
    entries = metadata.get("managedFields") if isinstance(metadata, MAPPING) else None
    return tuple(e for e in entries if isinstance(e, MAPPING)) if isinstance(entries, (list, tuple)) else ()


def owned_fields(live_body: JsonObject) -> OwnedFields:
    """The tree of fields that gitfleet applied, as the server recorded it; None when it names no such manager."""
    for entry in managed_entries(live_body):
        if is_own_apply(entry):
            fields = entry.get("fieldsV1")
            return fields if isinstance(fields, MAPPING) else None
    return None


def is_own_apply(entry: JsonObject) -> bool:
    """Whether a managedFields entry stands for an apply by gitfleet (to the object itself, not to a subresource)."""
    return entry.get("manager") == FIELD_MANAGER and entry.get("operation") == "Apply" and not entry.get("subresource")


def child_fields(owned: OwnedFields, name: str) -> OwnedFields:
    """The node below a field."""
    child = owned.get(f"f:{name}") if owned else None
    return child if isinstance(child, MAPPING) else None


def fields_below(tree: OwnedFields, node: str) -> OwnedFields:
    """What of a tree is below one of its nodes: of a leaf, which stands for all in it, the leaf."""
    return tree.get(node) if tree else tree


def owned_items(owned: OwnedFields) -> OwnedItems:
    """The items of a list that is a map, each with the node below it."""
    return None if owned is None else tuple(_keyed(owned))


def _keyed(owned: Mapping[str, Any]) -> Iterator[tuple[tuple[tuple[str, JsonValue], ...], Mapping[str, Any]]]:
    for name, child in owned.items():
        if name.startswith("k:") and isinstance(child, Mapping) and (named := _named(name)):
            yield named, child


def item_fields(items: OwnedItems, item: JsonObject, keys: tuple[str, ...]) -> OwnedFields:
    """The node below one item of a list that is a map."""
    for named, child in items or ():
        if len(named) == len(keys) and all(item.get(key) == value for key, value in named):
            return child
    return None


def named_item(owned: Mapping[str, Any], item: JsonObject) -> OwnedFields:
    """The node below the item of a list that an item of the manifest names; a key that the manifest leaves to its
    default matches any value."""
    for named, child in _keyed(owned):
        if all(key not in item or item[key] == value for key, value in named):
            return child
    return None


def item_name(owned: OwnedFields, item: JsonObject) -> str | None:
    """The name of the node below which an item of a live list is owned; None where nobody owns anything of it."""
    for name in owned or ():
        if name.startswith("k:") and (named := _named(name)) and all(item.get(key) == value for key, value in named):
            return name
    return None


def list_keys(field: str, items: Sequence[JsonValue], owned: OwnedFields) -> tuple[str, ...] | None:
    """By which keys the items of a list are identified; None when the list is one whole value (or a set)."""
    if not items or not all(isinstance(item, Mapping) for item in items):
        return None
    if owned is not None:
        first = next((name for name in owned if name.startswith("k:")), None)
        return tuple(name for name, _ in _named(first)) or None if first is not None else None
    for keys in LIST_KEYS.get(field, ()):
        if all(keys[0] in item for item in items):
            return keys
    return None


def match_item(item: JsonObject, candidates: Sequence[JsonValue], keys: tuple[str, ...]) -> JsonObject | None:
    """The live item that an item of the manifest names; a key the manifest leaves to its default matches any value."""
    for candidate in candidates:
        if isinstance(candidate, Mapping) and all(k not in item or candidate.get(k) == item[k] for k in keys):
            return candidate
    return None


def named_items(have: Sequence[JsonValue], want: Sequence[JsonValue], keys: tuple[str, ...]) -> list[JsonObject | None]:
    """For each live item the one of the manifest that names it. Each names one: those with all the keys first, as a key
    left to a default that only the server knows matches any value. Lists may be long: only what leaves out a key is
    compared with each."""
    unmatched = {at: _keyed_item(item, keys) for at, item in enumerate(want) if isinstance(item, MAPPING)}
    named = {at: _keyed_item(item, keys)[0] for at, item in enumerate(have) if isinstance(item, MAPPING)}
    positions: dict[Hashable, deque[int]] = {}
    for at, (names, _) in unmatched.items():
        positions.setdefault(_comparable(names), deque()).append(at)
    matches: list[JsonObject | None] = [None] * len(have)
    for at, values in list(named.items()):
        if equal := positions.get(_comparable(values)):
            matches[at] = unmatched.pop(equal.popleft())[1]
            del named[at]
    vague = [at for at, (values, _) in unmatched.items() if None in values]
    for at, values in named.items():
        candidates = list(unmatched) if None in values else vague
        match = next((n for n in candidates if n in unmatched and _may_be(unmatched[n][0], values)), None)
        matches[at] = None if match is None else unmatched.pop(match)[1]
    return matches


def _keyed_item(item: JsonObject, keys: tuple[str, ...]) -> tuple[tuple[JsonValue, ...], JsonObject]:
    return tuple(item.get(key, _KEY_DEFAULTS.get(key)) for key in keys), item


def _comparable(values: tuple[JsonValue, ...]) -> Hashable:
    """The values of keys, to look them up by; a key that has an object for its value by its text."""
    return tuple(str(value) if isinstance(value, (dict, list)) else value for value in values)


def _may_be(values: tuple[JsonValue, ...], named: tuple[JsonValue, ...]) -> bool:
    """Whether the values of keys are the same, but for those that are left out."""
    both = [
        (value, named_value)
        for value, named_value in zip(values, named, strict=True)
        if value is not None and named_value is not None
    ]
    return bool(both) and all(value == named_value for value, named_value in both)


def only_match(item: JsonObject, candidates: Sequence[JsonValue], keys: tuple[str, ...]) -> int | None:
    """The position of the one item that can be meant; None where there is none, or where it cannot be told which."""
    positions = [at for at, candidate in enumerate(candidates) if match_item(item, [candidate], keys) is not None]
    return positions[0] if len(positions) == 1 and any(key in item for key in keys) else None


def _named(name: str) -> tuple[tuple[str, JsonValue], ...]:
    """The keys and values of a FieldsV1 path element such as `k:{"name":"web"}`; none where a server wrote another."""
    try:
        keys = parse_json(name[2:])
    except NotJson:
        return ()
    return tuple(keys.items()) if isinstance(keys, dict) else ()
