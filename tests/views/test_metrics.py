"""What `/metrics` shows of a state, with KubeFleet's labels."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

import pytest

from gitfleet.api.conditions import Condition, Conditions, Status
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.api.runs import RunRecord, RunStatus
from gitfleet.api.staged import Eviction
from gitfleet.api.values import NamespacedName
from gitfleet.api.workload_records import RollingState
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.views.metrics import fleet_gauges
from gitfleet.workload.phases import Phase
from tests.workload_records import on, rollout_record

_ROLLOUTS = "gitfleet_workload_rollouts"
T0 = datetime(2026, 1, 1, tzinfo=UTC)
_STEPS = ("Scheduled", "RolloutStarted", "Overridden", "WorkSynchronized", "Applied", "Available")


def condition(type_: str, status: Status = Status.TRUE, reason: str = "Why", generation: int = 1) -> Condition:
    return Condition(type=type_, status=status, reason=reason, last_transition_time=T0, observed_generation=generation)


def values(state: FleetState, name: str) -> list[tuple[str, ...]]:
    gauge = next(gauge for gauge in fleet_gauges(state) if gauge.name.startswith(name))
    assert all(len(labels) == len(gauge.labels) for labels, _ in gauge.values)
    return [labels for labels, _ in gauge.values]


def all_true(kind: str) -> Conditions:
    return tuple(condition(f"{kind}{step}") for step in _STEPS)


PLACED = "ClusterResourcePlacement"


@pytest.mark.parametrize(
    ("conditions", "at"),
    [
        ((), (f"{PLACED}Scheduled", "nil", "nil")),
        (all_true(PLACED), ("Completed", "True", "Completed")),
        (all_true(PLACED)[:3], (f"{PLACED}WorkSynchronized", "nil", "nil")),
        (
            (*all_true(PLACED)[:4], condition(f"{PLACED}Applied", Status.FALSE, "ApplyFailed")),
            (f"{PLACED}Applied", "False", "ApplyFailed"),
        ),
        ((condition(f"{PLACED}Scheduled", generation=7),), (f"{PLACED}Scheduled", "nil", "nil")),
    ],
)
def test_a_placement_stands_at_one_condition(conditions: Conditions, at: tuple[str, ...]) -> None:
    key = PlacementKey("", "web")
    record = PlacementRecord(placement=Placement(key=key, selectors=()), conditions=conditions)
    assert values(FleetState(placements={key: record}), "fleet_workload_placement") == [("", "web", "1", *at)]


@pytest.mark.parametrize(
    ("conditions", "at"),
    [
        ((), []),
        ((condition("Initialized"),), [("Initialized", "True", "Why", "none")]),
        (
            (condition("Initialized"), condition("Progressing", Status.FALSE, "UpdateRunStuck")),
            [("Progressing", "False", "UpdateRunStuck", "internal_error")],
        ),
        (
            (condition("Progressing", Status.FALSE, "UpdateRunWaiting"),),
            [("Progressing", "False", "UpdateRunWaiting", "none")],
        ),
        (
            (condition("Progressing"), condition("Succeeded", Status.FALSE, "UpdateRunFailed")),
            [("Succeeded", "False", "UpdateRunFailed", "internal_error")],
        ),
    ],
)
def test_a_run_stands_at_its_last_condition(conditions: Conditions, at: list[tuple[str, ...]]) -> None:
    key = NamespacedName("", "go")
    status = RunStatus(conditions=conditions)
    run = RunRecord(key=key, placement_name="web", strategy_name="all", created=T0, status=status)
    assert values(FleetState(runs={key: run}), "fleet_workload_update_run") == [("", "go", "Run", *one) for one in at]


def test_evictions_that_were_decided() -> None:
    def evicted(name: str, *conditions: Condition) -> Eviction:
        return Eviction(name=name, placement_name="web", cluster_name="eu-1", conditions=conditions)

    found = [
        evicted("done", condition("Valid"), condition("Executed")),
        evicted("waits"),
        evicted("wrong", condition("Valid", Status.FALSE)),
    ]
    state = FleetState(evictions={one.name: one for one in found})
    assert values(state, "fleet_workload_eviction") == [("done", "true", "true"), ("wrong", "true", "false")]


def test_workload_rollouts_are_counted_by_the_state_of_their_clusters() -> None:
    record = rollout_record(on("a", Phase.BATCH_READY), on("b", Phase.BATCH_VERIFYING), on("c", Phase.FAILED))
    (gauge,) = (one for one in fleet_gauges(FleetState(rollouts={record.key: record})) if one.name == _ROLLOUTS)
    counts = {labels[0]: value for labels, value in gauge.values}
    assert counts.keys() == {state.value for state in RollingState}
    assert {state: value for state, value in counts.items() if value} == {"rollingInBatches": 2, "rolloutFailed": 1}


def test_no_gauge_twice_and_none_by_cluster() -> None:
    gauges = list(fleet_gauges(FleetState()))
    assert all(one.name < other.name for one, other in pairwise(sorted(gauges)))
    assert not [gauge for gauge in gauges if {"cluster", "clusterName"}.intersection(gauge.labels)]
