"""The part of a workload of which pods are made."""

from __future__ import annotations

from collections.abc import Mapping

from gitfleet.api.objects import JsonObject
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
