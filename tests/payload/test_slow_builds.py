"""Folders that take long to build are built beside the passes, and again only after a pause."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, cast

import pytest

from gitfleet.errors import BadInput, GitfleetError, RetryLater
from gitfleet.payload.builds import TRY_SECONDS, WHOLE_SECONDS, SlowBuilds, SlowHelm
from gitfleet.payload.texts import PayloadText
from gitfleet.ports.helm import Chart
from gitfleet.simulation.clock import ManualClock

ENDED = RetryLater("was ended before it was done")


@dataclass(slots=True)
class Programs:
    """Builds, of which the slow ones wait until they are let go."""

    clock: ManualClock = field(default_factory=ManualClock)
    slow: SlowBuilds = field(init=False)
    done: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    go_on: threading.Event = field(default_factory=threading.Event)
    outcome: bytes | GitfleetError = b"output"
    quick: list[str] = field(default_factory=list)
    whole: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.slow = SlowBuilds(clock=self.clock, on_done=self.done.release)

    def ask(self, name: str, *, takes: float = 60.0) -> bytes | str:
        """What a pass gets for a build that takes so many seconds."""

        def quick() -> bytes:
            self.quick.append(name)
            self.clock.advance(min(takes, TRY_SECONDS))
            return b"fast" if takes < TRY_SECONDS else _raise(ENDED)

        def whole() -> bytes:
            self.whole.append(name)
            assert self.go_on.wait(20)
            return _raise(self.outcome) if isinstance(self.outcome, GitfleetError) else self.outcome

        try:
            return self.slow.output(name, name, quick, whole)
        except GitfleetError as error:
            return str(error)

    def finish(self, count: int = 1) -> None:
        self.go_on.set()
        for _ in range(count):
            assert self.done.acquire(timeout=20)
        self.go_on.clear()


def test_a_slow_build_is_tried_for_a_moment_and_then_built_beside_the_passes() -> None:
    programs = Programs()
    assert [programs.ask("a") for _ in range(2)] == [PayloadText.STILL_BUILT()] * 2
    assert programs.slow.waiting() == (PayloadText.FOLDERS_STILL_BUILT(names="a"),)
    assert programs.ask("b", takes=0.0) == b"fast", "the others go on"
    programs.finish()
    assert programs.ask("a") == b"output" and programs.slow.waiting() == ()
    assert (programs.quick, programs.whole) == (["a", "b"], ["a"])
    assert not programs.slow.wait(1, lambda: False)


def test_a_build_that_ends_during_a_pass_still_asks_for_another_one() -> None:
    programs = Programs()
    programs.ask("a")
    programs.finish()
    assert programs.slow.waiting() != () and programs.slow.wait(1, lambda: False)
    assert programs.ask("a") == b"output"
    assert programs.slow.waiting() == () and not programs.slow.wait(1, lambda: False)


def test_many_slow_builds_take_a_part_of_each_pass() -> None:
    programs = Programs()
    names = [f"{number:02}" for number in range(30)]
    for passes in range(1, 11):
        assert {programs.ask(name) for name in names} == {PayloadText.STILL_BUILT()}
        assert len(programs.quick) == 3 * passes and len(programs.slow.waiting()[0]) < 80
    assert programs.quick == names, "each is tried once"
    assert len(programs.slow._queue) + programs.slow._workers <= 4, "what they read is in memory"
    assert programs.ask("quick", takes=0.2) == b"fast"
    programs.go_on.set()
    while {programs.ask(name) for name in names} != {b"output"}:
        time.sleep(0.01)
    assert not programs.slow._queue


def test_fast_builds_cost_nothing_of_it() -> None:
    programs = Programs()
    assert [programs.ask(str(number), takes=0.0) for number in range(1000)] == [b"fast"] * 1000
    assert programs.slow.waiting() == ()


def test_a_build_that_was_ended_is_tried_again_after_a_growing_pause() -> None:
    programs = Programs(outcome=ENDED)
    programs.ask("a")
    assert programs.slow.waiting() != ()
    programs.finish()
    for tries, pause in ((1, 60), (2, 120), (3, 240)):
        assert programs.ask("a") == str(ENDED) and programs.slow.waiting() == ()
        programs.clock.advance(pause - 1)
        assert programs.ask("a") == str(ENDED) and len(programs.whole) == tries
        programs.clock.advance(2)
        assert programs.ask("a") == str(ENDED) and programs.slow.waiting() != ()
        programs.finish()
    assert programs.quick == ["a"]


def test_a_build_that_is_refused_is_not_tried_again() -> None:
    programs = Programs(outcome=BadInput("no"))
    programs.ask("a")
    programs.finish()
    programs.clock.advance(3000)
    assert programs.ask("a") == "no" and programs.whole == ["a"]


def _raise(error: GitfleetError) -> bytes:
    raise error


def test_a_defect_of_a_builder_ends_no_worker() -> None:
    programs = Programs()
    with pytest.raises(RetryLater):
        programs.slow.output("x", "x", partial(_raise, ENDED), lambda: bytes(cast(int, "x")))
    programs.ask("a")
    programs.finish(2)
    assert programs.ask("a") == b"output" and "TypeError" in str(programs.slow._builds["x"].error)


def test_what_nobody_asks_for_any_more_is_not_built() -> None:
    programs = Programs()
    for name in "abc":
        programs.ask(name)
    while len(programs.whole) < 2:
        time.sleep(0.01)
    programs.clock.advance(7200)
    programs.finish(2)
    assert sorted(programs.whole) == ["a", "b"]


def test_who_only_looks_waits_for_the_end_once() -> None:
    programs = Programs()
    programs.slow, programs.outcome = SlowBuilds(clock=programs.clock), ENDED
    programs.go_on.set()
    assert [programs.ask("a"), programs.ask("a")] == [str(ENDED)] * 2
    assert (programs.quick, programs.whole) == ([], ["a"])


def test_who_only_looks_waits_for_a_bounded_time_in_all() -> None:
    programs = Programs()
    slow = programs.slow = SlowBuilds(clock=programs.clock)

    def ended_at(seconds: float) -> bytes:
        programs.clock.advance(seconds)
        return _raise(ENDED)

    began, answers = programs.clock.monotonic(), []
    for number in range(300):
        try:
            slow.output(str(number), str(number), partial(ended_at, TRY_SECONDS), partial(ended_at, WHOLE_SECONDS))
        except RetryLater as error:
            answers.append(str(error))
    assert programs.clock.monotonic() - began <= 300.0 and len(answers) == 300
    assert answers[0] == str(ENDED) and answers[-1] == PayloadText.NOT_BUILT_OTHERS_TOOK(seconds=300.0)


@dataclass(slots=True)
class Ended:
    """A renderer that is always ended, and the charts that it was given."""

    charts: list[Chart] = field(default_factory=list)

    def render(self, chart: Chart) -> bytes:
        """HelmRenderer.render."""
        self.charts.append(chart)
        raise ENDED


def test_a_chart_that_differs_in_anything_is_another_build() -> None:
    ended = Ended()
    helm = SlowHelm(SlowBuilds(clock=ManualClock()), ended, ended)
    chart = Chart(release="web", namespace="shop", files={"a": b"1"}, kube_version="1.36.0")
    other: dict[str, Any] = {"files": {"a": b"2"}, "values": (b"x",), "api_versions": ("a/v1",), "skip_crds": True}
    charts = [chart, *(replace(chart, **{one.name: other.get(one.name, "other")}) for one in fields(Chart))]
    for one in [*charts, *charts]:
        with suppress(RetryLater):
            helm.render(one)
    assert ended.charts == charts
