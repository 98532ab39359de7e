"""MemoryRepo's own entry points for tests and simulations."""

from __future__ import annotations

import pytest

from gitfleet.errors import LostRace, RemoteUnreachable
from gitfleet.ports.repos import BranchChange
from gitfleet.simulation.memory_repo import MemoryRepo
from tests.adapters.git.hubs import STATE, WHEN, change


def test_files_are_committed_removed_and_logged() -> None:
    repo = MemoryRepo()
    first = repo.commit_files("main", {"a": "text", "b": b"bytes"}, WHEN, "Begin")
    second = repo.commit_files("main", {"a": None, "c": "3"}, WHEN, "Go on")
    assert repo.files("main") == {"b": b"bytes", "c": b"3"}
    assert repo.files("none") == {}
    assert [(commit.id, commit.parent, commit.subject) for commit in repo.log("main")] == [
        (second, first, "Go on"),
        (first, None, "Begin"),
    ]


def test_faults_come_in_order_and_then_end() -> None:
    repo = MemoryRepo()
    repo.commit_faults.append(RemoteUnreachable("one"))
    repo.commit_faults.append(LostRace("two"))
    repo.fetch_faults.append(RemoteUnreachable("three"))
    with pytest.raises(RemoteUnreachable, match="one"):
        repo.commit_files("main", {"a": "1"}, WHEN)
    with pytest.raises(LostRace, match="two"):
        repo.commit_files("main", {"a": "1"}, WHEN)
    with pytest.raises(RemoteUnreachable, match="three"):
        repo.fetch()
    assert repo.fetch() == {"main": repo.commit_files("main", {"a": "1"}, WHEN)} or repo.fetch()


def test_a_rival_can_be_faster() -> None:
    repo = MemoryRepo()
    first = repo.commit(change(STATE, None, {"n": b"0"}))

    def overtake(rival_of: BranchChange) -> None:
        repo.before_commit = None
        repo.commit_files(rival_of.branch, {"n": "rival"}, WHEN)

    repo.before_commit = overtake
    with pytest.raises(LostRace):
        repo.commit(change(STATE, first, {"n": b"1"}))
    assert repo.files(STATE) == {"n": b"rival"}


def test_branches_move_by_force() -> None:
    repo = MemoryRepo()
    first = repo.commit_files("main", {"a": "1"}, WHEN)
    repo.commit_files("main", {"a": "2"}, WHEN)
    repo.move_branch("main", first)
    assert repo.files("main") == {"a": b"1"}
    repo.move_branch("main", None)
    assert repo.fetch() == {}
