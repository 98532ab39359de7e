"""Files that a command commits: on top of what the branch has, also when somebody else is faster."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import UTC, datetime

import pytest

from gitfleet.branches.person_commits import Committed, FilesChange, PersonCommits
from gitfleet.branches.texts import BranchesText
from gitfleet.errors import BadInput, LostRace
from gitfleet.ports.repos import BranchChange, Person
from gitfleet.simulation.memory_repo import MemoryRepo

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def commits_in(repo: MemoryRepo) -> PersonCommits:
    ann = Person(name="Ann", email="ann@example.org")
    return PersonCommits(reader=repo, writer=repo, watched="main", person=ann, now=lambda: NOW)


def next_number(paths: Collection[str]) -> FilesChange:
    """A file of a name that is not taken."""
    return FilesChange(subject="Add one", write={f"{len(paths)}.yaml": b"x\n"}, remove=("gone.yaml", "never.yaml"))


def test_a_commit_is_made_again_on_top_of_one_that_was_faster() -> None:
    repo = MemoryRepo()
    repo.commit_files("main", {"0.yaml": b"0\n", "gone.yaml": b"-\n"}, NOW)

    def overtake(change: BranchChange) -> None:
        repo.commit_files("main", {"theirs.yaml": b"1\n"}, NOW)

    repo.before_commit = overtake
    made = commits_in(repo).commit(next_number)
    assert repo.files("main").keys() == {"0.yaml", "theirs.yaml", "3.yaml"}
    assert made == Committed(branch="main", commit=repo.fetch()["main"], changed=True)
    assert repo.log("main")[0].author == ("Ann", "ann@example.org")


def test_a_new_branch_starts_on_the_watched_one_and_a_known_one_goes_on() -> None:
    repo = MemoryRepo()
    main = repo.commit_files("main", {"0.yaml": b"0\n"}, NOW)
    first = commits_in(repo).commit(next_number, "mine")
    second = commits_in(repo).commit(next_number, "mine")
    assert [one.id for one in repo.log("mine")] == [second.commit, first.commit, main]
    again = commits_in(repo).commit(lambda _: FilesChange(subject="Again", write={"0.yaml": b"0\n"}), "mine")
    assert (again.changed, again.commit) == (False, second.commit)
    assert repo.fetch()["main"] == main


def test_a_branch_that_always_moves_and_a_repository_without_the_watched_one_are_errors() -> None:
    repo = MemoryRepo()
    with pytest.raises(BadInput, match=re.escape(BranchesText.REPOSITORY_NO_COMMIT_ANY_BRANCH())):
        commits_in(repo).commit(next_number)
    repo.commit_files("main", {"0.yaml": b"0\n"}, NOW)
    moves = iter(range(100))

    def move(change: BranchChange) -> None:
        repo.commit_files("main", {f"theirs{next(moves)}.yaml": b"1\n"}, NOW)

    repo.before_commit = move
    with pytest.raises(LostRace):
        commits_in(repo).commit(next_number)
    assert next(moves) == 5
