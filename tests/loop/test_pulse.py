"""What /healthz and /readyz say of a loop, and that no listener stops it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from gitfleet.api.objects import ObjectKey
from gitfleet.api.values import NamespacedName
from gitfleet.errors import BadInput, DiskFull, Forbidden, NoRepository, RefusedForNow, RemoteUnreachable
from gitfleet.loop.pulse import LONGEST_DELAY, LONGEST_RECONCILE, Beat, Pass, Pulse, why_dead, why_unready
from gitfleet.loop.results import ReconcileResult
from gitfleet.loop.runner import Wake
from gitfleet.loop.texts import LoopText
from gitfleet.model.events import Event, EventType
from gitfleet.model.failures import Failure, Subject
from gitfleet.model.operations import DeletePod, OutcomeCode, RolloutOutcome
from gitfleet.ports.http import HttpRequest, HttpResponse
from gitfleet.serving.endpoints import count_events, count_reconciles, gauges_of, metrics_page, probes, routes
from gitfleet.simulation.clock import ManualClock
from tests.loop.test_runner import CHANGED, LOST, SETTLED, Loop

DOWN = Failure(subject=Subject("reconcile", ""), error="down", cause=RemoteUnreachable("down"))
BAD = Failure(subject=Subject("reconcile", ""), error="bad", cause=BadInput("bad"))
SAYS_DOWN = LoopText.LAST_RECONCILE_FAILED(why=LoopText.GIT_REMOTE_NOT_ANSWER_SHOULD())


def failing(cause: Exception) -> Failure:
    return Failure(subject=Subject("reconcile", ""), error="it failed", cause=cause)


@pytest.mark.parametrize(
    ("beat", "dead"),
    [
        (Beat(), ""),
        (Beat(began=100.0), ""),
        (Beat(began=1000.0 - LONGEST_RECONCILE), ""),
        (Beat(began=999.0 - LONGEST_RECONCILE), LoopText.RECONCILE_UNDER_WAY(now=901)),
        (Beat(due=1000.0 - LONGEST_DELAY), ""),
        (Beat(due=999.0 - LONGEST_DELAY), LoopText.NEXT_RECONCILE_LATE(now=61)),
        (Beat(due=1300.0), ""),
    ],
)
def test_alive(beat: Beat, dead: str) -> None:
    assert why_dead(beat, 1000.0) == dead
    assert why_unready(beat, 1000.0, stopped=False) == (dead or LoopText.NO_RECONCILE_SUCCEEDED_YET())


@pytest.mark.parametrize(
    ("results", "unready"),
    [
        ([], LoopText.NO_RECONCILE_SUCCEEDED_YET()),
        ([DOWN], SAYS_DOWN),
        ([SETTLED], ""),
        ([SETTLED, DOWN], SAYS_DOWN),
        ([SETTLED, DOWN, SETTLED], ""),
        ([SETTLED, BAD], ""),
        ([BAD], LoopText.NO_RECONCILE_SUCCEEDED_YET()),
        ([LOST], ""),
        (
            [SETTLED, failing(DiskFull("/secret/place"))],
            LoopText.LAST_RECONCILE_FAILED(why=LoopText.DISK_MACHINE_FULL()),
        ),
        (
            [SETTLED, failing(RefusedForNow("x"))],
            LoopText.LAST_RECONCILE_FAILED(why=LoopText.GIT_REMOTE_CANNOT_ASKED_NOW()),
        ),
        (
            [SETTLED, failing(NoRepository("x"))],
            LoopText.LAST_RECONCILE_FAILED(why=LoopText.GIT_REMOTE_NO_REPOSITORY()),
        ),
        (
            [SETTLED, failing(Forbidden("x"))],
            LoopText.LAST_RECONCILE_FAILED(why=LoopText.GIT_REMOTE_REFUSES_CREDENTIALS()),
        ),
        ([SETTLED, failing(KeyError("x"))], LoopText.LAST_RECONCILE_FAILED_2()),
    ],
)
def test_ready(results: list[ReconcileResult | Failure], unready: str) -> None:
    pulse = Pulse()
    for result in results:
        pulse.begin(1.0)
        pulse.end(result, 2.0, 30.0)
    assert why_unready(pulse.beat, 3.0, stopped=False) == unready
    pulse.begin(32.0)
    assert why_unready(pulse.beat, 33.0, stopped=False) == unready, "while the next one is under way"
    assert why_unready(pulse.beat, 33.0, stopped=True) == LoopText.PROCESS_ENDING()


class Counted:
    """Metrics as a list of calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[object, ...]] = []

    def reconciled(self, outcome: str, seconds: float, at: float | None) -> None:
        self.calls.append((outcome, seconds, at is not None))

    def phase(self, name: str, seconds: float) -> None:
        self.calls.append((name, seconds))

    def performed(self, action: str, outcome: str) -> None:
        self.calls.append((action, outcome))

    def happened(self, event: str) -> None:
        self.calls.append((event,))

    def delivered(self, provider: str, outcome: str) -> None:
        self.calls.append((provider, outcome))

    def notified(self, type_: str, outcome: str) -> None:
        self.calls.append((type_, outcome))

    def called(self, kind: str, outcome: str) -> None:
        self.calls.append((kind, outcome))


