"""What a driver makes of the configuration: names of branches, the interval, and a configuration that breaks."""

from __future__ import annotations

import re

import pytest

from gitfleet.branches.texts import BranchesText
from gitfleet.errors import BadInput
from tests.builders import config_map, fleet_config, member_cluster, namespace, pick_fixed, placement, to_yaml
from tests.scenarios.world import World
from tests.texts import part

BROKEN = "apiVersion: gitfleet.dev/v1alpha1\nkind: FleetConfig\nmetadata: {name: fleet}\nspec: {interval: soon}\n"
UNREADABLE = "apiVersion: [\n"
RENAMED = {"state": "fleet/state", "approvals": "ok/"}


def world_with(**spec: object) -> World:
    """One cluster with one object, under a configuration, at rest."""
    world = World()
    world.roll_out(
        fleet_config(**spec),
        member_cluster("eu-1"),
        namespace("shop"),
        config_map("shop", "a", {"k": "1"}),
        placement("shop", policy=pick_fixed("eu-1")),
    )
    return world


def value(world: World) -> str | None:
    body = world.live("eu-1", "ConfigMap", "a")
    return body["data"]["k"] if body else None


def test_the_state_branch_is_called_what_the_configuration_says() -> None:
    world = world_with(branches=RENAMED, interval="7s")
    assert set(world.repo.fetch()) == {"main", "fleet/state"}
    assert (world.driver.repository.config.interval_seconds, world.driver.repository.branches.approvals) == (7.0, "ok/")
    before = len(world.repo.log("fleet/state"))
    world.restart()
    world.settle()
    assert len(world.repo.log("fleet/state")) == before, "a fresh process finds it again"


@pytest.mark.parametrize("text", [BROKEN, UNREADABLE])
@pytest.mark.parametrize("branches", [RENAMED, {}])
@pytest.mark.parametrize("restarts", [False, True])
def test_a_configuration_that_breaks_holds_its_last_good_version(
    text: str, branches: dict[str, str], restarts: bool
) -> None:
    world = world_with(branches=branches, interval="7s")
    names = set(world.repo.fetch())
    with world.nothing_deleted():
        world.write({"gitfleet.yaml": text})
        for _ in range(3):
            if restarts:
                world.restart()
            world.settle()
            assert world.driver.repository.config.interval_seconds == 7.0
        world.commit(config_map("shop", "a", {"k": "2"}))
        if restarts:
            world.restart()
        world.settle()
    assert value(world) == "2", "sound files go on"
    assert set(world.repo.fetch()) == names, "no other state branch was begun"
    assert [fault.path for fault in world.driver.reconcile().state.faults] == ["gitfleet.yaml"]


def test_a_branch_of_somebody_else_is_never_taken_for_the_state() -> None:
    world = world_with(branches=RENAMED)
    world.repo.commit_files("a-copy", {"fleet.yaml": "kind: Fleet\n"}, world.clock.now())
    world.repo.commit_files("b-copy", world.repo.files("fleet/state"), world.clock.now())
    world.write({"gitfleet.yaml": UNREADABLE})
    world.restart()
    world.settle()
    assert world.driver.repository.branches.state == "fleet/state"


def test_a_configuration_that_never_was_good_leaves_the_defaults() -> None:
    world = World()
    world.commit(member_cluster("eu-1"))
    world.roll_out(files={"gitfleet.yaml": BROKEN})
    assert (world.driver.repository.config.interval_seconds, set(world.repo.fetch())) == (
        30.0,
        {"main", "gitfleet/state"},
    )


def test_renaming_the_state_branch_takes_nothing_away() -> None:
    world = world_with()
    with world.nothing_deleted():
        world.roll_out(fleet_config(branches=RENAMED), config_map("shop", "a", {"k": "2"}))
    assert value(world) == "2"
    assert world.driver.repository.branches.state == "fleet/state"


