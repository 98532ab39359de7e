"""Two processes on one remote, interleaved at every checkpoint: compare-and-swap keeps them from undoing each other."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest

from gitfleet.loop.driver import Driver
from gitfleet.ports.repos import BranchChange
from gitfleet.simulation.cluster import ClusterEvent
from tests import builders
from tests.scenarios.test_crashes import NAMES, STEPS, each_situation, payload, prepared, undisturbed, update
from tests.scenarios.world import STATE, World, end_of


class Meanwhile:
    """At the n-th checkpoint of one process, something else happens, once."""

    def __init__(self, at: int, happens: Callable[[], None]) -> None:
        self.left = at
        self.happens = happens

    def __call__(self, step: str) -> None:
        self.left -= 1
        if self.left == 0:
            self.happens()


class Downtime:
    """Counts, at every moment, how many clusters are down."""

    def __init__(self, world: World) -> None:
        self.most = 0
        self._world = world
        world.watch = self.count

    def count(self, _: ClusterEvent) -> None:
        """Look at all clusters."""
        down = sum(bool(cluster.unavailable()) for cluster in self._world.fleet.clusters.values())
        self.most = max(self.most, down)


def rest(driver: Driver) -> None:
    """Let one process do all that it can do now."""
    for _ in range(30):
        result = driver.reconcile()
        if not result.changed and not result.lost_race:
            return
    raise AssertionError("still changing after 30 ticks")


@each_situation
def test_another_process_that_does_everything_meanwhile_changes_nothing(situation: Callable[[World], None]) -> None:
    wanted, checkpoints, _ = undisturbed(situation)
    for at in range(1, checkpoints + 1):
        world = prepared(situation)
        other = world.start()
        world.driver.checkpoint = Meanwhile(at, partial(rest, other))
        world.settle()
        assert end_of(world) == wanted, f"the other process did all at checkpoint {at}"


@each_situation
def test_two_processes_step_by_step_get_there_together(situation: Callable[[World], None]) -> None:
    wanted, _, _ = undisturbed(situation)
    for step in STEPS:
        world = prepared(situation)
        other = world.start()

        def both(passed: str, step: str = step, other: Driver = other) -> None:
            if passed == step:
                other.reconcile()

        world.driver.checkpoint = both
        world.settle()
        assert end_of(world) == wanted, f"the other process ticks whenever one has {step}"


@each_situation
def test_the_loser_of_a_race_does_nothing(situation: Callable[[World], None]) -> None:
    """Somebody else moves the state branch just before each push: nothing of theirs is overwritten."""
    wanted, _, _ = undisturbed(situation)
    for lost in range(1, 5):
        world = prepared(situation)
        other, left = world.start(), [lost]

        def first(change: BranchChange, world: World = world, other: Driver = other, left: list[int] = left) -> None:
            if change.branch == STATE:
                left[0] -= 1
                if left[0] == 0:
                    rest(other)

        world.repo.before_commit = first
        world.settle()
        assert end_of(world) == wanted, f"push {lost} was lost"


def test_a_lost_race_is_told_and_performs_nothing() -> None:
    world = prepared(update)
    before = len(world.happenings)
    stranger = {"stranger.txt": b"1"}

    def first(change: BranchChange) -> None:
        world.repo.before_commit = None
        head = world.repo.fetch()[STATE]
        when = world.clock.now()
        world.repo.commit(BranchChange(branch=STATE, expected=head, subject="s", when=when, write=stranger))

    world.repo.before_commit = first
    result = world.driver.reconcile()
    assert result.lost_race and not result.changed and not result.settled
    assert len(world.happenings) == before
    world.settle()
    assert [world.image(name) for name in NAMES] == ["web:2"] * 3
    assert "stranger.txt" not in world.repo.files(STATE)  # the state is restored as a whole


@pytest.mark.parametrize(("seconds", "lost"), [(0, False), (2, False), (3, True)])
def test_a_process_that_was_delayed_after_its_push_asks_whether_the_branch_moved(seconds: int, lost: bool) -> None:
    """Within two seconds it is sure of what it pushed just now."""
    world = prepared(update)
    before = len(world.happenings)

    def delayed(step: str) -> None:
        if step == "intent published":
            world.advance(seconds=seconds)
            world.repo.commit_files(STATE, {"stranger.txt": "1"}, world.clock.now(), "s")

    world.driver.checkpoint = delayed
    assert world.driver.reconcile().lost_race
    assert (len(world.happenings) == before) == lost, "whether something was done to a cluster"


@pytest.mark.parametrize("step", STEPS)
def test_two_processes_never_take_more_down_than_one_may(step: str) -> None:
    world = prepared(update)
    downtime = Downtime(world)
    other = world.start()
    world.driver.checkpoint = lambda passed: rest(other) if passed == step else None
    world.settle()
    assert downtime.most == 1
    assert [world.image(name) for name in NAMES] == ["web:2"] * 3


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("seconds", [0, 5, 60, 600])
@pytest.mark.parametrize("later", [0, 5, 10])
def test_a_process_that_was_asleep_in_the_middle_of_a_tick_breaks_no_budget(
    step: str, seconds: int, later: int
) -> None:
    """It sleeps while another one rolls out a newer version; what it had decided is not true any more."""
    world = prepared(update)
    downtime = Downtime(world)
    other = world.start()

    def sleep() -> None:
        end = world.clock.now() + timedelta(seconds=seconds)
        rest(other)
        while world.clock.now() < end:
            world.clock.advance(5)
            rest(other)
        world.commit(*payload("web:3"))
        rest(other)
        for _ in range(0, later, 5):
            world.clock.advance(5)
            rest(other)

    world.driver.checkpoint = Meanwhile(STEPS.index(step) + 1, sleep)
    world.settle()
    assert downtime.most == 1
    assert [world.image(name) for name in NAMES] == ["web:3"] * 3


def test_both_processes_hear_of_a_newer_commit_in_the_middle() -> None:
    world = prepared(update)
    downtime = Downtime(world)
    other = world.start()
    versions = iter(range(3, 9))

    def newer(passed: str) -> None:
        number = next(versions, None)
        if number is not None:
            world.commit(builders.deployment("web", "web", image=f"web:{number}"))
        other.reconcile()

    world.driver.checkpoint = newer
    world.settle()
    assert downtime.most == 1
    assert [world.image(name) for name in NAMES] == ["web:8"] * 3
