"""The state of the fleet as gauges: what `/metrics` shows beside what the process counts (docs/metrics.md).

A name that begins with `fleet_` is KubeFleet's own, with its labels (pkg/metrics/hub/metrics.go): the time is that of
the condition, where KubeFleet has that at which it set the gauge. No gauge has a label for a cluster: ten thousand
clusters would be as many lines of each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from gitfleet.api.conditions import Condition, Status, find_condition, type_of
from gitfleet.api.faults import Severity
from gitfleet.api.runs import RunConditionType, RunReason, RunRecord
from gitfleet.api.staged import RunState
from gitfleet.api.workload_records import RollingState
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.status import SCHEDULED, ClusterState, cluster_state, steps_of
from gitfleet.views.requests import approval_requests
from gitfleet.views.texts import ViewsText

_ABSENT: Final = "nil"
"""What KubeFleet writes where a condition is not there yet."""
_COMPLETED: Final = ("Completed", "True", "Completed")
_FAILED: Final = frozenset({RunReason.RUN_STUCK, RunReason.RUN_FAILED, RunReason.RUN_NOT_INITIALIZED})
_LAST_FIRST: Final = (RunConditionType.SUCCEEDED, RunConditionType.PROGRESSING, RunConditionType.INITIALIZED)


class FleetGauge(NamedTuple):
    """A gauge: its name, what it says, the names of its labels, and a value for each combination of theirs."""

    name: str
    says: str
    labels: tuple[str, ...]
    values: tuple[tuple[tuple[str, ...], float], ...]


def fleet_gauges(state: FleetState) -> Iterator[FleetGauge]:
    """The gauges of a state."""
    yield FleetGauge(
        "fleet_workload_placement_status_last_timestamp_seconds",
        ViewsText.SINCE_WHEN_PLACEMENT_CONDITION_NOT(),
        ("namespace", "name", "generation", "conditionType", "status", "reason"),
        tuple(_placement(record) for record in state.placements.values()),
    )
    yield FleetGauge(
        "fleet_workload_update_run_status_last_timestamp_seconds",
        ViewsText.SINCE_WHEN_STAGED_UPDATE_RUN(),
        ("namespace", "name", "state", "condition", "status", "reason", "failureType"),
        tuple(value for run in state.runs.values() for value in _run(run)),
    )
    evictions = (eviction for eviction in state.evictions.values() if eviction.outcome is not None)
    yield FleetGauge(
        "fleet_workload_eviction_complete",
        ViewsText.WHEN_EVICTION_DECIDED(),
        ("name", "isCompleted", "isValid"),
        tuple(
            ((eviction.name, "true", str(_is_true(eviction.valid)).lower()), _seconds(eviction.outcome))
            for eviction in evictions
        ),
    )
    yield from _numbers(state)


def _numbers(state: FleetState) -> Iterator[FleetGauge]:
    """How many there are of what, which KubeFleet has no gauges for."""
    clusters = Counter(cluster_state(cluster) for cluster in state.clusters.values())
    yield FleetGauge(
        "gitfleet_clusters",
        ViewsText.MEMBER_CLUSTERS_STATE(),
        ("state",),
        tuple(((word.value,), clusters[word]) for word in ClusterState),
    )
    rollouts = Counter(status.rolling_state for record in state.rollouts.values() for status in record.clusters)
    yield FleetGauge(
        "gitfleet_workload_rollouts",
        ViewsText.CLUSTERS_WORKLOAD_ROLLOUTS_STATE(),
        ("state",),
        tuple(((word.value,), rollouts[word]) for word in RollingState),
    )
    faults = Counter(fault.severity for fault in state.faults)
    yield FleetGauge(
        "gitfleet_faults",
        ViewsText.WRONG_FILES_RECONCILED_COMMIT(),
        ("severity",),
        tuple(((severity.value,), faults[severity]) for severity in Severity),
    )
    bindings = sum(len(record.bindings) for record in state.placements.values())
    yield FleetGauge("gitfleet_bindings", ViewsText.PLACEMENTS_CLUSTERS(), (), (((), bindings),))
    pending = len(tuple(approval_requests(state)))
    yield FleetGauge("gitfleet_approvals_pending", ViewsText.REQUESTS_WAIT_PERSON_APPROVAL(), (), (((), pending),))


def _placement(record: PlacementRecord) -> tuple[tuple[str, ...], float]:
    key, generation = record.placement.key, record.placement.generation
    steps = steps_of(record.placement.strategy.apply_strategy.type)
    at, since = _COMPLETED, 0.0
    for type_ in (SCHEDULED, *(step.type for step in steps)):
        full = type_of(key.kind, type_)
        condition = find_condition(record.conditions, full, generation=generation)
        since = max(since, _seconds(condition))
        if not _is_true(condition):
            at = (full, condition.status.value, condition.reason) if condition is not None else (full, _ABSENT, _ABSENT)
            since = _seconds(condition)
            break
    return (key.namespace, key.name, str(generation), *at), since


def _run(run: RunRecord) -> Iterator[tuple[tuple[str, ...], float]]:
    for type_ in _LAST_FIRST:
        condition = find_condition(run.status.conditions, type_)
        if condition is not None:
            failed = condition.status is Status.FALSE and condition.reason in _FAILED
            at = (type_.value, condition.status.value, condition.reason, "internal_error" if failed else "none")
            yield (run.key.namespace, run.key.name, run.state or RunState.RUN, *at), _seconds(condition)
            return


def _is_true(condition: Condition | None) -> bool:
    return condition is not None and condition.status is Status.TRUE


def _seconds(condition: Condition | None) -> float:
    return 0.0 if condition is None else condition.last_transition_time.timestamp()
