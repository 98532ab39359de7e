"""Evictions: what is decided about each, in which order, and what a budget allows (vectors have KubeFleet's cases)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitfleet.api.bindings import Binding, BindingState, is_available
from gitfleet.api.conditions import Condition, Status
from gitfleet.api.placements import Placement, PlacementKey, PlacementPolicy, PlacementType
from gitfleet.api.staged import DECIDED_ELSEWHERE, DisruptionBudget, Eviction
from gitfleet.model.state import PlacementRecord
from gitfleet.rollout import disruptions, evict, evict_nothing, evicted_elsewhere, evicted_since
from gitfleet.rollout.texts import RolloutText
from tests.rollout.builders import NOW, OPEN, available, bound, condition, scheduled, unavailable

WEB = PlacementKey("", "web")
PICK_ALL, PICK_FIXED = PlacementPolicy(), PlacementPolicy(placement_type=PlacementType.PICK_FIXED, cluster_names=("a",))


def pick(number: int) -> PlacementPolicy:
    return PlacementPolicy(placement_type=PlacementType.PICK_N, number_of_clusters=number)


def record(*bindings: Binding, policy: PlacementPolicy = PICK_ALL, **more: Any) -> PlacementRecord:
    placement = Placement(key=PlacementKey("", "web"), selectors=(), policy=policy, **more)
    return PlacementRecord(placement=placement, bindings=bindings)


def of(cluster: str, name: str = "e") -> Eviction:
    return Eviction(name=name, placement_name="web", cluster_name=cluster)


def told(eviction: Eviction) -> tuple[Status | None, Status | None, str]:
    """Valid, Executed and the message that decides."""
    last = eviction.executed or eviction.valid
    assert last is not None
    assert {c.last_transition_time for c in eviction.conditions} == {NOW}
    valid, executed = (one.status if one is not None else None for one in (eviction.valid, eviction.executed))
    return valid, executed, last.message


SECOND = replace(bound("a", available()), deleting=NOW)
LONG = unavailable(age=301)


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (
            record(bound("a"), deleting=NOW),
            (Status.FALSE, None, RolloutText.FOUND_DELETING_PLACEMENT_TARGETED_EVICTION),
        ),
        (
            record(bound("a"), policy=PICK_FIXED),
            (Status.FALSE, None, RolloutText.FOUND_PLACEMENT_PICKFIXED_PLACEMENT_TYPE),
        ),
        (record(bound("b")), (Status.FALSE, None, RolloutText.FAILED_FIND_SCHEDULER_DECISION_PLACEMENT)),
        (record(SECOND, bound("a")), (Status.FALSE, None, RolloutText.FOUND_MORE_ONE_SCHEDULER_DECISION)),
        (record(scheduled("a")), (Status.TRUE, Status.FALSE, RolloutText.EVICTION_BLOCKED_PLACEMENT_NOT_PROPAGATED)),
        (record(SECOND), (Status.TRUE, Status.TRUE, RolloutText.EVICTION_ALLOWED_RESOURCES_PROPAGATED_PLACEMENT)),
        (record(bound("a", LONG)), (Status.TRUE, Status.TRUE, RolloutText.EVICTION_ALLOWED_PLACEMENT_FAILED)),
    ],
)
def test_what_is_decided_before_any_budget(
    before: PlacementRecord, expected: tuple[Status, Status | None, RolloutText]
) -> None:
    after, (decided,) = evict(before, [of("a")], DisruptionBudget(name="web", min_available=9), NOW, OPEN)
    valid, executed, message = told(decided)
    assert (valid, executed, message) == (*expected[:2], expected[2]())
    taken = executed is Status.TRUE and before.bindings[0].deleting is None
    assert (after.bindings != before.bindings) is taken


def test_a_cluster_that_is_in_progress_is_no_failed_one() -> None:
    """KubeFleet evicts it without a budget; for five minutes it is progress here (decision D6)."""
    before = record(bound("a", unavailable(age=299)), bound("b", available()))
    after, (decided,) = evict(before, [of("a")], DisruptionBudget(name="web", min_available=1), NOW, OPEN)
    assert told(decided)[1] is Status.FALSE
    assert after is before


def test_an_eviction_that_ended_elsewhere_is_not_executed() -> None:
    ended = condition("Executed", Status.TRUE, "ClusterResourcePlacementEvictionExecuted")
    for conditions, said in (((replace(ended, message="was executed"),), " (was executed)"), ((ended,), "")):
        came = replace(of("a"), conditions=conditions)
        expected = f"The eviction{said} {DECIDED_ELSEWHERE}"
        assert told(evicted_elsewhere(came, NOW)) == (Status.FALSE, None, expected)


def test_each_condition_of_an_eviction_has_its_reason_and_its_generation() -> None:
    def said(type_: str, status: Status, reason: str, message: str) -> Condition:
        return replace(condition(type_, status, reason, age=0), message=message)

    valid = said("Valid", Status.TRUE, "ClusterResourcePlacementEvictionValid", RolloutText.EVICTION_VALID())
    (executed,) = evict(record(bound("a", LONG)), [of("a")], None, NOW, OPEN)[1]
    (blocked,) = evict(record(scheduled("a")), [of("a")], None, NOW, OPEN)[1]
    (refused,) = evict_nothing([of("a")], NOW)
    ended = [
        (executed, Status.TRUE, "ClusterResourcePlacementEvictionExecuted"),
        (blocked, Status.FALSE, "ClusterResourcePlacementEvictionNotExecuted"),
    ]
    for one, status, reason in ended:
        assert one.conditions == (valid, said("Executed", status, reason, told(one)[2]))
    message = told(refused)[2]
    invalid = said("Valid", Status.FALSE, "ClusterResourcePlacementEvictionInvalid", message)
    assert refused.conditions == (invalid,)


def test_who_was_evicted_since() -> None:
    """Those that were executed and were not known before."""
    record_of = record(*(bound(name, available()) for name in "ab"))
    _, (a, b) = evict(record_of, [of("a", "e1"), of("b", "e2")], None, NOW, OPEN)
    _, (refused,) = evict(record_of, [of("c", "e3")], None, NOW, OPEN)
    every = {"e1": a, "e2": b, "e3": refused}
    assert evicted_since({}, every) == {(WEB, "a"), (WEB, "b")}
    assert evicted_since({"e1": a}, every) == {(WEB, "b")}
    assert evicted_since(every, every) == evicted_since(every, {}) == frozenset()


def test_an_evicted_binding_is_given_up_and_on_its_way_out() -> None:
    after, _ = evict(record(bound("a", available()), bound("b", available())), [of("a")], None, NOW, OPEN)
    a, b = after.bindings
    assert (a.state, a.previous_state, a.deleting) == (BindingState.UNSCHEDULED, BindingState.BOUND, NOW)
    assert (b.state, b.deleting) == (BindingState.BOUND, None)
    given_up = replace(bound("a"), state=BindingState.UNSCHEDULED, previous_state=BindingState.BOUND)
    (gone,) = evict(record(given_up), [of("a")], None, NOW, OPEN)[0].bindings
    assert gone == replace(given_up, deleting=NOW)


def test_evictions_of_one_pass_are_decided_by_name_each_seeing_those_before() -> None:
    before = record(*(bound(name, available()) for name in "abc"), policy=pick(3))
    asked = [of("a", "z"), of("b", "y"), of("c", "x"), of("c", "y2")]
    after, decided = evict(before, asked, DisruptionBudget(name="web", min_available=2), NOW, OPEN)
    assert [(one.name, told(one)[1]) for one in decided] == [
        ("x", Status.TRUE),
        ("y", Status.FALSE),
        ("y2", Status.TRUE),
        ("z", Status.FALSE),
    ]
    for one, verb, count in ((decided[0], "allowed", 3), (decided[1], "blocked", 2)):
        counts = f"availablePlacements: {count}, totalPlacements: 3"
        said = RolloutText.EVICTION_SPECIFIED_BUDGET(verb=verb, counts=counts)
        assert [condition.message for condition in one.conditions] == [RolloutText.EVICTION_VALID(), said]
    assert told(decided[2])[2] == RolloutText.EVICTION_ALLOWED_RESOURCES_PROPAGATED_PLACEMENT()
    assert [b.cluster for b in after.bindings if b.deleting is not None] == ["c"]


BINDINGS = st.sampled_from([available(), available(generation=0), unavailable(age=10)])
LIMITS = st.one_of(st.integers(0, 6), st.integers(0, 100).map("{}%".format))


@given(
    conditions=st.lists(BINDINGS, min_size=1, max_size=6),
    asked=st.lists(st.integers(0, 5), max_size=8),
    number=st.integers(0, 6),
    limit=LIMITS,
    minimum=st.booleans(),
)
def test_no_set_of_evictions_overruns_a_budget(
    conditions: list[Any], asked: list[int], number: int, limit: int | str, minimum: bool
) -> None:
    """However many are asked for at once: what stays available, or is unavailable, is as the budget says."""
    bindings = tuple(bound(f"c{n}", condition) for n, condition in enumerate(conditions))
    before = record(*bindings, policy=pick(number))
    budget = DisruptionBudget(
        name="web", min_available=limit if minimum else None, max_unavailable=None if minimum else limit
    )
    evictions = [of(f"c{at}", f"e{n}") for n, at in enumerate(asked)]
    after, decided = evict(before, evictions, budget, NOW, OPEN)
    assert len(decided) == len(evictions) and all(told(one) for one in decided)
    gone = {b.cluster for b in after.bindings if b.deleting is not None}
    assert gone <= {one.cluster_name for one in evictions}
    start = disruptions(before.placement.effective_policy, budget, before.bindings)
    assert sum(is_available(b) for b in before.bindings if b.cluster in gone) <= start.allowed
    end = disruptions(after.placement.effective_policy, budget, after.bindings)
    floor = number * int(str(limit).removesuffix("%")) / 100 if isinstance(limit, str) else limit
    if gone and minimum:
        assert end.available >= floor
    elif gone:
        assert end.total - end.available <= -(-floor // 1)
