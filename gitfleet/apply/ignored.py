"""Fields that are left alone: by `ignoreDifferences` of the FleetConfig, of which an apply keeps the value that the
cluster has (as Argo CD's RespectIgnoreDifferences), and by workload rollouts, which say what the value is to be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Final

from gitfleet.api.fleet import IgnoreDifferences
from gitfleet.api.objects import Identity, JsonObject, JsonValue, Manifest, ObjectKey
from gitfleet.apply.held import as_wanted, with_held
from gitfleet.apply.places import NOTHING, Parts, put, value_at, without
from gitfleet.apply.texts import ApplyText
from gitfleet.formats.canonical_json import json_text
from gitfleet.formats.field_trees import FieldTree, tree_of, union
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
from gitfleet.model.held_fields import Fields, HeldFields


@dataclass(frozen=True, slots=True)
class Ignored:
    """The rules of a fleet, and what rollouts hold on one cluster. An object that is not there yet is made as its
    manifest says, but for what is held of it."""

    rules: tuple[IgnoreDifferences, ...] = ()
    held: Mapping[Identity, HeldFields] = field(default_factory=dict)

    def held_of(self, key: ObjectKey) -> Fields:
        """What is held of an object: a value of each field by its pointer."""
        found = self.held.get(key.identity) if self.held else None
        return found.fields if found is not None else {}

    def untouched(self, key: ObjectKey) -> str:
        """Why nothing is written to an object now, "" where something may be."""
        found = self.held.get(key.identity) if self.held else None
        return (
            ApplyText.WAITS_ROLLOUT(key=key, rollout=found.rollout, untouched=found.untouched)
            if found and found.untouched
            else ""
        )

    def compared(self, key: ObjectKey, body: JsonObject, live: JsonObject) -> tuple[JsonObject, JsonObject]:
        """A manifest and the live object without what is left alone; the very same two where that is nothing. What is
        held is in the live object as the manifest has it."""
        live = as_wanted(self.held_of(key), body, live)
        rules = [rule for rule in self.rules if rule.matches(key)]
        if not rules:
            return body, live
        wanted, there = as_stored(body), live
        for tree in _trees(rules, live):
            wanted, there = _without_fields(wanted, tree), _without_fields(there, tree)
        places = _places(rules, wanted, there)
        wanted = reduce(without, _last_first(places), wanted)
        return wanted, reduce(without, _last_first(places.values()), there)

    def made(self, manifest: Manifest) -> Manifest:
        """The manifest to make an object of, with the digest that it had."""
        return with_held(self.held_of(manifest.key), manifest)

    def written(self, manifest: Manifest, live: JsonObject) -> Manifest:
        """The manifest to apply to a live object, with the digest that it had. What is held has the value that it is
        held at.

        Of what a rule names, what only others own is left out; a server then keeps it. What is gitfleet's would go if
        it was left out, and so would the rest of a value that is written as a whole: that is written with the live
        value."""
        rules = [rule for rule in self.rules if rule.matches(manifest.key)]
        if not rules:
            return self.made(manifest)
        body = as_stored(manifest.body)
        for tree in _trees(rules, live):
            body = _without_fields(body, tree)
        own = next((tree_of(entry) for entry in managed_entries(live) if is_own_apply(entry)), None)
        others = _leaves(reduce(union, (tree_of(e) for e in managed_entries(live) if not is_own_apply(e)), {}), live)
        places = _places(rules, body, live)
        for at in _last_first(places):
            live_at = places[at]
            value = value_at(live, live_at)
            if value is NOTHING:
                continue
            mine = None if own is None else _node(own, live, live_at, {})
            theirs = _node(others, live, live_at, None)
            if mine is None and theirs is None and value_at(body, at) is NOTHING:
                continue
            kept = value if mine is None and theirs is None else _kept(value, mine, theirs)
            body = without(body, at) if kept is NOTHING else put(body, at, kept)
        return self.made(replace(manifest, body=body))


NOTHING_IGNORED: Final = Ignored()


def _trees(rules: Sequence[IgnoreDifferences], live: JsonObject) -> Iterator[FieldTree]:
    managers = {manager for rule in rules for manager in rule.managers}
    return (_leaves(tree_of(entry), live) for entry in managed_entries(live) if entry.get("manager") in managers)


def _owned_by_all(live: JsonObject) -> FieldTree:
    return reduce(union, map(tree_of, managed_entries(live)), {})


def _leaves(tree: FieldTree, live: JsonObject) -> FieldTree:
    """What of a manager's tree can be left out of another one's manifest."""
    return _leaves_of(tree, _owned_by_all(live), "")


def _leaves_of(tree: FieldTree, owned: FieldTree, item: str) -> FieldTree:
    """No key that names an item of a list, and no map or list that was empty when it was applied, where others own
    parts."""
    left = {}
    for name, below in tree.items():
        rest = _leaves_of(below, owned[name], name)
        is_key = item.startswith("k:") and f'"{name[2:]}":' in item
        if not is_key and (rest if below else not owned.get(name)):
            left[name] = rest
    return left


def _places(rules: Sequence[IgnoreDifferences], body: JsonObject, live: JsonObject) -> dict[Parts, Parts]:
    """Where the rules' pointers lead in a manifest, each with where that is in the live object; none where an item of
    the manifest cannot be told there."""
    owned, places = _owned_by_all(live), dict[Parts, Parts]()
    for pointer in (pointer for rule in rules for pointer in rule.json_pointers):
        parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
        if (place := _place(parts, body, live, owned)) is not None:
            places[place[0]] = place[1]
    return places


def _last_first(places: Iterable[Parts]) -> list[Parts]:
    """The last items of a list first: the others stay where they are when these go."""
    return sorted(places, key=lambda parts: [(len(str(part)), str(part)) for part in parts], reverse=True)


def _place(parts: Sequence[str], want: JsonValue, have: JsonValue, owned: OwnedFields) -> tuple[Parts, Parts] | None:
    at, live_at, field = list[str | int](), list[str | int](), ""
    for part in parts:
        if isinstance(want, list) or isinstance(have, list):
            found = _same_item(field, part, want, have, owned)
            if found is None:
                return None
            at.append(found[0])
            live_at.append(found[1])
            want, have = want[found[0]], have[found[1]]
            owned = (owned or {}).get(item_name(owned, have) or "") if isinstance(have, MAPPING) else None
        else:
            at.append(part)
            live_at.append(part)
            want, have = (side.get(part) if isinstance(side, MAPPING) else None for side in (want, have))
            owned = child_fields(owned, part)
        field = part
    return tuple(at), tuple(live_at)


def _same_item(field: str, part: str, want: JsonValue, have: JsonValue, owned: OwnedFields) -> tuple[int, int] | None:
    """The position of an item in the manifest's list, as a pointer has it, and that of the same item in the live one: a
    map by the keys of the list, anything else by its position, but in a set."""
    if not isinstance(want, list) or not isinstance(have, list) or not part.isdecimal() or int(part) >= len(want):
        return None
    index, item = int(part), want[int(part)]
    if not isinstance(item, MAPPING):
        is_set = any(name.startswith("v:") for name in owned or ())
        return None if is_set or index >= len(have) else (index, index)
    keys = list_keys(field, want, owned) or ()
    found = only_match(item, have, keys)
    same = [one for one in want if found is not None and match_item(one, [have[found]], keys) is not None]
    return (index, found) if found is not None and len(same) == 1 else None


def _node(tree: FieldTree, value: JsonValue, parts: Parts, whole: OwnedFields) -> OwnedFields:
    """The node of a manager's tree at a place; `whole` where it has a value that the place is a part of."""
    for part in parts:
        if not tree:
            return whole
        name = _name_of(tree, value[part]) if isinstance(part, int) else f"f:{part}"
        if name not in tree:
            return None
        tree, value = tree[name], value[part]
    return tree


def _name_of(tree: FieldTree, item: JsonValue) -> str:
    """The name of an item of a list in a tree."""
    return (item_name(tree, item) or "") if isinstance(item, MAPPING) else f"v:{json_text(item)}"


def _kept(value: JsonValue, own: OwnedFields, others: OwnedFields) -> JsonValue:
    """What of a live value is gitfleet's and nobody else's."""
    if own is None or (others is not None and not others):
        return NOTHING
    theirs = others or {}
    if isinstance(value, MAPPING) and (own or theirs):
        below = ((k, _kept(v, own.get(f"f:{k}") if own else own, theirs.get(f"f:{k}"))) for k, v in value.items())
        return {name: kept for name, kept in below if kept is not NOTHING}
    if isinstance(value, list) and own:
        named = ((item, _name_of(own, item)) for item in value)
        items = (_kept(item, own.get(name), theirs.get(name)) for item, name in named)
        return [kept for kept in items if kept is not NOTHING]
    return value


def _without_fields(value: JsonValue, tree: FieldTree) -> JsonValue:
    """The value without the leaves of a manager's tree."""
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
    return item if below is None else _without_fields(item, below)
