"""What workload rollouts hold: applying a placement leaves exactly that alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from gitfleet.api.objects import Identity, JsonObject, JsonValue
from gitfleet.api.values import NamespacedName


class _Absent:
    """Stands for a field that is not there."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()
NEVER_AVAILABLE: Final = 2**31 - 2
"""`minReadySeconds` with which pods are ready and never available; the deadline has to be longer, and the longest one
means that there is none."""
FieldValue: TypeAlias = JsonValue | _Absent
Fields: TypeAlias = Mapping[str, FieldValue]
"""Values of fields of one object by their JSON Pointers (RFC 6901)."""


def value_at(body: JsonObject, pointer: str) -> FieldValue:
    """The value of a field, ABSENT where it is not there."""
    value: JsonValue = body
    for part in parts_of(pointer):
        if not isinstance(value, Mapping) or part not in value:
            return ABSENT
        value = value[part]
    return value


def parts_of(pointer: str) -> tuple[str, ...]:
    """The names in a JSON Pointer (RFC 6901)."""
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutFields:
    """What one rollout holds of one object: `fields` have these values when the object is applied, whatever its
    manifest says, and are not compared. Where `stays`, the object is not deleted, though no placement has it any
    more. Where `untouched`, why nothing at all is written to it now."""

    rollout: NamespacedName
    fields: Fields = field(default_factory=dict)
    stays: bool = False
    untouched: str = ""


RolloutFieldsByCluster: TypeAlias = Mapping[str, Mapping[Identity, RolloutFields]]
"""By cluster, and by the object's identity there."""
