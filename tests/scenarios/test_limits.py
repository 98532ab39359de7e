"""Bounds on what is read and written hold in whole passes: what is beyond them is refused and said, and the fleet goes
on with what it has."""

from __future__ import annotations

import re

import pytest

from gitfleet.api.faults import WHOLE_COMMIT
from gitfleet.branches.texts import BranchesText
from gitfleet.desired import IGNORE_FILE
from gitfleet.errors import GiveUp
from gitfleet.settings import Limits
from gitfleet.state import changed_files
from gitfleet.state.texts import StateText
from tests import builders
from tests.scenarios.world import STATE, World

FEW = Limits(files=60)
FEWER = BranchesText.REMOVE_FILES_IGNORE_OTHERS(ignore_file=IGNORE_FILE)


def settled(limits: Limits = FEW) -> World:
    """One placement on two clusters."""
    world = World(limits=limits)
    world.commit(
        builders.member_cluster("c1"), builders.member_cluster("c2"),
        builders.namespace("web"), builders.deployment("web", "web", image="web:1"), builders.placement("web"),
    )  # fmt: skip
    world.settle()
    assert world.image("c1") == "web:1"
    return world


def too_many(world: World) -> None:
    files = {f"resources/web/{n}.yaml": builders.to_yaml(builders.config_map("web", f"m{n}", {})) for n in range(80)}
    web = builders.repo_files_for(builders.deployment("web", "web", image="web:2"))
    world.write({**files, **web})


@pytest.mark.parametrize(
    "files",
    [
        {f"resources/web/{n}.go": "package web\n" for n in range(80)},
        {f".github/{n}.yaml": "a: b\n" for n in range(80)},
        {IGNORE_FILE: "src/\n", **{f"src/{n}.yaml": "a: b\n" for n in range(80)}},
    ],
    ids=["of another type", "hidden", "ignored"],
)
def test_files_that_are_not_read_do_not_count(files: dict[str, str]) -> None:
    world = settled()
    web = builders.repo_files_for(builders.deployment("web", "web", image="web:2"))
    world.roll_out(files={**files, **web})
    assert (world.image("c1"), world.state().faults) == ("web:2", ())


@pytest.mark.parametrize("restart", [False, True])
def test_a_commit_with_too_many_files_is_refused_and_the_last_good_goes_on(restart: bool) -> None:
    world = settled()
    accepted = world.state().observed_commit
    too_many(world)
    with world.nothing_deleted():
        for _ in range(2):
            world.settle()
            if restart:
                world.restart()
    assert (world.image("c1"), world.state().observed_commit) == ("web:1", accepted)
    (fault,) = world.state().faults
    refused = BranchesText.FILES_MOST_READ(files=85, most=60, few=FEWER)
    assert refused in str(fault) and refused in world.state_text("README.md")
    world.write({f"resources/web/{n}.yaml": None for n in range(80)})
    with world.nothing_deleted():
        world.settle()
    assert (world.image("c1"), world.image("c2"), world.state().faults) == ("web:2", "web:2", ())


def test_a_first_commit_with_too_many_files_places_nothing() -> None:
    world = World(limits=FEW)
    too_many(world)
    world.settle()
    (fault,) = world.state().faults
    assert (fault.path, fault.line) == (WHOLE_COMMIT, 1)
    assert BranchesText.FILES_MOST_READ(files=81, most=60, few=FEWER) in fault.message
    assert not world.state().placements


def test_a_limit_that_is_lower_than_what_is_accepted_takes_nothing_away() -> None:
    world = settled(Limits())
    world.limits = Limits(files=3)
    world.restart()
    with world.nothing_deleted():
        world.settle()
        world.roll_out(builders.deployment("web", "web", image="web:2"))
    assert world.image("c1") == "web:1"
    assert not world.state().holds
    assert len(world.state().faults) == 1


def test_thousands_of_faulty_documents_stay_a_small_report() -> None:
    world = settled(Limits())
    document = "kind: ConfigMap\napiVersion: v1\nmetadata: {name: 'X y', namespace: web, labels: " + "[1]}\n"
    world.write({f"resources/web/{n}.yaml": "---\n".join([document] * 300) for n in range(20)})
    with world.nothing_deleted():
        world.settle()
    sizes = {path: len(content) for path, content in world.repo.files(STATE).items()}
    assert max(sizes.values()) < 1_000_000
    assert "code: NOT_LISTED_HERE" in world.state_text("faults.yaml")
    assert len(world.state_text("README.md")) < 50_000


def test_a_state_with_a_file_that_would_be_too_large_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    world = settled(Limits())
    monkeypatch.setattr(changed_files, "LARGEST_WRITTEN_BYTES", 20_000)
    world.commit(*(builders.config_map("web", f"m{n}", {}) for n in range(200)))
    path = "snapshots/resources/web/1/snapshot.yaml"
    with (
        world.nothing_deleted(),
        pytest.raises(GiveUp, match=re.escape(StateText.STATE_BRANCH_FILE_WOULD(path=path, size=""))),
    ):
        world.settle()
    assert max(len(content) for name, content in world.repo.files(STATE).items() if name != "README.md") <= 20_000


def test_what_was_refused_and_is_not_listed_is_not_taken_for_accepted_later() -> None:
    world = settled(Limits())

    def stray(value: str) -> dict[str, str]:
        bodies = [builders.config_map("stray", f"m{number}", {"value": value}) for number in range(150)]
        return {"resources/many.yaml": builders.to_yaml(*bodies)}

    for value in ("1", "2"):
        world.roll_out(files=stray(value))
    wanted = world.driver.repository.desired_trees.at(world.repo.fetch()["main"], world.state())
    assert [str(manifest.key) for manifest in wanted.payload if manifest.key.namespace == "stray"] == []
