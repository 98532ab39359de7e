"""From the fields that workloads are to have to the patches that give them: only what differs, on that very object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.model.held_fields import ABSENT, Fields, FieldValue, parts_of, value_at
from gitfleet.model.observations import LiveObject
from gitfleet.workload.handlers import Scaling, Workloads


def differing(body: JsonObject, fields: Fields) -> dict[str, FieldValue]:
    """The fields of an object that have another value than they are to have."""
    return {pointer: value for pointer, value in fields.items() if not _same(value_at(body, pointer), value)}


def _same(live: FieldValue, wanted: FieldValue) -> bool:
    # What is false, and what is not there, is the same for a server that leaves out what is false; 0 is not: where no
    # maxUnavailable is there, it is 25%.
    return live == wanted or (_is_off(live) and _is_off(wanted))


def _is_off(value: FieldValue) -> bool:
    return value is ABSENT or value is False


def merge_patch(fields: Mapping[str, FieldValue], body: JsonObject) -> JsonObject:
    """The JSON merge patch (RFC 7396) that gives fields of an object these values; what is to be absent is null."""
    patch: dict[str, Any] = {}
    for pointer, value in fields.items():
        *parents, last = parts_of(pointer)
        here = patch
        for parent in parents:
            here = here.setdefault(parent, {})
        here[last] = None if value is ABSENT else _replacing(value_at(body, pointer), value)
    return patch


def _replacing(live: FieldValue, wanted: FieldValue) -> FieldValue:
    """What a merge patch says for a value to take the place of another one."""
    if not isinstance(live, Mapping) or not isinstance(wanted, Mapping):
        return wanted
    gone = {name: None for name in live if name not in wanted}
    changed = {name: _replacing(live.get(name), value) for name, value in wanted.items() if live.get(name) != value}
    return {**gone, **changed}


def pending(scaling: Scaling, seen: Workloads) -> Iterator[tuple[LiveObject, dict[str, FieldValue]]]:
    """The live workloads, and what is read with them, with the fields that they are still to get."""
    for live in (seen.target, *seen.sources, *seen.pods, *(one.live for one in seen.scalers)):
        if live is None:
            continue
        fields = next((f for key, f in scaling.fields.items() if key.identity == live.key.identity), {})
        if found := differing(live.body, fields):
            yield live, found


def key_text(key: ObjectKey) -> str:
    """What names a workload in a status."""
    return f"{key.kind}/{key.name}"
