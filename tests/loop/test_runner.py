"""When to reconcile: time-outs, growing pauses, the bell, and the interval that people wrote. No test sleeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import cast

import pytest

from gitfleet.errors import BadInput, RemoteUnreachable, Stopped
from gitfleet.loop.driver import Driver
from gitfleet.loop.pulse import why_unready
from gitfleet.loop.results import ReconcileResult
from gitfleet.loop.runner import Runner, Wake
from gitfleet.loop.texts import LoopText
from gitfleet.model.state import FleetState
from gitfleet.simulation.clock import ManualClock

SETTLED = ReconcileResult(
    commit="c", state_head="s", state=FleetState(), changed=False, settled=True, waiting=(), wake_at=None
)
CHANGED = replace(SETTLED, changed=True, settled=False)
WAITING = replace(SETTLED, settled=False, waiting=("web waits for eu-1",))
LOST = replace(SETTLED, settled=False, lost_race=True)
Step = ReconcileResult | Exception


class FakeWake(Wake):
    """Waiting moves the clock; after so many waits the loop is told to end."""

    def __init__(self, clock: ManualClock, waits: int) -> None:
        super().__init__()
        self.clock, self.left, self.pauses = clock, waits, list[float]()

    def wait(self, seconds: float) -> None:
        self.pauses.append(round(seconds, 2))
        self.clock.advance(max(0.0, seconds))
        self.left -= 1
        if self.left <= 0:
            self.stop()


@dataclass
class FakeDriver:
    """Reconciles as told; the last step again and again. A reconcile takes `lasts` seconds."""

    steps: Sequence[Step | Callable[[], Step]]
    clock: ManualClock
    lasts: float = 0.0
    reconciles: int = 0

    def reconcile(self) -> ReconcileResult:
        step = self.steps[min(self.reconciles, len(self.steps) - 1)]
        self.reconciles += 1
        self.clock.advance(self.lasts)
        made = step() if callable(step) else step
        if isinstance(made, Exception):
            raise made
        return made


@dataclass
class Loop:
    """A runner on a fake driver and clock."""

    steps: Sequence[Step | Callable[[], Step]]
    waits: int = 5
    lasts: float = 0.0
    watched: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.clock = ManualClock()
        self.wake = FakeWake(self.clock, self.waits)
        self.driver = FakeDriver(self.steps, self.clock, self.lasts)
        self.runner = Runner(
            driver=cast(Driver, self.driver), clock=self.clock, wake=self.wake, interval=lambda: 30.0, watch=self.watch
        )

    def watch(self, wake: Wake) -> Callable[[], None]:
        self.watched.append("begun")
        return lambda: self.watched.append("ended")


def test_a_settled_fleet_is_looked_at_once_an_interval() -> None:
    loop = Loop([SETTLED], waits=3)
    loop.runner.until_stopped()
    assert loop.wake.pauses == [30.0, 30.0, 30.0]
    assert loop.watched == ["begun", "ended"]


def test_what_moves_is_looked_at_at_once_and_what_waits_more_and_more_seldom() -> None:
    loop = Loop([CHANGED, CHANGED, LOST, *[WAITING] * 12, CHANGED, WAITING, SETTLED], waits=18)
    loop.runner.until_stopped()
    assert loop.wake.pauses[:3] == [0.0, 0.0, 0.0]
    assert loop.wake.pauses[3:15] == [1.0, 1.5, 2.25, 3.38, 5.06, 7.59, 11.39, 17.09, 25.63, 30.0, 30.0, 30.0]
    assert loop.wake.pauses[15:] == [0.0, 1.0, 30.0], "a change starts the pauses again"


def test_time_alone_wakes_it_at_its_moment_and_not_before() -> None:
    start = ManualClock().now()
    later = replace(SETTLED, settled=False, wake_at=start + timedelta(seconds=12))
    far = replace(later, wake_at=start + timedelta(hours=1))
    past = replace(later, wake_at=start - timedelta(hours=1))
    loop = Loop([later, far, past], waits=3)
    loop.runner.until_stopped()
    assert loop.wake.pauses == [12.0, 30.0, 2.25]


def test_faults_are_tried_again_with_growing_pauses() -> None:
    down = RemoteUnreachable("the remote does not answer")
    loop = Loop([SETTLED, *[down] * 20, SETTLED, down], waits=23)
    loop.runner.until_stopped()
    slow = [5.0, 2.0, 2.4, 2.88, 3.46, 4.15, 4.98, 5.97, 7.17, 8.6, 10.32, 12.38, 14.86]
    assert loop.wake.pauses[1:22] == [*slow, 22.29, 33.44, 50.15, 75.23, 112.84, 169.27, 253.9, 30.0]
    assert (loop.wake.pauses[0], loop.wake.pauses[22]) == (30.0, 5.0)


def test_another_fault_starts_the_pauses_again() -> None:
    down, bad = RemoteUnreachable("the remote does not answer"), BadInput("a bad push")
    loop = Loop([SETTLED, down, down, bad, bad, down], waits=6)
    loop.runner.until_stopped()
    assert loop.wake.pauses == [30.0, 5.0, 2.0, 5.0, 2.0, 5.0]


def test_a_remote_may_be_down_for_weeks() -> None:
    loop = Loop([RemoteUnreachable("the remote does not answer")], waits=3000)
    loop.runner.until_stopped()
    assert loop.wake.pauses[-1] == 300


def test_a_wrong_start_is_told_and_a_bad_push_is_outlived() -> None:
    wrong = Loop([BadInput("there is no branch")])
    with pytest.raises(BadInput):
        wrong.runner.until_stopped()
    assert wrong.watched == ["begun", "ended"]
    unlucky = Loop([RemoteUnreachable("the remote does not answer"), BadInput("there is no branch")])
    with pytest.raises(BadInput):
        unlucky.runner.until_stopped()
    later = Loop([SETTLED, BadInput("there is no branch"), SETTLED], waits=4)
    later.runner.until_stopped()
    assert later.wake.pauses == [30.0, 5.0, 30.0, 30.0]


def test_the_loop_ends_in_the_middle_of_a_tick_that_is_given_up() -> None:
    def given_up() -> Step:
        loop.wake.stop()
        return Stopped("gitfleet is being stopped")

    loop = Loop([SETTLED, given_up])
    loop.runner.until_stopped()
    assert (loop.driver.reconciles, loop.watched) == (2, ["begun", "ended"])


def test_who_does_not_lead_stands_by_until_it_does() -> None:
    beats: list[str] = []

    def leads() -> bool:
        beats.append(why_unready(loop.runner.pulse.beat, loop.clock.monotonic(), stopped=False))
        return len(beats) > 2

    loop = Loop([SETTLED], waits=4)
    loop.wake.leads = leads
    loop.runner.until_stopped()
    assert loop.driver.reconciles == 2
    assert loop.wake.pauses == [60.0, 60.0, 30.0, 30.0]
    assert beats == [LoopText.NO_RECONCILE_SUCCEEDED_YET(), "", "", ""]


def test_a_leader_that_loses_its_lease_gives_its_pass_up_and_stands_by() -> None:
    def lost() -> Step:
        loop.wake.leads = lambda: False
        return Stopped("this process does not lead any more")

    loop = Loop([SETTLED, lost, SETTLED], waits=4)
    loop.runner.until_stopped()
    assert (loop.driver.reconciles, loop.wake.pauses) == (2, [30.0, 60.0, 60.0, 60.0])
    assert loop.runner.pulse.beat.stands_by


def test_until_settled_ends_with_the_settled_tick() -> None:
    loop = Loop([CHANGED, WAITING, CHANGED, LOST, SETTLED])
    assert loop.runner.until_settled(60) is SETTLED
    assert loop.wake.pauses == [1.0, 1.0], "a changed reconcile is followed by the next at once"


def test_until_settled_ends_when_its_time_is_over() -> None:
    loop = Loop([WAITING], waits=100)
    assert loop.runner.until_settled(2.5) is WAITING
    assert loop.wake.pauses == [1.0, 1.0, 0.5]
    endless = Loop([CHANGED], lasts=10.0)
    assert endless.runner.until_settled(25) is CHANGED
    assert endless.driver.reconciles == 3
    assert Loop([WAITING]).runner.until_settled(0) is WAITING, "it reconciles once whatever the time"


@pytest.mark.parametrize(("wakes_after", "reconciles"), [(None, 1), (61, 1), (30, 2)])
def test_until_settled_ends_where_only_a_person_goes_on_within_its_time(
    wakes_after: int | None, reconciles: int
) -> None:
    loop = Loop([SETTLED], waits=100)
    wake_at = loop.clock.now() + timedelta(seconds=wakes_after) if wakes_after is not None else None
    asks = replace(SETTLED, settled=False, asks=("raise it to go on",), wake_at=wake_at)
    loop.driver.steps = [asks, SETTLED]
    assert loop.runner.until_settled(60) is (asks if reconciles == 1 else SETTLED)
    assert loop.driver.reconciles == reconciles
    assert not any(replace(asks, **more).asks_only for more in ({"changed": True}, {"waiting": ("x",)}, {"asks": ()}))


def test_until_settled_ends_when_it_is_told_to() -> None:
    loop = Loop([WAITING], waits=2)
    assert loop.runner.until_settled(3600) is WAITING
    assert loop.driver.reconciles == 3


def test_until_settled_outlives_a_passing_fault_but_not_its_time() -> None:
    down = RemoteUnreachable("the remote does not answer")
    assert Loop([CHANGED, down, down, SETTLED]).runner.until_settled(60) is SETTLED
    loop = Loop([down], waits=100)
    with pytest.raises(RemoteUnreachable):
        loop.runner.until_settled(3)
    assert loop.wake.pauses == [1.0, 1.0, 1.0]
    with pytest.raises(BadInput):
        Loop([CHANGED, BadInput("no")]).runner.until_settled(60)


def test_once_tries_a_lost_race_again_a_few_times() -> None:
    assert Loop([LOST, LOST, CHANGED]).runner.once() is CHANGED
    loop = Loop([LOST])
    assert loop.runner.once() is LOST
    assert loop.driver.reconciles == 5


def test_races_that_never_end_are_tried_again_with_pauses() -> None:
    loop = Loop([*[LOST] * 8, CHANGED, LOST], waits=11)
    loop.runner.until_stopped()
    assert loop.wake.pauses == [0.0] * 5 + [1.0, 1.5, 2.25] + [0.0] * 3


def test_the_bell_ends_a_wait_at_once_and_is_not_lost_when_nobody_waits() -> None:
    wake = Wake()
    wake.trigger()
    wake.wait(3600)
    wake.wait(0)
    wake.stop()
    for _ in range(3):
        wake.wait(3600)
    assert wake.stopped
