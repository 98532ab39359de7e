"""Calls beside the reconciles: never waited for, bounded, made once for an id, and ended in time.

Senders and providers here are objects whose calls wait until a test lets them go; threads and time are real.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from gitfleet.adapters.clock import SystemClock
from gitfleet.adapters.notify.texts import NotifyText
from gitfleet.api.workload_records import MetricOutcome
from gitfleet.errors import BadInput, NoResponse
from gitfleet.fleet import call_queue
from gitfleet.fleet.call_queue import MOST_PER_HOST, CallQueue
from gitfleet.fleet.call_steps import CallSteps
from gitfleet.fleet.texts import FleetText
from gitfleet.model.calls import (
    Answer,
    MetricAnswer,
    MetricQuery,
    WebhookAnswer,
    WebhookCall,
    WebhookOutcome,
)
from gitfleet.ports.metric_providers import MeasurementState, MetricProvider
from gitfleet.ports.rollout_calls import WebhookReply
from tests.loop.test_pulse import Counted

SOON = 60.0
"""Seconds in which what is to happen has happened on the slowest machine."""
AT = datetime(2026, 1, 1, tzinfo=UTC)


NO_OUTCOME: Any = "Measured"
"""What anybody's code may give."""


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SOON
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def webhook(name: str, host: str = "hooks.example", timeout: float = 60.0) -> WebhookCall:
    return WebhookCall(id=name, url=f"https://{host}/{name}", body={"name": name}, timeout_seconds=timeout)


def query(name: str, provider: str = "jobs", timeout: float = 60.0) -> MetricQuery:
    return MetricQuery(id=name, provider=provider, address="", query="q", at=AT, timeout_seconds=timeout)


@dataclass
class Hooks:
    """Receives webhooks. Those to a host in `closed` wait until it is taken out; `replies` are by id."""

    replies: dict[str, WebhookReply | Exception] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)
    begun: list[str] = field(default_factory=list)
    at_once: Counter[str] = field(default_factory=Counter)
    most: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def send(self, call: WebhookCall) -> WebhookReply:
        host = call.url.split("/")[2]
        with self.lock:
            self.begun.append(call.id)
            for one in (host, "all"):
                self.at_once[one] += 1
                self.most[one] = max(self.most[one], self.at_once[one])
        while host in self.closed:
            time.sleep(0.005)
        with self.lock:
            self.at_once[host] -= 1
            self.at_once["all"] -= 1
        reply = self.replies.get(call.id, WebhookReply(host=host, status=200))
        if isinstance(reply, Exception):
            raise reply
        return reply


class Jobs(MetricProvider):
    """Measures in two looks; `found` is what the second one finds, and `starts` is set where the first may be over."""

    def __init__(self) -> None:
        self.starts = threading.Event()
        self.starts.set()
        self.found: Any = MeasurementState(outcome=MetricOutcome.MEASURED, values=(0.5,))
        self.said: list[str] = []

    def start(self, query: MetricQuery) -> MeasurementState:
        self.said.append(f"start {query.id}")
        self.starts.wait(SOON)
        return MeasurementState(after=0.0, progress={"job": f"j-{query.id}"})

    def resume(self, query: MetricQuery, state: MeasurementState) -> MeasurementState:
        self.said.append(f"resume {state.progress['job']}")
        found: MeasurementState = self.found
        return found

    def stop(self, query: MetricQuery, state: MeasurementState) -> None:
        self.said.append(f"stop {state.progress['job']}")


@dataclass
class World:
    hooks: Hooks
    jobs: Jobs
    queue: CallQueue
    answered: list[int] = field(default_factory=list)

    def of(self, name: str) -> Answer:
        until(lambda: name in self.queue.answers())
        return self.queue.answers()[name]


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setattr(call_queue, "SHORTEST_PAUSE", 0.01)
    monkeypatch.setattr(call_queue, "GRACE", 0.05)
    hooks, jobs, clock = Hooks(), Jobs(), SystemClock()
    providers: Mapping[str, MetricProvider] = {"jobs": jobs}
    steps = CallSteps(webhooks=hooks, provider=lambda name: providers[name], clock=clock)
    found = World(hooks, jobs, CallQueue(steps=steps, clock=clock, on_answer=lambda: found.answered.append(1)))
    yield found
    hooks.closed.clear()
    found.queue.close(1.0)  # one that was ended while it began never comes back


