"""JSON merge patches (RFC 7396) of objects."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from gitfleet.api.objects import JsonObject, JsonValue, ObjectKey
from gitfleet.model.observations import LiveObject
from gitfleet.simulation.bodies import wrongly_typed
from gitfleet.simulation.refusals import Refused, bad_request, not_found
from gitfleet.simulation.rules import rule_for
from gitfleet.simulation.server import MemoryServer


def patch_object(
    server: MemoryServer, key: ObjectKey, plural: str, patch: JsonObject, *, now: datetime, manager: str
) -> LiveObject:
    """The object after the patch; a `uid` and a `resourceVersion` in its metadata are preconditions. Refused as a
    server refuses."""
    live = server.get(key)
    if live is None:
        raise not_found(key.group, plural, key.name)
    body = merged(live.body, patch)
    if wrong := wrongly_typed(body):
        raise bad_request(f"the object cannot be decoded: {wrong}")
    rule = rule_for(server.rules, key, body)
    if rule is not None and rule.apply == "fail":
        raise Refused(422, "Invalid", f"the API server of {server.cluster} refuses it, as the scenario says")
    return server.update(key, body, now=now, manager=manager)


def merged(value: JsonValue, patch: JsonValue) -> JsonValue:
    """A value after a merge patch: maps by field, where null takes a field away; all else is replaced."""
    if not isinstance(patch, Mapping):
        return patch
    found = dict(value) if isinstance(value, Mapping) else {}
    for name, part in patch.items():
        if part is None:
            found.pop(name, None)
        else:
            found[name] = merged(found.get(name), part)
    return found
