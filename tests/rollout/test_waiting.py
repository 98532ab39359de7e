"""What is still waited for, sentence by sentence, and which bindings are given up as a whole."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from gitfleet.api.bindings import Binding, BindingState
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.conditions import Condition, Status
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.api.strategies import RolloutStrategy, RolloutStrategyType
from gitfleet.model.rolling import Held, MoveKind
from gitfleet.model.state import PlacementRecord
from gitfleet.rollout import give_up, plan_rollout, waiting_for
from tests.rollout.builders import NOW, available, bound, condition, request, scheduled, unavailable

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
        (bound("a", deleting=NOW), "a is giving up its resources"),
        (bound("a", held_back()), "a waits: The rollout strategy holds it"),
        (scheduled("a"), "a is Scheduled and has not been rolled out"),
        (bound("a", state=BindingState.UNSCHEDULED), "a is no longer picked and not cleared yet"),
        (bound("a"), "a has not reported Overridden for its newest generation"),
        (bound("a", condition("Overridden", Status.TRUE, "x", generation=0)), "a has not reported Overridden for its"),
        (bound("a", *true_up_to("Applied")), "a has not reported Applied for its newest generation"),
        (bound("a", *true_up_to("Available"), unavailable()), "a is not Available: NotAllWorkAreAvailable"),
        (
            bound("a", *true_up_to("Available"), replace(unavailable(), message="Deployment web is starting")),
            "a is not Available: Deployment web is starting",
        ),
        (bound("a", condition("Overridden", Status.FALSE, "OverriddenFailed")), "a is not Overridden: OverriddenFail"),
    ],
)
def test_each_binding_says_what_it_waits_for(binding: Binding, sentence: str) -> None:
    (found,) = waiting_for(record(binding))
    assert found.startswith(f"web: {sentence}")


@pytest.mark.parametrize(
    "binding",
    [
        bound("a", *true_up_to("Available"), available()),
        bound("a", condition("DiffReported", Status.TRUE, "x")),
        bound("a", condition("RolloutStarted", Status.TRUE, "x"), *true_up_to("Available"), available()),
    ],
)
def test_a_binding_that_has_arrived_waits_for_nothing(binding: Binding) -> None:
    assert waiting_for(record(binding)) == ()


def test_a_stale_report_of_differences_or_of_the_rollout_says_nothing() -> None:
    stale = bound(
        "a", condition("DiffReported", Status.TRUE, "x", generation=0), replace(held_back(), observed_generation=0)
    )
    assert waiting_for(record(stale)) == ("web: a has not reported Overridden for its newest generation",)


def test_the_plan_says_why_a_binding_is_held_and_each_binding_has_its_own_sentence() -> None:
    held = (Held(cluster="a", kind=MoveKind.UPDATE, reason="2 of 3 must stay"),)
    plan = replace(plan_rollout(request([])), held=held)
    assert waiting_for(record(bound("a", held_back()), bound("b", held_back("no")), scheduled("c")), plan) == (
        "web: a waits: 2 of 3 must stay",
        "web: b waits: no",
        "web: c is Scheduled and has not been rolled out",
    )


def test_what_others_roll_out_is_not_waited_for() -> None:
    assert waiting_for(record(scheduled("a"), external=True)) == ()


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
    after = give_up(before, clusters, NOW)
    assert [b.deleting for b in after.bindings] == [given_up]
    assert after.schedule_key == "k"
    assert (after is before) == (given_up is None)


def test_giving_up_keeps_its_first_moment_and_the_order_of_clusters() -> None:
    before = record(bound("b"), bound("a", deleting=EARLIER))
    after = give_up(before, {}, NOW)
    assert [(b.cluster, b.deleting) for b in after.bindings] == [("a", EARLIER), ("b", NOW)]
    assert give_up(after, {}, NOW + timedelta(hours=1)) is after


def test_a_cluster_that_still_gives_up_gets_no_second_binding_and_is_scheduled_anew() -> None:
    before = record(bound("a", deleting=EARLIER), scheduled("a"), bound("b"))
    after = give_up(before, {"a": HERE, "b": MemberCluster(name="b")}, NOW)
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
def test_labels_that_overrides_look_at_make_a_binding_stale(
    pinned: tuple[tuple[str, str | None], ...], labels: tuple[tuple[str, str | None], ...], stale: bool
) -> None:
    asked = request(
        [bound("a", available(), override_labels=pinned)], latest="s-0", labels={"a": labels} if labels else {}
    )
    plan = plan_rollout(asked)
    reasons = ["the cluster's labels that its overrides depend on have changed"] if stale else []
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


def test_what_was_said_of_the_rollout_is_not_said_again() -> None:
    asked = request([bound(name, available()) for name in "ab"], max_unavailable=0)
    first = plan_rollout(asked)
    later = replace(asked, bindings=first.bindings, now=NOW + timedelta(minutes=1))
    assert plan_rollout(later).bindings == first.bindings, "a transition time stays while its status stays"


def test_a_binding_without_a_snapshot_goes_out_for_the_first_time() -> None:
    plan = plan_rollout(request([bound("a", available(), snapshot="")]))
    assert [move.reason for move in plan.moves] == ["s-1 goes out"]
