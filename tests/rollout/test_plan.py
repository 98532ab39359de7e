"""Given bindings, the whole plan: moves, waits, sentences and the bindings after them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.bindings import Binding, BindingState
from gitfleet.api.conditions import Condition, Status, find_condition
from gitfleet.api.placements import PlacementType
from gitfleet.api.strategies import ApplyStrategy, ApplyStrategyType
from gitfleet.model.rolling import Move, MoveKind
from gitfleet.model.texts import ModelText
from gitfleet.rollout import plan_rollout
from gitfleet.rollout.readiness import STUCK_AFTER
from gitfleet.rollout.texts import RolloutText
from tests.rollout.builders import NOW, available, bound, condition, request, scheduled, takes_no_more, unavailable

THREE = (bound("cluster-1", available()), bound("cluster-2", available()), bound("cluster-3", available()))


def test_a_bad_release_reaches_one_cluster_and_says_why_the_others_wait() -> None:
    step = plan_rollout(request(THREE, max_unavailable=1))
    assert [m.cluster for m in step.moves] == ["cluster-1"]
    until = "cluster-1 is available"
    assert step.blocked["cluster-2"] == takes_no_more("3 of 3 clusters are", 2, "1", until)
    waiting = find_condition(step.bindings[1].conditions, "RolloutStarted", generation=1)
    assert waiting is not None
    assert waiting == Condition(
        type="RolloutStarted",
        status=Status.FALSE,
        reason="RolloutNotStartedYet",
        message=ModelText.ROLLOUT_STRATEGY_HOLDS_LATEST_RESOURCES(),
        last_transition_time=NOW,
        observed_generation=1,
    )
    assert step.bindings[0].conditions[0] == available()  # kept; it no longer counts, being of generation 1
    stuck = plan_rollout(request(step.bindings, max_unavailable=1))
    assert stuck.moves == ()
    assert len(stuck.blocked) == 2
    assert [*stuck.blocked.values()][1] == takes_no_more("2 of 3 clusters are", 2, "1", until)
    assert stuck.bindings == step.bindings


def test_the_fix_reaches_the_broken_cluster_at_once_where_the_floor_holds() -> None:
    broken = bound("cluster-1", unavailable(), snapshot="s-1")
    plan = plan_rollout(request([broken, *THREE[1:]], latest="s-2", max_unavailable=1))
    assert plan.moves == (
        Move(
            cluster="cluster-1",
            kind=MoveKind.UPDATE,
            reason=RolloutText.TAKES_BACK_NOT_AVAILABLE(change="s-2 replaces s-1"),
        ),
    )


def test_progress_is_not_failure_until_it_is_stuck() -> None:
    """Decision D6: three clusters still starting must not all get the next release at once."""
    young = [bound(c, unavailable(age=10)) for c in "abc"]
    plan = plan_rollout(request(young, max_unavailable=1))
    assert plan.moves == ()
    old = [bound(c, unavailable(age=STUCK_AFTER.total_seconds())) for c in "abc"]
    moves = plan_rollout(request(old, max_unavailable=1)).moves
    assert [(m.cluster, m.failed) for m in moves] == [("a", True), ("b", True), ("c", True)]


def test_a_real_failure_is_updated_without_budget() -> None:
    failed = bound("a", condition("Applied", Status.FALSE, "ApplyFailed", age=0))
    plan = plan_rollout(request([failed, bound("b"), bound("c")], max_unavailable=1))
    assert plan.moves == (
        Move(
            cluster="a",
            kind=MoveKind.UPDATE,
            failed=True,
            reason=(
                "s-1 replaces "
                + RolloutText.FALSE_UPDATE_NEEDS_NO_BUDGET(change="s-0", worst="Applied", reason="ApplyFailed")
            ),
        ),
    )


def test_a_changed_apply_strategy_goes_out_under_the_budget() -> None:
    """Decision D18."""
    plan = plan_rollout(
        request(
            THREE, latest="s-0", max_unavailable=1, apply_strategy=ApplyStrategy(type=ApplyStrategyType.REPORT_DIFF)
        )
    )
    assert plan.moves == (Move(cluster="cluster-1", kind=MoveKind.UPDATE, reason=RolloutText.APPLY_STRATEGY_CHANGED()),)
    assert [b.apply_strategy.type for b in plan.bindings] == ["ReportDiff", "ClientSideApply", "ClientSideApply"]


def test_removal_marks_the_binding_and_waits_for_its_successor() -> None:
    bindings = [
        scheduled("east-1"),
        scheduled("east-2"),
        bound("west-1", available(), state=BindingState.UNSCHEDULED),
        bound("west-2", available(), state=BindingState.UNSCHEDULED),
    ]
    limits: dict[str, Any] = {"placement_type": PlacementType.PICK_N, "number_of_clusters": 2, "max_surge": 2}
    plan = plan_rollout(request(bindings, **limits))
    assert [(m.kind, m.cluster) for m in plan.moves] == [
        (MoveKind.REMOVE, "west-1"),
        (MoveKind.BIND, "east-1"),
        (MoveKind.BIND, "east-2"),
    ]
    assert plan.moves[0] == Move(cluster="west-1", kind=MoveKind.REMOVE, reason=RolloutText.CLUSTER_NO_LONGER_PICKED())
    assert plan.bindings[2] == replace(bindings[2], deleting=NOW)
    assert plan.bindings[3] == bindings[3]
    again = plan_rollout(request(plan.bindings, **limits))
    until = "east-1 and east-2 are available"
    assert again.blocked == {"west-2": takes_no_more("1 of 2 clusters is", 1, "25% (1)", until, "removal")}


def test_an_update_waits_for_those_that_are_in_progress_and_those_that_can_still_be_picked() -> None:
    limits: dict[str, Any] = {"placement_type": PlacementType.PICK_N, "number_of_clusters": 3, "max_unavailable": 1}
    plan = plan_rollout(request([bound("a", available()), bound("b", unavailable())], **limits))
    until = "b is available or " + RolloutText.CAN_BE_PICKED(count="1 more cluster")
    assert plan.blocked == dict.fromkeys("ab", takes_no_more("1 of 3 clusters is", 2, "1", until))


def test_a_cluster_is_cleared_before_it_is_bound_anew() -> None:
    leaving = bound("a", state=BindingState.UNSCHEDULED, deleting=NOW)
    plan = plan_rollout(request([leaving, scheduled("a")]))
    assert plan.moves == ()
    assert plan.blocked == {"a": RolloutText.EARLIER_PLACEMENT_LEFT_CLUSTER_STILL()}


def test_without_a_snapshot_nothing_is_bound() -> None:
    plan = plan_rollout(request([scheduled("a"), bound("b")], latest=None))
    assert (plan.moves, plan.up_to_date) == ((), ("b",))
    assert list(plan.blocked.values()) == [RolloutText.NO_RESOURCE_SNAPSHOT_YET()]


@pytest.mark.parametrize("seconds", [0, 299, 300, 86400])
@pytest.mark.parametrize(
    ("type_", "reason", "counts"),
    [
        ("Applied", "ApplyInProgress", True),
        ("Applied", "NotAllWorkHaveBeenApplied", True),
        ("Available", "NotAllWorkAreAvailable", True),
        ("Applied", "ApplyFailed", False),
        ("Overridden", "OverriddenFailed", False),
    ],
)
@pytest.mark.parametrize("disturbed", [frozenset[str](), frozenset({"old"})], ids=["at rest", "is tried"])
def test_a_cluster_in_progress_counts_for_the_surge_however_long_it_takes(
    disturbed: frozenset[str], type_: str, reason: str, counts: bool, seconds: int
) -> None:
    """Decision D6: N + maxSurge is a promise of the seeds, so what may have the resources counts. What failed does not:
    it can get its successor at once (KubeFleet)."""
    old = bound("old", condition(type_, Status.FALSE, reason, age=seconds), snapshot="s-1")
    limits: dict[str, Any] = {"placement_type": PlacementType.PICK_N, "number_of_clusters": 1, "max_surge": 0}
    plan = plan_rollout(request([old, scheduled("new")], disturbed=disturbed, **limits))
    assert [m.cluster for m in plan.moves] == ([] if counts else ["new"])


def test_the_clock_is_the_first_moment_at_which_a_binding_counts_for_something_else() -> None:
    """An excuse that ends after 290 s, another after 200 s, and one that can be counted on after 50 s."""
    stuck = STUCK_AFTER.total_seconds()
    young, older = (bound(name, unavailable(age=stuck - left)) for name, left in (("a", 290), ("b", 200)))
    untracked = bound("c", condition("Available", Status.TRUE, "NotAllWorkAreAvailabilityTrackable", age=10))
    for bindings, seconds in (
        ([young], 290),
        ([young, older], 200),
        ([older, young], 200),
        ([young, untracked], 50),
        ([untracked, older], 50),
    ):
        assert plan_rollout(request(bindings, max_unavailable=0)).clock == timedelta(seconds=seconds)
    assert plan_rollout(request([young], latest="s-0")).clock is None, "nothing would move"
    assert plan_rollout(request([bound("a", available())])).clock is None, "nothing ends by itself"


@pytest.mark.parametrize(
    ("bindings", "blocked"),
    [
        ([bound("a", available())], "a"),
        ([bound("a", available(), snapshot="s-1")], ""),
        ([scheduled("a")], "a"),
        ([bound("a", available()), scheduled("b")], "ba"),
    ],
)
def test_a_snapshot_that_is_refused_goes_to_no_cluster(bindings: list[Binding], blocked: str) -> None:
    """Each binding says why, and a person is asked where any cluster waits for it."""
    plan = plan_rollout(request(bindings, latest="s-1", refused="it burns"))
    assert plan.moves == () and plan.need_roll is bool(blocked)
    assert list(plan.blocked.items()) == [(name, "it burns") for name in blocked]
    assert plan.asks == (("it burns",) if blocked else ())
    said = {b.cluster: b.conditions[-1].message == "it burns" for b in plan.bindings}
    assert said == {b.cluster: bool(blocked) for b in bindings}
    assert plan_rollout(request(bindings, latest="s-1")).asks == ()


@pytest.mark.parametrize(("taking_over", "moved"), [("", "abcd"), ("ab", "cd"), ("abcd", "a")])
def test_where_a_new_cluster_takes_objects_over_it_counts_as_an_update_of_one_that_is_available(
    taking_over: str, moved: str
) -> None:
    """So at most maxUnavailable of them at a time."""
    new = [bound(name, state=BindingState.SCHEDULED, snapshot="") for name in "abcd"]
    plan = plan_rollout(request(new, max_unavailable=1, taking_over=frozenset(taking_over)))
    assert sorted(move.cluster for move in plan.moves) == list(moved)
