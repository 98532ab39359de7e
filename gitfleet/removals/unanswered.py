"""What a hold keeps that nobody has answered stays held, whatever becomes of the placement that it is about."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Final

from gitfleet.api.conditions import Status
from gitfleet.api.holds import Hold, Removal, RemovalKind
from gitfleet.removals.answers import IN_PART
from gitfleet.removals.placed import Cell, Losses
from gitfleet.removals.shares import Finding, placements_of
from gitfleet.removals.takers import Takers

_ASKED: Final = "; asked already, and not answered, by "


def held_before(
    holds: Collection[Hold], new: Mapping[Removal, frozenset[Cell]], takers: Takers, losses: Losses
) -> Iterator[Finding]:
    """New removals that take what an unanswered hold kept in another way, with the reasons of that hold: the placement
    goes while others take over what it has, or was to go and comes back with less."""
    unanswered = [hold for hold in holds if hold.answer is not Status.TRUE]
    going = placements_of(r for r in new if r.kind is RemovalKind.PLACEMENT) if unanswered else ()
    keys, wholes = placements_of(new), {key for key in going if takers.of(key)}
    for hold in unanswered:
        found: dict[int, list[Removal]] = {}
        for held in hold.removals:
            came_back = held.kind is RemovalKind.PLACEMENT and held.placement not in losses.kept.placements
            if held.placement in wholes or (came_back and held.placement in keys):
                cells = losses.of(held)
                for removal, taken in new.items():
                    if removal.placement == held.placement and not cells.isdisjoint(taken):
                        for number in held.reasons or range(len(hold.reasons)):
                            found.setdefault(number, []).append(removal)
        for number, removals in found.items():
            message = hold.reasons[number].message.removesuffix(IN_PART).partition(_ASKED)[0]
            reason = replace(hold.reasons[number], message=f"{message}{_ASKED}{hold.name}", causes="", path="", line=0)
            yield Finding(reason, tuple(dict.fromkeys(removals)))
