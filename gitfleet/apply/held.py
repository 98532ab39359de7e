"""What a workload rollout holds of an object: it is not compared, and an apply writes it as the rollout has it.

What a rollout does not hold any more is the manifest's again. Its steps are written under a field manager of their own
(ROLLOUT_MANAGER), so an apply takes back from that one what the manifest has, and nothing else: what the manifest does
not say stays as the rollout left it, as a server would put a default in its place (one replica, say)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce

from gitfleet.api.objects import JsonObject, JsonValue, Manifest
from gitfleet.apply.places import NOTHING, Parts, put, value_at, without
from gitfleet.apply.writers import writers_of
from gitfleet.formats.field_trees import FieldTree, tree_of, union
from gitfleet.formats.managed_fields import MAPPING, ROLLOUT_MANAGER, is_own_apply, managed_entries
from gitfleet.model.held_fields import ABSENT, Fields, parts_of
from gitfleet.model.operations import DifferenceDetails


def as_wanted(fields: Fields, body: JsonObject, live: JsonObject) -> JsonObject:
    """The live object as if what is held was as the manifest says."""
    for parts in map(parts_of, fields):
        wanted = value_at(body, parts)
        if wanted is NOTHING:
            live = without(live, parts)
        elif _is_in_maps(live, parts):
            live = put(live, parts, wanted)
    return live


def with_held(fields: Fields, manifest: Manifest) -> Manifest:
    """The manifest with what is held, under the digest that it had; the very same one where it has it."""
    body = manifest.body
    for pointer, value in fields.items():
        parts = parts_of(pointer)
        if value is ABSENT:
            body = without(body, parts)
        elif _is_in_maps(body, parts) and value_at(body, parts) != value:
            body = put(body, parts, value)
    return manifest if body is manifest.body else replace(manifest, body=body)


def taken_back(live: JsonObject, *manifests: JsonObject | None) -> FieldTree:
    """The fields that rollouts have written and one of the manifests has: an apply has them alone from now on."""
    version, entries = live.get("apiVersion"), managed_entries(live)
    if any(entry.get("apiVersion") != version for entry in entries if is_own_apply(entry)):
        return {}
    mine = (e for e in entries if e.get("manager") == ROLLOUT_MANAGER and e.get("apiVersion") == version)
    tree: FieldTree = reduce(union, map(tree_of, mine), {})
    parts = (_common(tree, body) for body in manifests if tree and body is not None and body["apiVersion"] == version)
    # Of a template that a rollout gave back nothing stays beside that of the manifest.
    template = tree.get("f:spec", {}).get("f:template")
    return reduce(union, parts, {"f:spec": {"f:template": template}} if template else {})


def of_others(details: DifferenceDetails, manifest: JsonObject, live: JsonObject) -> DifferenceDetails:
    """The differences but those that are of rollouts alone, which hold them no more."""
    return tuple(one for one in details if {w.manager for w in writers_of(manifest, live, (one,))} != {ROLLOUT_MANAGER})


def _is_in_maps(body: JsonObject, parts: Parts) -> bool:
    """Whether a place can be in an object: it leads through no list and no text there."""
    around: Iterable[JsonValue] = (value_at(body, parts[:end]) for end in range(1, len(parts)))
    return all(one is NOTHING or one is None or isinstance(one, MAPPING) for one in around)


def _common(tree: FieldTree, value: JsonValue) -> FieldTree:
    """The leaves of a tree that are in a value."""
    found = {}
    for name, below in tree.items():
        if name.startswith("f:") and isinstance(value, MAPPING) and name[2:] in value:
            rest = _common(below, value[name[2:]])
            if rest or not below:
                found[name] = rest
    return found
