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
from gitfleet.apply.places import all_are
from gitfleet.formats.canonical_json import NotJson, json_text, parse_json
from gitfleet.formats.field_trees import FieldTree, minus, tree_of, union
from gitfleet.formats.json_values import section
from gitfleet.formats.managed_fields import (
    MAPPING,
    OwnedFields,
    child_fields,
    is_own_apply,
    item_name,
    list_keys,
    managed_entries,
    named_item,
    named_items,
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
    if any(body.get("apiVersion") != version for body in (live, *filter(is_own_apply, entries))):
        return {}
    entries_here = [entry for entry in entries if entry.get("apiVersion") == version]
    owned = _all(entries_here)
    want, have = _parts(as_stored(manifest)), _parts(live)
    named = _named("", _parts(as_stored(before)), have, owned) if before is not None else {}
    removed: FieldTree = _not_wanted(named, want, have, owned)
    if not is_taken_over:
        return removed
    applied = _last_applied(live)
    if applied is not None and applied.get("apiVersion") == version:
        missing = _not_wanted(_named("", _parts(as_stored(applied)), have, owned), want, have, owned)
        # What an autoscaler set is no matter of a manifest that was never gitfleet's.
        scaled = _all(e for e in entries_here if e.get("subresource") == "scale") if entries else _REPLICAS
        removed = union(removed, minus(missing, scaled))
    replaced = {_HELM} if applied is not None else {_HELM, _KUBECTL}
    for entry in entries_here:
        if entry.get("manager") in replaced:
            is_filled_in = entry.get("operation") == "Update" and live.get("kind") in _IMMUTABLE
            tree = tree_of(entry)
            tree = {"f:metadata": section(tree, "f:metadata")} if is_filled_in else tree
            removed = union(removed, _not_wanted(tree, want, have, owned))
    return removed


def edited_ports(manifest: JsonObject, live: JsonObject) -> FieldTree:
    """The ports of `live` whose number or protocol somebody edited, as managedFields name them. Number and protocol are
    the key of a port: an apply would put the port of the manifest beside the edited one, and the server refuses two of
    one name."""
    entries = [entry for entry in managed_entries(live) if entry.get("apiVersion") == manifest.get("apiVersion")]
    edited = _edited("", _parts(as_stored(manifest)), _parts(live), _all(entries))
    return minus(edited, _all(filter(is_own_apply, entries)))


def _edited(field: str, want: JsonValue, have: JsonValue, owned: OwnedFields) -> FieldTree:
    edited: dict[str, FieldTree] = {}
    if all_are(MAPPING, want, have):
        for key in want.keys() & have.keys():
            edited[f"f:{key}"] = _edited(key, want[key], have[key], child_fields(owned, key))
    elif all_are(list, want, have) and (keys := list_keys(field, want, owned)) is not None:
        items = named_items(have, want, keys)
        matched = set(map(id, items))
        missing = [item for item in want if id(item) not in matched]
        names = {item.get("name") for item in missing if item.get("name") or len(want) == len(have)}
        for live_item, item in zip(have, items, strict=True):
            if (name := item_name(owned, live_item)) is None:
                continue
            if item is not None:
                edited[name] = _edited("", item, live_item, section(owned, name))
            elif field == "ports" and live_item.get("name") in names:
                edited[name] = {".": {}, **section(owned, name)}
    return {name: tree for name, tree in edited.items() if tree}


def _all(entries: Iterable[JsonObject]) -> FieldTree:
    return reduce(union, map(tree_of, entries), {})


def _parts(body: JsonObject) -> JsonObject:
    """What of an object may be removed; the maps of which each entry goes by itself are always there."""
    metadata = section(body, "metadata")
    parts = {name: value for name, value in body.items() if name not in _UNSHAPED}
    return {
        "metadata": {name: metadata.get(name) or {} for name in _METADATA_PARTS},
        "data": {},
        "binaryData": {},
        **parts,
    }


def _last_applied(live: JsonObject) -> JsonObject | None:
    """What kubectl applied last, with the annotation that says so; None where it does not say."""
    try:
        applied = parse_json(str(section(live, "metadata", "annotations").get(LAST_APPLIED)))
    except NotJson:
        return None
    if not isinstance(applied, dict):
        return None
    annotations = {**section(applied, "metadata", "annotations"), LAST_APPLIED: ""}
    return {**applied, "metadata": {**section(applied, "metadata"), "annotations": annotations}}


def _named(field: str, manifest: JsonValue, have: JsonValue, owned: OwnedFields) -> FieldTree:
    """The fields of a manifest that an object has, as managedFields would name them."""
    if all_are(MAPPING, manifest, have):
        below = {k: v for k, v in manifest.items() if v is not None and k in have}
        return {".": {}, **{f"f:{k}": _named(k, v, have[k], child_fields(owned, k)) for k, v in below.items()}}
    if not all_are(list, manifest, have):
        return {}
    keys = list_keys(field, manifest, owned or None)
    if keys is None:
        names = (f"v:{json_text(item)}" for item in manifest)
        return {".": {}, **{name: {} for name in names if name in section(owned)}}
    named: dict[str, Any] = {".": {}}
    for item in manifest:
        position = only_match(item, have, keys)
        live_item = have[position] if position is not None else {}
        if all(key in live_item for key in keys):
            name = item_name(owned, live_item) or f"k:{json_text({key: live_item[key] for key in keys})}"
            named[name] = _named("", item, live_item, section(owned, name))
    return named


def _present(tree: FieldTree, have: JsonValue) -> FieldTree:
    """The fields of a tree without those that an object has not, as what is left alone."""
    if not isinstance(have, MAPPING):
        return tree
    present = {}
    for name, below in tree.items():
        if name == "." or name[2:] in have:
            node = _present(below, have.get(name[2:]))
            if node or not below:
                present[name] = node
    return present


def _not_wanted(tree: FieldTree, want: JsonValue, have: JsonValue, owned: OwnedFields) -> dict[str, Any]:
    """The fields of a tree that a manifest has not, where they are there, each with all that anybody owns in it."""
    removed: dict[str, Any] = {}
    for name, below in tree.items():
        part, live_part, node = _part(want, name), _part(have, name), section(owned, name)
        if live_part is None:
            continue
        if part is not None:
            parts: FieldTree = _not_wanted(below, part, live_part, node)
        else:
            parts = _present(union(below, node), live_part)
        if parts or (part is None and not node):
            removed[name] = parts
    return removed


def _part(value: JsonValue, name: str) -> JsonValue:
    """What of a value a name in managedFields stands for; None where it is not there. A manifest may leave a key of an
    item to its default."""
    items = value if isinstance(value, list) else ()
    if name.startswith("v:"):
        item = parse_json(name[2:])
        return item if item in items else None
    if name.startswith("k:"):
        return next(
            (item for item in items if isinstance(item, MAPPING) and named_item({name: {}}, item) is not None), None
        )
    return section(value).get(name.removeprefix("f:"))
