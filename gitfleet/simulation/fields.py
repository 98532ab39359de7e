"""Field ownership as server-side apply keeps it: trees in the form of managedFields' `fieldsV1`, and merging by them.

A tree maps `f:<field>`, `k:<keys of a list item>` or `v:<item of a set>` to the tree below; an empty tree is a leaf,
and "." is the existence of a list item. Simplified where the real one reads OpenAPI: lists merge by one table,
lists of custom kinds and all others are atomic. Source: structured-merge-diff v4 and the Kubernetes API conventions.

Nothing here copies what it may share: results hold parts of their inputs, which nobody may change.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gitfleet.api.objects import JsonObject, JsonValue
from gitfleet.formats.canonical_json import canonical_json, json_text, parse_json
from gitfleet.formats.field_trees import FieldTree
from gitfleet.formats.managed_fields import LIST_KEYS

_SETS: Final = frozenset({"finalizers"})
_ATOMIC_ITEMS: Final = frozenset({"ownerReferences"})
"""Lists that merge by key, and whose items have one owner as a whole."""
_KEY_DEFAULTS: Final = {"protocol": "TCP"}
_ATOMIC_MAPS: Final = frozenset(
    {
        "selector", "labelSelector", "nodeSelector", "podSelector", "namespaceSelector", "objectSelector",
        "configMapKeyRef", "secretKeyRef", "fieldRef", "resourceFieldRef", "roleRef", "scaleTargetRef",
    }
)  # fmt: skip
_OMITTED_MAPS: Final = frozenset(
    {"data", "binaryData", "stringData", "labels", "annotations", "matchLabels", "nodeSelector", "limits", "requests"}
)
_SERVER_METADATA: Final = frozenset(
    {
        "name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink",
        "deletionTimestamp", "deletionGracePeriodSeconds",
    }
)  # fmt: skip


def content_of(body: JsonObject) -> dict[str, Any]:
    """The part of an object that has owners: without identity, status, what the server sets, and nulls."""
    out: dict[str, Any] = {}
    for name, value in body.items():
        if name in ("apiVersion", "kind", "status"):
            continue
        if name == "metadata":
            value = {key: part for key, part in (value or {}).items() if key not in _SERVER_METADATA}
            if not value:
                continue
        if value is not None:
            out[name] = without_nulls(value)
    return out


def without_nulls(value: JsonValue) -> JsonValue:
    """The value without mapping entries that are null; the very same value where there are none."""
    if isinstance(value, dict):
        cleaned = {key: without_nulls(item) for key, item in value.items() if item is not None}
        unchanged = len(cleaned) == len(value) and all(item is value[key] for key, item in cleaned.items())
        return value if unchanged else cleaned
    if isinstance(value, list):
        items = [without_nulls(item) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return value


def as_typed(content: JsonObject, *, granular: bool) -> JsonObject:
    """The content as Go's types keep it: without the empty lists and maps that they omit; custom kinds keep theirs."""
    typed: dict[str, Any] = _without_empties(content) if granular else dict(content)
    metadata = _without_empties(content.get("metadata") or {})
    if metadata:
        return {**typed, "metadata": metadata}
    typed.pop("metadata", None)
    return typed


def _without_empties(value: JsonObject) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, item in value.items():
        if isinstance(item, dict):
            item = _without_empties(item)
            if not item and name in _OMITTED_MAPS:
                continue
        elif isinstance(item, list):
            if not item:
                continue
            item = [_without_empties(part) if isinstance(part, dict) else part for part in item]
        out[name] = item
    return out


def fields_of(content: JsonObject, *, granular: bool) -> dict[str, Any]:
    """The fields of a content as a tree; `granular` False makes every list and map selector atomic (custom kinds)."""
    out: dict[str, Any] = {}
    for name, value in content.items():
        below: dict[str, Any] = {}
        if isinstance(value, dict):
            if value and not (granular and name in _ATOMIC_MAPS):
                below = fields_of(value, granular=granular)
        elif isinstance(value, list) and value:
            for key, item in _items_by_key(name, value, granular=granular) or ():
                is_map = isinstance(item, dict) and name not in _ATOMIC_ITEMS
                inner = fields_of(item, granular=granular) if is_map else {}
                below[key] = {".": {}, **inner} if inner else {}
        out[f"f:{name}"] = below
    return out


def merge(live: JsonValue, applied: JsonValue, *, granular: bool, name: str = "") -> JsonValue:
    """`applied` over `live`: maps by field, keyed lists by key, all else replaced; `live` itself if nothing differs."""
    if isinstance(live, dict) and isinstance(applied, dict) and not (granular and name in _ATOMIC_MAPS):
        changed = {}
        for key, value in applied.items():
            merged = merge(live[key], value, granular=granular, name=key) if key in live else value
            if key not in live or merged is not live[key]:
                changed[key] = merged
        return {**live, **changed} if changed else live
    if isinstance(live, list) and isinstance(applied, list):
        theirs = _items_by_key(name, live, granular=granular)
        ours = _items_by_key(name, applied, granular=granular)
        if theirs is not None and ours is not None:
            return _merge_keyed(live, dict(theirs), dict(ours), granular=granular)
    return live if same(live, applied) else applied


