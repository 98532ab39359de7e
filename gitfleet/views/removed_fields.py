"""Which fields of a live object go with an update: what its manifest has no more, and nobody else keeps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from itertools import islice
from typing import Any, Final

from gitfleet.formats.canonical_json import json_text
from gitfleet.formats.field_trees import FieldTree, minus, tree_of, union
from gitfleet.formats.json_values import JsonObject
from gitfleet.formats.managed_fields import (
    OwnedFields,
    child_fields,
    fields_below,
    is_own_apply,
    item_name,
    list_keys,
    managed_entries,
    named_items,
    owned_fields,
)
from gitfleet.formats.secret_objects import as_stored, masked_object
from gitfleet.model.operations import Operation, Update

_WHOLE: Final[FieldTree] = {}
_MOST: Final = 100
_LONGEST_VALUE: Final = 256


def going_fields(operation: Update) -> tuple[FieldTree, FieldTree]:
    """The fields that go unless the manifest has them, and those that others keep."""
    body, removes = operation.live.body, operation.removes
    entries = managed_entries(body)
    retained: FieldTree = reduce(union, (tree_of(e) for e in entries if not is_own_apply(e)), _WHOLE)
    own = owned_fields(body)
    if own is None and any(map(is_own_apply, entries)):
        own = _all_of(as_stored(body))  # a stand-in for an object that nobody asked for: all of it was applied
    retained = minus(retained, removes)
    return union(minus(own or {}, retained, whole_items=True), removes), retained


def removed_fields(operation: Operation) -> dict[str, Any]:
    """Their paths and values, those of Secrets masked; of many the first, and how many there are."""
    removed: Iterator[tuple[str, Any]] = iter(())
    if isinstance(operation, Update):
        going, retained = going_fields(operation)
        live = masked_object(as_stored(operation.live.body))
        at = _Trees(owned_fields(live), going or None, retained or None)
        removed = _gone("", "", as_stored(operation.manifest.body), live, at)
    shown = [{"path": path, "value": _text(value)} for path, value in islice(removed, _MOST)]
    return {"removedFields": shown, "removedFieldCount": len(shown) + sum(1 for _ in removed)}


def _all_of(body: JsonObject) -> FieldTree:
    parts: dict[str, Any] = {f"f:{name}": _WHOLE for name in body if name not in ("apiVersion", "kind", "status")}
    return {**parts, "f:metadata": {"f:labels": _WHOLE, "f:annotations": _WHOLE}}


class _Trees:
    """What is owned, goes and is kept at one place; None: nothing of it."""

    __slots__ = ("going", "kept", "owned")

    def __init__(self, owned: OwnedFields, going: OwnedFields, retained: OwnedFields) -> None:
        self.owned, self.going, self.kept = owned, going, retained

    def part(self, name: str) -> _Trees:
        return _Trees(
            child_fields(self.owned, name), fields_below(self.going, f"f:{name}"), fields_below(self.kept, f"f:{name}")
        )

    def item(self, item: Mapping[str, Any]) -> _Trees:
        nodes = (fields_below(tree, item_name(tree, item) or "") for tree in (self.owned, self.going, self.kept))
        return _Trees(*nodes)


def _gone(path: str, field: str, want: Any, have: Any, at: _Trees) -> Iterator[tuple[str, Any]]:
    if at.going is None:
        return
    if isinstance(want, Mapping) and isinstance(have, Mapping):
        for name, value in have.items():
            below = f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
            yield from _gone_part(below, name, want.get(name), value, at.part(name))
    elif isinstance(want, list) and isinstance(have, list):
        keys = list_keys(field, want or have, at.owned)
        for position, desired in enumerate(named_items(have, want, keys) if keys is not None else ()):
            item = have[position]
            if keys is not None and isinstance(item, Mapping):
                # What stays the same item keeps its keys, whoever says them.
                item_body = None if desired is None else {**{key: item.get(key) for key in keys}, **desired}
                yield from _gone_part(f"{path}/{position}", "", item_body, item, at.item(item))


def _gone_part(path: str, field: str, want: Any, have: Any, at: _Trees) -> Iterator[tuple[str, Any]]:
    if want is not None:
        yield from _gone(path, field, want, have, at)
    elif at.going is not None and (not at.going or at.kept is None):
        yield path, have
    elif at.going is not None:
        yield from _gone(path, field, [] if isinstance(have, list) else {}, have, at)


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else json_text(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"