def test_a_pass_never_waits_and_an_answer_wakes_the_loop(world: World) -> None:
    world.hooks.closed.add("hooks.example")
    world.queue.start([webhook("a")])
    assert world.queue.answers() == {}
    until(lambda: world.hooks.begun == ["a"])
    world.queue.start([webhook("a")])  # it is under way
    world.hooks.closed.clear()
    assert world.of("a") == WebhookAnswer(id="a", at=world.of("a").at, outcome=WebhookOutcome.PASSED)
    until(lambda: world.answered == [1])
    world.queue.start([webhook("a")])  # it is answered
    time.sleep(0.1)
    assert world.hooks.begun == ["a"]


def test_another_attempt_is_another_call_and_what_is_forgotten_begins_again(world: World) -> None:
    world.hooks.replies["a"] = NoResponse(
        NotifyText.NOT_ANSWER(host="hooks.example", error="no connection"), passing=True
    )
    world.queue.start([webhook("a")])
    failed = WebhookAnswer(
        id="a",
        at=AT,
        outcome=WebhookOutcome.FAILED,
        message=NotifyText.NOT_ANSWER(host="hooks.example", error="no connection"),
    )
    assert replace(world.of("a"), at=AT) == failed
    del world.hooks.replies["a"]
    world.queue.start([replace(webhook("a"), attempt=1)])
    until(lambda: "a" in world.queue.answers() and world.queue.answers()["a"].attempt == 1)
    assert world.of("a").outcome is WebhookOutcome.PASSED
    world.queue.forget(["a", "nobody's"])
    assert world.queue.answers() == {}
    world.queue.start([webhook("a")])
    until(lambda: world.hooks.begun == ["a", "a", "a"])


@pytest.mark.parametrize(
    ("expected", "reply", "outcome", "said"),
    [
        ((), WebhookReply(host="h", status=204), WebhookOutcome.PASSED, ""),
        ((), WebhookReply(host="h", status=300), WebhookOutcome.REJECTED,
            FleetText.REDIRECTS_ANOTHER_ADDRESS(host="h", status=300)),
        (
            (), WebhookReply(host="h", status=409, line="no"), WebhookOutcome.REJECTED,
            FleetText.ANSWERS_NOT(host="h", status="409", expected="", why="200 to 299: no"),
        ),
        ((200, 302), WebhookReply(host="h", status=302), WebhookOutcome.PASSED, ""),
        ((), BadInput("h is no host that this process may call"), WebhookOutcome.FAILED, "h is no host that"),
        ((), RuntimeError("a secret"), WebhookOutcome.FAILED, "unexpected RuntimeError"),
    ],
)  # fmt: skip
def test_what_a_webhook_comes_to(
    world: World, expected: tuple[int, ...], reply: WebhookReply | Exception, outcome: WebhookOutcome, said: str
) -> None:
    world.hooks.replies["a"] = reply
    world.queue.start([replace(webhook("a"), expected_status=expected)])
    answer = world.of("a")
    assert isinstance(answer, WebhookAnswer)
    assert (answer.outcome, answer.message.startswith(said)) == (outcome, True), answer.message
    assert bool(answer.message) is (outcome is not WebhookOutcome.PASSED)


