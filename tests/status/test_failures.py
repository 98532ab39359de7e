"""What a failure makes of the state: the condition of the one thing that failed, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.conditions import Condition, Status
from gitfleet.api.faults import Fault
from gitfleet.api.objects import Origin
from gitfleet.api.overrides import OverrideKey, override_type
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.api.staged import StagedRun
from gitfleet.api.values import NamespacedName
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failure, Failures, Subject
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.status import faults_of, with_failures
from gitfleet.status.texts import StatusText
from tests.state.builders import CONFIG, T0, binding, cluster, manifest, record

WEB, OTHER = PlacementKey("", "web"), PlacementKey("shop", "web")
RECORDS = {WEB: record("web", binding(WEB, "a")), OTHER: record("web", namespace="shop")}
STATE = FleetState(placements=RECORDS, clusters={"a": cluster("a"), "b": cluster("b")})
NOW, LATER = T0 + timedelta(minutes=5), T0 + timedelta(minutes=9)
A = Subject("MemberCluster", "a")


def failed(*subjects: Subject) -> Failures:
    """Failures of a sentence each."""
    return Failures(Failure(subject=subject, error="odd") for subject in subjects)


def sentence(subject: Subject) -> str:
    """What a failure says."""
    return Failure(subject=subject, error="odd").sentence


def internal(type_: str, message: str, generation: int, since: Any = NOW) -> Condition:
    """The condition of a failure."""
    return Condition(
        type=type_,
        status=Status.FALSE,
        reason="InternalError",
        message=message,
        last_transition_time=since,
        observed_generation=generation,
    )


def of_generation(found: PlacementRecord, generation: int) -> PlacementRecord:
    """The record of a later version of its placement."""
    return replace(found, placement=replace(found.placement, generation=generation))


@pytest.mark.parametrize("key", [WEB, OTHER], ids=str)
def test_a_placement_that_failed_stays_as_it_is_says_so_and_is_scheduled_anew(key: PlacementKey) -> None:
    subject = Subject.of_placement(key)
    state = replace(STATE, placements={**RECORDS, key: of_generation(RECORDS[key], 7)})
    marked = with_failures(state, STATE, failed(subject), NOW)
    (scheduled,) = [c for c in marked.placements[key].conditions if c.type.endswith("Scheduled")]
    said = StatusText.PLACEMENT_COULD_NOT_DECIDED_STAYS(sentence=sentence(subject))
    assert scheduled == internal(f"{key.kind}Scheduled", said, 7)
    left = state.placements[key].conditions[1:]
    assert marked.placements[key] == replace(state.placements[key], conditions=(scheduled, *left), schedule_key="")
    assert {k: v for k, v in marked.placements.items() if k != key} == {k: v for k, v in RECORDS.items() if k != key}
    assert marked.clusters == STATE.clusters


def test_a_failure_that_lasts_changes_nothing_more() -> None:
    failures = failed(Subject.of_placement(WEB))
    once = with_failures(STATE, STATE, failures, NOW)
    assert once.placements[WEB] is not STATE.placements[WEB]
    held = with_failures(once, once, failures, LATER)
    assert held.placements[WEB] is once.placements[WEB]
    assert with_failures(STATE, once, failures, NOW).placements[WEB] is once.placements[WEB]
    assert with_failures(once, FleetState(), failures, LATER).placements[WEB] is once.placements[WEB]
    new = with_failures(STATE, FleetState(), failures, NOW)
    assert new == once


def test_what_has_no_status_is_a_fault_where_it_is_written() -> None:
    """What failed on a member cluster is said by the binding, and a placement that the state has by its condition."""
    override = OverrideKey("shop", "few")
    loose = manifest(CONFIG)
    wanted = Desired(
        commit="c",
        objects={
            "clusters": {"a": cluster("a"), "new": replace(cluster("new"), origin=Origin("clusters/new.yaml", 4))},
            "placements": {
                WEB: Placement(key=WEB, selectors=()),
                PlacementKey("", "new"): Placement(
                    key=PlacementKey("", "new"), selectors=(), origin=Origin("placements/new.yaml", 2)
                ),
            },
            "overrides": {override: override_type("shop")(key=override, resources=(), rules=())},
        },
        payload=(loose,),
    )
    subjects = [
        Subject.of_object(CONFIG),
        Subject("ResourceOverride", "shop/few"),
        Subject.of_placement(PlacementKey("", "new")),
        Subject("MemberCluster", "new"),
        Subject.of_placement(WEB),
        A,
        Subject.of_object(CONFIG, "a"),
        Subject("Namespace", "nowhere"),
    ]

    def fault(path: str, line: int, object_: str, subject: Subject) -> Fault:
        return Fault(path, line, object_, "", StatusText.IT_IS_LEFT_AS_IT(sentence=sentence(subject)))

    assert faults_of(failed(*subjects), STATE, wanted) == (
        fault("", 1, "MemberCluster/a", A),
        fault("clusters/new.yaml", 4, "MemberCluster/new", subjects[3]),
        fault("placements/new.yaml", 2, "ClusterResourcePlacement/new", subjects[2]),
        fault("", 1, "ResourceOverride/shop/few", subjects[1]),
        fault("resources/app", 1, "ConfigMap/web/settings", subjects[0]),
    )
    assert faults_of(failed(), STATE, wanted) == ()
    origin = Origin("runs/go.yaml", 3)
    run = StagedRun(key=NamespacedName("", "go"), placement_name="web", strategy_name="all", origin=origin)
    with_run = replace(wanted, objects={**wanted.objects, "runs": {run.key: run}})
    mine = Subject.of_run(run.key)
    assert faults_of(failed(mine), STATE, with_run) == (fault("runs/go.yaml", 3, "ClusterStagedUpdateRun/go", mine),)
