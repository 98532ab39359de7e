"""Trees of fields as `metadata.managedFields` has them (FieldsV1): all of two, one without the other, and taking fields
over from other managers.

A tree maps `f:<field>`, `k:<keys of a list item>` or `v:<item of a set>` to the tree below; an empty tree is a leaf,
and "." is the existence of a map or list item.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from gitfleet.formats.json_values import JsonObject
from gitfleet.formats.managed_fields import FIELD_MANAGER, is_own_apply, managed_entries

FieldTree: TypeAlias = Mapping[str, Any]


def union(first: FieldTree, second: FieldTree) -> FieldTree:
    """All fields of both."""
    if not first or not second:
        return first or second
    return {**first, **{key: union(first[key], below) if key in first else below for key, below in second.items()}}


def minus(tree: FieldTree, removed: FieldTree, *, whole_items: bool = False) -> dict[str, Any]:
    """The leaves of `tree` that `removed` does not have.

    With `whole_items`, an item of which `removed` has any part keeps existing, though existing is a leaf of its own.
    """
    out: dict[str, Any] = {}
    for key, below in tree.items():
        if key not in removed:
            out[key] = below
        elif below:
            remaining = minus(below, removed[key], whole_items=whole_items)
            if whole_items and removed[key]:
                remaining.pop(".", None)
            if remaining:
                out[key] = remaining
    return out


def covers(tree: FieldTree, fields: FieldTree) -> bool:
    """Whether a tree has all fields, or a field that they are parts of."""
    return all(
        name == "." or (name in tree and (not tree[name] or covers(tree[name], below)))
        for name, below in fields.items()
    )


def tree_of(entry: JsonObject) -> FieldTree:
    """The fields of a managedFields entry; none where a server wrote anything else."""
    fields = entry.get("fieldsV1")
    return fields if isinstance(fields, Mapping) else {}


def in_version(live_body: JsonObject, version: str) -> list[JsonObject] | None:
    """The managedFields under which what gitfleet applied was applied in a version of the kind; None where it was."""
    entries = managed_entries(live_body)
    if not any(is_own_apply(entry) and entry.get("apiVersion") != version for entry in entries):
        return None
    return [{**entry, "apiVersion": version} if is_own_apply(entry) else entry for entry in entries]


def taken_over(live_body: JsonObject, fields: FieldTree) -> list[JsonObject] | None:
    """The managedFields under which gitfleet alone has applied `fields`, so that its next apply without them removes
    them; None where that apply does so anyway. Entries in other versions of the kind stay as they are.

    As kubectl moves fields from client-side to server-side apply (client-go, util/csaupgrade)."""
    version = live_body.get("apiVersion")
    own: JsonObject = {"manager": FIELD_MANAGER, "operation": "Apply", "apiVersion": version, "fieldsType": "FieldsV1"}
    entries, changed = list[JsonObject](), False
    for entry in managed_entries(live_body):
        remaining = tree = tree_of(entry)
        if is_own_apply(entry):
            own = entry
            continue
        if entry.get("apiVersion") == version:
            remaining = minus(tree, fields)
        changed = changed or remaining != tree
        if remaining or remaining is tree:
            entries.append(entry if remaining == tree else {**entry, "fieldsV1": remaining})
    if not changed and covers(tree_of(own), fields):
        return None
    return [*entries, {**own, "fieldsV1": union(tree_of(own), fields)}]