def test_who_hangs_is_not_waited_for_and_says_so(world: World) -> None:
    world.hooks.closed.add("hangs")
    calls = [webhook(f"{number}", "hangs", timeout=0.1) for number in range(MOST_PER_HOST + 2)]
    world.queue.start(calls)
    said = {world.of(call.id).message for call in calls[:MOST_PER_HOST]}
    assert said == {FleetText.GIVES_NO_ANSWER_WITHIN(host="hangs", timeout_seconds=0.1)}
    assert world.of(calls[-1].id).message == (
        f"{MOST_PER_HOST}" + FleetText.EARLIER_CALLS_NOT_RETURNED(stuck="", host="hangs")
    )
    many = [webhook(f"{host}-{number}", host) for host in "abcdefgh" for number in range(4)]
    world.queue.start(many)  # threads that hang count for their host alone
    until(lambda: len(world.queue.answers()) == len(calls) + len(many))
    world.hooks.closed.clear()
    until(lambda: world.hooks.at_once["all"] == 0)
    assert {world.of(call.id).outcome for call in calls} == {WebhookOutcome.FAILED}  # an answer that came too late
    world.queue.start([webhook("again", "hangs")])
    assert world.of("again").outcome is WebhookOutcome.PASSED


def test_a_measurement_that_takes_more_than_one_look(world: World) -> None:
    world.queue.start([query("m")])
    answer = world.of("m")
    assert answer == MetricAnswer(id="m", at=answer.at, outcome=MetricOutcome.MEASURED, values=(0.5,))
    assert world.jobs.said == ["start m", "resume j-m"]


UNSOUND = FleetText.GAVE_NO_MEASUREMENT(provider="jobs", most_values=1000)


@pytest.mark.parametrize(
    ("found", "outcome", "said"),
    [
        (MeasurementState(outcome=MetricOutcome.NO_DATA, values=(1.0,), message="none"), MetricOutcome.NO_DATA, "none"),
        (MeasurementState(outcome=MetricOutcome.FAILED, message="a b\n c"), MetricOutcome.FAILED, "a b c"),
        (None, MetricOutcome.FAILED, UNSOUND),
        (MeasurementState(outcome=MetricOutcome.MEASURED), MetricOutcome.FAILED, UNSOUND),
        (MeasurementState(outcome=MetricOutcome.MEASURED, values=(float("nan"),)), MetricOutcome.FAILED, UNSOUND),
        (MeasurementState(outcome=NO_OUTCOME), MetricOutcome.FAILED, UNSOUND),
        (MeasurementState(after=float("nan")), MetricOutcome.FAILED, UNSOUND),
    ],
)
def test_what_a_provider_finds(world: World, found: object, outcome: MetricOutcome, said: str) -> None:
    world.jobs.found = found
    world.queue.start([query("m")])
    answer = world.of("m")
    assert isinstance(answer, MetricAnswer)
    assert (answer.outcome, answer.values, answer.message) == (outcome, (), said)


def test_a_provider_that_is_not_there_or_never_ends(world: World) -> None:
    world.queue.start([query("x", provider="other")])
    assert world.of("x").message == "unexpected KeyError"

    class Endless(Jobs):
        resume = MetricProvider.resume

    world.queue.steps = replace(world.queue.steps, provider=lambda _: Endless())
    world.queue.start([query("y")])
    assert world.of("y").message == "the provider has no resume, and its start left the measurement y under way"


@pytest.mark.parametrize("why", ["too late", "forgotten", "closed"])
def test_a_measurement_that_nobody_waits_for_is_ended(world: World, why: str) -> None:
    world.jobs.found = MeasurementState(after=0.0, progress={"job": "j-m"})
    world.queue.start([query("m", timeout=0.2 if why == "too late" else 60.0)])
    until(lambda: "resume j-m" in world.jobs.said)
    if why == "too late":
        assert world.of("m").message == FleetText.GIVES_NO_ANSWER_WITHIN(host="jobs", timeout_seconds=0.2)
    elif why == "forgotten":
        world.queue.forget(["m"])
    else:
        world.queue.close(SOON)
        assert world.jobs.said[-1] == "stop j-m"
    until(lambda: world.jobs.said[-1] == "stop j-m")
    time.sleep(0.05)
    assert world.jobs.said.count("stop j-m") == 1 and world.jobs.said[-1] == "stop j-m"


