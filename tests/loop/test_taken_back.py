"""Which commits another one takes back, by the trees of a repository alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from gitfleet.api.bindings import BindingState
from gitfleet.loop.taken_back import taken_back
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.simulation.memory_repo import MemoryRepo
from tests.removals.fleets import NOW, WEB, config_map, fleet, placed

Texts = Mapping[str, str | None]
ADDED: Texts = {"a": "2", "b": "2"}


def waiting(*commits: str, at: int = 0) -> FleetState:
    """Web was given its first snapshot everywhere but on c1, which has the newest; these commits brought them."""
    record = placed(WEB, ("c1", "c2"), config_map("a"))
    (one,) = record.resource_snapshots
    snapshots = tuple(
        replace(one, index=n, commit=commit, created=NOW + timedelta(n)) for n, commit in enumerate(commits)
    )
    names = (snapshots[-1].name, snapshots[at].name)
    bindings = tuple(replace(b, resource_snapshot=name) for b, name in zip(record.bindings, names, strict=True))
    record = replace(record, resource_snapshots=snapshots, bindings=bindings)
    return replace(fleet(record), observed_commit=commits[-1])


def written(*texts: Texts) -> tuple[MemoryRepo, list[str]]:
    repo = MemoryRepo()
    return repo, [repo.commit_files("main", one, NOW, "Change") for one in ({"a": "1", "c": "1"}, *texts)]


@pytest.mark.parametrize(
    ("revert", "is_one"),
    [
        ({"a": "1", "b": None}, True),
        ({"a": "1"}, False),
        ({"b": None}, False),
        ({"a": "1", "b": None, "c": "2"}, False),
        ({"a": "3", "b": None}, False),
        ({"c": "2"}, False),
        ({}, False),
    ],
    ids=["all of it", "the edit", "the file", "more", "to something else", "another file", "nothing"],
)
def test_a_commit_is_taken_back_where_all_is_as_it_was_and_nothing_else_changes(revert: Texts, is_one: bool) -> None:
    repo, (first, added, last) = written(ADDED, revert or {"c": "1"})
    state = waiting(first, added)
    assert taken_back(repo, last, state) == ({added} if is_one else set())
    assert taken_back(repo, last, waiting(first, added, at=1)) == set(), "no cluster waits for it"
    assert taken_back(repo, last, replace(state, observed_commit=last)) == set(), "this commit was read before"
    assert taken_back(repo, last, replace(state, observed_commit=None)) == set()


def test_whatever_came_since_is_left_alone_and_what_came_with_it_goes_along() -> None:
    repo, (first, with_it, added, later, last) = written({"d": "1"}, ADDED, {"e": "1"}, {"a": "1", "b": None})
    assert taken_back(repo, last, replace(waiting(first, added), observed_commit=later)) == {added}
    both = repo.commit_files("main", {"d": None, **ADDED}, NOW, "Change")
    again = repo.commit_files("main", {"a": "1", "b": None}, NOW, "Change")
    assert taken_back(repo, again, replace(waiting(first, added), observed_commit=both)) == {added}
    assert taken_back(repo, last, replace(waiting(first, with_it, added), observed_commit=later)) == {added}


def test_of_a_history_that_is_gone_nothing_is_known() -> None:
    repo, (first, added, last) = written(ADDED, {"a": "1", "b": None})
    gone = "f" * 40
    assert taken_back(repo, last, replace(waiting(first, added), observed_commit=gone)) == set()
    assert taken_back(repo, last, replace(waiting(first, gone), observed_commit=added)) == set()


def test_what_leaves_or_is_picked_no_more_waits_for_nothing() -> None:
    repo, (first, added, last) = written(ADDED, {"a": "1", "b": None})
    state = waiting(first, added)
    record = state.placements[WEB]

    def having(one: PlacementRecord) -> FleetState:
        return replace(state, placements={WEB: one})

    leaving = replace(record, placement=replace(record.placement, deleting=NOW))
    newest, old = record.bindings
    unpicked = replace(record, bindings=(newest, replace(old, state=BindingState.UNSCHEDULED)))
    nothing = replace(record, bindings=(replace(newest, resource_snapshot=None), replace(old, resource_snapshot="x")))
    for one in (leaving, unpicked, nothing):
        assert taken_back(repo, last, having(one)) == set()
