"""One observation of the whole fleet, sorted by placement and cluster, and what comes of it for each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.bindings import DELETED, Binding, FailedObject
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.apply.texts import ApplyText
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.observations import ClusterObservation
from gitfleet.model.operations import Delete, Outcome, OutcomeCode
from gitfleet.model.state import PlacementRecord
from gitfleet.observe import Seen, observe_bindings, observe_cluster, observe_clusters
from gitfleet.observe.texts import ObserveText
from tests.gates import permit
from tests.observe.test_bindings import (
    CM,
    T0,
    T1,
    WEB,
    binding,
    create,
    done_by_cluster,
    kept,
    observed,
    reported,
    work,
)

OTHER = PlacementKey("", "other")
UP = {name: ClusterObservation(cluster=name, reachable=True) for name in ("c1", "c2")}
DOWN = ClusterObservation(cluster="c1", reachable=False, error="connection refused")
KEPT = kept(CM)


def record(*bindings: Binding, key: PlacementKey = WEB) -> PlacementRecord:
    """A placement with bindings."""
    return PlacementRecord(placement=Placement(key=key, selectors=()), bindings=bindings)


def seen(**parts: Any) -> Seen:
    """One observation of two clusters, of which the first has the work."""
    usual: dict[str, Any] = {"works": {"c1": (work(CM),)}, "operations": [KEPT], "outcomes": [], "observations": UP}
    return Seen.of(**{**usual, **parts})


FAILED = done_by_cluster(create(CM), ok=False, code=OutcomeCode.INVALID)
LIVE = replace(UP["c2"], live={CM.key: None})


@pytest.mark.parametrize(
    ("parts", "same"),
    [
        ({}, True),
        ({"works": {"c1": (work(),)}}, False),
        ({"operations": []}, False),
        ({"outcomes": [FAILED]}, False),
        ({"observations": {**UP, "c1": DOWN}}, False),
        ({"observations": {**UP, "c1": replace(UP["c1"], error="not ready")}}, False),
        ({"observations": {"c1": UP["c1"]}}, True),
        ({"observations": {**UP, "c2": LIVE}}, True),
        ({"observations": {**UP, "c3": DOWN}}, True),
        ({"works": {"c1": (work(CM), work(placement=OTHER))}}, True),
        ({"operations": [KEPT, replace(KEPT, placement=OTHER)]}, True),
        ({"outcomes": [done_by_cluster(replace(create(CM), placement=OTHER))]}, True),
    ],
)
def test_which_observations_are_the_same_for_a_placement(parts: dict[str, Any], same: bool) -> None:
    """Its own works, operations and outcomes count, and whether its clusters answer; one that is not observed changes
    nothing."""
    base = record(binding(), binding(cluster="c2"))
    assert seen(**parts).since(seen()).is_as_last(base) is same
    assert not seen(**parts).is_as_last(base), "nothing was seen before"


def test_each_binding_is_told_what_was_seen_of_its_own_cluster() -> None:
    base = record(binding(deleting=T0), binding(cluster="c9"), binding(), binding(cluster="c2"))
    failed = seen(operations=[FAILED.operation], outcomes=[FAILED])
    new = observe_bindings(base, failed, T1, Failures())
    assert new[:2] == base.bindings[:2], (
        "one that is given up, or whose cluster " + ApplyText.NOT_OBSERVED() + ", stays as it was"
    )
    assert new[2] == observed(binding(), work(CM), [FAILED.operation], [FAILED], T1) != binding()
    assert [(one.condition, one.reason) for one in new[2].failed] == [("Applied", "Invalid")]
    assert new[3] is base.bindings[3], "without a work nothing changes"
    again = replace(base, bindings=new)
    assert observe_bindings(again, failed, T1, Failures()) is new


def test_a_binding_that_is_given_up_says_what_its_cluster_has_not_deleted() -> None:
    base = record(binding(deleting=T0))
    gone = Delete(
        cluster="c1", placement=WEB, key=CM.key, uid="u", wave=1, reason="no longer wanted", permit=permit("c1", CM.key)
    )
    refused = Outcome(operation=gone, ok=False, code=OutcomeCode.FORBIDDEN, message="no")
    (found,) = observe_bindings(base, seen(operations=[gone], outcomes=[refused]), T1, Failures())
    there = FailedObject(key=CM.key, condition=DELETED, reason="Forbidden", message="no")
    assert found == replace(base.bindings[0], failed=(there,))
    unhashable: Any = []
    failures = Failures()
    odd = seen(operations=[replace(gone, key=unhashable)])
    assert observe_bindings(base, odd, T1, failures) is base.bindings
    assert [failure.subject for failure in failures.found] == [Subject("Binding", "web", "c1")]


def test_a_cluster_that_does_not_answer_is_said_so() -> None:
    base = record(binding())
    (down,) = observe_bindings(base, seen(observations={"c1": DOWN}), T1, Failures())
    assert down.conditions[-1].message == ObserveText.CLUSTER_NOT_ANSWER(cluster="c1", error="connection refused")
    (alone,) = observe_bindings(base, seen(operations=[]), T1, Failures())
    assert reported(alone)[3:] == [("Applied", "False", "ApplyInProgress")]


def test_without_any_observation_nothing_changes() -> None:
    base = record(binding())
    assert observe_bindings(base, seen(observations={}), T1, Failures()) is base.bindings
    other = record(binding(placement=OTHER), key=OTHER)
    assert observe_bindings(other, seen(), T1, Failures()) is other.bindings


def test_a_binding_that_cannot_be_observed_stays_as_it_was_and_the_next_is_observed() -> None:
    odd: Any = object()
    wanted = {"c1": (work(odd),), "c2": (work(CM, cluster="c2"),)}
    base = record(binding(), binding(cluster="c2"))
    failures = Failures()
    plans = [replace(KEPT, cluster="c2")]
    first, second = observe_bindings(base, seen(works=wanted, operations=plans), T1, failures)
    assert first is base.bindings[0]
    assert reported(second)[-1] == ("Available", "True", "AllWorkAreAvailable")
    assert [failure.subject for failure in failures.found] == [Subject("Binding", "web", "c1")]


MEMBERS = {name: MemberCluster(name=name) for name in ("c1", "c2", "c3")}


def test_each_cluster_is_observed_by_itself() -> None:
    """One that was not observed is as it was accepted."""
    before = observe_clusters(MEMBERS, {}, UP, T0, Failures())
    assert before == {**{name: observe_cluster(MEMBERS[name], UP[name], T0) for name in UP}, "c3": MEMBERS["c3"]}
    after = observe_clusters(before, before, {"c1": DOWN}, T1, Failures())
    assert after["c1"] == observe_cluster(before["c1"], DOWN, T1) != before["c1"]
    assert [after[name] is before[name] for name in ("c2", "c3")] == [True, True]
