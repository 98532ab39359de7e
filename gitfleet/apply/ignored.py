"""Fields that are left alone: by `ignoreDifferences` of the FleetConfig, of which an apply keeps the value that the
cluster has (as Argo CD's RespectIgnoreDifferences), and by workload rollouts, which say what the value is to be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import chain, filterfalse
from typing import Final

from gitfleet.api.fleet import IgnoreDifferences
from gitfleet.api.objects import Identity, JsonObject, JsonValue, Manifest, ObjectKey
from gitfleet.api.values import NamespacedName
from gitfleet.apply.places import Parts, all_are, is_set, put, value_at, without
from gitfleet.apply.rollout_fields import with_manifest_values, with_rollout_values
from gitfleet.apply.texts import ApplyText
from gitfleet.formats.canonical_json import json_text
from gitfleet.formats.field_trees import FieldTree, tree_of, union
from gitfleet.formats.json_values import section
from gitfleet.formats.managed_fields import (
    MAPPING,
    OwnedFields,
    child_fields,
    fields_below,
    is_own_apply,
    item_name,
    list_keys,
    managed_entries,
    match_item,
    named_item,
    only_match,
    owned_fields,
)
from gitfleet.formats.secret_objects import as_stored
from gitfleet.model.rollout_fields import ABSENT, Fields, RolloutFields, parts_of

_NO_ROLLOUT: Final = RolloutFields(rollout=NamespacedName("", ""))


@dataclass(frozen=True, slots=True)
class Ignored:
    """The rules of a fleet, and what rollouts set on one cluster. An object that is not there yet is made as its
    manifest says, but for what a rollout sets."""

    rules: tuple[IgnoreDifferences, ...] = ()
    by_rollouts: Mapping[Identity, RolloutFields] = field(default_factory=dict)

    def rollout_values(self, key: ObjectKey) -> Fields:
        """What a rollout sets in an object: a value of each field by its pointer."""
        return self.by_rollouts.get(key.identity, _NO_ROLLOUT).fields

    def _rules(self, key: ObjectKey) -> list[IgnoreDifferences]:
        return [rule for rule in self.rules if rule.matches(key)]

    def untouched(self, key: ObjectKey) -> str:
        """Why nothing is written to an object now, "" where something may be."""
        rollout = self.by_rollouts.get(key.identity, _NO_ROLLOUT)
        if not rollout.untouched:
            return ""
        return ApplyText.WAITS_ROLLOUT(rollout=rollout.rollout, untouched=rollout.untouched)

    def compared(self, key: ObjectKey, body: JsonObject, live: JsonObject) -> tuple[JsonObject, JsonObject]:
        """A manifest and the live object without what is left alone; the very same two where that is nothing. What a
        rollout sets is in the live object as the manifest has it."""
        live = with_manifest_values(self.rollout_values(key), body, live)
        rules = self._rules(key)
        if not rules:
            return body, live
        manifest, observed = as_stored(body), live
        for tree in _trees(rules, live):
            manifest, observed = _without_fields(manifest, tree), _without_fields(observed, tree)
        places = _places(rules, manifest, observed)
        manifest = reduce(without, _last_first(places), manifest)
        return manifest, reduce(without, _last_first(places.values()), observed)

    def made(self, manifest: Manifest) -> Manifest:
        """The manifest to make an object of, with the digest that it had."""
        return with_rollout_values(self.rollout_values(manifest.key), manifest)

    def written(self, manifest: Manifest, live: JsonObject) -> Manifest:
        """The manifest to apply to a live object, with the digest that it had, and with what a rollout sets.

        Of what a rule names, what only others own is left out; a server then keeps it. What is gitfleet's would go if
        it was left out, and so would the rest of a value that is written as a whole: that is written with the live
        value."""
        rules = self._rules(manifest.key)
        if not rules:
            return self.made(manifest)
        body = as_stored(manifest.body)
        for tree in _trees(rules, live):
            body = _without_fields(body, tree)
        own, foreign_entries = owned_fields(live), filterfalse(is_own_apply, managed_entries(live))
        foreign = _leaves(reduce(union, map(tree_of, foreign_entries), {}), live)
        places = _places(rules, body, live)
        for at in _last_first(places):
            live_at = places[at]
            value = value_at(live, live_at)
            if value is ABSENT:
                continue
            own_node = None if own is None else _node(own, live, live_at, {})
            foreign_node = _node(foreign, live, live_at, None)
            if own_node is not None or foreign_node is not None:
                value = _only_own(value, own_node, foreign_node)
            elif value_at(body, at) is ABSENT:
                continue
            body = put(body, at, value)
        return self.made(replace(manifest, body=body))


NOTHING_IGNORED: Final = Ignored()


def _trees(rules: Sequence[IgnoreDifferences], live: JsonObject) -> Iterator[FieldTree]:
    managers = set(chain.from_iterable(rule.managers for rule in rules))
    return (_leaves(tree_of(entry), live) for entry in managed_entries(live) if entry.get("manager") in managers)


def _owned_by_all(live: JsonObject) -> FieldTree:
    return reduce(union, map(tree_of, managed_entries(live)), {})


def _leaves(tree: FieldTree, live: JsonObject) -> FieldTree:
    """What of a manager's tree can be left out of another one's manifest."""
    return _leaves_of(tree, _owned_by_all(live), "")


def _leaves_of(tree: FieldTree, owned: FieldTree, item: str) -> FieldTree:
    """No key that names an item of a list, and no map or list that was empty when it was applied, where others own
    parts."""
    leaves = {}
    for name, below in tree.items():
        node = _leaves_of(below, owned[name], name)
        is_key = item.startswith("k:") and f'"{name[2:]}":' in item
        if not is_key and (node if below else not owned.get(name)):
            leaves[name] = node
    return leaves


def _places(rules: Sequence[IgnoreDifferences], body: JsonObject, live: JsonObject) -> dict[Parts, Parts]:
    """Where the rules' pointers lead in a manifest, each with where that is in the live object; none where an item of
    the manifest cannot be told there."""
    owned, places = _owned_by_all(live), dict[Parts, Parts]()
    for pointer in chain.from_iterable(rule.json_pointers for rule in rules):
        if (place := _place(parts_of(pointer), body, live, owned)) is not None:
            places[place[0]] = place[1]
    return places


def _last_first(places: Iterable[Parts]) -> list[Parts]:
    """The last items of a list first: the others stay where they are when these go."""
    return sorted(places, key=lambda parts: [(len(str(part)), str(part)) for part in parts], reverse=True)


def _place(parts: Sequence[str], want: JsonValue, have: JsonValue, owned: OwnedFields) -> tuple[Parts, Parts] | None:
    at, live_at, field = list[str | int](), list[str | int](), ""
    for part in parts:
        if isinstance(want, list) or isinstance(have, list):
            position = _live_position(field, part, want, have, owned)
            if position is None:
                return None
            at.append(int(part))
            live_at.append(position)
            want, have = want[int(part)], have[position]
            owned = (owned or {}).get(item_name(owned, section(have)) or "")
        else:
            at.append(part)
            live_at.append(part)
            want, have = section(want).get(part), section(have).get(part)
            owned = child_fields(owned, part)
        field = part
    return tuple(at), tuple(live_at)


def _live_position(field: str, part: str, want: JsonValue, have: JsonValue, owned: OwnedFields) -> int | None:
    """The position in the live list of the item that a pointer names in the manifest's: a map by the keys of the list,
    anything else by its position, but in a set."""
    if not all_are(list, want, have) or not part.isdecimal() or int(part) >= len(want):
        return None
    index, item = int(part), want[int(part)]
    if not isinstance(item, MAPPING):
        return None if is_set(owned) or index >= len(have) else index
    keys = list_keys(field, want, owned) or ()
    position = only_match(item, have, keys)
    if position is None:
        return None
    namesakes = sum(match_item(candidate, [have[position]], keys) is not None for candidate in want)
    return position if namesakes == 1 else None


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


def _only_own(value: JsonValue, own: OwnedFields, foreign: OwnedFields) -> JsonValue:
    """What of a live value is gitfleet's and nobody else's."""
    if own is None or foreign == {}:
        return ABSENT
    if isinstance(value, MAPPING) and (own or foreign):
        nodes = ((name, f"f:{name}") for name in value)
        below = ((k, _only_own(value[k], fields_below(own, node), fields_below(foreign, node))) for k, node in nodes)
        return {name: part for name, part in below if part is not ABSENT}
    if isinstance(value, list) and own:
        named = ((item, _name_of(own, item)) for item in value)
        items = (_only_own(item, own.get(name), fields_below(foreign, name)) for item, name in named)
        return [part for part in items if part is not ABSENT]
    return value


def _without_fields(value: JsonValue, tree: FieldTree) -> JsonValue:
    """The value without the leaves of a manager's tree."""
    if isinstance(value, MAPPING):
        parts = {}
        for name, item in value.items():
            below = tree.get(f"f:{name}")
            if below is None:
                parts[name] = item
            elif below:
                parts[name] = _without_fields(item, below)
        return parts
    if not isinstance(value, list):
        return value
    return [_item_without(item, tree) for item in value]


def _item_without(item: JsonValue, tree: FieldTree) -> JsonValue:
    below = named_item(tree, item) if isinstance(item, MAPPING) else None
    return item if below is None else _without_fields(item, below)
