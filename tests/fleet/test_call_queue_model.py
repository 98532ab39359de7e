"""Whatever order calls are started, answered, forgotten and given up in: the bounds hold, and nothing is lost."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from gitfleet.adapters.clock import SystemClock
from gitfleet.api.workload_records import MetricOutcome
from gitfleet.fleet import call_queue
from gitfleet.fleet.call_queue import MOST_AT_ONCE, MOST_PER_HOST, CallQueue
from gitfleet.fleet.call_steps import CallSteps
from gitfleet.model.calls import Call, MetricQuery, WebhookCall
from gitfleet.ports.metric_providers import MeasurementState, MetricProvider
from gitfleet.ports.rollout_calls import WebhookReply
from tests.fleet.test_call_queue import AT, SOON, until

HOSTS = ("a.example", "b.example", "c.example", "d.example", "e.example")
NAMES = [f"{host}-{number}" for host in HOSTS for number in range(6)]


class World(MetricProvider):
    """Sends and measures; a host that is closed answers nobody, and its measurements go on."""

    def __init__(self) -> None:
        self.closed: set[str] = set()
        self.at_once: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.lock = threading.Lock()

    def _wait(self, host: str) -> None:
        with self.lock:
            self.at_once[host] += 1
            self.most[host] = max(self.most[host], self.at_once[host])
        while host in self.closed:
            time.sleep(0.002)
        with self.lock:
            self.at_once[host] -= 1

    def send(self, call: WebhookCall) -> WebhookReply:
        host = call.id.rpartition("-")[0]
        self._wait(host)
        return WebhookReply(host=host, status=200)

    def start(self, query: MetricQuery) -> MeasurementState:
        self._wait(query.id.rpartition("-")[0])
        return MeasurementState(after=0.0)

    def resume(self, query: MetricQuery, state: MeasurementState) -> MeasurementState:
        self._wait(query.id.rpartition("-")[0])
        return MeasurementState(outcome=MetricOutcome.MEASURED, values=(1.0,))


class Queued(RuleBasedStateMachine):
    """`wanted` are the calls that the decisions of now list, with the attempt that they are at."""

    def __init__(self) -> None:
        super().__init__()
        self.world, clock = World(), SystemClock()
        steps = CallSteps(webhooks=self.world, provider=lambda _: self.world, clock=clock)
        self.queue = CallQueue(steps=steps, clock=clock, on_answer=lambda: None)
        self.wanted: dict[str, Call] = {}

    @rule(names=st.lists(st.sampled_from(NAMES), min_size=1, max_size=30), seconds=st.sampled_from([0.01, 60.0]))
    def want(self, names: list[str], seconds: float) -> None:
        for name in names:
            url = f"https://{name.rpartition('-')[0]}/"
            call: Call = WebhookCall(id=name, url=url, body={}, timeout_seconds=seconds)
            if name.endswith(("1", "2")):
                call = MetricQuery(id=name, provider="w", address=url, query="q", at=AT, timeout_seconds=seconds)
            self.wanted.setdefault(name, call)
        self.queue.start(list(self.wanted.values()))

    @rule()
    def decide(self) -> None:
        """A pass: what failed is asked again, what is answered is recorded and forgotten."""
        answers = self.queue.answers()
        over = []
        for name, call in list(self.wanted.items()):
            answer = answers.get(name)
            if answer is not None and answer.attempt == call.attempt and answer.outcome.value == "Failed":
                self.wanted[name] = replace(call, attempt=call.attempt + 1)
            elif answer is not None and answer.attempt == call.attempt:
                over.append(name)
                del self.wanted[name]
        self.queue.start(list(self.wanted.values()))
        self.queue.forget(over)

    @rule(names=st.lists(st.sampled_from(NAMES), max_size=5))
    def abandon(self, names: list[str]) -> None:
        for name in names:
            self.wanted.pop(name, None)
        self.queue.forget(names)

    @rule(host=st.sampled_from(HOSTS))
    def hang(self, host: str) -> None:
        self.world.closed.add(host)

    @rule(host=st.sampled_from(HOSTS))
    def answer(self, host: str) -> None:
        self.world.closed.discard(host)

    @rule()
    def wait(self) -> None:
        time.sleep(0.02)

    @invariant()
    def the_bounds_hold(self) -> None:
        assert max(self.world.most.values(), default=0) <= MOST_PER_HOST
        assert self.queue._at_once() <= MOST_AT_ONCE

    def teardown(self) -> None:
        """Once every host answers, every call that is wanted has its answer, and no thread is counted any more."""
        self.world.closed.clear()
        for name, call in self.wanted.items():
            self.wanted[name] = replace(call, timeout_seconds=60.0, attempt=call.attempt + 1)

        def answered() -> bool:
            self.queue.start(list(self.wanted.values()))
            answers = self.queue.answers()
            return all(n in answers and answers[n].attempt == call.attempt for n, call in self.wanted.items())

        until(answered)
        self.queue.close(SOON)
        counted: list[Any] = [self.queue._threads, self.queue._lost, self.queue._stuck]
        until(lambda: [one.total() for one in counted] == [0, 0, 0])
        assert not self.queue._stops and not self.queue._under_way


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_queue, "SHORTEST_PAUSE", 0.001)
    monkeypatch.setattr(call_queue, "GRACE", 0.005)


TestQueued = Queued.TestCase
TestQueued.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)
