"""Decision D32: a silent cluster counts as unavailable for five minutes, then the rollout goes on without it; and while
more than half of a placement's clusters are silent nothing moves."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.bindings import Binding, BindingState
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.conditions import Status
from gitfleet.api.placements import PlacementType
from gitfleet.model.texts import ModelText
from gitfleet.rollout import long_silent, plan_rollout
from gitfleet.rollout.silence import LEFT_OUT_AFTER
from gitfleet.rollout.texts import RolloutText
from tests.rollout.builders import NOW, available, bound, condition, request, scheduled, takes_no_more
from tests.state.builders import T0, cluster

FIVE_MINUTES = LEFT_OUT_AFTER.total_seconds()
SILENT = condition("Available", Status.UNKNOWN, "ClusterUnreachable")


def since(seconds: float, *clusters: str) -> dict[str, Any]:
    """Silent clusters, all for so long."""
    return {"silent": {name: NOW - timedelta(seconds=seconds) for name in clusters}}


def fleet(*silent: str, names: str = "abcd") -> list[Binding]:
    """Bindings with an old snapshot: available, or not seen for some time."""
    return [bound(name, SILENT if name in silent else available()) for name in names]


def moved(bindings: Sequence[Binding], **more: Any) -> list[str]:
    return [m.cluster for m in plan_rollout(request(bindings, max_unavailable=1, **more)).moves]


@pytest.mark.parametrize(
    ("seconds", "more", "expected"),
    [
        (0, {}, []),
        (FIVE_MINUTES - 1, {}, []),
        (FIVE_MINUTES, {}, ["a"]),
        (86400, {}, ["a"]),
        (86400, {"skip_silent": False}, []),
        (-3600, {}, []),
    ],
    ids=["just now", "for less than five minutes", "for five minutes", "for a day", "Wait", "the clock jumped back"],
)
def test_a_silent_cluster_uses_budget_for_five_minutes(
    seconds: float, more: dict[str, Any], expected: list[str]
) -> None:
    assert moved(fleet("d"), **since(seconds, "d"), **more) == expected


def test_one_that_is_named_and_not_bound_yet_leaves_the_target_too() -> None:
    fixed: dict[str, Any] = {"placement_type": PlacementType.PICK_FIXED, "cluster_names": tuple("abcde")}
    plan = plan_rollout(request(fleet("d"), max_unavailable=1, **fixed, **since(300, "d", "e")))
    assert [plan.blocked[name] for name in "bc"] == [takes_no_more("3 of 3 clusters are", 2, "1", "a is available")] * 2


@pytest.mark.parametrize("state", BindingState)
def test_it_is_not_moved_in_any_state(state: BindingState) -> None:
    silent = scheduled("d") if state is BindingState.SCHEDULED else bound("d", SILENT, state=state)
    others = [bound(name, available(), snapshot="s-1") for name in "abc"]
    plan = plan_rollout(request([*others, silent], max_unavailable="100%", max_surge="100%", **since(300, "d")))
    assert plan.moves == ()
    assert list(plan.blocked) == ["d"]
    assert plan.need_roll
    assert plan.clock is None, "only its answer ends this"


def test_what_the_bindings_say_of_a_rollout_beside_silent_clusters() -> None:
    """Without names and numbers that change with every cluster, and with the time of the pass."""
    bindings = [bound("a", available(), snapshot="s-1"), bound("b", available()), bound("c"), scheduled("d")]

    def said(*silent: str) -> dict[str, tuple[str, bool]]:
        plan = plan_rollout(request(bindings, max_unavailable=0, max_surge=0, **since(300, *silent)))
        started = [(b.cluster, c) for b in plan.bindings for c in b.conditions if c.type == "RolloutStarted"]
        assert {c.last_transition_time for _, c in started} == {NOW}
        return {name: (c.message, c.status is Status.TRUE) for name, c in started}

    done = (RolloutText.DETECTED_NEW_CHANGES_RESOURCES_STARTED(), True)
    waits = (ModelText.ROLLOUT_STRATEGY_HOLDS_LATEST_RESOURCES(), False)
    left_out = (RolloutText.NOT_ANSWER_ROLLOUT_GOES_WITHOUT(cluster="c"), False)
    cut = (RolloutText.MORE_HALF_PLACEMENT_CLUSTERS_NOT(), False)
    assert said("c") == {"a": done, "b": waits, "c": left_out, "d": done}
    assert said("b", "c", "d") == {"a": done, **dict.fromkeys("bcd", cut)}


def test_one_that_has_the_latest_snapshot_needs_nothing() -> None:
    bindings = [bound("a", available(), snapshot="s-1"), bound("b", SILENT, snapshot="s-1")]
    plan = plan_rollout(request(bindings, **since(300, "b")))
    assert (plan.moves, plan.blocked, plan.up_to_date, plan.need_roll) == ((), {}, ("a", "b"), False)


def test_a_silent_cluster_that_is_being_cleared_no_longer_holds_its_successor_back() -> None:
    leaving = bound("old", SILENT, state=BindingState.UNSCHEDULED, deleting=NOW)
    limits: dict[str, Any] = {"placement_type": PlacementType.PICK_N, "number_of_clusters": 1, "max_surge": 0}
    bindings = [leaving, scheduled("new")]
    assert moved(bindings, **limits) == []
    # The only other cluster answers: one of two is silent, which is not more than half.
    assert moved(bindings, **limits, **since(300, "old")) == ["new"]


@pytest.mark.parametrize(
    ("silent", "expected"), [("d", ["a"]), ("cd", ["a"]), ("bcd", []), ("abcd", [])], ids=["1", "2", "3", "4"]
)
def test_nothing_moves_while_more_than_half_is_silent(silent: str, expected: list[str]) -> None:
    assert moved(fleet(*silent), **since(300, *silent)) == expected


@pytest.mark.parametrize("seconds", [0, 300, 86400])
@pytest.mark.parametrize("skip", [True, False])
def test_a_network_fault_of_ours_moves_nothing_and_says_so(seconds: float, skip: bool) -> None:
    """Failed clusters and new ones included: neither needs the budget, both need a network."""
    failed = bound("a", condition("Applied", Status.FALSE, "ApplyFailed"))
    bindings = [failed, bound("b", SILENT), bound("c", SILENT), bound("d", SILENT, snapshot="s-1"), scheduled("e")]
    plan = plan_rollout(request(bindings, max_surge="100%", skip_silent=skip, **since(seconds, "b", "c", "d")))
    assert plan.moves == ()
    reason = RolloutText.CLUSTERS_NOT_ANSWER(count="3", of="5", do="do", silent="b, c and d")
    assert plan.blocked == dict.fromkeys("abce", reason)
    alone = plan_rollout(request(fleet("a", names="a"), **since(seconds, "a"))).blocked
    assert list(alone.values()) == [RolloutText.CLUSTERS_NOT_ANSWER(count="1", of="1", do="does", silent="a")]


def test_the_clock_ends_when_a_silent_cluster_is_left_out() -> None:
    plan = plan_rollout(request(fleet("d"), max_unavailable=1, **since(100, "d")))
    assert plan.clock == timedelta(seconds=200)
    assert plan_rollout(request(fleet("d"), max_unavailable=1, **since(-3600, "d"))).clock == LEFT_OUT_AFTER
    assert plan_rollout(request(fleet("d"), max_unavailable=1, skip_silent=False, **since(100, "d"))).clock is None


@pytest.mark.parametrize(
    ("seconds", "unreachable", "left_out"),
    [(FIVE_MINUTES, "Skip", {"a"}), (FIVE_MINUTES - 1, "Skip", set[str]()), (FIVE_MINUTES, "Wait", set[str]())],
)
def test_which_clusters_of_a_fleet_others_go_on_without(seconds: float, unreachable: str, left_out: set[str]) -> None:
    clusters = {name: cluster(name, healthy=healthy) for name, healthy in (("a", "Unknown"), ("b", "True"))}
    clusters["c"] = MemberCluster(name="c")
    assert long_silent(clusters, T0 + timedelta(seconds=seconds), unreachable) == left_out
