"""A dry run of replacing an object: what would come of it; nothing is stored."""

from __future__ import annotations

from datetime import datetime

from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.simulation import kinds
from gitfleet.simulation.bodies import next_metadata, spec_of, stored_form, wrongly_typed
from gitfleet.simulation.fields import content_of
from gitfleet.simulation.refusals import Refused, bad_request, conflict, invalid, not_found
from gitfleet.simulation.rules import rule_for
from gitfleet.simulation.server import MemoryServer


def replaced(server: MemoryServer, key: ObjectKey, kind: kinds.Kind, body: JsonObject, now: datetime) -> JsonObject:
    """The object that the body would be in its place. Refused as a server refuses."""
    live = server.get(key)
    if live is None:
        raise not_found(key.group, kind.plural, key.name)
    if wrong := wrongly_typed(body):
        raise bad_request(f"the object cannot be decoded: {wrong}")
    metadata = body.get("metadata") or {}
    if (metadata.get("uid"), metadata.get("resourceVersion")) != (live.uid, live.resource_version):
        raise conflict(key.group, kind.plural, key.name, "the object has been modified")
    rule = rule_for(server.rules, key, body)
    if rule is not None and rule.apply == "fail":
        raise Refused(422, "Invalid", f"the API server of {server.cluster} refuses it, as the scenario says")
    content = stored_form(key, content_of(body), granular=not kind.custom)
    if (field := kinds.immutable_field(key.group_kind, live.body, content)) is not None:
        raise invalid(key, field, "field is immutable")
    old = live.body["metadata"]
    kept = next_metadata(key, old, content, version=int(live.resource_version), uid=live.uid, now=now)
    return {"apiVersion": key.api_version, "kind": key.kind, "metadata": kept, **spec_of(content)}
