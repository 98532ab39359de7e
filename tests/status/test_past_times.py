"""A clock that jumped back: every time of the state that lies in the future becomes now, and no other changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from gitfleet.api.bindings import DiffedObject, DriftedObject
from gitfleet.api.clusters import AgentStatus, PropertyValue
from gitfleet.api.placements import PlacementKey
from gitfleet.api.runs import ClusterUpdate, RunRecord, RunStatus, StageStatus
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import ClusterRolloutStatus
from gitfleet.formats.times import EPOCH
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.state import FleetState
from gitfleet.status import TimesMemo, with_past_times
from gitfleet.workload.phases import Phase
from tests.state.builders import CONFIG, HOLD, T0, binding, cluster, condition, record
from tests.workload_records import asked, idle, measured, on, rollout_record

WEB, SHOP = PlacementKey("", "web"), PlacementKey("shop", "web")
BEFORE, NOW, LATER = T0 - timedelta(hours=2), T0 - timedelta(hours=1), T0 + timedelta(days=1)


def fleet(when: datetime, old: datetime = BEFORE) -> FleetState:
    """A placement and a cluster with every time that they can have, and a hold: `when`, or `old` beside each."""
    found: dict[str, Any] = {"key": CONFIG, "details": (("/data/k", "v", "w"),)}
    conditions = tuple(
        replace(condition(type_), last_transition_time=time) for type_, time in (("Applied", old), ("Available", when))
    )
    diverged: dict[str, Any] = {
        "drifted": (
            DriftedObject(**found, observed=when, first_observed=old),
            DriftedObject(**found, observed=old, first_observed=old),
        ),
        "diffed": (DiffedObject(**found, observed=when, first_observed=when),),
    }
    web = record("web", binding(WEB, "a", conditions=conditions, deleting=when, **diverged), binding(WEB, "b"))
    other = replace(web.bindings[1], conditions=conditions[:1])
    web = replace(
        web,
        placement=replace(web.placement, deleting=when),
        conditions=conditions,
        bindings=(web.bindings[0], other),
    )
    member = cluster("a")
    status = replace(
        member.status,
        conditions=conditions,
        properties={"new": PropertyValue("1", when), "old": PropertyValue("2", old), "none": PropertyValue("3")},
        resource_usage=replace(member.status.resource_usage, observed=when),
        agent=AgentStatus(conditions=conditions, last_received_heartbeat=when),
    )
    return FleetState(
        placements={WEB: web},
        clusters={"a": replace(member, deleting=when, status=status)},
        holds={"h": replace(HOLD, since=when), "g": replace(HOLD, since=old)},
    )


def past(state: FleetState, now: datetime = NOW, memo: TimesMemo | None = None) -> FleetState:
    """The state as it is taken at a time; nothing of it fails."""
    failures = Failures()
    found, _ = with_past_times(state, now, memo or TimesMemo(), failures)
    assert not failures.found
    return found


def test_every_later_time_is_now_and_no_other_changes() -> None:
    assert past(fleet(LATER)) == fleet(NOW)
    only_times = (fleet(NOW), fleet(BEFORE))
    assert [past(state) is state for state in only_times] == [True, True]
    assert past(fleet(LATER, LATER)) == fleet(NOW, NOW)


def run(when: datetime) -> RunRecord:
    """A run with every time that it can have."""
    said = (replace(condition("Progressing"), last_transition_time=when),)
    update = ClusterUpdate(cluster="a", conditions=said, reverted=when)
    stage = StageStatus(name="all", clusters=(update,), conditions=said, start_time=when, end_time=when)
    status = RunStatus(conditions=said, stages=(stage, stage), deletion=stage)
    key = NamespacedName("", "go")
    return RunRecord(key=key, placement_name="web", strategy_name="all", created=when, status=status)


def test_the_times_of_a_run_are_now_at_the_latest() -> None:
    """But of one that is over, which waits for nothing."""
    over = replace(run(LATER), status=replace(run(LATER).status, conditions=(condition("Succeeded"),)))
    alone = replace(run(LATER), status=replace(run(LATER).status, deletion=None))
    key = over.key
    for one, then in (
        (run(LATER), run(NOW)),
        (run(BEFORE), run(BEFORE)),
        (over, over),
        (alone, replace(run(NOW), status=replace(run(NOW).status, deletion=None))),
    ):
        found = past(FleetState(runs={key: one}))
        assert found.runs == {key: then}
        assert (found.runs[key] is one) is (then == one)
    state = FleetState(runs={key: run(BEFORE)})
    assert past(state) is state


PAUSE = timedelta(minutes=5)


def rollout(when: datetime, phase: Phase = Phase.BATCH_VERIFYING, at: datetime = LATER, **answered: Any) -> FleetState:
    """A workload rollout on a cluster with every time that it can have; `at` are those that no wait counts from."""
    said = replace(condition("BatchVerifying"), last_transition_time=when)
    asked_at = {"at": when, "not_before": when + PAUSE if when < NOW else when, **answered}
    waits = replace(asked("load"), **asked_at)
    done = replace(asked("done", "Passed"), at=at)
    measures = (replace(measured("errors", 0.2), at=at),)
    given: dict[str, Any] = {"since": when, "batch_started": when, "webhooks": (waits, done), "measurements": measures}
    found = rollout_record(on("a", phase, said, **given), idle("b"))
    return FleetState(rollouts={found.key: replace(found, created=at)})


def test_a_workload_rollout_waits_no_longer_than_from_now_on() -> None:
    """What it has of the past stays: so do the moments of measurements, and a pause that is under way."""
    early = replace(idle("b"), since=BEFORE, conditions=())
    for state, then in (
        (rollout(LATER), rollout(NOW)),
        (rollout(BEFORE), rollout(BEFORE)),
        (rollout(BEFORE, not_before=LATER), rollout(BEFORE, not_before=LATER)),
        (rollout(LATER, at=BEFORE), rollout(NOW, at=BEFORE)),
        (rollout(LATER, Phase.SUCCEEDED), rollout(LATER, Phase.SUCCEEDED)),
    ):
        state, then = (_with_second(one, early) for one in (state, then))
        found = past(state)
        assert found == then
        assert (found is state) is (then == state)


def _with_second(state: FleetState, second: ClusterRolloutStatus) -> FleetState:
    (record,) = state.rollouts.values()
    return FleetState(rollouts={record.key: replace(record, clusters=(record.clusters[0], second))})


def with_status(**changes: Any) -> FleetState:
    """A cluster of which nothing else is later."""
    member = fleet(BEFORE).clusters["a"]
    return replace(fleet(BEFORE), clusters={"a": replace(member, status=replace(member.status, **changes))})


def with_binding(**changes: Any) -> FleetState:
    """A binding of which nothing else is later."""
    web = fleet(BEFORE).placements[WEB]
    return replace(
        fleet(BEFORE), placements={WEB: replace(web, bindings=(web.bindings[0], replace(web.bindings[1], **changes)))}
    )


LATE = replace(condition("Late"), last_transition_time=LATER)
AT: dict[str, Callable[[datetime], FleetState]] = {
    "a placement that goes": lambda at: replace(
        fleet(BEFORE),
        placements={
            WEB: replace(
                fleet(BEFORE).placements[WEB],
                placement=replace(fleet(BEFORE).placements[WEB].placement, deleting=at),
            )
        },
    ),
    "a placement's condition": lambda at: replace(
        fleet(BEFORE),
        placements={WEB: replace(fleet(BEFORE).placements[WEB], conditions=(replace(LATE, last_transition_time=at),))},
    ),
    "a binding that goes": lambda at: with_binding(deleting=at),
    "a binding's condition": lambda at: with_binding(conditions=(replace(LATE, last_transition_time=at),)),
    "a drifted object": lambda at: with_binding(
        drifted=(DriftedObject(key=CONFIG, details=(), observed=at, first_observed=BEFORE),)
    ),
    "a diffed object": lambda at: with_binding(
        diffed=(DiffedObject(key=CONFIG, details=(), observed=at, first_observed=BEFORE),)
    ),
    "a cluster that leaves": lambda at: replace(
        fleet(BEFORE), clusters={"a": replace(fleet(BEFORE).clusters["a"], deleting=at)}
    ),
    "a heartbeat": lambda at: with_status(agent=AgentStatus(last_received_heartbeat=at)),
    "an agent's condition": lambda at: with_status(
        agent=AgentStatus(conditions=(replace(LATE, last_transition_time=at),))
    ),
    "a cluster's condition": lambda at: with_status(agent=None, conditions=(replace(LATE, last_transition_time=at),)),
    "a property": lambda at: with_status(properties={"p": PropertyValue("1", at)}),
    "the resources": lambda at: with_status(
        resource_usage=replace(fleet(BEFORE).clusters["a"].status.resource_usage, observed=at)
    ),
    "a hold": lambda at: replace(fleet(BEFORE), holds={"h": replace(HOLD, since=at)}),
}


@pytest.mark.parametrize("what", AT)
def test_one_later_time_alone_is_found(what: str) -> None:
    later, now = AT[what](LATER), AT[what](NOW)
    assert past(later) == now != later
    assert past(now) is now
    assert past(later, LATER) is later
    hidden = past(later)
    kept = [
        hidden.placements is later.placements or hidden.placements[WEB] != later.placements[WEB],
        hidden.clusters is later.clusters or hidden.clusters["a"] != later.clusters["a"],
    ]
    assert kept == [True, True], "what has no later time is the very same"


def test_bindings_without_a_later_time_are_the_very_same() -> None:
    state = with_binding(deleting=LATER)
    first, second = past(state).placements[WEB].bindings
    assert first is state.placements[WEB].bindings[0]
    assert second.deleting == NOW


def test_what_cannot_be_read_stays_as_it_is_and_is_noted() -> None:
    odd: Any = object()
    state = fleet(LATER)
    state = replace(state, placements={SHOP: odd, **state.placements}, clusters={"odd": odd, **state.clusters})
    failures = Failures()
    found, memo = with_past_times(state, NOW, TimesMemo(), failures)
    expected = fleet(NOW)
    assert found == replace(
        expected, placements={SHOP: odd, **expected.placements}, clusters={"odd": odd, **expected.clusters}
    )
    assert memo == TimesMemo()
    assert [failure.subject for failure in failures.found] == [
        Subject.of_placement(SHOP),
        Subject("MemberCluster", "odd"),
    ]


def test_a_run_and_a_hold_that_cannot_be_read_stay_as_they_are() -> None:
    odd: Any = object()
    go, state, failures = NamespacedName("", "odd"), fleet(LATER), Failures()
    spoilt = replace(state, runs={go: odd, **state.runs}, holds={"odd": odd, **state.holds})
    found, _ = with_past_times(spoilt, NOW, TimesMemo(), failures)
    expected = fleet(NOW)
    assert found == replace(expected, runs={go: odd, **expected.runs}, holds={"odd": odd, **expected.holds})
    assert {failure.subject for failure in failures.found} == {Subject("Hold", "odd"), Subject.of_run(go)}


def test_what_was_read_in_the_pass_before_is_not_read_again() -> None:
    """The memo has each value that has no later time, with its latest one; another value of the name is read."""
    state = fleet(NOW)
    _, memo = with_past_times(state, NOW, TimesMemo(), Failures())
    assert memo == TimesMemo({WEB: (state.placements[WEB], NOW)}, {"a": (state.clusters["a"], NOW)})
    odd: Any = object()
    unread = replace(state, placements={WEB: odd}, clusters={"a": odd})
    known = TimesMemo({WEB: (odd, BEFORE)}, {"a": (odd, BEFORE)})
    failures = Failures()
    assert with_past_times(unread, NOW, known, failures) == (unread, known)
    assert not failures.found
    assert past(fleet(LATER), memo=memo) == fleet(NOW)
    assert past(state, BEFORE, memo) == fleet(BEFORE)


def test_what_has_no_time_at_all_is_never_later() -> None:
    bare = replace(record("web"), conditions=())
    state = FleetState(placements={WEB: bare})
    found, memo = with_past_times(state, NOW, TimesMemo(), Failures())
    assert found is state
    assert memo.placements == {WEB: (bare, EPOCH)}
