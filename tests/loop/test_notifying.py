"""The end of a process that tells people: every destination gets what it has, whatever the others do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from gitfleet.api.fleet import FleetConfig
from gitfleet.loop.notification_queue import QueueThread
from gitfleet.loop.notifying import Notifications
from gitfleet.model.events import Event, EventType
from gitfleet.simulation.clock import ManualClock


@dataclass
class Hanging:
    """A destination's thread that takes all the time that it is given, or none."""

    clock: ManualClock
    hangs: bool
    asked: list[float] = field(default_factory=list)

    def finish(self, seconds: float) -> bool:
        self.asked.append(seconds)
        if self.hangs:
            self.clock.advance(seconds)
        return not self.hangs


def test_destinations_that_hang_cost_no_other_one_its_last_message(caplog: Any) -> None:
    clock = ManualClock()
    threads = {(name, ""): Hanging(clock, hangs=name != "last") for name in ("a", "b", "c", "last")}
    told = Notifications(
        config=FleetConfig, given=frozenset(), connect=lambda kind, name: cast(Any, None), clock=clock,
        _threads=cast("dict[tuple[str, str], QueueThread]", threads),
    )  # fmt: skip
    began = clock.monotonic()
    told.finish(3.0)
    assert clock.monotonic() - began == 3.0, "so many seconds in all"
    assert [thread.asked[0] for thread in threads.values()] == [0.0] * 4, "each is told to hurry first"
    assert [line.split(":")[0] for line in caplog.messages] == ["notification a", "notification b", "notification c"]


def test_what_happens_in_one_pass_is_bounded() -> None:
    told = Notifications(
        config=FleetConfig, given=frozenset(), connect=lambda kind, name: cast(Any, None), clock=ManualClock()
    )
    event = Event(type=EventType.FAULTS_CLEARED, fields={})
    for _ in range(20_001):
        told.on_event(event)
    assert len(told._collected) == 20_000
