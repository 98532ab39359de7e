"""What is deleted with a namespace or a definition: which of the inventory's objects lie in which of its others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from gitfleet.api.definitions import definition_of
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import Identity
from gitfleet.api.placements import PlacementKey
from gitfleet.apply.claims import NAMESPACE_KIND, Claims
from gitfleet.apply.protection import TAKES_ALONG
from gitfleet.model.operations import Operation

Place: TypeAlias = str | tuple[str, str]
"""A namespace by its name, or a kind."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The namespaces and definitions of one cluster's inventory, read once for a plan.

    `verdicts` are what was decided so far about entries that no work wants. None of these lies in another one, whatever
    a definition says that it defines.
    """

    _places: dict[Identity, Place] = field(default_factory=dict)
    _entries: dict[Place, list[InventoryEntry]] = field(default_factory=dict)
    _contents: dict[Place, list[InventoryEntry]] = field(default_factory=dict)
    _users: dict[Place, PlacementKey] = field(default_factory=dict)
    verdicts: dict[Identity, Operation | None] = field(default_factory=dict)

    @classmethod
    def of(cls, claims: Claims) -> Contents:
        """Those of the inventory; a definition that names no kind takes nothing along."""
        made = cls()
        for identity, entry in claims.entries.items():
            place = _place_of(entry, claims) if identity[:2] in TAKES_ALONG else None
            if place is not None:
                made._places[identity] = place
                made._entries.setdefault(place, []).append(entry)
        for identity, entry in claims.entries.items() if made._places else ():
            for place in made._around(identity):
                made._contents.setdefault(place, []).append(entry)
        for identity, placement in claims.staying.items() if made._places else ():
            for place in made._around(identity):
                made._users[place] = min(placement, made._users.get(place, placement))
        return made

    def within(self, outer: InventoryEntry) -> Sequence[InventoryEntry]:
        """What of the inventory is deleted with an entry's object."""
        return self._contents.get(self._places.get(outer.key.identity, ""), ())

    def is_within(self, identity: Identity, outer: InventoryEntry) -> bool:
        """Whether an object is deleted with an entry's object, whoever has it."""
        return self._places.get(outer.key.identity) in (identity[2], identity[:2])

    def user(self, outer: InventoryEntry) -> PlacementKey | None:
        """The first placement for which something in an entry's object stays."""
        return self._users.get(self._places.get(outer.key.identity, ""))

    def around(self, entry: InventoryEntry) -> Sequence[InventoryEntry]:
        """The entries whose objects take an entry's object along."""
        return [outer for place in self._around(entry.key.identity) for outer in self._entries[place]]

    def _around(self, identity: Identity) -> list[Place]:
        if identity[:2] in TAKES_ALONG:
            return []
        return [place for place in (identity[2], identity[:2]) if place in self._entries]


def _place_of(entry: InventoryEntry, claims: Claims) -> Place | None:
    if entry.key.group_kind == NAMESPACE_KIND:
        return entry.key.name
    live = claims.live(entry.key)
    definition = definition_of(live.body) if live is not None else None
    return definition.kind if definition is not None else None
