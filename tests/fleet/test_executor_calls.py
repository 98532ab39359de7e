"""Calls that other processes carry out: batches, what never comes back, and names that nobody knows. The executor here
pickles what goes and comes, as one between processes does."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Executor, Future
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.clusters import Connection, MemberCluster
from gitfleet.api.fleet import FleetConfig, ListedProvider
from gitfleet.errors import RetryLater, Stopped
from gitfleet.fleet.executor_calls import SIZE, THREADS, Batch, CallKind, ExecutorCalls
from gitfleet.fleet.fanout import Fanout, carry_out
from gitfleet.fleet.texts import FleetText
from gitfleet.formats.texts import FormatsText
from gitfleet.simulation.clock import ManualClock
from gitfleet.simulation.fleet import SimulatedFleet
from gitfleet.wiring.hub import simulated_clusters

CLOCK = ManualClock()
FLEET = SimulatedFleet(CLOCK)
WORKER = Fanout(directory=simulated_clusters(FLEET, CLOCK), executor=None)
RAN: list[Batch] = []
CLUSTERS = {
    f"c{n:02}": MemberCluster(name=f"c{n:02}", connection=Connection(context=f"c{n:02}")) for n in range(2 * SIZE + 5)
}
DASK = replace(FleetConfig(), executor="dask", property_providers=(ListedProvider(name="cost", args={"a": [1]}),))


def run(batch: Batch) -> Mapping[str, Any]:
    RAN.append(batch)
    return carry_out(batch, WORKER, CLOCK)


@dataclass
class Pickling(Executor):
    """Runs tasks as values that went through pickle; `error` is what becomes of them instead."""

    error: Callable[[], Exception | None] = lambda: None
    closed: bool = False
    hangs: bool = False

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        if isinstance(error := self.error(), RetryLater):
            raise error
        future: Future[Any] = Future()
        if error is not None:
            future.set_exception(error)
        elif not self.hangs:
            task, values = pickle.loads(pickle.dumps((fn, args)))
            future.set_result(pickle.loads(pickle.dumps(task(*values))))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.closed = True


@dataclass
class Hub:
    """A fan-out whose calls go to an executor; itself it reaches nobody."""

    executor: Pickling = field(default_factory=Pickling)
    opened: int = 0
    stopped: bool = False

    def __post_init__(self) -> None:
        RAN.clear()
        self.remote = ExecutorCalls(
            name="dask", open_executor=self.open, run=run, clock=CLOCK, executors=(THREADS, "dask"), seconds=0.2,
            stopped=lambda: self.stopped,
        )  # fmt: skip
        self.remote.configure(DASK)
        near = simulated_clusters(SimulatedFleet(CLOCK), CLOCK)
        self.fanout = Fanout(directory=near, executor=None, remote=self.remote)

    def open(self) -> Executor:
        self.opened += 1
        return self.executor

    def asked(self) -> dict[str, bool]:
        seen = self.fanout.observe(CLUSTERS, dict.fromkeys(CLUSTERS, ()))
        return {name: one.attempted and one.reachable for name, one in seen.items()}


def test_all_clusters_in_few_tasks_and_one_executor() -> None:
    hub = Hub()
    assert hub.asked() == dict.fromkeys(CLUSTERS, True)
    assert [len(batch.clusters) for batch in RAN] == [SIZE, SIZE, 5]
    assert all(batch.providers == DASK.property_providers for batch in RAN) and hub.opened == 1
    hub.remote.close()
    assert hub.executor.closed


def test_a_cluster_without_an_api_server_is_asked_here() -> None:
    hub = Hub()
    near = {"s": MemberCluster(name="s", connection=Connection(simulated=True)), "c00": CLUSTERS["c00"]}
    assert len(hub.fanout.observe(near, dict.fromkeys(near, ()))) == 2
    assert [set(batch.clusters) for batch in RAN] == [{"c00"}]


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (CancelledError(), FleetText.EXECUTOR_FAILED(name="dask", why="unexpected CancelledError")),
        (
            RetryLater("the scheduler is gone"),
            FleetText.EXECUTOR_TAKES_NO_WORK(name="dask", why="the scheduler is gone"),
        ),
    ],
)
def test_an_executor_that_fails_asks_nobody_and_is_opened_again(
    error: Exception, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    hub = Hub(Pickling(error=lambda: error))
    seen = hub.fanout.observe(CLUSTERS, dict.fromkeys(CLUSTERS, ()))
    assert {(one.attempted, one.reachable, one.error) for one in seen.values()} == {(False, False, why)}
    assert [one.message for one in caplog.records] == [why]
    hub.executor.error = lambda: None
    before = hub.opened
    assert hub.asked() == dict.fromkeys(CLUSTERS, True)
    assert hub.opened == before + 1


def test_a_batch_that_never_comes_back_keeps_its_clusters_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ExecutorCalls, "_patience", 0.3)
    hub = Hub(Pickling(hangs=True))
    assert set(hub.asked().values()) == {False}
    hub.executor.hangs = False
    seen = hub.fanout.observe(CLUSTERS, dict.fromkeys(CLUSTERS, ()))
    assert {name: one.error for name, one in seen.items()} == {
        name: FleetText.STILL_BUSY_EARLIER_CALL(name=name) for name in CLUSTERS
    }


def test_who_is_stopped_does_not_wait() -> None:
    hub = Hub(Pickling(hangs=True), stopped=True)
    with pytest.raises(Stopped):
        hub.asked()


def test_nobody_begins_with_a_batch_that_is_overtaken() -> None:
    batch = Batch(
        kind=CallKind.OBSERVE, clusters=CLUSTERS, arguments=dict.fromkeys(CLUSTERS, ()), not_after=CLOCK.now()
    )
    assert len(carry_out(batch, WORKER, CLOCK)) == len(CLUSTERS)
    late = replace(batch, not_after=CLOCK.now() - timedelta(seconds=1))
    assert carry_out(late, WORKER, CLOCK) == {}


def warned(executor: str, given: str, hint: str) -> str:
    return FleetText.DELIVERY_EXECUTOR_PROCESS(executor=executor, given=given, hint=hint)


@pytest.mark.parametrize(
    ("given", "named", "said"),
    [
        ("dask", "dask", ""),
        ("dask", "threads", ""),
        ("dask", "dusk", warned("dusk", "was given dask", FormatsText.YOU_MEAN(near="dask"))),
        (THREADS, "dask", warned("dask", FleetText.GIVEN_NONE(), FleetText.RUN_EXECUTOR_NAME_ADDRESS_GIVES())),
        (THREADS, "xyz", warned("xyz", FleetText.GIVEN_NONE(), "known are threads, dask")),
    ],
)
def test_the_executor_that_a_repository_names(
    given: str, named: str, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    hub = Hub()
    hub.remote.name = given
    for _ in range(2):
        hub.remote.configure(replace(FleetConfig(), executor=named))
    assert [one.message for one in caplog.records] == ([said] if said else [])
    batch = Batch(kind=CallKind.OBSERVE, clusters=CLUSTERS, arguments=dict.fromkeys(CLUSTERS, ()))
    assert bool(hub.remote.clusters_taken(tuple(CLUSTERS), batch)) == (given == named == "dask")
