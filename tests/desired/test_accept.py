"""Desired objects meet what was accepted before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from gitfleet.api import read, read_state, write
from gitfleet.api.clusters import AgentStatus, ClusterStatus, MemberCluster, PropertyValue
from gitfleet.api.conditions import Condition, Status
from gitfleet.api.objects import JsonObject, Origin
from gitfleet.api.placements import Placement
from gitfleet.desired.accept import accept
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failures
from gitfleet.model.state import FleetState, PlacementRecord

START = datetime(2026, 1, 1, tzinfo=UTC)
WRITTEN: JsonObject = {
    "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
    "kind": "ClusterResourcePlacement",
    "metadata": {"name": "web"},
    "spec": {
        "resourceSelectors": [{"group": "", "version": "v1", "kind": "Namespace", "name": "web"}],
        "policy": {"placementType": "PickAll"},
    },
}
CLUSTER: JsonObject = {
    "apiVersion": "cluster.kubernetes-fleet.io/v1beta1",
    "kind": "MemberCluster",
    "metadata": {"name": "c1"},
    "spec": {"identity": {"kind": "ServiceAccount", "name": "c1"}, "heartbeatPeriodSeconds": 60},
}


def placement(body: JsonObject = WRITTEN) -> Placement:
    value, breaks = read(Placement, body)
    assert value is not None and not breaks
    return replace(value, origin=Origin("placements/web.yaml", 1))


def cluster(body: JsonObject = CLUSTER) -> MemberCluster:
    value, breaks = read(MemberCluster, body)
    assert value is not None and not breaks
    return replace(value, origin=Origin("clusters/c1.yaml", 1))


def accepted_placement(new: Placement, old: Placement) -> Placement:
    before = FleetState(placements={old.key: PlacementRecord(placement=old)})
    return accept(Desired(commit="c", objects={"placements": {new.key: new}}), before, START, Failures()).placements[
        new.key
    ]


def accepted_cluster(new: MemberCluster, old: MemberCluster) -> MemberCluster:
    before = FleetState(clusters={old.name: old})
    return accept(Desired(commit="c", objects={"clusters": {new.name: new}}), before, START, Failures()).clusters[
        new.name
    ]


def with_spec(body: JsonObject, **changes: object) -> JsonObject:
    return {**body, "spec": {**body["spec"], **changes}}


@pytest.mark.parametrize("change", [{}, {"revisionHistoryLimit": 10}, {"strategy": {"type": "RollingUpdate"}}])
def test_a_placement_that_says_the_same_is_the_one_that_was_read_from_the_state(change: dict[str, object]) -> None:
    stored = read_state(Placement, write(replace(placement(), generation=3)))

    assert accepted_placement(placement(with_spec(WRITTEN, **change)), stored) is stored


@pytest.mark.parametrize(
    ("edit", "generation"),
    [
        (lambda body: with_spec(body, revisionHistoryLimit=3), 4),
        (lambda body: {**body, "metadata": {"name": "web", "labels": {"a": "b"}}}, 3),
        (lambda body: {**body, "metadata": {"name": "web", "annotations": {"a": "b"}}}, 3),
    ],
)
def test_only_a_changed_spec_is_a_new_generation(edit: Callable[[JsonObject], JsonObject], generation: int) -> None:
    stored = read_state(Placement, write(replace(placement(), generation=3)))

    found = accepted_placement(placement(edit(WRITTEN)), stored)

    assert found.generation == generation
    assert replace(found, generation=1) == placement(edit(WRITTEN))


def test_a_cluster_keeps_what_is_known_of_it() -> None:
    known = ClusterStatus(properties={"p": PropertyValue("1")})
    stored = read_state(MemberCluster, write(replace(cluster(), generation=3, status=known)))
    edited = accepted_cluster(cluster(with_spec(CLUSTER, taints=[{"key": "k", "effect": "NoSchedule"}])), stored)

    assert accepted_cluster(cluster(), stored) is stored
    assert (edited.generation, edited.status, len(edited.taints)) == (4, known, 1)


def test_a_cluster_that_comes_back_is_not_leaving_any_more() -> None:
    leaving = replace(cluster(), generation=3, deleting=START)

    back = accepted_cluster(cluster(), leaving)

    assert (back.deleting, back.generation) == (None, 3)


def test_what_a_hub_observed_of_a_cluster_is_not_taken_over() -> None:
    """An exported file says Joined and healthy; only the cluster itself can say so. What it has is taken to plan by."""
    when = datetime(2026, 1, 1, tzinfo=UTC)
    joined = Condition(type="Joined", status=Status.TRUE, reason="Joined", last_transition_time=when)
    exported = ClusterStatus(
        conditions=(joined,), agent=AgentStatus(conditions=(joined,)), properties={"a": PropertyValue("1")}
    )
    written = replace(cluster(), status=exported)
    desired = Desired(commit="c", objects={"clusters": {written.name: written}})
    found = accept(desired, FleetState(), when, Failures()).clusters[written.name]
    assert found.status == ClusterStatus(properties={"a": PropertyValue("1")})
