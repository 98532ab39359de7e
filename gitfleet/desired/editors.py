"""JSON Schemas for editors, made from the same shapes that read the files (`gitfleet schema`)."""

from __future__ import annotations

from typing import Any

from gitfleet.desired.kinds import KINDS
from gitfleet.errors import BadInput


def kinds() -> tuple[str, ...]:
    """The names of the kinds that have a schema, sorted."""
    return tuple(sorted(name for _, name in KINDS))


def schema_for(kind: str) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a kind, found by its name in any case; BadInput for an unknown one."""
    found = next((known for known in KINDS.values() if known.name.lower() == kind.lower()), None)
    if found is None:
        raise BadInput(f'"{kind}" is not a kind that gitfleet reads', hint=f"one of {', '.join(kinds())}")
    schema = found.shape.model_json_schema(by_alias=True)
    properties = dict(schema["properties"])
    properties["apiVersion"] = {"enum": [f"{found.group}/{version}" for version in found.versions]}
    properties["kind"] = {"const": found.name}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": found.name,
        "properties": properties,
    }
