"""The fields of an object that a workload rollout sets: they are not compared, and an apply writes them as the rollout
has them.

What a rollout does not set any more is the manifest's again. Its steps are written under a field manager of their own
(ROLLOUT_MANAGER), so an apply takes back from that one what the manifest has, and nothing else: what the manifest does
not say stays as the rollout left it, as a server would put a default in its place (one replica, say)."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from gitfleet.api.objects import JsonObject, JsonValue, Manifest
from gitfleet.apply.differences import writers_of
from gitfleet.apply.places import Parts, put, value_at
from gitfleet.formats.field_trees import FieldTree, tree_of, union
from gitfleet.formats.json_values import section
from gitfleet.formats.managed_fields import MAPPING, ROLLOUT_MANAGER, is_own_apply, managed_entries
from gitfleet.model.operations import DifferenceDetails
from gitfleet.model.rollout_fields import ABSENT, Fields, parts_of


def with_manifest_values(fields: Fields, body: JsonObject, live: JsonObject) -> JsonObject:
    """The live object as if these fields were as the manifest says."""
    for parts in map(parts_of, fields):
        live = _with_value(live, parts, value_at(body, parts))
    return live


def with_rollout_values(fields: Fields, manifest: Manifest) -> Manifest:
    """The manifest with the values of a rollout, under the digest that it had; the very same one where it has them."""
    body = manifest.body
    for pointer, value in fields.items():
        body = _with_value(body, parts_of(pointer), value)
    return manifest if body is manifest.body else replace(manifest, body=body)


def reclaimed_fields(live: JsonObject, *manifests: JsonObject) -> FieldTree:
    """The fields that rollouts have written and one of the manifests has: an apply has them alone from now on."""
    version, entries = live.get("apiVersion"), managed_entries(live)
    if any(entry.get("apiVersion") != version for entry in entries if is_own_apply(entry)):
        return {}
    own = (e for e in entries if (e.get("manager"), e.get("apiVersion")) == (ROLLOUT_MANAGER, version))
    tree: FieldTree = reduce(union, map(tree_of, own), {})
    bodies = (body for body in manifests if body["apiVersion"] == version)
    # Of a template that a rollout gave back nothing stays beside that of the manifest.
    template = section(tree, "f:spec", "f:template")
    common: FieldTree = reduce(union, (_leaves_in(tree, body) for body in bodies), {})
    return union(common, {"f:spec": {"f:template": template}}) if template else common


def without_rollouts(details: DifferenceDetails, manifest: JsonObject, live: JsonObject) -> DifferenceDetails:
    """The differences but those in fields that only rollouts wrote, and set no more."""

    def managers(detail: tuple[str, str | None, str | None]) -> set[str]:
        return {writer.manager for writer in writers_of(manifest, live, (detail,))}

    return tuple(detail for detail in details if managers(detail) != {ROLLOUT_MANAGER})


def _with_value(body: JsonObject, parts: Parts, value: JsonValue) -> JsonObject:
    """The object with a value at a place; the very same one where it has it, or where a list or text is in the way."""
    parents = (value_at(body, parts[:end]) for end in range(1, len(parts)))
    can_be = all(parent in (None, ABSENT) or isinstance(parent, MAPPING) for parent in parents)
    changed: JsonObject = put(body, parts, value) if can_be and value_at(body, parts) != value else body
    return changed


def _leaves_in(tree: FieldTree, value: JsonValue) -> FieldTree:
    """The leaves of a tree that are in a value."""
    leaves = {}
    for name, below in tree.items():
        if name.startswith("f:") and name[2:] in section(value):
            node = _leaves_in(below, value[name[2:]])
            if node or not below:
                leaves[name] = node
    return leaves