def test_the_end_of_the_process_waits_for_calls_but_not_for_those_that_hang(world: World) -> None:
    world.hooks.closed.add("hangs")
    world.queue.start([webhook("a", "hangs"), *(webhook(f"w{number}", "hangs") for number in range(9))])
    until(lambda: world.hooks.at_once["hangs"] == MOST_PER_HOST)
    before = time.monotonic()
    world.queue.close(0.2)
    assert time.monotonic() - before >= 0.2
    world.queue.start([webhook("b", "quick")])  # nothing more is begun
    world.hooks.closed.clear()
    world.queue.close(SOON)
    until(lambda: world.hooks.at_once["all"] == 0)
    assert len(world.hooks.begun) == MOST_PER_HOST and "b" not in world.hooks.begun


def test_who_makes_one_pass_alone_waits_for_its_answers(world: World) -> None:
    assert not world.queue.wait(SOON, lambda: False)  # nothing is under way
    world.hooks.closed.add("slow")
    world.queue.start([webhook("a", "quick")])
    assert world.queue.wait(SOON, lambda: False) and list(world.queue.answers()) == ["a"]
    world.queue.forget(["a"])
    world.queue.start([webhook("b", "slow")])
    before = time.monotonic()
    assert not world.queue.wait(0.3, lambda: False)
    assert not world.queue.wait(SOON, lambda: time.monotonic() > before + 0.5)
    assert time.monotonic() - before < SOON / 2


def test_a_measurement_that_begins_while_the_process_ends_is_ended(world: World) -> None:
    world.jobs.starts.clear()
    world.queue.start([query("m")])
    until(lambda: world.jobs.said == ["start m"])
    world.queue.close(0.05)
    world.jobs.starts.set()
    until(lambda: world.jobs.said == ["start m", "stop j-m"])


def test_an_answer_to_what_was_forgotten_answers_nothing_else(world: World) -> None:
    world.hooks.closed.update(("one", "two"))
    world.queue.start([webhook("a", "one")])
    until(lambda: world.hooks.at_once["one"] == 1)
    world.queue.forget(["a"])
    world.queue.start([replace(webhook("a", "two"), attempt=1)])
    until(lambda: world.hooks.at_once["two"] == 1)
    world.hooks.closed.discard("one")
    until(lambda: world.hooks.at_once["one"] == 0)
    time.sleep(0.1)
    assert world.queue.answers() == {}
    world.hooks.closed.discard("two")
    assert world.of("a").attempt == 1


def test_a_machine_without_threads_makes_calls_later(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        world.queue.start([webhook("a")])
    assert world.hooks.begun == []
    world.queue.start([webhook("a")])  # the next pass
    assert world.of("a").outcome is WebhookOutcome.PASSED


def test_what_is_kept_is_bounded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_queue, "MOST_KNOWN", 3)
    monkeypatch.setattr(call_queue, "MOST_OF_HOST", 3)
    world.hooks.closed.add("hooks.example")
    world.queue.start([webhook(name) for name in "abcde"])
    until(lambda: len(world.hooks.begun) == 3)
    world.hooks.closed.clear()
    until(lambda: len(world.queue.answers()) == 3)
    world.queue.start([webhook(name) for name in "abcde"])
    until(lambda: {"d", "e"} <= set(world.queue.answers()))
    assert len(world.queue.answers()) == 3
    assert sorted(world.hooks.begun) == list("abcde")


def test_answers_are_counted(world: World) -> None:
    world.queue.metrics = counted = Counted()
    world.hooks.replies["b"] = WebhookReply(host="h", status=400)
    world.queue.start([webhook("a"), webhook("b"), query("m")])
    until(lambda: len(counted.calls) == 3)
    assert set(counted.calls) == {("webhook", "passed"), ("webhook", "rejected"), ("metric", "measured")}
