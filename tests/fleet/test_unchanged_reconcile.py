"""What a quiet reconcile depended on: whatever changes alone ends the quiet; when it was observed does not matter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gitfleet.api.clusters import ClusterStatus, MemberCluster, PropertyValue, ResourceUsage
from gitfleet.api.conditions import Status
from gitfleet.api.objects import ObjectKey
from gitfleet.apply.texts import ApplyText
from gitfleet.fleet.unchanged_reconcile import unchanged_after, with_known_objects
from gitfleet.model.decisions import Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.observations import ClusterObservation, LiveObject, LiveObjects, ReportedCondition
from gitfleet.model.state import FleetState
from tests.apply.model_cluster import config_map

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CM, OTHER, THIRD = config_map("cm", a="1"), config_map("other", a="1"), config_map("third", a="1")


def live(*, uid: str = "u1", version: str = "7", value: str = "1") -> LiveObject:
    """The ConfigMap as a server shows it."""
    body = config_map("cm", a=value).body
    return LiveObject(CM.key, {**body, "metadata": {**body["metadata"], "uid": uid, "resourceVersion": version}})


USAGE = ResourceUsage(capacity={"cpu": "4"}, allocatable={"cpu": "3"}, available={"cpu": "2"})
PROPERTIES = {"nodes": PropertyValue("3", NOW)}
SEEN = ClusterObservation(
    cluster="c1",
    reachable=True,
    observed=NOW,
    live={CM.key: live(), OTHER.key: None},
    namespaces={"ns": "uid"},
    properties=PROPERTIES,
    resource_usage=USAGE,
)
CLUSTER = MemberCluster(name="c1", status=ClusterStatus(properties=PROPERTIES, resource_usage=USAGE))
STATE = FleetState(clusters={"c1": CLUSTER})
DESIRED = Desired(commit="c0")


def inputs(*, desired: Desired = DESIRED, state: FleetState = STATE, **seen: ClusterObservation) -> Inputs:
    """What is known at the beginning of a reconcile."""
    return Inputs(desired=desired, before=state, observations=seen, now=NOW)


CHANGES: dict[str, Callable[[], Inputs]] = {
    "desired": lambda: inputs(desired=replace(DESIRED), c1=SEEN),
    "state": lambda: inputs(state=replace(STATE), c1=SEEN),
    "another cluster": lambda: inputs(c1=SEEN, c2=replace(SEEN, cluster="c2")),
    "no cluster": lambda: inputs(),
    "unreachable": lambda: inputs(c1=replace(SEEN, reachable=False)),
    "unhealthy": lambda: inputs(c1=replace(SEEN, healthy=False)),
    "namespaces": lambda: inputs(c1=replace(SEEN, namespaces={"ns": "another uid"})),
    "what providers report": lambda: inputs(
        c1=replace(SEEN, reported=(ReportedCondition(type="T", status=Status.TRUE, reason="R", message=""),))
    ),
    "a property": lambda: inputs(c1=replace(SEEN, properties={"nodes": PropertyValue("4", NOW)})),
    "available": lambda: inputs(c1=replace(SEEN, resource_usage=replace(USAGE, available={"cpu": "5"}))),
    "no resources": lambda: inputs(c1=replace(SEEN, resource_usage=None)),
    "unreadable": lambda: inputs(c1=replace(SEEN, unreadable={CM.key: "403"})),
    "an object is gone": lambda: inputs(c1=replace(SEEN, live={CM.key: None, OTHER.key: None})),
    ("an object " + ApplyText.NOT_OBSERVED()): lambda: inputs(c1=replace(SEEN, live={CM.key: live()})),
    "a version": lambda: inputs(c1=replace(SEEN, live={CM.key: live(version="8"), OTHER.key: None})),
    "a uid": lambda: inputs(c1=replace(SEEN, live={CM.key: live(uid="u2"), OTHER.key: None})),
    "content": lambda: inputs(c1=replace(SEEN, live={CM.key: live(value="2"), OTHER.key: None})),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_changes_alone_ends_the_quiet(change: str) -> None:
    quiet = unchanged_after(inputs(c1=SEEN), STATE)
    assert quiet is not None
    assert not quiet.applies_to(CHANGES[change]())


def test_the_same_at_another_time_is_still_quiet() -> None:
    quiet = unchanged_after(inputs(c1=SEEN), STATE)
    later = replace(
        SEEN,
        observed=NOW + timedelta(hours=1),
        live={CM.key: live(), OTHER.key: None},
        properties={"nodes": PropertyValue("3", NOW + timedelta(hours=1))},
        resource_usage=replace(USAGE, observed=NOW + timedelta(hours=1)),
    )
    assert quiet is not None and quiet.applies_to(inputs(c1=later))


def test_objects_without_a_version_are_compared_as_a_whole() -> None:
    seen = replace(SEEN, live={CM.key: live(version="")})
    quiet = unchanged_after(inputs(c1=seen), STATE)
    assert quiet is not None
    assert quiet.applies_to(inputs(c1=replace(SEEN, live={CM.key: live(version="")})))
    assert not quiet.applies_to(inputs(c1=replace(SEEN, live={CM.key: live(version="", value="2")})))


def written(**parts: Any) -> FleetState:
    """A state whose cluster says this of itself."""
    status = replace(ClusterStatus(properties=PROPERTIES, resource_usage=USAGE), **parts)
    return FleetState(clusters={"c1": replace(CLUSTER, status=status)})


@pytest.mark.parametrize(
    "after",
    [
        FleetState(),
        written(properties={}),
        written(properties={"nodes": PropertyValue("4", NOW)}),
        written(resource_usage=ResourceUsage()),
        written(resource_usage=replace(USAGE, capacity={})),
        written(resource_usage=replace(USAGE, allocatable={})),
        written(resource_usage=replace(USAGE, available={})),
    ],
)
def test_what_was_measured_and_is_not_written_yet_lets_nothing_be_quiet(after: FleetState) -> None:
    assert unchanged_after(inputs(c1=SEEN), after) is None
    assert unchanged_after(inputs(c1=replace(SEEN, reachable=False)), after) is not None


ODD: Any = object()


@pytest.mark.parametrize(
    ("then", "very_same"),
    [
        ({CM.key: live(), OTHER.key: None}, {CM.key, OTHER.key}),
        ({CM.key: live(), OTHER.key: live(uid="u2")}, {CM.key}),
        ({CM.key: live()}, {CM.key}),
        ({CM.key: live(), OTHER.key: None, THIRD.key: None}, {CM.key, OTHER.key}),
        ({CM.key: live(version="8"), OTHER.key: None}, {OTHER.key}),
        ({CM.key: live(uid="u2"), OTHER.key: None}, {OTHER.key}),
        ({CM.key: live(value="2"), OTHER.key: None}, {OTHER.key}),
        ({CM.key: None, OTHER.key: None}, {OTHER.key}),
        ({CM.key: ODD, OTHER.key: None}, {OTHER.key}),
    ],
    ids=["all", "made", "not observed", "observed as well", "a version", "a uid", "content", "gone", "incomparable"],
)
def test_objects_that_are_as_they_were_are_the_very_objects_of_before(
    then: LiveObjects, very_same: set[ObjectKey]
) -> None:
    found = with_known_objects({"c1": replace(SEEN, live=then)}, {"c1": SEEN})["c1"].live
    assert found == then
    assert {key for key, one in found.items() if key in SEEN.live and one is SEEN.live[key]} == very_same
    assert (found is SEEN.live) == (then == SEEN.live)


def test_a_cluster_that_is_new_or_silent_is_as_it_was_observed() -> None:
    new, silent = replace(SEEN, cluster="c2"), replace(SEEN, reachable=False, live={})
    found = with_known_objects({"c1": silent, "c2": new}, {"c1": SEEN})
    assert found["c1"] is silent and found["c2"] is new
