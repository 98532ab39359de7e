"""What is said of failures and of changes fails one by one: an object of which nothing can be said hides no other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gitfleet.api.faults import Fault
from gitfleet.api.placements import PlacementKey
from gitfleet.model.desired import Desired
from gitfleet.model.events import Event, EventType
from gitfleet.model.failures import Failure, Failures, Subject
from gitfleet.model.state import FleetState
from gitfleet.status import commit_message, commit_messages, emit_events, events, failures, faults_of, with_failures
from tests.state.builders import COMMIT, CONFIG, NAMESPACE, T0, binding, manifest, record, small_fleet, with_record

WEB, SHOP = PlacementKey("", "web"), PlacementKey("", "shop")


def raising(monkeypatch: pytest.MonkeyPatch, module: object, name: str, hits: Callable[..., bool]) -> None:
    original = getattr(module, name)

    def step(*args: Any, **named: Any) -> Any:
        if hits(*args):
            raise ZeroDivisionError("hunter2")
        return original(*args, **named)

    monkeypatch.setattr(module, name, step)


def fault(path: str) -> Fault:
    return Fault(path, 1, "ConfigMap/a", "", "it is wrong")


def test_a_fault_that_cannot_be_told_of_hides_no_other_event(monkeypatch: pytest.MonkeyPatch) -> None:
    raising(monkeypatch, events, "_fault_event", lambda found, _: found.path == "bad.yaml")
    noted = Failures()
    after = FleetState(observed_commit=COMMIT, faults=(fault("bad.yaml"), fault("good.yaml")))
    found = emit_events(FleetState(), after, noted)
    assert [event.fields.get("path") for event in found] == [None, "good.yaml"]
    assert [str(failure.subject) for failure in noted.found] == ["Fault bad.yaml:1"]


def test_a_placement_that_failed_and_cannot_say_so_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    raising(monkeypatch, failures, "_undecided", lambda record, *_: record.placement.key == WEB)
    state = with_record(small_fleet(), record("shop", binding(SHOP, "eu-1")))
    noted = Failures([Failure(subject=Subject.of_placement(key), error="boom") for key in state.placements])
    after = with_failures(state, state, noted, T0)
    assert after.placements[WEB] is state.placements[WEB]
    assert [key for key in state.placements if after.placements[key] is state.placements[key]] == [WEB]
    assert len(state.placements) > 1
    assert [failure.error for failure in noted.found if failure.subject == Subject.of_placement(WEB)] == [
        "boom", "unexpected ZeroDivisionError",
    ]  # fmt: skip


def test_an_object_that_cannot_be_named_hides_no_other_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    raising(monkeypatch, failures, "_subject_of", lambda written: written.key == NAMESPACE)
    noted = Failures([Failure(subject=Subject.of_object(key), error="boom") for key in (NAMESPACE, CONFIG)])
    wanted = Desired(commit=COMMIT, payload=(manifest(NAMESPACE), manifest(CONFIG)))
    assert [fault.object for fault in faults_of(noted, FleetState(), wanted)] == ["ConfigMap/web/settings"]
    assert [str(failure.subject) for failure in noted.found if "Zero" in failure.error] == ["Faults "]


def test_an_event_without_words_takes_no_line_from_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    raising(monkeypatch, commit_messages, "sentence", lambda event: event.type is EventType.FAULT)
    noted = Failures()
    found = (Event(type=EventType.FAULT), Event(type=EventType.COMMIT_READ, fields={"commit": COMMIT}))
    assert commit_message(found, noted) == (f"commit {COMMIT[:12]} read", "")
    assert [str(failure.subject) for failure in noted.found] == ["Event fault"]
    of_both = [Event(type=EventType.FAULT, placement="web"), Event(type=EventType.FAULT, cluster="eu-1")]
    noted = Failures()
    commit_message(of_both, noted)
    assert [str(failure.subject) for failure in noted.found] == ["Event fault web", "Event fault eu-1"]
