"""Reading a live object's fields without trusting their types, and the three verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gitfleet.api.objects import JsonObject
from gitfleet.model.observations import Availability, Verdict
from gitfleet.observe.texts import ObserveText

AVAILABLE: Final = Verdict(Availability.AVAILABLE)


def not_yet(reason: str) -> Verdict:
    """Not available yet, and why."""
    return Verdict(Availability.NOT_YET, reason)


def untracked(reason: str) -> Verdict:
    """It is not known, and why."""
    return Verdict(Availability.NOT_TRACKABLE, reason)


def section(body: JsonObject, name: str) -> JsonObject:
    """A part of an object, empty when it is missing or no map."""
    part = body.get(name)
    return part if isinstance(part, Mapping) else {}


def integer(part: JsonObject, name: str, default: int = 0) -> int:
    """A whole number, the default when it is missing or none."""
    value = part.get(name)
    return value if isinstance(value, int) else default


def generation_of(body: JsonObject) -> int:
    """metadata.generation, 0 where the kind has none."""
    return integer(section(body, "metadata"), "generation")


def conditions_of(body: JsonObject) -> Mapping[str, JsonObject]:
    """status.conditions by type."""
    conditions = section(body, "status").get("conditions")
    if not isinstance(conditions, list):
        return {}
    return {str(c.get("type")): c for c in conditions if isinstance(c, Mapping)}


def is_true(condition: JsonObject | None) -> bool:
    """Whether a condition is there and True."""
    return condition is not None and condition.get("status") == "True"


def cause_text(part: JsonObject) -> str:
    """What a condition, or another part with a `reason` and a `message`, says for people: both, as far as they are
    there, on one line."""
    said = [" ".join(str(part.get(name) or "").split()) for name in ("reason", "message")]
    text = ": ".join(one for one in said if one) or ObserveText.NO_REASON_GIVEN()
    return text if len(text) <= 256 else f"{text[:255]}…"
