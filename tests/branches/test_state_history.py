"""The state branch is cut where its history is too long: nothing that the fleet needs is lost by it."""

from __future__ import annotations

import logging

import pytest

from gitfleet.branches import state_branch
from gitfleet.branches.texts import BranchesText
from gitfleet.errors import Forbidden, LostRace
from gitfleet.ports.repos import BranchChange
from tests.builders import config_map, fleet_config, member_cluster, namespace, pick_fixed, placement
from tests.scenarios.world import World

pytestmark = pytest.mark.slow

STATE = "gitfleet/state"
MOST = 10


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_branch, "FEWEST_COMMITS", MOST)


def world_at_rest() -> World:
    world = World()
    world.roll_out(
        fleet_config(stateHistory={"maxCommits": 1}),  # fewer than the fewest count as those
        member_cluster("eu-1"),
        namespace("shop"),
        config_map("shop", "a", {"k": "0"}),
        placement("shop", policy=pick_fixed("eu-1")),
    )
    return world


def next_value(world: World, number: int) -> None:
    world.roll_out(config_map("shop", "a", {"k": str(number)}))
    body = world.body("eu-1", "ConfigMap", "a")
    assert body["data"]["k"] == str(number)


def length(world: World) -> int:
    return len(world.repo.log(STATE))


@pytest.mark.parametrize("restarts", [False, True])
def test_the_branch_stays_short_and_the_fleet_goes_on(restarts: bool) -> None:
    """Shortened several times; what is kept are the last commits, with their trees and messages."""
    world, lengths, subjects = world_at_rest(), [], []
    for number in range(1, 15):
        before = [(commit.tree.oid, commit.subject) for commit in world.repo.log(STATE)]
        if restarts:
            world.restart()
        next_value(world, number)
        after = [(commit.tree.oid, commit.subject) for commit in world.repo.log(STATE)]
        lengths.append(len(after))
        subjects.append(after[0][1])
        kept = [one for one in after if one in before]
        assert kept == before[: len(kept)] and len(kept) >= MOST // 2 - 2
    assert max(lengths) <= MOST and min(lengths[5:]) >= MOST // 2
    world.settle()
    assert not world.driver.reconcile().changed, "and a branch that was cut is at rest"


def test_a_remote_that_forbids_it_gets_the_whole_history(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    world = world_at_rest()
    commit, asked = world.repo.commit, 0

    def grow_only(change: BranchChange) -> str:
        nonlocal asked
        if change.branch == STATE and change.most_commits is not None and length(world) >= change.most_commits:
            asked += 1
            raise Forbidden("nobody may force a push")
        return commit(change)

    monkeypatch.setattr(world.repo, "commit", grow_only)
    caplog.set_level(logging.WARNING)
    for number in range(1, 12):
        next_value(world, number)
    assert length(world) > MOST and asked == 1
    warning = BranchesText.HISTORY_NOT_SHORTENED() % (STATE, "nobody may force a push")
    assert caplog.messages.count(warning) == 1


@pytest.mark.parametrize("fails", range(2))
def test_a_process_that_ends_at_the_cut_leaves_nothing_half_done(fails: int) -> None:
    world = world_at_rest()
    while length(world) < MOST:
        world.repo.commit_files(STATE, {"note.txt": str(length(world))}, world.clock.now())
    head = world.repo.log(STATE)[0].id
    world.commit(config_map("shop", "a", {"k": "1"}))
    world.repo.commit_faults += [LostRace("killed before the push")] * fails
    world.driver.reconcile()
    assert (world.repo.log(STATE)[0].id == head) is bool(fails)
    world.restart()
    next_value(world, 2)
    assert length(world) <= MOST
