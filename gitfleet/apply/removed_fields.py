"""Which fields go with an apply, whoever else set them: KubeFleet's three-way merge by field ownership (decision D34).

A field that the manifest before had and this one has not goes. The manifest before is the one in git; of an object that
is taken over also what kubectl applied last, by its annotation, and what Helm (or kubectl, where its annotation is
gone) owns. A server's own apply removes only what nobody else owns: what is named here, gitfleet takes from the others
first (`gitfleet.formats.field_trees`). A map or an item of a list goes whole, as half of one is seldom valid; labels,
annotations and the entries of `data` go each by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any, Final

from gitfleet.api.objects import JsonObject, JsonValue
from gitfleet.formats.canonical_json import NotJson, json_text, parse_json
from gitfleet.formats.field_trees import FieldTree, minus, tree_of, union
from gitfleet.formats.managed_fields import (
    MAPPING,
    OwnedFields,
    child_fields,
    is_own_apply,
    item_name,
    list_keys,
    managed_entries,
    match_item,
    named_item,
    only_match,
)
from gitfleet.formats.secret_objects import as_stored

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_KUBECTL: Final = "kubectl-client-side-apply"
_HELM: Final = "helm"
_UNSHAPED: Final = frozenset({"apiVersion", "kind", "metadata", "status"})
_METADATA_PARTS: Final = ("labels", "annotations")
_REPLICAS: Final[FieldTree] = {"f:spec": {"f:replicas": {}}}
"""What an autoscaler may have set where a server never recorded who set what."""
_IMMUTABLE: Final = frozenset({"Job", "PersistentVolumeClaim", "Pod"})
"""Kinds of which a manager's Update also owns what admission filled in, which nobody may take out again."""


def removed_fields(
    manifest: JsonObject, live: JsonObject, before: JsonObject | None, *, is_taken_over: bool
) -> FieldTree:
    """The fields of `live` that an apply of `manifest` is to remove, as managedFields name them; none where the server
    has the object in another version. `before` is the manifest that was applied last, where it is known."""
    version, entries = manifest.get("apiVersion"), managed_entries(live)
    own = next(filter(is_own_apply, entries), None)
    if live.get("apiVersion") != version or (own is not None and own.get("apiVersion") != version):
        return {}
    mine = [entry for entry in entries if entry.get("apiVersion") == version]
    owned = _all(mine)
    wanted = _parts(as_stored(manifest))
    there = _parts(live)
    gone: FieldTree = _missing("", _parts(as_stored(before)), wanted, there, owned) if before is not None else {}
    if not is_taken_over:
        return gone
    applied = _last_applied(live)
    if applied is not None and applied.get("apiVersion") == version:
        left = _missing("", _parts(as_stored(applied)), wanted, there, owned)
        # What an autoscaler set is no matter of a manifest that was never gitfleet's.
        scaled = _all(e for e in mine if e.get("subresource") == "scale") if entries else _REPLICAS
        gone = union(gone, minus(left, scaled))
    for entry in mine:
        if entry.get("manager") == _HELM or (entry.get("manager") == _KUBECTL and applied is None):
            held = entry.get("operation") == "Update" and live.get("kind") in _IMMUTABLE
            tree = {name: below for name, below in tree_of(entry).items() if name == "f:metadata" or not held}
            gone = union(gone, _not_wanted(tree, wanted, there, owned))
    return gone


def edited_ports(manifest: JsonObject, live: JsonObject) -> FieldTree:
    """The ports of `live` whose number or protocol somebody edited, as managedFields name them. Number and protocol are
    the key of a port: an apply would put the port of the manifest beside the edited one, and the server refuses two of
    one name."""
    mine = [entry for entry in managed_entries(live) if entry.get("apiVersion") == manifest.get("apiVersion")]
    own = _all(entry for entry in mine if is_own_apply(entry))
    return minus(_edited("", _parts(as_stored(manifest)), _parts(live), _all(mine)), own)


def _edited(field: str, want: JsonValue, have: JsonValue, owned: OwnedFields) -> FieldTree:
    found: dict[str, FieldTree] = {}
    if isinstance(want, MAPPING) and isinstance(have, MAPPING):
        for key in want.keys() & have.keys():
            found[f"f:{key}"] = _edited(key, want[key], have[key], child_fields(owned, key))
    elif isinstance(want, list) and isinstance(have, list) and (keys := list_keys(field, want, owned)) is not None:
        left = [item for item in have if isinstance(item, MAPPING)]
        missing = list[JsonObject]()
        for item in want:
            there = match_item(item, left, keys)
            if there is None:
                missing.append(item)
                continue
            left = [one for one in left if one is not there]
            if (name := item_name(owned, there)) is not None:
                found[name] = _edited("", item, there, (owned or {}).get(name))
        edited = {one.get("name") for one in missing if one.get("name") or len(want) == len(have)}
        for item in left if field == "ports" else ():
            if item.get("name") in edited and (name := item_name(owned, item)) is not None:
                found[name] = {".": {}, **((owned or {}).get(name) or {})}
    return {name: tree for name, tree in found.items() if tree}


