"""The question that a record asks, what is said of bindings that stay, and the ends of sentences."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.bindings import ClusterContent
from gitfleet.api.conditions import Status, find_condition
from gitfleet.api.placements import Placement, PlacementKey, PlacementPolicy, PlacementType
from gitfleet.api.snapshots import ResourceSnapshot
from gitfleet.api.strategies import ApplyStrategy, RollingUpdate, RolloutStrategy
from gitfleet.model.rolling import Passage, RolloutRequest
from gitfleet.model.state import PlacementRecord
from gitfleet.rollout import plan_rollout, request_for
from gitfleet.rollout.moves import set_rollout_started, start_rollout
from gitfleet.rollout.reasons import names
from gitfleet.rollout.texts import RolloutText
from tests.rollout.builders import NOW, OPEN, available, bound, condition, request, scheduled, takes_no_more

WEB = PlacementKey("", "web")
SNAPSHOT = ResourceSnapshot(placement=WEB, index=4, hash="h", commit="c", created=NOW, documents=())
STRATEGY = RolloutStrategy(
    rolling_update=RollingUpdate(max_unavailable=3, max_surge=2), apply_strategy=ApplyStrategy(force_conflicts=True)
)
POLICY = PlacementPolicy(placement_type=PlacementType.PICK_FIXED, cluster_names=("a", "b"))


def test_the_question_that_a_record_asks() -> None:
    placement = Placement(key=WEB, selectors=(), policy=POLICY, strategy=STRATEGY)
    record = PlacementRecord(
        placement=placement,
        bindings=(bound("b"), bound("a")),
        resource_snapshots=(replace(SNAPSHOT, index=3), SNAPSHOT),
    )
    contents: Any = {"a": ClusterContent(("cro-0",))}
    labels: Any = {"a": (("zone", "1"),)}
    asked = RolloutRequest(
        placement_type=PlacementType.PICK_FIXED,
        number_of_clusters=None,
        cluster_names=("a", "b"),
        rolling_update=STRATEGY.rolling_update,
        apply_strategy=STRATEGY.apply_strategy,
        bindings=tuple(sorted(record.bindings, key=lambda binding: binding.name)),
        latest_snapshot=SNAPSHOT.name,
        contents=contents,
        now=NOW,
        gate=OPEN,
        labels=labels,
        disturbed=frozenset({"b"}),
    )
    assert request_for(record, contents, NOW, OPEN, labels, frozenset({"b"})) == asked
    assert request_for(record, contents, NOW, OPEN) == replace(asked, labels={}, disturbed=frozenset())
    empty = replace(record, resource_snapshots=(), bindings=())
    assert request_for(empty, {}, NOW, OPEN).latest_snapshot is None
    count = replace(placement, policy=PlacementPolicy(placement_type=PlacementType.PICK_N, number_of_clusters=2))
    assert request_for(replace(record, placement=count), {}, NOW, OPEN).number_of_clusters == 2


@pytest.mark.parametrize(
    ("clusters", "said"),
    [
        (["a"], "a"),
        (["a", "b"], "a and b"),
        (["a", "b", "c"], "a, b and c"),
        (["a", "b", "c", "d"], "a, b, c and 1 more"),
    ],
)
def test_names(clusters: list[str], said: str) -> None:
    assert names(clusters) == said


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


def test_what_is_given_up_and_still_ready_is_not_counted_as_available() -> None:
    leaving = [bound(name, available(), deleting=NOW) for name in ("x", "y")]
    plan = plan_rollout(
        request(
            [bound("a", available()), *leaving],
            max_unavailable=0,
            placement_type=PlacementType.PICK_N,
            number_of_clusters=1,
        )
    )
    assert plan.moves == ()
    assert list(plan.blocked.values()) == [takes_no_more("1 of 1 clusters is", 1, "0")]


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