@pytest.mark.parametrize(
    ("branches", "message", "hint"),
    [
        ((), BranchesText.REPOSITORY_NO_COMMIT_ANY_BRANCH(), BranchesText.COMMIT_WHERE_REMOTE(watch="main")),
        (
            ("dev", "gitfleet/state"),
            BranchesText.REPOSITORY_NO_BRANCH(watch="main", named="dev"),
            BranchesText.WATCH_ANOTHER_ONE_BRANCH(others="dev", watch="main"),
        ),
        (
            tuple("abcdefg"),
            BranchesText.REPOSITORY_NO_BRANCH(watch="main", named="a, b, c, d, e and 2 more"),
            BranchesText.WATCH_ANOTHER_ONE_BRANCH(others="a", watch="main"),
        ),
    ],
)
def test_a_watched_branch_that_is_not_there(branches: tuple[str, ...], message: str, hint: str) -> None:
    world = World()
    for name in branches:
        world.repo.commit_files(name, {"x": ""}, world.clock.now())
    with pytest.raises(BadInput) as caught:
        world.driver.reconcile()
    assert message in str(caught.value)
    assert hint in str(caught.value.hint)


def test_the_process_may_be_told_another_branch() -> None:
    world = world_with()
    world.driver.repository.watch_branch = "main"
    world.roll_out(fleet_config(branches={"watch": "prod"}))
    assert world.driver.repository.branches.watch == "main"


def test_the_configuration_may_send_the_watch_to_another_branch() -> None:
    world = world_with()
    world.commit(fleet_config(branches={"watch": "prod"}))
    world.repo.commit_files("prod", world.repo.files("main"), world.clock.now())
    world.settle()
    assert world.driver.repository.branches.watch == "prod"

    # What happens on main means nothing any more, least of all to a fresh process.
    with world.nothing_deleted():
        world.commit(config_map("shop", "a", {"k": "other"}), remove=[placement("shop")])
        for _ in range(2):
            world.settle()
            world.restart()
    assert value(world) == "1"


def test_a_watch_that_leads_nowhere_is_told_and_heals_without_a_restart() -> None:
    world = world_with()
    world.commit(fleet_config(branches={"watch": "prdo"}))
    for _ in range(2):
        with pytest.raises(BadInput, match=re.escape(BranchesText.REPOSITORY_NO_BRANCH(watch="prdo", named="main"))):
            world.driver.reconcile()
    world.roll_out(fleet_config(), config_map("shop", "a", {"k": "2"}))
    assert value(world) == "2"


def test_two_branches_that_send_the_watch_to_each_other() -> None:
    world = world_with()
    world.repo.commit_files("prod", world.repo.files("main"), world.clock.now())
    world.commit(fleet_config(branches={"watch": "prod"}))
    with pytest.raises(BadInput, match=re.escape(part(BranchesText.CONFIGURATIONS_SEND_WATCH_EACH_OTHER))):
        world.driver.reconcile()
    world.roll_out(fleet_config(), config_map("shop", "a", {"k": "2"}))
    assert value(world) == "2"


@pytest.mark.parametrize(
    "path", ["resources/\udcff.yaml", "resources/git~1/x.yaml", "resources/a\\b.yaml", "resources/a: b.yaml"]
)
def test_no_name_of_a_file_keeps_the_fleet_from_going_on(path: str) -> None:
    """Names that git itself, YAML or another system would not take."""
    world = world_with()
    for text, faults in ((config_map("shop", "odd"), 0), ("kind: [", 1), (config_map("shop", "odd", {"k": "2"}), 0)):
        content = text if isinstance(text, str) else to_yaml(text)
        world.repo.put_entry("main", path, "100644", content.encode(), world.clock.now())
        world.restart()
        world.settle()
        assert len(world.state().faults) == faults
        assert world.live("eu-1", "ConfigMap", "odd") is not None
    body = world.body("eu-1", "ConfigMap", "odd")
    assert body["data"] == {"k": "2"}