def _all(entries: Iterable[JsonObject]) -> FieldTree:
    return reduce(union, map(tree_of, entries), {})


def _parts(body: JsonObject) -> JsonObject:
    """What of an object may be removed; the maps of which each entry goes by itself are always there."""
    metadata = _mapping(body.get("metadata"))
    parts = {name: metadata.get(name) or {} for name in _METADATA_PARTS}
    rest = {name: value for name, value in body.items() if name not in _UNSHAPED}
    return {"metadata": parts, "data": {}, "binaryData": {}, **rest}


def _last_applied(live: JsonObject) -> JsonObject | None:
    """What kubectl applied last, with the annotation that says so; None where it does not say."""
    text = _mapping(_mapping(live.get("metadata")).get("annotations")).get(LAST_APPLIED)
    try:
        found = parse_json(str(text))
    except NotJson:
        return None
    if not isinstance(found, dict):
        return None
    metadata = _mapping(found.get("metadata"))
    annotations = {**_mapping(metadata.get("annotations")), LAST_APPLIED: ""}
    return {**found, "metadata": {**metadata, "annotations": annotations}}


def _mapping(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _missing(field: str, before: JsonValue, want: JsonValue, have: JsonValue, owned: OwnedFields) -> dict[str, Any]:
    """The fields of a manifest that another one has not, where they are there."""
    if isinstance(before, MAPPING) and isinstance(want, MAPPING) and isinstance(have, MAPPING):
        return _missing_keys(before, want, have, owned)
    if isinstance(before, list) and isinstance(want, list) and isinstance(have, list):
        return _missing_items(field, before, want, have, owned)
    return {}


def _missing_keys(before: JsonObject, want: JsonObject, have: JsonObject, owned: OwnedFields) -> dict[str, Any]:
    gone: dict[str, Any] = {}
    for key, value in before.items():
        below = child_fields(owned, key)
        if key not in have or value is None:
            continue
        if want.get(key) is None:
            gone[f"f:{key}"] = _whole(key, value, have[key], below)
        elif rest := _missing(key, value, want[key], have[key], below):
            gone[f"f:{key}"] = rest
    return gone


def _missing_items(
    field: str, before: list[JsonValue], want: list[JsonValue], have: list[JsonValue], owned: OwnedFields
) -> dict[str, Any]:
    keys = list_keys(field, before, owned or None)
    if keys is None:
        lost = (f"v:{json_text(item)}" for item in before if item not in want)
        return {name: {} for name in lost if name in (owned or ())}
    gone: dict[str, Any] = {}
    for item in before:
        position = only_match(item, have, keys)
        found = have[position] if position is not None else {}
        if not all(key in found for key in keys):
            continue
        name = item_name(owned, found) or f"k:{json_text({key: found[key] for key in keys})}"
        wanted, node = match_item(item, want, keys), (owned or {}).get(name) or {}
        rest = {".": {}, **node} if wanted is None else _missing("", item, wanted, found, node)
        if rest:
            gone[name] = rest
    return gone


def _whole(field: str, value: JsonValue, have: JsonValue, owned: OwnedFields) -> FieldTree:
    """All that a value names and anybody owns in it."""
    if isinstance(value, MAPPING) and isinstance(have, MAPPING):
        named = _missing(field, value, {}, have, owned)
    elif isinstance(value, list) and isinstance(have, list):
        named = _missing(field, value, [], have, owned)
    else:
        return {}
    return union({".": {}, **named}, _there(owned or {}, have))


def _there(tree: FieldTree, have: JsonValue) -> FieldTree:
    """The fields of a tree without those that an object has not, as what is left alone."""
    if not isinstance(have, MAPPING):
        return tree
    kept = {}
    for name, below in tree.items():
        if name == "." or name[2:] in have:
            rest = _there(below, have[name[2:]]) if below else below
            if rest or not below:
                kept[name] = rest
    return kept


def _not_wanted(tree: FieldTree, want: JsonValue, have: JsonValue, owned: OwnedFields) -> dict[str, Any]:
    """The fields of a manager that a manifest has not, where they are there."""
    gone: dict[str, Any] = {}
    for name, below in tree.items():
        node, rest = (owned or {}).get(name) or {}, None
        if name.startswith("f:") and isinstance(have, MAPPING) and name[2:] in have:
            value = want.get(name[2:]) if isinstance(want, MAPPING) else None
            rest = _there(node, have[name[2:]]) if value is None else _not_wanted(below, value, have[name[2:]], node)
            rest = None if not rest and (value is not None or node) else rest
        elif name.startswith("k:") and isinstance(want, list) and isinstance(have, list):
            item = next((one for one in want if isinstance(one, MAPPING) and named_item({name: below}, one)), None)
            found = next((one for one in have if isinstance(one, MAPPING) and item_name(tree, one) == name), None)
            rest = {".": {}, **node} if item is None else _not_wanted(below, item, found, node) or None
        elif name.startswith("v:") and isinstance(want, list) and parse_json(name[2:]) not in want:
            rest = {}
        if rest is not None:
            gone[name] = rest
    return gone
