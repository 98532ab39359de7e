"""Adding a kind of file to the state branch: its declaration, one row of the table, one field of FleetState."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

import pytest

from gitfleet.api.annotations import At
from gitfleet.api.conditions import Conditions
from gitfleet.api.layout import document
from gitfleet.api.values import Key, NamespacedName
from gitfleet.errors import BadInput
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.state import FleetState
from gitfleet.schedule.texts import ScheduleText
from gitfleet.state import (
    StateFile,
    StateReader,
    Unusable,
    assemble_state,
    parse_state_file,
    read_state,
    table,
    wanted_files,
)
from gitfleet.state.file_kinds import own_file
from tests.state.builders import COMMIT, T0, TreeSource, blob_of, composed, condition, put, small_fleet


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
    monkeypatch.setattr(table, "KINDS", (*table.KINDS, own_file("drills", Drill, "Drill", key=NamespacedName)))
    monkeypatch.setattr("gitfleet.state.assemble.FleetState", WiderState)


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


def test_nothing_is_written_when_nothing_changed() -> None:
    assert composed(read_state(tree()), fleet(DRILLS), now=T0).empty


def test_a_changed_one_is_rewritten_and_one_that_ends_is_removed() -> None:
    changed = replace(DRILLS[OFFICE], conditions=(condition("Started"),))

    change = composed(fleet(DRILLS), fleet({OFFICE: changed}), now=T0)

    assert change.write.keys() == {"fleet.yaml", "drills/team-a/office.yaml"}
    assert change.remove == ("drills/all.yaml",)
    assert read_state(put(tree(), change)) == fleet({OFFICE: changed})


@pytest.mark.parametrize(
    ("drills", "wanted"), [({ALL: DRILLS[ALL]}, []), (DRILLS, ["drills/team-a/office.yaml"])], ids=["lost", "rebuilt"]
)
def test_an_unreadable_one_is_set_aside_and_written_again_if_it_is_rebuilt(
    drills: Mapping[NamespacedName, Drill], wanted: list[str]
) -> None:
    path = "drills/team-a/office.yaml"
    files = {**tree(), path: StateFile(blob_of(b"["), b"[")}
    with pytest.raises(BadInput, match=re.escape("drills/team-a/office.yaml " + ScheduleText.CANNOT_USED())):
        parse_state_file(path, b"[")
    others = [name for name in wanted_files(files) if name != path]
    parsed = {name: parse_state_file(name, files[name].content or b"") for name in others}
    listing = {name: file.blob for name, file in files.items()}
    read = assemble_state(listing, parsed, Unusable(commit=COMMIT, files={path: "it is broken"}))
    assert read == fleet({ALL: DRILLS[ALL]})

    change = composed(read, fleet(drills), now=T0)

    assert change.remove == (path,)
    assert [name for name in change.write if name.startswith("drills/")] == wanted
    assert read_state(put(files, change)) == fleet(drills)


def test_one_that_another_version_holds_for_is_written_again_as_that() -> None:
    path = "drills/all.yaml"
    damage = replace(fleet(DRILLS).damage, files={path: "it is broken"}, restored={path: COMMIT})
    before = replace(fleet(DRILLS), damage=damage)

    change = composed(before, replace(before, damage=replace(damage, files={}, restored={})), now=T0)

    assert change.remove == (path,)
    assert path in change.write
    assert read_state(put(tree(), change)) == fleet(DRILLS)


def test_one_that_cannot_be_written_stays_as_it_was_and_the_others_are_written() -> None:
    bad = NamespacedName("", "../x")
    failures = Failures()

    change = composed(WiderState(), fleet({**DRILLS, bad: Drill(key=bad, floors=1)}), now=T0, failures=failures)

    assert [failure.subject for failure in failures.found] == [Subject("ClusterDrill", "../x")]
    assert change.state == fleet(DRILLS)
    assert {path for path in change.write if path.startswith("drills/")} == {
        "drills/all.yaml",
        "drills/team-a/office.yaml",
    }


def test_a_reader_has_them_by_name() -> None:
    reader = StateReader(TreeSource(tree()), COMMIT)

    assert tuple(reader.each(Drill)) == (DRILLS[ALL], DRILLS[OFFICE])
    assert tuple(reader.each(Drill, "team-a/office")) == (DRILLS[OFFICE],)
    assert reader.whole() == fleet(DRILLS)
    assert table.owner_of("drills/team-a/office.yaml") == OFFICE
