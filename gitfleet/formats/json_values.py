"""Plain JSON values: what every text here is read to and written from, and parts that objects have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from gitfleet.formats.sentences import shortened

JsonValue: TypeAlias = Any
"""What JSON can say: None, bool, int, float, str, list, dict with str keys. Never mutated once inside gitfleet."""
JsonObject: TypeAlias = Mapping[str, Any]
"""A JSON object: str keys; see JsonValue."""
_LONGEST_CAUSE: Final = 256


def section(value: JsonValue, *names: str) -> JsonObject:
    """The map below these fields, empty where it is missing or no map."""
    for name in names:
        value = value.get(name) if isinstance(value, dict | Mapping) else None
    return value if isinstance(value, dict | Mapping) else {}


def mappings(value: JsonValue) -> list[JsonObject]:
    """The maps in a list; none where it is no list."""
    return [item for item in value if isinstance(item, dict | Mapping)] if isinstance(value, list) else []


def conditions_of(body: JsonObject) -> list[JsonObject]:
    """The conditions in an object's status; none where that has no list of them."""
    return mappings(section(body, "status").get("conditions"))


def cause_of(part: JsonObject, unknown: str) -> str:
    """What a condition, or another part with a `reason` and a `message`, says for people: both, as far as they are
    there, on one line; `unknown` where it says nothing."""
    texts = (" ".join(str(part.get(name) or "").split()) for name in ("reason", "message"))
    return shortened(": ".join(filter(None, texts)) or unknown, _LONGEST_CAUSE)
