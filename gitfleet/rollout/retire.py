"""Bindings that were given up vanish once nothing of theirs is left on their cluster."""

from __future__ import annotations

from collections.abc import Mapping

from gitfleet.model.bindings import Binding
from gitfleet.model.placements import PlacementKey
from gitfleet.model.state import Inventory


def retire_bindings(bindings: tuple[Binding, ...], inventory: Mapping[str, Inventory]) -> tuple[Binding, ...]:
    """The bindings without those that are deleting and own nothing on their cluster any more (invariant 1: an
    inventory entry
    leaves only when the server says NotFound, so a binding on a silent cluster waits)."""
    if not any(binding.deleting for binding in bindings):
        return bindings
    return tuple(b for b in bindings if b.deleting is None or owns_anything(b.placement, inventory.get(b.cluster)))


def owns_anything(placement: PlacementKey, inventory: Inventory | None) -> bool:
    """Whether a placement has an entry in one cluster's inventory."""
    return any(entry.placement == placement for entry in (inventory or {}).values())
