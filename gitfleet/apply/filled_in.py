"""What only the server put into a live object: its defaults, and what it assigned. A full comparison does not count it.

A server records as owner of a field in `metadata.managedFields` whoever wrote it, and nobody for what it filled in
under an apply. Where somebody else owns a field, or the bookkeeping cannot say it, a dry run tells: what comes of the
manifest alone is the server's (decision record 0027).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Final

from gitfleet.api.objects import JsonObject, JsonValue
from gitfleet.apply.places import all_are
from gitfleet.formats.field_trees import FieldTree, tree_of, union
from gitfleet.formats.json_values import section
from gitfleet.formats.managed_fields import (
    MAPPING,
    OwnedFields,
    fields_below,
    is_own_apply,
    item_name,
    list_keys,
    managed_entries,
    match_item,
)
from gitfleet.formats.secret_objects import as_stored, is_secret
from gitfleet.model.rollout_fields import ABSENT

_WHOLE: Final[FieldTree] = {}
"""A leaf: somebody has written the field with all that is in it."""


def with_filled_in(body: JsonObject, live: JsonObject, made: JsonObject | None, *, applied: bool) -> JsonObject:
    """A manifest with what the server put into the live object, and nothing that anybody else wrote.

    `made` is what the server would make of the manifest alone, where it was asked. `applied`: this very manifest was
    applied, so all that gitfleet owns comes of it.
    """
    entries = [entry for entry in managed_entries(live) if entry.get("subresource") != "status"]
    everyone = reduce(union, map(tree_of, entries), _WHOLE)
    at = _At("", _written(live, entries, applied=applied), everyone, ABSENT if made is None else made)
    completed: JsonObject = _completed(as_stored(body), live, at)
    return completed


def _written(live: JsonObject, entries: list[JsonObject], *, applied: bool) -> FieldTree:
    """The fields that somebody wrote beside the manifest: all of them where the server does not say it of each."""
    version = live.get("apiVersion")
    is_complete = all(isinstance(e.get("fieldsV1"), MAPPING) and e.get("apiVersion") == version for e in entries)
    foreign = [entry for entry in entries if not (applied and is_own_apply(entry))]
    if not entries or not is_complete or (applied and len(foreign) == len(entries)):
        return _WHOLE
    named: FieldTree = {"f:metadata": {"f:name": _WHOLE}}  # so that it is not empty
    written = reduce(union, map(tree_of, foreign), named)
    # What somebody applied as `stringData` has no owner under `data`.
    return {**written, "f:data": _WHOLE} if is_secret(live) else written


@dataclass(frozen=True, slots=True)
class _At:
    """One place in an object: who wrote something there (None: nobody) beside the manifest, everybody's fields, and
    what a dry run made there."""

    field: str
    written: OwnedFields
    everyone: OwnedFields
    made: JsonValue

    def part(self, name: str) -> _At:
        """A field of the map."""
        node = f"f:{name}"
        made = section(self.made).get(name, ABSENT)
        return _At(name, fields_below(self.written, node), section(self.everyone).get(node), made)

    def item(self, live: JsonObject, keys: tuple[str, ...]) -> _At:
        """An item of the list, by its keys."""
        named = {key: live[key] for key in keys if key in live}
        made = match_item(named, self.made, keys) if isinstance(self.made, list) else None
        written = fields_below(self.written, item_name(self.written, live) or "")
        everyone = section(self.everyone).get(item_name(self.everyone, live) or "")
        return _At("", written, everyone, ABSENT if made is None else made)


def _completed(want: JsonValue, have: JsonValue, at: _At) -> JsonValue:
    """What is wanted, with the parts that are the server's. Where nothing is wanted (ABSENT), only those."""
    if at.made == have or (want is ABSENT and at.written is None):
        return have
    if all_are(list, want, have):
        return _completed_list(want, have, at)
    if not isinstance(have, MAPPING) or not (want is ABSENT or isinstance(want, MAPPING)):
        return want
    named = section(want)
    parts = {name: _completed(named.get(name, ABSENT), value, at.part(name)) for name, value in have.items()}
    return {**named, **{name: part for name, part in parts.items() if part is not ABSENT}} or want


def _completed_list(want: list[JsonValue], have: list[JsonValue], at: _At) -> list[JsonValue]:
    keys = list_keys(at.field, want, at.everyone)
    if keys is None:
        if len(want) != len(have):
            return want
        made = at.made if isinstance(at.made, list) and len(at.made) == len(have) else [ABSENT] * len(have)
        inside = _WHOLE if at.written is not None else None
        places = (_At("", inside, None, item) for item in made)
        return [_completed(*args) for args in zip(want, have, places, strict=True)]
    matches = [match_item(item, have, keys) for item in want]
    completed = [
        item if live is None else _completed(item, live, at.item(live, keys))
        for item, live in zip(want, matches, strict=True)
    ]
    matched = set(map(id, matches))
    more = [item for item in have if isinstance(item, MAPPING) and id(item) not in matched]
    # Of an item that somebody wrote, the rest alone is no item.
    return completed + [item for item in more if _completed(ABSENT, item, at.item(item, keys)) == item]
