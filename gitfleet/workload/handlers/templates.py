"""The part of a workload of which pods are made."""

from __future__ import annotations

from collections.abc import Mapping

from gitfleet.api.objects import JsonObject, JsonValue
from gitfleet.model.held_fields import value_at


def stored_template(workload: JsonObject) -> JsonObject:
    """`spec.template` without what says nothing: `creationTimestamp: null`, which programs write, and empty metadata.
    What a server fills in stays: an identifier of the content is computed from the manifest where there is one."""
    template = value_at(workload, "/spec/template")
    if not isinstance(template, Mapping):
        return {}
    metadata = value_at(template, "/metadata")
    said = {k: v for k, v in metadata.items() if v is not None} if isinstance(metadata, Mapping) else {}
    rest = {name: value for name, value in template.items() if name != "metadata"}
    return {**rest, "metadata": said} if said else rest


def is_within(wanted: JsonValue, live: JsonValue) -> bool:
    """Whether a live value is as a manifest says, beside what the server filled in."""
    if isinstance(wanted, Mapping):
        return isinstance(live, Mapping) and all(
            name in live and is_within(value, live[name]) for name, value in wanted.items() if value is not None
        )
    if isinstance(wanted, list | tuple):
        return (
            isinstance(live, list | tuple)
            and len(wanted) == len(live)
            and all(is_within(one, other) for one, other in zip(wanted, live, strict=True))
        )
    return bool(wanted == live)
