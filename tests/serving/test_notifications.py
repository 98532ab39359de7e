"""The end of a process that tells people: every destination gets what it has, whatever the others do."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from gitfleet.api.fleet import FleetConfig
from gitfleet.api.notifications import Notification, NotificationScope
from gitfleet.api.placements import PlacementKey
from gitfleet.api.snapshots import DocumentRef
from gitfleet.model.state import FleetState
from gitfleet.serving.notifications import Notifications, QueueThread, _is_meant
from gitfleet.serving.texts import ServingText
from gitfleet.simulation.clock import ManualClock
from gitfleet.status import emit_events, occurrence_of
from gitfleet.workload.phases import Phase
from tests.state.builders import binding, record, snapshot
from tests.workload_records import WEB, on, rollout_record


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
        config=FleetConfig, destinations=frozenset(), connect=lambda kind, name: cast(Any, None), clock=clock,
        _threads=cast("dict[tuple[str, str], QueueThread]", threads),
    )  # fmt: skip
    began = clock.monotonic()
    told.finish(3.0)
    assert clock.monotonic() - began == 3.0, "so many seconds in all"
    assert [thread.asked[0] for thread in threads.values()] == [0.0] * 4, "each is told to hurry first"
    assert caplog.messages == [ServingText.NOTIFICATION_PROCESS_ENDS_BEFORE_ALL() % name for name in "abc"]


@pytest.mark.parametrize(
    ("placements", "told"),
    [((), True), (("app",), True), (("app", "other"), True), (("other",), False), (("*",), True)],
)
def test_a_workload_rollout_is_about_the_placements_that_have_its_workload(
    placements: tuple[str, ...], told: bool
) -> None:
    rollout = rollout_record(on("eu-1", Phase.FAILED))
    key = PlacementKey("", "app")
    with_web = (snapshot(key, 0, DocumentRef("resources/web.yaml", "b" * 40, 0, WEB)),)
    app = replace(record("app", binding(key, "eu-1")), resource_snapshots=with_web)
    other = record("other", binding(PlacementKey("", "other"), "eu-1"))
    state = FleetState(rollouts={rollout.key: rollout}, placements={one.placement.key: one for one in (app, other)})
    (event,) = emit_events(FleetState(placements=state.placements), state)
    found = occurrence_of(event)
    assert found is not None
    wanted = Notification(name="team", type="slack", scope=NotificationScope(placements=placements))
    assert _is_meant(wanted, found, state) is told
