"""A record takes in what scheduling said."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.bindings import ClusterDecision
from gitfleet.api.conditions import Condition, Reason, Status
from gitfleet.api.placements import PlacementKey
from gitfleet.model.scheduling import SchedulingResult
from gitfleet.status.records import with_conditions, with_schedule
from gitfleet.status.texts import StatusText
from tests.state.builders import T0, binding, record

WEB = PlacementKey("", "web")
NOW = T0 + timedelta(minutes=5)
BEFORE = record("web", binding(WEB, "a"))
SEVENTH = replace(BEFORE, placement=replace(BEFORE.placement, generation=7))
AFTER: dict[str, Any] = {"bindings": (binding(WEB, "b"),), "decisions": (ClusterDecision(cluster="b", selected=True),)}


def verdict(status: Status, reason: str, message: str) -> Condition:
    """Scheduled, of the seventh generation."""
    return Condition(
        type="Scheduled", status=status, reason=reason, message=message, last_transition_time=NOW, observed_generation=7
    )


def test_a_scheduling_changes_bindings_decisions_and_key_and_says_so() -> None:
    unmet = Reason.SCHEDULING_POLICY_UNFULFILLED
    result = SchedulingResult(**AFTER, fulfilled=False, reason=unmet, message="one is missing")
    told = verdict(Status.FALSE, "SchedulingPolicyUnfulfilled", "one is missing")
    assert with_schedule(SEVENTH, result, "k2", NOW) == (replace(SEVENTH, **AFTER, schedule_key="k2"), told)


def test_a_scheduling_that_decided_nothing_says_nothing() -> None:
    result = SchedulingResult(**AFTER)
    assert with_schedule(SEVENTH, result, "k2", NOW) == (replace(SEVENTH, **AFTER, schedule_key="k2"), None)


def test_a_scheduling_that_was_aborted_leaves_all_as_it_is_and_says_why() -> None:
    """The key stays too, so that it is tried again."""
    failed = Reason.SCHEDULING_FAILED
    result = SchedulingResult(**AFTER, fulfilled=True, reason=failed, message="all is well", error="no such value")
    after, told = with_schedule(SEVENTH, result, "k2", NOW)
    assert after is SEVENTH
    assert told == verdict(Status.FALSE, "SchedulingFailed", "no such value")


@pytest.mark.parametrize("known", [True, False])
def test_the_last_verdict_goes_on_counting(known: bool) -> None:
    """Without any, scheduling has not completed."""
    base = SEVENTH if known else replace(SEVENTH, conditions=())
    new = verdict(Status.FALSE, "SchedulingPolicyUnfulfilled", "one is missing")
    first = [
        (found.status, found.reason, found.message, found.last_transition_time)
        for found in (with_conditions(base, told, NOW).conditions[0] for told in (new, None))
    ]
    (last,) = BEFORE.conditions[:1]
    kept = (Status.TRUE, last.reason, last.message, T0)
    pending = (Status.UNKNOWN, "SchedulePending", StatusText.SCHEDULING_NOT_COMPLETED(), NOW)
    assert first == [(new.status, new.reason, new.message, NOW), kept if known else pending]