def _merge_keyed(live: list[Any], theirs: dict[str, Any], ours: dict[str, Any], *, granular: bool) -> list[Any]:
    # The order is structured-merge-diff's: both orders are kept where they agree, and the applied one wins.
    out: list[Any] = []
    live_keys, right = deque(theirs), deque(ours)
    done: set[str] = set()
    while live_keys or right:
        if live_keys and live_keys[0] in done:
            live_keys.popleft()
        elif live_keys and live_keys[0] not in ours:
            out.append(theirs[live_keys.popleft()])
        else:
            key = right.popleft()
            done.add(key)
            out.append(merge(theirs[key], ours[key], granular=granular) if key in theirs else ours[key])
    unchanged = len(out) == len(live) and all(new is old for new, old in zip(out, live, strict=True))
    return live if unchanged else out


def same(first: JsonValue, second: JsonValue) -> bool:
    """Equality of JSON values, where true is not 1."""
    return bool(first == second) and isinstance(first, bool) == isinstance(second, bool)


def differing(first_tree: FieldTree, second_tree: FieldTree, first: JsonValue, second: JsonValue) -> dict[str, Any]:
    """The leaves that both trees have and at which the two values differ."""
    out: dict[str, Any] = {}
    for key, below in first_tree.items():
        if key == "." or key not in second_tree:
            continue
        first_child, right = _child(first, key), _child(second, key)
        if below and second_tree[key]:
            deeper = differing(below, second_tree[key], first_child, right)
            if deeper:
                out[key] = deeper
        elif bool(below) == bool(second_tree[key]):
            if not same(first_child, right) and not _adds_nothing(key[2:], first_child, right):
                out[key] = {}
        elif not all(isinstance(side, dict | list) for side in (first_child, right)):
            # Two containers do not clash here: to own an empty one says nothing about what others have in it.
            out[key] = {}
    return out


def _adds_nothing(name: str, applied: JsonValue, live: JsonValue) -> bool:
    """Whether an empty map or list, laid over one that is merged by its parts, leaves it as it is."""
    if applied == {}:
        return isinstance(live, dict) and name not in _ATOMIC_MAPS
    return applied == [] and isinstance(live, list) and name in LIST_KEYS


def remove(value: JsonValue, tree: FieldTree) -> JsonValue:
    """The value without the leaves of a tree, and without maps and lists that this empties."""
    if isinstance(value, dict):
        out = dict(value)
        for key, below in tree.items():
            name = key[2:]
            if name not in out:
                continue
            reduced = remove(out[name], below) if below else None
            if reduced in (None, {}, []):
                del out[name]
            else:
                out[name] = reduced
        return out
    if isinstance(value, list):
        remaining = []
        for item in value:
            hit = next((key for key in tree if _is_item(item, key)), None)
            below = tree[hit] if hit else None
            if below is None:
                remaining.append(item)
            elif below and "." not in below:
                remaining.append(remove(item, below))
        return remaining
    return value


def paths_of(tree: FieldTree, prefix: str = "") -> list[str]:
    """The leaves as people read them, nearer ones first: `.spec.template.spec.containers[name="web"].image`."""
    out: list[str] = []
    for key, below in sorted(tree.items(), key=lambda part: (bool(part[1]), part[0])):
        if key == ".":
            continue
        if key.startswith("f:"):
            path = f"{prefix}.{key[2:]}"
        elif key.startswith("k:"):
            names = ",".join(f"{name}={json_text(value)}" for name, value in parse_json(key[2:]).items())
            path = f"{prefix}[{names}]"
        else:
            path = f"{prefix}[={key[2:]}]"
        out += paths_of(below, path) if below else [path]
    return out


def _items_by_key(name: str, items: Sequence[Any], *, granular: bool) -> list[tuple[str, Any]] | None:
    """The items under their keys, or None when the list is atomic (or its items lack keys, or share one)."""
    if not granular and name not in ("finalizers", "ownerReferences"):
        return None
    if name in _SETS:
        pairs = [(f"v:{json_text(item)}", item) for item in items]
        return pairs if len({key for key, _ in pairs}) == len(pairs) else None
    for keys in LIST_KEYS.get(name, ()):
        pairs = [(_item_key(item, keys), item) for item in items if isinstance(item, dict) and keys[0] in item]
        if len(pairs) == len(items) and len({key for key, _ in pairs}) == len(pairs):
            return pairs
    return None


def _item_key(item: JsonObject, keys: tuple[str, ...]) -> str:
    values = {key: item.get(key, _KEY_DEFAULTS.get(key)) for key in keys}
    return f"k:{canonical_json(values).decode()}"


def _child(value: JsonValue, key: str) -> JsonValue:
    if key.startswith("f:"):
        return value.get(key[2:]) if isinstance(value, Mapping) else None
    return next((item for item in value if _is_item(item, key)), None) if isinstance(value, list) else None


def _is_item(item: JsonValue, key: str) -> bool:
    if key.startswith("v:"):
        return same(item, parse_json(key[2:]))
    if not key.startswith("k:") or not isinstance(item, Mapping):
        return False
    return _item_key(item, tuple(parse_json(key[2:]))) == key
