"""A placement's conditions from its bindings (kubefleet.md §9), and the status that its file shows."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.bindings import BindingState, ClusterDecision, DiffedObject, DriftedObject, FailedObject
from gitfleet.api.conditions import Reason, Status
from gitfleet.api.placements import PlacementKey, PlacementType
from gitfleet.api.strategies import RolloutStrategy, RolloutStrategyType
from gitfleet.model.state import PlacementRecord
from gitfleet.observe.texts import ObserveText
from gitfleet.status import cluster_progress, has_overrides, observed_snapshot, placement_conditions, unmet_count
from gitfleet.status.conditions import ClusterProgress, ClusterStep
from gitfleet.status.records import scheduled_condition
from gitfleet.status.texts import StatusText
from gitfleet.status.vocabulary import EXTERNAL_DIFFERENT, EXTERNAL_NOT_STARTED, OVERRIDDEN, ROLLOUT_STARTED
from gitfleet.views.placement_status import status_object
from tests.state.builders import CONFIG, T0, binding, condition, record, through

WEB = PlacementKey("", "web")
LATER = T0 + timedelta(minutes=5)
FULFILLED = condition("Scheduled", reason="SchedulingPolicyFulfilled", message="found all")
UNFULFILLED = condition("Scheduled", "False", reason="SchedulingPolicyUnfulfilled", message="could not find all")
ALL = {"RolloutStarted": "RolloutStarted", "Overridden": "NoOverrideSpecified", "WorkSynchronized": "WorkSynchronized",
       "Applied": "ApplySucceeded", "Available": "ResourceAvailable"}  # fmt: skip


def statuses(found: PlacementRecord, prefix: str = "ClusterResourcePlacement") -> list[tuple[str, str, str]]:
    """(type without prefix, status, reason) of all conditions."""
    for item in found.conditions:
        assert item.type.startswith(prefix)
        assert item.observed_generation == found.placement.generation
    return [(item.type.removeprefix(prefix), item.status.value, item.reason) for item in found.conditions]


def tell(base: PlacementRecord, scheduled: Any = FULFILLED) -> PlacementRecord:
    """The conditions of a record that had none."""
    return placement_conditions(replace(base, conditions=()), scheduled=scheduled, now=LATER)


def upto(type_: str) -> list[tuple[str, str, str]]:
    """Scheduled and all types before one, True."""
    found = [("Scheduled", "True", "SchedulingPolicyFulfilled")]
    for name, reason in ALL.items():
        if name == type_:
            break
        found.append((name, "True", reason))
    return found


def test_all_clusters_through() -> None:
    base = tell(record("web", binding(WEB, "a"), binding(WEB, "b"), binding(WEB, "c")))

    assert statuses(base) == upto("")
    assert [item.message for item in base.conditions] == [
        "found all",
        StatusText.ALL_CLUSTER_START_ROLLING_OUT().format("3"),
        ObserveText.NO_OVERRIDE_RULES_CONFIGURED_SELECTED(),
        StatusText.WORKS_SUCCCESFULLY_CREATED_UPDATED_TARGET().format("3"),
        StatusText.SELECTED_RESOURCES_SUCCESSFULLY_APPLIED_CLUSTERS().format("3"),
        StatusText.SELECTED_RESOURCES_CLUSTER_AVAILABLE_NOW().format("3"),
    ]


@pytest.mark.parametrize(
    ("type_", "unknown", "false"),
    [
        ("RolloutStarted", "RolloutStartedUnknown", "RolloutNotStartedYet"),
        ("Overridden", "OverriddenPending", "OverriddenFailed"),
        ("WorkSynchronized", "WorkSynchronizedUnknown", "WorkNotSynchronizedYet"),
        ("Applied", "ApplyPending", "ApplyFailed"),
        ("Available", "ResourceAvailableUnknown", "ResourceNotAvailableYet"),
    ],
)
def test_the_first_type_that_is_not_true_is_the_last_one_told(type_: str, unknown: str, false: str) -> None:
    good = binding(WEB, "a")
    failing = binding(WEB, "b", conditions=through(upto=type_, last="False"))
    silent = binding(WEB, "c", conditions=through(upto=type_)[:-1])
    stale = binding(WEB, "d", conditions=(*through(upto=type_)[:-1], condition(type_, generation=0)))
    doubting = binding(WEB, "e", conditions=through(upto=type_, last="Unknown"))

    assert statuses(tell(record("web", good, failing))) == [*upto(type_), (type_, "False", false)]
    for other in (silent, stale, doubting):
        # Unknown weighs more than False.
        assert statuses(tell(record("web", good, failing, other))) == [*upto(type_), (type_, "Unknown", unknown)]


def test_a_freeze_that_holds_a_rollout_is_named() -> None:
    """By the placement and by each cluster; any other sentence of a binding is not."""
    said = "frozen by night of fleet.yaml:3"
    for reason, named in (("RolloutFrozen", f": {said}"), ("RolloutNotStartedYet", "")):
        waits = binding(WEB, "a", conditions=(condition("RolloutStarted", "False", reason, said),))
        found = tell(record("web", waits, latest=1))
        assert found.conditions[-1].message == (
            StatusText.ROLLOUT_BEING_BLOCKED_ROLLOUT_STRATEGY_CLUSTER().format("1") + f"{named}"
        )
        (shown,) = cluster_progress(found)
        assert (shown.steps[0].message == said) is bool(named) and shown.steps[0].reason == "RolloutNotStartedYet"


def test_what_each_cluster_shows_as_the_whole_answer() -> None:
    held = condition("RolloutStarted", "False", "Whatever", "of old", seconds=7)
    blocked, moving = binding(WEB, "a", conditions=(held,)), binding(WEB, "b")
    outdated = binding(WEB, "c", conditions=(held,), generation=2)
    fresh = binding(WEB, "d", index=1, conditions=through("no", upto="Overridden", last="False"))
    base = record("web", fresh, outdated, moving, blocked, latest=1)
    base = replace(base, decisions=(*base.decisions, ClusterDecision(cluster="e", selected=True)))
    undecided = ClusterStep(
        ROLLOUT_STARTED, Status.UNKNOWN, "RolloutStartedUnknown", StatusText.PROCESS_DECIDING_WHETHER_ROLL_OUT(), None
    )
    message = StatusText.ROLLOUT_BEING_BLOCKED_ROLLOUT_STRATEGY()
    waits = ClusterStep(ROLLOUT_STARTED, Status.FALSE, "RolloutNotStartedYet", message, held.last_transition_time)
    steps = (
        ClusterStep(ROLLOUT_STARTED, Status.TRUE, "RolloutStarted", "", T0),
        ClusterStep(OVERRIDDEN, Status.FALSE, "Overridden", "no", T0),
    )
    shown = cluster_progress(base)
    assert shown == (
        ClusterProgress("a", base.bindings[3], (waits,)),
        ClusterProgress("b", base.bindings[2], (undecided,)),
        ClusterProgress("c", base.bindings[1], (undecided,)),
        ClusterProgress("d", base.bindings[0], steps),
        ClusterProgress("e", None, (undecided,)),
    )
    assert {type(step.reason) for progress in shown for step in progress.steps} == {str}


@pytest.mark.parametrize(
    ("references", "upto_type", "last", "expected"),
    [
        ({}, "Available", "True", False),
        ({"resource_overrides": ("ns/ro-1",)}, "Available", "True", True),
        ({"cluster_resource_overrides": ("cro-1",)}, "Overridden", "False", True),
        ({"cluster_resource_overrides": ("cro-1",)}, "RolloutStarted", "False", False),
        ({"cluster_resource_overrides": ("cro-1",)}, "RolloutStarted", "Unknown", False),
    ],
)
def test_overrides_hold_once_the_rollout_started(
    references: dict[str, Any], upto_type: str, last: str, expected: bool
) -> None:
    bound = binding(WEB, "a", conditions=through(upto=upto_type, last=last), **references)
    (progress,) = cluster_progress(record("web", bound))
    assert has_overrides(progress) is expected
    assert not has_overrides(progress._replace(binding=None))


def test_transition_times_stay_while_the_status_stays() -> None:
    first = tell(record("web", binding(WEB, "a", conditions=through(last="False"))))
    again = placement_conditions(first, scheduled=FULFILLED, now=LATER + timedelta(hours=1))
    healed = placement_conditions(
        replace(first, bindings=(binding(WEB, "a"),)), scheduled=FULFILLED, now=LATER + timedelta(hours=2)
    )

    assert again is first
    assert [(LATER - item.last_transition_time) / timedelta(hours=1) for item in healed.conditions] == [
        0,
        0,
        0,
        0,
        0,
        -2,
    ]


def external(*indexes: int | None, conditions: Any = None) -> PlacementRecord:
    """An External placement with a cluster for each index."""
    bound = [
        binding(WEB, f"c-{n}", index=index, conditions=through() if conditions is None else conditions)
        for n, index in enumerate(indexes)
    ]
    base = record("web", *bound, latest=2)
    return replace(base, placement=replace(base.placement, strategy=RolloutStrategy(type=RolloutStrategyType.EXTERNAL)))


@pytest.mark.parametrize(
    ("base", "message", "index"),
    [
        (external(0, 1), EXTERNAL_DIFFERENT, None),
        (external(None, None, conditions=()), EXTERNAL_NOT_STARTED, None),
        (external(1, 1, conditions=()), StatusText.ROLLOUT_CONTROLLED_EXTERNAL_CONTROLLER_CLUSTER().format("c-0"), "1"),
    ],
)
def test_external_placements_in_doubt(base: PlacementRecord, message: str, index: str | None) -> None:
    reported = tell(base)

    assert statuses(reported)[1:] == [("RolloutStarted", "Unknown", "RolloutControlledByExternalController")]
    assert reported.conditions[-1].message == message
    shown = status_object(reported)
    assert (shown.get("observedResourceIndex"), "selectedResources" in shown) == (index, index is not None)


def test_the_snapshot_that_a_placement_shows() -> None:
    nothing = replace(record("web", latest=2), resource_snapshots=())
    given_up = external(0, 1)
    given_up = replace(
        given_up, bindings=(replace(given_up.bindings[0], state=BindingState.UNSCHEDULED), given_up.bindings[1])
    )
    shown = [observed_snapshot(r) for r in (record("web", latest=2), nothing, external(0, 1), external(1, 1), given_up)]
    assert shown == ["web-2-snapshot", None, None, "web-1-snapshot", "web-1-snapshot"]


@pytest.mark.parametrize(
    ("policy", "chosen", "refused", "missing"),
    [
        ({}, 0, 3, 0),
        ({"placement_type": PlacementType.PICK_N, "number_of_clusters": 3}, 1, 5, 2),
        ({"placement_type": PlacementType.PICK_N, "number_of_clusters": 3}, 1, 1, 1),
        ({"placement_type": PlacementType.PICK_N, "number_of_clusters": 3}, 3, 5, 0),
        ({"placement_type": PlacementType.PICK_N, "number_of_clusters": 3}, 4, 5, 0),
        ({"placement_type": PlacementType.PICK_N}, 0, 5, 0),
        ({"placement_type": PlacementType.PICK_FIXED, "cluster_names": ("a", "b", "c")}, 1, 5, 2),
    ],
)
def test_how_many_missing_clusters_can_be_named(
    policy: dict[str, Any], chosen: int, refused: int, missing: int
) -> None:
    decisions = [ClusterDecision(cluster=f"x{n}", selected=False) for n in range(refused)]
    base = record("web", binding(WEB, "a"), **policy)
    assert unmet_count(replace(base, decisions=(*base.decisions, *decisions)), chosen) == missing


def test_the_file_shows_each_cluster_with_the_snapshot_it_really_has() -> None:
    failed = FailedObject(key=CONFIG, condition="Applied", reason="Invalid", message="no")
    drifted = DriftedObject(key=CONFIG, details=(("/data/k", "v", None),), observed=LATER, first_observed=T0)
    base = tell(
        record(
            "web",
            binding(
                WEB, "a", cluster_resource_overrides=("cro-1",), resource_overrides=("ns/ro-0",), drifted=(drifted,)
            ),
            binding(
                WEB,
                "b",
                applied_snapshot="web-0-snapshot",
                index=1,
                conditions=through(upto="Applied", last="False", message="bad"),
                failed=(failed,),
            ),
            latest=1,
        )
    )
    base = replace(base, bindings=(replace(base.bindings[0], resource_snapshot="web-1-snapshot"), base.bindings[1]))

    first, second = status_object(base)["placementStatuses"]

    assert {name: value for name, value in first.items() if name != "conditions"} == {
        "clusterName": "a",
        "observedResourceIndex": "0",
        "applicableClusterResourceOverrides": ["cro-1"],
        "applicableResourceOverrides": [{"name": "ro-0", "namespace": "ns"}],
        "driftedPlacements": [
            {
                "version": "v1", "kind": "ConfigMap", "name": "settings", "namespace": "web",
                "observationTime": "2026-01-01T00:05:00Z", "firstDriftedObservedTime": "2026-01-01T00:00:00Z",
                "observedDrifts": [{"path": "/data/k", "valueInMember": "v"}],
            }
        ],
    }  # fmt: skip
    assert second["observedResourceIndex"] == "0"
    assert second["conditions"][-1] == {
        "type": "Applied", "status": "False", "reason": "Applied", "message": "bad", "observedGeneration": 1,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    assert second["failedPlacements"] == [
        {
            "version": "v1", "kind": "ConfigMap", "name": "settings", "namespace": "web",
            "condition": {"type": "Applied", "status": "False", "reason": "Invalid", "message": "no"},
        }
    ]  # fmt: skip


def test_missing_clusters_are_entries_without_a_name() -> None:
    refused = tuple(ClusterDecision(cluster=f"x-{n}", selected=False, reason=f"reason {n}") for n in range(5))
    base = record("web", binding(WEB, "a"), placement_type=PlacementType.PICK_N, number_of_clusters=3)
    base = tell(replace(base, decisions=(*base.decisions, *refused)), UNFULFILLED)

    shown = status_object(base)["placementStatuses"]

    assert [item.get("clusterName") for item in shown] == ["a", None, None]
    assert [item["conditions"][0]["message"] for item in shown[1:]] == ["reason 0", "reason 1"]
    assert {(c["type"], c["status"], c["reason"]) for item in shown[1:] for c in item["conditions"]} == {
        ("Scheduled", "False", "ScheduleFailed")
    }


def test_a_huge_placement_shows_what_is_not_through_first() -> None:
    bound = [binding(WEB, f"c-{n:04d}", conditions=through(last="False" if n >= 1495 else "True")) for n in range(1500)]
    shown = status_object(tell(record("web", *bound)))["placementStatuses"]

    assert len(shown) == 1000
    assert [item["clusterName"] for item in shown[-5:]] == [f"c-{n}" for n in range(1495, 1500)]
    assert all(item["conditions"][-1]["status"] == Status.FALSE for item in shown[-5:])


@pytest.mark.parametrize(
    ("upto_type", "last", "failing", "shows_drift", "shows_diff"),
    [
        ("WorkSynchronized", "False", False, False, False),
        ("WorkSynchronized", "True", False, False, False),
        ("Applied", "False", True, True, True),
        ("Applied", "True", False, True, False),
        ("Available", "False", True, True, True),
        ("Available", "True", False, True, False),
    ],
)
def test_what_was_found_on_a_cluster_is_shown_once_something_was_applied(
    upto_type: str, last: str, failing: bool, shows_drift: bool, shows_diff: bool
) -> None:
    """Drift and failures that an earlier generation left behind say nothing of one that was not applied yet."""
    found: dict[str, Any] = {
        "key": CONFIG,
        "details": (("/data/k", "v", "w"),),
        "observed": LATER,
        "first_observed": T0,
    }
    drifted, diffed = DriftedObject(**found), DiffedObject(**found)
    failed = FailedObject(key=CONFIG, condition="Applied", reason="Invalid", message="no")
    conditions = through(upto=upto_type, last=last, message="m")
    bound = binding(WEB, "a", conditions=conditions, drifted=(drifted,), diffed=(diffed,), failed=(failed,))
    (shown,) = status_object(tell(record("web", bound)))["placementStatuses"]
    assert ("driftedPlacements" in shown) == shows_drift
    assert ("diffedPlacements" in shown) == shows_diff
    assert ("failedPlacements" in shown) == failing


def test_what_is_written_of_conditions_is_plain_text() -> None:
    """An equal member of an enumeration in its place would be taken out of caches as if it were the text."""
    reported = scheduled_condition(record(), True, Reason.SCHEDULING_POLICY_FULFILLED, "m", T0)
    assert (type(reported.type), type(reported.reason)) == (str, str)
