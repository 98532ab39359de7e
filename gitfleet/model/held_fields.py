"""What workload rollouts hold: applying a placement leaves exactly that alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from gitfleet.api.objects import Identity, JsonValue
from gitfleet.api.values import NamespacedName


class _Absent:
    """Stands for a field that is not there."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()
FieldValue: TypeAlias = JsonValue | _Absent
Fields: TypeAlias = Mapping[str, FieldValue]
"""Values of fields of one object by their JSON Pointers (RFC 6901)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldFields:
    """What one rollout holds of one object: `fields` have these values when the object is applied, whatever its
    manifest says, and are not compared. Where `stays`, the object is not deleted, though no placement has it any
    more."""

    rollout: NamespacedName
    fields: Fields = field(default_factory=dict)
    stays: bool = False


HeldByCluster: TypeAlias = Mapping[str, Mapping[Identity, HeldFields]]
"""By cluster, and by the object's identity there."""
