"""The question that a record asks, what is said of bindings that stay, and the ends of sentences."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from gitfleet.api.conditions import Status, find_condition
from gitfleet.api.placements import PlacementKey, PlacementType
from gitfleet.api.strategies import ApplyStrategy, RollingUpdate, RolloutStrategy
from gitfleet.model.rolling import Passage
from gitfleet.rollout import plan_rollout
from gitfleet.rollout.moves import set_rollout_started, start_rollout
from gitfleet.rollout.texts import RolloutText
from tests.rollout.builders import NOW, available, bound, condition, request, scheduled, takes_no_more

WEB = PlacementKey("", "web")
STRATEGY = RolloutStrategy(
    rolling_update=RollingUpdate(max_unavailable=3, max_surge=2), apply_strategy=ApplyStrategy(force_conflicts=True)
)


def test_a_sentence_without_a_cluster_to_wait_for_ends_with_the_limit() -> None:
    plan = plan_rollout(request([bound("a", available())], max_unavailable=0))
    assert list(plan.blocked.values()) == [takes_no_more("1 of 1 clusters is", 1, "0")]
    one: dict[str, Any] = {"placement_type": PlacementType.PICK_N, "number_of_clusters": 1, "max_surge": 0}
    plan = plan_rollout(request([bound("a", available(), snapshot="s-1"), scheduled("b")], **one))
    assert list(plan.blocked.values()) == [
        (
            RolloutText.RESOURCES_MOST(count="1", verb="cluster has", most="1")
            + RolloutText.ALLOWS_NO_FURTHER_CLUSTER(state="", limit="maxSurge 0", until="")
        )
    ]


def test_a_binding_of_which_nothing_new_is_said_is_the_very_same() -> None:
    bindings = [bound("held", available()), bound("new", available(), snapshot="s-1")]
    first = plan_rollout(request(bindings, max_unavailable=0)).bindings
    again = plan_rollout(request(first, max_unavailable=0, now=NOW + timedelta(hours=1))).bindings
    assert all(after is before for after, before in zip(again, first, strict=True))


def test_a_rollout_of_an_older_generation_says_nothing_of_this_one() -> None:
    older = condition("RolloutStarted", Status.TRUE, "RolloutStarted", generation=0)
    (after,) = plan_rollout(request([bound("a", older, available())], latest="s-0")).bindings
    reported = find_condition(after.conditions, "RolloutStarted", generation=1)
    assert reported is not None and reported.status is Status.TRUE


def test_a_rollout_says_what_started_it_or_why_it_did_not() -> None:
    started, held = (condition("RolloutStarted", status, "x", age=60) for status in (Status.TRUE, Status.FALSE))
    text = RolloutText.DETECTED_NEW_CHANGES_RESOURCES_STARTED()
    for before in (bound("a"), bound("a", started), bound("a", held)):
        for by in ("", " by run r"):
            (now,) = start_rollout(before, Passage("a"), NOW, by).conditions
            assert (now.status, now.message, now.last_transition_time) == (Status.TRUE, f"{text}{by}", NOW)
    older = replace(held, message="the run waits", observed_generation=0)
    (said,) = set_rollout_started(bound("a", older), Status.FALSE, NOW, "the run waits").conditions
    assert said == replace(older, reason="RolloutNotStartedYet", observed_generation=1), "it is of this generation now"
    known = bound("a", said)
    assert set_rollout_started(known, Status.FALSE, NOW, "the run waits") is known
    assert set_rollout_started(known, Status.FALSE, NOW, "another") != known


def test_each_rollout_starts_the_clock_anew() -> None:
    earlier = condition("RolloutStarted", Status.TRUE, "RolloutStarted", age=3600)
    (after,) = plan_rollout(request([bound("a", earlier, available())], max_unavailable=1)).bindings
    reported = find_condition(after.conditions, "RolloutStarted", generation=2)
    assert reported is not None and reported.last_transition_time == NOW
    assert after.conditions == (reported, available()), "what else was said stays"
