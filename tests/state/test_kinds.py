"""Adding a kind of file to the state branch: its declaration, one row of the table, one field of FleetState."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

import pytest

from gitfleet.api.annotations import At
from gitfleet.api.conditions import Conditions
from gitfleet.api.layout import document
from gitfleet.api.values import Key, NamespacedName
from gitfleet.model.state import FleetState
from gitfleet.state import StateReader, table
from gitfleet.state.file_kinds import own_file
from tests.state.builders import COMMIT, T0, StateFile, TreeSource, composed, put, read_state, small_fleet


@document("spec", identify=lambda value: ("v1", "Drill" if value.key.namespace else "ClusterDrill"))
@dataclass(frozen=True, slots=True, kw_only=True)
class Drill:
    """An object as people wrote it, with its status."""

    key: Key
    floors: int
    conditions: Annotated[Conditions, At("status", "conditions")] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WiderState(FleetState):
    """A state with one field more."""

    drills: Mapping[NamespacedName, Drill] = field(default_factory=dict)


ALL, OFFICE = NamespacedName("", "all"), NamespacedName("team-a", "office")
DRILLS = {ALL: Drill(key=ALL, floors=3), OFFICE: Drill(key=OFFICE, floors=1)}
BYTES = b"""apiVersion: v1
kind: Drill
metadata:
  name: office
  namespace: team-a
spec:
  floors: 1
"""


@pytest.fixture(autouse=True)
def _declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """The row, and the wider state in the place of FleetState."""
    monkeypatch.setattr(table, "KINDS", (*table.KINDS, own_file("drills", Drill, key=NamespacedName)))
    monkeypatch.setattr("gitfleet.state.read.FleetState", WiderState)


def fleet(drills: Mapping[NamespacedName, Drill]) -> WiderState:
    """The small fleet with drills."""
    small = small_fleet()
    return WiderState(**{name: getattr(small, name) for name in FleetState.__dataclass_fields__}, drills=drills)


def tree() -> dict[str, StateFile]:
    """The branch that holds it."""
    return put({}, composed(WiderState(), fleet(DRILLS), now=T0))


def test_it_is_written_beside_the_others_and_read_back() -> None:
    files = tree()

    assert files.keys() - put({}, composed(WiderState(), fleet({}), now=T0)).keys() == {
        "drills/all.yaml",
        "drills/team-a/office.yaml",
    }
    assert files["drills/team-a/office.yaml"].content == BYTES
    assert read_state(files) == fleet(DRILLS)


def test_a_reader_has_them_by_name() -> None:
    reader = StateReader(TreeSource(tree()), COMMIT)

    assert tuple(reader.each(Drill)) == (DRILLS[ALL], DRILLS[OFFICE])
    assert tuple(reader.each(Drill, "team-a/office")) == (DRILLS[OFFICE],)
    assert reader.whole() == fleet(DRILLS)
