"""What is still waited for, sentence by sentence, and which bindings are given up as a whole."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.bindings import DELETED, KEPT, Binding, BindingState, FailedObject
from gitfleet.api.clusters import AgentStatus, ClusterStatus, MemberCluster
from gitfleet.api.conditions import Condition, Status
from gitfleet.api.objects import ObjectKey
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.api.snapshots import ResourceSnapshot
from gitfleet.api.strategies import RollingUpdate, RolloutStrategy, RolloutStrategyType
from gitfleet.model.rolling import Frozen
from gitfleet.model.state import PlacementRecord
from gitfleet.rollout import (
    give_up,
    kept_there,
    plan_rollout,
    run_awaited,
    waiting_for,
)
from gitfleet.rollout.texts import RolloutText
from tests.rollout.builders import NOW, OPEN, available, bound, condition, request, scheduled, unavailable

WEB = PlacementKey("", "web")
STEPS = ("Overridden", "WorkSynchronized", "Applied", "Available")
EARLIER = NOW - timedelta(minutes=1)


def record(*bindings: Binding, external: bool = False, deleting: bool = False) -> PlacementRecord:
    """A placement with these bindings."""
    strategy = RolloutStrategy(type=RolloutStrategyType.EXTERNAL) if external else RolloutStrategy()
    placement = Placement(key=WEB, selectors=(), strategy=strategy, deleting=NOW if deleting else None)
    return PlacementRecord(placement=placement, bindings=bindings, schedule_key="k")


def true_up_to(last: str) -> tuple[Condition, ...]:
    """The steps before one, all True."""
    return tuple(condition(step, Status.TRUE, step) for step in STEPS[: STEPS.index(last)])


def held_back(message: str = "The rollout strategy holds it") -> Condition:
    """RolloutStarted=False."""
    return replace(condition("RolloutStarted", Status.FALSE, "RolloutNotStartedYet"), message=message)


@pytest.mark.parametrize(
    ("binding", "sentence"),
    [
        (bound("a", deleting=NOW), "a " + RolloutText.GIVING_UP_RESOURCES()),
        (bound("a", held_back()), f"a waits: {held_back().message}"),
        (scheduled("a"), "a " + RolloutText.NOT_ROLLED_OUT(state="Scheduled")),
        (bound("a", state=BindingState.UNSCHEDULED), "a " + RolloutText.NO_LONGER_PICKED_NOT_CLEARED()),
        (bound("a"), "a " + RolloutText.NOT_REPORTED_NEWEST_GENERATION(step="Overridden")),
        (
            bound("a", condition("Overridden", Status.TRUE, "x", generation=0)),
            "a " + RolloutText.NOT_REPORTED_NEWEST_GENERATION(step="Overridden"),
        ),
        (bound("a", *true_up_to("Applied")), "a " + RolloutText.NOT_REPORTED_NEWEST_GENERATION(step="Applied")),
        (
            bound("a", *true_up_to("Available"), unavailable()),
            "a " + RolloutText.IS_NOT(step="Available", condition="NotAllWorkAreAvailable"),
        ),
        (
            bound("a", *true_up_to("Available"), replace(unavailable(), message="Deployment web is starting")),
            "a " + RolloutText.IS_NOT(step="Available", condition="Deployment web is starting"),
        ),
        (
            bound("a", condition("Overridden", Status.FALSE, "OverriddenFailed")),
            "a " + RolloutText.IS_NOT(step="Overridden", condition="OverriddenFailed"),
        ),
    ],
)
def test_each_binding_says_what_it_waits_for(binding: Binding, sentence: str) -> None:
    (found,) = waiting_for(record(binding))
    assert found.startswith(f"web: {sentence}")


def failed(name: str, condition_: str = DELETED) -> FailedObject:
    """An object that could not be deleted, or applied."""
    key = ObjectKey("", "v1", "ConfigMap", "web", name)
    return FailedObject(key=key, condition=condition_, reason="", message=f"{name} has a finalizer")


def stays(name: str) -> FailedObject:
    """An object that is given up and is held."""
    return replace(failed(name), reason=KEPT[1])


GONE = bound("a", deleting=NOW)
ARRIVED = bound("a", *true_up_to("Available"), available())
ARRIVED_TOO = replace(ARRIVED, cluster="b")
X = RolloutText.NOT_DELETED(there="ConfigMap/web/x", there_2="", more_than_first="x has a finalizer")


@pytest.mark.parametrize(
    ("binding", "objects", "said"),
    [
        (GONE, [failed("x")], ("a " + RolloutText.GIVING_UP_RESOURCES() + f" and {X}")),
        (
            GONE,
            [failed("x"), failed("y"), failed("z")],
            ("a " + RolloutText.GIVING_UP_RESOURCES() + f" and {X} (and 2 more)"),
        ),
        (GONE, [failed("x", "Applied")], "a " + RolloutText.GIVING_UP_RESOURCES()),
        (GONE, [stays("w")], ""),
        (GONE, [stays("w"), failed("x")], ("a " + RolloutText.GIVING_UP_RESOURCES() + f" and {X}")),
        (ARRIVED, [stays("w")], ""),
        (ARRIVED, [failed("w", "Applied"), failed("x")], f"a {X}"),
        (ARRIVED, [failed("x", "Available")], ""),
    ],
)
def test_what_a_cluster_has_not_deleted_yet_is_waited_for(
    binding: Binding, objects: list[FailedObject], said: str
) -> None:
    found = waiting_for(record(replace(binding, failed=tuple(objects))))
    assert found == ((f"web: {said}",) if said else ())


@pytest.mark.parametrize(
    ("asks", "said"), [((), ("web: a waits: why",)), (("why",), ()), (("something else",), ("web: a waits: why",))]
)
def test_what_a_person_must_do_first_is_said_elsewhere(asks: tuple[str, ...], said: tuple[str, ...]) -> None:
    plan = replace(plan_rollout(request([])), blocked={"a": "why"}, asks=asks)
    assert waiting_for(record(bound("a", held_back()), ARRIVED_TOO), plan) == said


def test_a_removal_that_is_held_says_why() -> None:
    plan = replace(plan_rollout(request([])), blocked={"a": "one must stay"})
    assert waiting_for(record(bound("a", state=BindingState.UNSCHEDULED)), plan) == ("web: a waits: one must stay",)
    outside = record(bound("a", state=BindingState.UNSCHEDULED), external=True)
    assert waiting_for(outside) == (), "a run takes it off, and nothing else"
    assert waiting_for(outside, plan) == (), "the run says what it waits for"


def test_a_deleted_placement_says_why_it_stays_on_a_cluster() -> None:
    plan = replace(plan_rollout(request([])), blocked={"a": "frozen"})
    unfinished = (("web: a " + RolloutText.NOT_REPORTED_NEWEST_GENERATION(step="Overridden")),)
    assert waiting_for(record(bound("a"), deleting=True), plan) == ("web: a waits: frozen",)
    assert waiting_for(record(bound("a"), deleting=True)) == unfinished
    assert waiting_for(record(bound("a")), plan) == unfinished
    assert waiting_for(record(GONE, deleting=True), plan) == (("web: a " + RolloutText.GIVING_UP_RESOURCES()),)


def snapshot(index: int) -> ResourceSnapshot:
    """A snapshot without objects."""
    return ResourceSnapshot(placement=WEB, index=index, hash="h", commit="c", created=NOW, documents=())


def having(cluster: str, index: int | None, **more: Any) -> Binding:
    """A binding with a snapshot."""
    return bound(cluster, snapshot="" if index is None else snapshot(index).name, **more)


def behind(snapshots: str) -> str:
    return RolloutText.CLUSTERS_SNAPSHOT_LATEST(old=snapshots, latest=2, why=RolloutText.WAITS_RUN_NAMES())


LEFT: dict[str, Any] = {"state": BindingState.UNSCHEDULED}


@pytest.mark.parametrize(
    ("bindings", "said"),
    [
        ([having("a", 2), having("b", 2)], ""),
        ([having("a", 1), having("b", 2)], behind("1")),
        (
            [having("a", 1), having("b", 0), having("c", 1), having("d", None)],
            behind("0, 1, none"),
        ),
        ([having("a", 1, **LEFT)], RolloutText.NO_LONGER_PICKED(left="a", verb="is")),
        ([having("a", 1, deleting=NOW, **LEFT), having("b", 0, deleting=NOW)], ""),
        ([having("a", 2, **LEFT), having("b", 2, **LEFT)], RolloutText.NO_LONGER_PICKED(left="a and b", verb="are")),
        (
            [having(name, 2, **LEFT) for name in "abcde"],
            RolloutText.NO_LONGER_PICKED(left="a, b, c and 2 more", verb="are"),
        ),
        (
            [having("a", 1), having("b", 2, **LEFT)],
            f"{behind('1')}; {RolloutText.NO_LONGER_PICKED(left='b', verb='is')}",
        ),
    ],
)
def test_what_an_external_placement_awaits_of_a_run(bindings: list[Binding], said: str) -> None:
    snapshots = tuple(snapshot(index) for index in range(3))
    outside = replace(record(*bindings, external=True), resource_snapshots=snapshots)
    assert run_awaited(outside) == said
    assert run_awaited(outside, []) == ""
    assert run_awaited(replace(outside, bindings=()), iter(bindings)) == said, "of some of its bindings"
    assert run_awaited(replace(outside, resource_snapshots=())) == ""
    assert run_awaited(replace(record(*bindings), resource_snapshots=snapshots)) == ""


def silent(name: str, *, leaving: bool = False) -> MemberCluster:
    """A cluster that has not answered for an hour."""
    agent = AgentStatus(conditions=(condition("Healthy", Status.UNKNOWN, "NoAnswer"),))
    return MemberCluster(name=name, status=ClusterStatus(agent=agent), deleting=NOW if leaving else None)


@pytest.mark.parametrize(
    ("most", "silents", "already", "leaving", "given_up"),
    [
        (2, "", "", "", "ab"),
        (0, "", "", "", "a"),
        ("50%", "", "", "", "abc"),
        (2, "", "f", "", "af"),
        (1, "", "f", "", "f"),
        (2, "f", "f", "", "abf"),
        (2, "c", "", "", "abc"),
        (1, "af", "", "", "abf"),
        (1, "", "", "d", "ad"),
        (1, "", "d", "d", "ad"),
    ],
)
def test_a_deleted_placement_leaves_its_clusters_a_few_at_a_time(
    most: int | str, silents: str, already: str, leaving: str, given_up: str
) -> None:
    bindings = [bound(name, deleting=EARLIER if name in already else None) for name in "abcdef"]
    before = record(*bindings, deleting=True)
    strategy = RolloutStrategy(rolling_update=RollingUpdate(max_unavailable=most))
    before = replace(before, placement=replace(before.placement, strategy=strategy))
    clusters = {name: silent(name) if name in silents else MemberCluster(name=name) for name in "abcdef"}
    clusters |= {name: replace(clusters[name], deleting=EARLIER) for name in leaving}
    after = give_up(before, clusters, NOW, OPEN)
    assert {b.cluster: b.deleting for b in after.bindings if b.deleting is not None} == {
        name: EARLIER if name in already else NOW for name in given_up
    }


HERE = MemberCluster(name="a")


@pytest.mark.parametrize(
    ("clusters", "deleting", "given_up"),
    [
        ({"a": HERE}, False, None),
        ({"a": HERE}, True, NOW),
        ({"a": replace(HERE, deleting=EARLIER)}, False, NOW),
        ({}, False, NOW),
    ],
    ids=["stays", "the placement was deleted", "the cluster leaves", "the cluster is gone"],
)
def test_who_is_given_up(clusters: dict[str, MemberCluster], deleting: bool, given_up: object) -> None:
    before = record(bound("a"), deleting=deleting)
    after = give_up(before, clusters, NOW, OPEN)
    assert [b.deleting for b in after.bindings] == [given_up]
    assert after.schedule_key == "k"
    assert (after is before) == (given_up is None)


@pytest.mark.parametrize(
    ("binding", "given_up"),
    [
        (bound("a", state=BindingState.UNSCHEDULED, snapshot=""), True),
        (bound("a", state=BindingState.SCHEDULED, snapshot=""), False),
        (bound("a", state=BindingState.UNSCHEDULED, snapshot="", applied_snapshot="s-0"), False),
        (bound("a", state=BindingState.UNSCHEDULED), False),
    ],
)
def test_what_was_unpicked_before_it_got_anything_is_given_up(binding: Binding, given_up: bool) -> None:
    (after,) = give_up(record(binding), {"a": HERE}, NOW, OPEN).bindings
    assert (after.deleting == NOW) is given_up


@pytest.mark.parametrize(
    ("kept", "frozen", "given_up"),
    [
        ((), {}, "a"),
        (("a",), {}, "ab"),
        ((), {"a": Frozen("frozen", None)}, "a"),
        (("a",), {"b": Frozen("frozen", None)}, "ac"),
    ],
)
def test_where_all_objects_that_are_left_are_held_nothing_is_missing(
    kept: tuple[str, ...], frozen: dict[str, Frozen], given_up: str
) -> None:
    """One cluster at once may be without; on a the removal is under way."""
    one = stays("x")
    bindings = [
        bound(name, deleting=EARLIER if name == "a" else None, failed=(one,) if name in kept else ()) for name in "abc"
    ]
    before = record(*bindings, deleting=True)
    strategy = RolloutStrategy(rolling_update=RollingUpdate(max_unavailable=1))
    before = replace(before, placement=replace(before.placement, strategy=strategy))
    after = give_up(before, {name: MemberCluster(name=name) for name in "abc"}, NOW, replace(OPEN, frozen=frozen))
    assert [b.cluster for b in after.bindings if b.deleting is not None] == list(given_up)


def test_what_a_cluster_keeps_is_named_by_the_first() -> None:
    first, second = stays("x"), stays("y")
    assert kept_there(bound("a")) == ""
    assert kept_there(bound("a", failed=(first,))) == "keeps ConfigMap/web/x: x has a finalizer"
    assert kept_there(bound("a", failed=(first, second))) == "keeps ConfigMap/web/x: x has a finalizer (and 1 more)"


def test_a_cluster_that_still_gives_up_gets_no_second_binding_and_is_scheduled_anew() -> None:
    before = record(bound("a", deleting=EARLIER), scheduled("a"), bound("b"))
    after = give_up(before, {"a": HERE, "b": MemberCluster(name="b")}, NOW, OPEN)
    assert after.bindings == (before.bindings[0], before.bindings[2])
    assert after.schedule_key == ""


@pytest.mark.parametrize(
    ("pinned", "labels", "stale"),
    [
        ((("zone", "a"),), (("zone", "b"),), True),
        ((("zone", "a"),), (("zone", "a"),), False),
        ((), (("zone", "b"),), False),
        ((("zone", "a"),), (), False),
    ],
)
def test_what_overrides_look_at_makes_a_binding_stale(
    pinned: tuple[tuple[str, str | None], ...], labels: tuple[tuple[str, str | None], ...], stale: bool
) -> None:
    asked = request(
        [bound("a", available(), override_labels=pinned)], latest="s-0", labels={"a": labels} if labels else {}
    )
    plan = plan_rollout(asked)
    reasons = [RolloutText.CLUSTER_OVERRIDES_DEPEND_CHANGED()] if stale else []
    assert [move.reason for move in plan.moves] == reasons
    assert [b.override_labels for b in plan.bindings] == [labels if stale else pinned]


def test_a_cluster_on_which_something_is_being_applied_is_no_failure_and_is_not_ready() -> None:
    """Three clusters: one is disturbed, so that with maxUnavailable 1 no further one may be taken down."""
    three = [bound(name, available()) for name in "abc"]
    assert [m.cluster for m in plan_rollout(request(three, max_unavailable=1)).moves] == ["a"]
    disturbed = plan_rollout(request(three, max_unavailable=1, disturbed=frozenset({"a"})))
    assert [m.cluster for m in disturbed.moves] == []
    applying = bound("d", condition("Applied", Status.FALSE, "ApplyInProgress", age=9999))
    assert [m.failed for m in plan_rollout(request([applying], max_unavailable=1, max_surge=0)).moves] == [True]
    assert not any(
        m.failed
        for m in plan_rollout(request([applying], disturbed=frozenset({"d"}), max_unavailable=1, max_surge=0)).moves
    )
