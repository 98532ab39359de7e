"""A machine whose clock is behind the last commit of the state: gitfleet says so, waits and changes nothing (D49)."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from gitfleet.formats.times import time_text
from gitfleet.loop.texts import LoopText
from gitfleet.simulation.clock import ManualClock
from tests import builders
from tests.scenarios.world import STATE, World
from tests.texts import part


@dataclass(slots=True)
class WrongClock:
    """The clock of a machine: true time and an error."""

    true: ManualClock
    error: timedelta

    def now(self) -> datetime:
        return self.true.now() + self.error

    def monotonic(self) -> float:
        return self.true.monotonic()


@pytest.mark.parametrize("restarts", [False, True], ids=["goes on", "restarts"])
@pytest.mark.parametrize(("seconds", "waits"), [(-60, False), (-61, True), (-86400, True), (0, False), (3600, False)])
def test_a_clock_that_is_more_than_a_minute_behind_waits(
    seconds: int, waits: bool, restarts: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    world = World()
    world.roll_out(builders.member_cluster("c1"), builders.namespace("web"), builders.placement("web"))
    written, head = world.clock.now(), world.repo.log(STATE)[0].id
    world.commit(builders.deployment("web", "web"))
    if restarts:
        world.restart()
    world.driver.clock = clock = WrongClock(world.clock, timedelta(seconds=seconds))

    result = world.driver.reconcile()

    assert (world.live("c1", "Deployment", "web") is None) == waits
    assert (world.repo.log(STATE)[0].id == head) == waits
    said = [record.getMessage() for record in caplog.records if part(LoopText.CLOCK_BEHIND) in record.getMessage()]
    expected = LoopText.CLOCK_BEHIND(now=time_text(clock.now()), written=time_text(written))
    assert said == ([expected] if waits else [])
    if waits:
        assert (result.settled, result.changed, result.waiting) == (False, False, (expected,))
        world.advance(seconds=-seconds)
        world.rest()
        assert world.live("c1", "Deployment", "web") is not None