def test_the_loop_notes_and_counts_every_reconcile() -> None:
    loop = Loop([SETTLED, CHANGED, LOST, RemoteUnreachable("down")], waits=4, lasts=2.0)
    metrics = Counted()
    loop.runner.pulse.listeners.append(count_reconciles(metrics, loop.clock))
    loop.runner.until_stopped()
    assert metrics.calls == [
        ("unchanged", 2.0, True), ("changed", 2.0, True), ("lost_race", 2.0, True), ("failed", 2.0, False),
    ]  # fmt: skip
    count_events(metrics, lambda event: None)(Event(type=EventType.UPDATED))
    assert metrics.calls[-1] == ("updated",)


def test_operations_and_steps_of_rollouts_are_counted_by_what_came_of_them() -> None:
    pod = DeletePod(
        cluster="c", rollout=NamespacedName("a", "b"), reason="", key=ObjectKey("", "v1", "Pod", "a", "p"), uid="u"
    )
    gone = RolloutOutcome(operation=pod, ok=True, code=OutcomeCode.DELETING)
    loop = Loop([replace(CHANGED, steps=(gone, gone))], waits=1)
    metrics = Counted()
    loop.runner.pulse.listeners.append(count_reconciles(metrics, loop.clock))
    loop.runner.until_stopped()
    assert metrics.calls[1:] == [("deletepod", "Deleting"), ("deletepod", "Deleting")]


def test_a_listener_that_fails_stops_nothing() -> None:
    def broken(over: Pass) -> None:
        raise ValueError("no")

    loop = Loop([SETTLED], waits=3)
    loop.runner.pulse.listeners.append(broken)
    loop.runner.until_stopped()
    assert loop.driver.reconciles == 3


def test_recovery_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="gitfleet")
    down = RemoteUnreachable("the remote does not answer")
    Loop([SETTLED, down, down, SETTLED], waits=5).runner.until_stopped()
    assert caplog.messages == [
        LoopText.TRYING_AGAIN_G() % (down, 5),
        LoopText.TRYING_AGAIN_G() % (down, 2),
        LoopText.RECONCILING_AGAIN_AFTER() % "2 failures",
    ]


def test_paths_and_methods() -> None:
    pulse, clock, wake = Pulse(), ManualClock(), Wake()
    page = metrics_page(lambda accepts: (accepts.encode(), "text/x"))
    handle = routes({**probes(pulse, wake, clock), "/metrics": page}, {"/webhook/github": page})

    def ask(method: str, path: str, headers: Mapping[str, str] | None = None) -> HttpResponse:
        return handle(HttpRequest(method=method, path=path, headers=headers or {}))

    asked = [("GET", "/healthz"), ("GET", "/readyz"), ("POST", "/metrics"), ("GET", "/webhook/github"), ("GET", "/x")]
    assert [ask(*each).status for each in asked] == [200, 503, 405, 405, 404]
    assert ask("GET", "/webhook/github").headers == {"Allow": "POST"}
    assert (ask("HEAD", "/metrics", {"accept": "a"}).body, ask("POST", "/webhook/github").status) == (b"a", 200)


def test_the_gauges_of_a_process_that_leads_and_of_one_that_stands_by() -> None:
    pulse = Pulse()
    pulse.end(SETTLED, 2.0, 30.0)
    leading = list(gauges_of(pulse, lambda: True))
    assert leading[0].name == "gitfleet_leader" and leading[0].values == (((), 1.0),) and len(leading) > 3
    assert [(one.name, one.values) for one in gauges_of(pulse, lambda: False)] == [("gitfleet_leader", (((), 0.0),))]
