"""Deliveries to one destination: one message at a time, growing pauses, bounded, and said once (record 0032)."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field

import pytest

from gitfleet.adapters.notify.texts import NotifyText
from gitfleet.api.notifications import NotificationEvent
from gitfleet.errors import BadInput, DestinationUnavailable
from gitfleet.model.notifications import NotificationMessage, Occurrence
from gitfleet.serving.notifications import MOST_TRIES, MOST_WAITING, NotificationQueue, QueueThread
from gitfleet.serving.texts import ServingText
from gitfleet.simulation.clock import ManualClock
from gitfleet.views.notifications import Occasion
from tests.loop.test_pulse import Counted

GONE = DestinationUnavailable(NotifyText.NOT_ANSWER(host="hooks.example.com", error="no connection"))


@dataclass
class Place:
    """A destination that fails as it is told to, with its delivery."""

    failures: list[Exception] = field(default_factory=list)
    got: list[NotificationMessage] = field(default_factory=list)
    tried: list[str] = field(default_factory=list)
    clock: ManualClock = field(default_factory=ManualClock)
    metrics: Counted = field(default_factory=Counted)
    delivery: NotificationQueue = field(init=False)

    def __post_init__(self) -> None:
        self.delivery = NotificationQueue(
            name="ops", type="slack", notifier=lambda: self, clock=self.clock, metrics=lambda: self.metrics
        )

    def send(self, message: NotificationMessage) -> None:
        self.tried.append(message.id)
        if self.failures:
            raise self.failures.pop(0)
        self.got.append(message)

    def add(self, *sentences: str) -> None:
        occasion = Occasion("fleet", self.clock.now(), "c" * 40, "s" * 40)
        self.delivery.add(occasion, [Occurrence(NotificationEvent.ERROR, sentence) for sentence in sentences])

    def run(self, seconds: float) -> None:
        """Step whenever the delivery says so, for so long."""
        end = self.clock.monotonic() + seconds
        while (pause := self.delivery.step()) is not None and self.clock.monotonic() + pause <= end:
            self.clock.advance(max(pause, 0.001))
        self.clock.advance(max(0.0, end - self.clock.monotonic()))

    @property
    def outcomes(self) -> list[object]:
        return [call[1] for call in self.metrics.calls]


def test_what_happens_between_two_messages_is_one() -> None:
    place = Place()
    place.add("one")
    assert place.delivery.step() is None
    for number in range(100):
        place.add(f"fault {number:02}")
        assert place.delivery.step() == 10.0
    place.run(60)
    assert [message.lines[0] for message in place.got] == ["one", "fault 00"]
    assert place.got[1].subject == "fleet fleet: fault 00 and 99 more"
    assert place.got[1].lines[-1] == "and 80 more" and len(place.got[1].lines) == 21
    assert place.got[1].document["more"] == 80


def test_a_failure_is_tried_again_with_the_same_id_and_said_once(caplog: pytest.LogCaptureFixture) -> None:
    place = Place(failures=[GONE, GONE])
    with caplog.at_level(logging.INFO):
        place.add("one")
        place.run(1)
        place.add("two")
        place.run(60)
    assert len(set(place.tried[:3])) == 1 and [message.lines for message in place.got] == [("one",), ("two",)]
    assert place.outcomes == ["failed", "failed", "delivered", "delivered"]
    assert caplog.messages == [
        ServingText.NOTIFICATION_FLEET_RECONCILED_ALL_SAME() % ("ops", GONE, ServingText.TRIED_AGAIN_LATER()),
        ServingText.NOTIFICATIONS_DELIVERED_AGAIN() % "ops",
    ]


@pytest.mark.parametrize(("asked", "pause"), [(None, 5.0), (30.0, 30.0), (1.0, 10.0), (1e9, 600.0)])
def test_the_destination_may_ask_for_a_longer_pause(asked: float | None, pause: float) -> None:
    place = Place(failures=[DestinationUnavailable("busy", after=asked)])
    place.add("one")
    assert place.delivery.step() == pause


def test_a_message_is_dropped_after_a_while_and_the_next_one_comes(caplog: pytest.LogCaptureFixture) -> None:
    place = Place(failures=[GONE] * MOST_TRIES)
    place.add("one")
    place.run(1)
    place.add("two")
    place.run(3600)
    assert place.outcomes == ["failed"] * (MOST_TRIES - 1) + ["dropped", "delivered"]
    assert [message.lines for message in place.got] == [("two",)]
    assert place.clock.monotonic() >= 1215
    assert len(caplog.messages) == 2 and ServingText.MESSAGE_DROPPED(id=place.tried[0]) in caplog.messages[1]


@pytest.mark.parametrize("error", [BadInput(NotifyText.REFUSES_IT_WITH(host="hooks.example.com", code="404"))])
def test_a_refusal_is_not_tried_again(error: Exception) -> None:
    place = Place(failures=[error])
    place.add("one")
    place.run(60)
    assert (place.outcomes, place.got) == (["refused"], [])


def test_words_of_an_unknown_error_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    place = Place(failures=[ValueError("https://hooks.example.com/canary")])
    place.add("one")
    place.run(60)
    assert place.outcomes == ["failed", "delivered"] and "ValueError" in caplog.text and "canary" not in caplog.text


def test_what_waits_is_bounded() -> None:
    place = Place()
    place.add(*(f"fault {number}" for number in range(3 * MOST_WAITING)))
    place.run(1)
    assert place.got[0].document["more"] == 3 * MOST_WAITING - 20


def test_a_destination_that_hangs_costs_itself_alone() -> None:
    entered, leave, place = threading.Event(), threading.Event(), Place()

    class Hanging:
        def send(self, message: NotificationMessage) -> None:
            entered.set()
            leave.wait(60)
            place.got.append(message)

    place.delivery.notifier = Hanging
    thread, one = QueueThread(place.delivery), Occurrence(NotificationEvent.ERROR, "one")
    occasion = Occasion("fleet", place.clock.now(), "", "")
    thread.submit(occasion, [one])
    assert entered.wait(60)
    for _ in range(1000):
        thread.submit(occasion, [one])
    assert not thread.finish(0.0)
    leave.set()
    place.clock.advance(60)
    assert thread.finish(60)
    assert [message.lines for message in place.got[:1]] == [("one",)]


def test_an_end_waits_as_long_as_a_failure_asks() -> None:
    place = Place(failures=[DestinationUnavailable("down")])
    place.add("one")
    place.delivery.step()
    place.delivery.hurry()
    assert place.delivery.step() == 5.0
    assert len(place.tried) == 1


def test_an_end_waits_for_no_pause_between_messages() -> None:
    place = Place()
    thread = QueueThread(place.delivery)
    for sentence in ("one", "two"):
        occasion = Occasion("fleet", place.clock.now(), "", "")
        thread.submit(occasion, [Occurrence(NotificationEvent.ERROR, sentence)])
        if sentence == "one":
            while not place.got:
                pass
    assert thread.finish(60)
    assert [message.lines for message in place.got] == [("one",), ("two",)]
