"""Pin (gitfleet.dev/v1alpha1): the content of an older snapshot that a placement rolls out for as long as the file is
there (decision record 0020)."""

from __future__ import annotations

from dataclasses import MISSING, dataclass
from typing import Annotated, Final

from annotated_types import Interval

from gitfleet.api.annotations import At, Default
from gitfleet.api.fleet import GITFLEET_GROUP
from gitfleet.api.layout import document
from gitfleet.api.objects import Authored
from gitfleet.api.placements import OwnerText, PlacementKey
from gitfleet.api.quarantines import Digest
from gitfleet.api.values import ObjectName

PINS: Final = "pins"
"""The folder of the kind."""


@document("spec", identify=lambda _: (f"{GITFLEET_GROUP}/v1alpha1", "Pin"))
@dataclass(frozen=True, slots=True, kw_only=True)
class Pin(Authored):
    """A placement with strategy RollingUpdate rolls out the content of an older snapshot of its own; what it selects
    waits until the file is gone.

    placement: the placement, as name or namespace/name
    snapshot: the index of the resource snapshot whose content it keeps
    digest: the hash of that snapshot
    reason: why
    """

    name: Annotated[ObjectName, At("metadata", "name")]
    placement: Annotated[OwnerText, Default(MISSING)] = PlacementKey("", "")
    snapshot: Annotated[int, Interval(ge=0, le=10**18 - 1), Default(MISSING)] = 0
    digest: Annotated[Digest, Default(MISSING)] = ""
    reason: str = ""
