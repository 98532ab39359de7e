"""Evictions for people: what became of each, and the file that asks for one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any

from gitfleet.api import write
from gitfleet.api.faults import Fault
from gitfleet.api.objects import JsonObject
from gitfleet.api.placements import PlacementKey
from gitfleet.api.staged import EVICTION, Eviction
from gitfleet.formats.yaml_writer import yaml_text
from gitfleet.model.state import FleetState, changed
from gitfleet.state import StateReader
from gitfleet.views.tables import status_text
from gitfleet.views.texts import ViewsText

_LONGEST_NAME = 253
_WAITS = re.compile(r"waits to take (\S+) off (\S+): (.*)", re.DOTALL)
"""What the warning of an eviction that waits says (status.waiting_eviction)."""
_ENDS = {"True": "executed", "False": "not executed", "Unknown": ViewsText.MAY_BE_EXECUTED(), "": "not valid"}


@dataclass(frozen=True, slots=True, kw_only=True)
class EvictionView:
    """An eviction: decided, or why it `waits`."""

    eviction: Eviction
    waits: str = ""

    @property
    def namespace(self) -> str:
        """Evictions are cluster-scoped."""
        return ""

    @property
    def name(self) -> str:
        """The eviction's name."""
        return self.eviction.name

    @property
    def valid(self) -> str:
        """The status of Valid."""
        return status_text(self.eviction.valid)

    @property
    def executed(self) -> str:
        """The status of Executed, "" for one that is invalid."""
        return status_text(self.eviction.executed)

    @property
    def message(self) -> str:
        """Why it ended so, or waits."""
        return self.eviction.outcome.message if self.eviction.outcome else self.waits

    @property
    def since(self) -> datetime | None:
        """When it was decided."""
        return self.eviction.outcome.last_transition_time if self.eviction.outcome else None

    def body(self) -> JsonObject:
        """The whole object."""
        body = write(self.eviction)
        return {**body, "status": {"message": f"waits: {self.waits}"}} if self.waits else body


def eviction_views(state: StateReader, name: str | None = None) -> Iterator[EvictionView]:
    """Every eviction, or the one of a name: those that were decided, and those that wait."""
    decided = [EvictionView(eviction=eviction) for eviction in state.named(Eviction, name)]
    yield from decided
    if name is None or not decided:
        yield from (view for view in waiting_views(state.faults()) if name in (None, view.name))


def waiting_views(faults: Iterable[Fault]) -> Iterator[EvictionView]:
    """The evictions that wait, as the warnings about them say."""
    for fault in faults:
        kind, _, name = fault.object.partition("/")
        if kind == EVICTION and (match := _WAITS.fullmatch(fault.message)):
            placement, cluster, why = match.groups()
            eviction = Eviction(name=name, placement_name=placement, cluster_name=cluster)
            yield EvictionView(eviction=eviction, waits=why)


def evictions_document(before: FleetState, after: FleetState) -> list[dict[str, Any]]:
    """The evictions of a Plan document: those that it decides, by name, then those that wait."""
    views = [
        EvictionView(eviction=new)
        for _, old, new in changed(before.evictions, after.evictions)
        if new is not None and old is None
    ]
    views += waiting_views(after.faults)
    return [
        {
            "name": view.name,
            "placement": view.eviction.placement_name,
            "clusterName": view.eviction.cluster_name,
            "valid": view.valid or None,
            "executed": view.executed or None,
            "message": view.message,
        }
        for view in views
    ]


def with_evictions(rows: Iterable[JsonObject], placement: PlacementKey, state: FleetState) -> list[JsonObject]:
    """The rows of `explain`, each with a sentence for every eviction of the placement from that cluster, as it ended or
    why it waits."""
    sentences: dict[str, list[str]] = {}
    decided = (EvictionView(eviction=eviction) for eviction in state.evictions.values() if eviction.outcome is not None)
    for view in (*decided, *waiting_views(state.faults)):
        if PlacementKey("", view.eviction.placement_name) == placement:
            end = "waits" if view.waits else _ENDS[view.executed]
            sentences.setdefault(view.eviction.cluster_name, []).append(f"{view.name} {end}: {view.message}")
    return [{**row, "evictions": sentences.get(str(row["clusterName"]), [])} for row in rows]


def eviction_sentence(row: Mapping[str, Any]) -> str:
    """What a plan decides about an eviction, from its row."""
    verb = "evicts" if row["executed"] == "True" else ViewsText.NOT_EVICT()
    verb = verb if row["valid"] is not None else ViewsText.WAITS_TO_EVICT()
    return f"eviction {row['name']} {verb} {row['placement']} from {row['clusterName']}: {row['message']}"


def eviction_text(name: str, placement: str, cluster: str) -> str:
    """The file that asks for an eviction."""
    return yaml_text(write(Eviction(name=name, placement_name=placement, cluster_name=cluster)))


def free_name(stem: str, is_taken: Callable[[str], bool]) -> str:
    """A name that begins with the stem and that no other object has."""
    stem = stem[: _LONGEST_NAME - 8].rstrip("-.")
    names = (stem if number == 1 else f"{stem}-{number}" for number in count(1))
    return next(name for name in names if not is_taken(name))
