"""invariants that hold for every plan: the budget is never exceeded, and the same question has the same answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from gitfleet.api.bindings import Binding, BindingState
from gitfleet.api.conditions import Condition, Status
from gitfleet.api.placements import PlacementType
from gitfleet.formats.int_or_percent import scaled
from gitfleet.model.rolling import MoveKind, RolloutPlan, RolloutRequest
from gitfleet.rollout import is_ready, plan_rollout
from gitfleet.rollout.budgets import Counts, budget
from gitfleet.rollout.readiness import has_failed
from tests.rollout.builders import NOW, bound, condition, request

REASONS = {
    "Applied": (Status.FALSE, ["ApplyPending", "ApplyInProgress", "ApplyFailed"]),
    "Available": (Status.FALSE, ["NotAllWorkAreAvailable", "ResourceNotAvailableYet"]),
    "Untrackable": (Status.TRUE, ["WorkNotTrackable"]),
    "Ready": (Status.TRUE, ["AllWorkAreAvailable"]),
}
LIMITS = st.one_of(st.integers(0, 6), st.sampled_from(["0%", "1%", "25%", "50%", "100%"]))


@st.composite
def conditions(draw: st.DrawFn) -> tuple[Condition, ...]:
    kind = draw(st.sampled_from([*REASONS, None, "Diff"]))
    if kind is None:
        return ()
    if kind == "Diff":
        return (condition("DiffReported", draw(st.sampled_from([Status.TRUE, Status.FALSE])), "x"),)
    status, reasons = REASONS[kind]
    type_ = "Applied" if kind == "Applied" else "Available"
    age, generation = draw(st.sampled_from([0, 30, 90, 3600])), draw(st.sampled_from([1, 1, 1, 0]))
    return (condition(type_, status, draw(st.sampled_from(reasons)), age=age, generation=generation),)


@st.composite
def requests(draw: st.DrawFn) -> RolloutRequest:
    bindings = []
    for number in range(draw(st.integers(0, 8))):
        state = draw(st.sampled_from(BindingState))
        snapshot = "" if state is BindingState.SCHEDULED else draw(st.sampled_from(["s-0", "s-1"]))
        deleting = NOW if state is not BindingState.SCHEDULED and draw(st.integers(0, 3)) == 0 else None
        found = () if state is BindingState.SCHEDULED else draw(conditions())
        bindings.append(bound(f"c{number}", *found, snapshot=snapshot, state=state, deleting=deleting))
    return request(
        bindings,
        placement_type=draw(st.sampled_from(PlacementType)),
        number_of_clusters=draw(st.integers(0, 8)),
        cluster_names=tuple(f"c{n}" for n in range(draw(st.integers(0, 5)))),
        max_unavailable=draw(LIMITS),
        max_surge=draw(LIMITS),
    )


def is_up(binding: Binding) -> bool:
    return is_ready(binding, timedelta(seconds=60), NOW).ready


def room_to_take_down(asked: RolloutRequest) -> int:
    """ready - (T - U), never negative: how many available clusters one plan may take down."""
    targeted = [b for b in asked.bindings if b.state is not BindingState.UNSCHEDULED]
    target = {
        PlacementType.PICK_ALL: len(targeted),
        PlacementType.PICK_N: asked.number_of_clusters or 0,
        PlacementType.PICK_FIXED: len(asked.cluster_names),
    }[asked.placement_type]
    staying = [b for b in asked.bindings if is_up(b) and b.deleting is None]
    return max(0, len(staying) - (target - scaled(asked.rolling_update.max_unavailable, target)))


def taken_down(before: Sequence[Binding], plan: RolloutPlan) -> int:
    down = {m.cluster for m in plan.moves if m.kind is not MoveKind.BIND and not m.failed}
    return sum(1 for b in before if b.cluster in down and is_up(b))


@given(requests())
def test_no_plan_takes_down_more_than_the_budget(asked: RolloutRequest) -> None:
    assert taken_down(asked.bindings, plan_rollout(asked)) <= room_to_take_down(asked)


@given(requests())
def test_planning_again_and_again_at_one_moment_stays_within_the_one_budget(asked: RolloutRequest) -> None:
    package, down, now = room_to_take_down(asked), 0, asked
    for _ in range(len(asked.bindings) + 2):
        plan = plan_rollout(now)
        down += taken_down(now.bindings, plan)
        now = request_with(now, plan.bindings)
    assert down <= package
    settled = plan_rollout(now)
    assert settled.moves == ()
    assert settled.bindings == now.bindings


@given(requests())
def test_the_same_question_has_the_same_answer(asked: RolloutRequest) -> None:
    assert plan_rollout(asked) == plan_rollout(asked)


@given(requests())
def test_every_binding_is_told_of_once(asked: RolloutRequest) -> None:
    plan = plan_rollout(asked)
    reported = [*(m.cluster for m in plan.moves), *plan.blocked, *plan.up_to_date]
    assert sorted(reported) == sorted(b.cluster for b in asked.bindings if b.deleting is None)
    assert all(plan.blocked.values())
    assert all(m.reason for m in plan.moves)
    assert [b.cluster for b in plan.bindings] == [b.cluster for b in asked.bindings]


@given(requests())
def test_a_generation_rises_by_one_exactly_where_the_spec_changes(asked: RolloutRequest) -> None:
    plan = plan_rollout(asked)
    rolled = {m.cluster for m in plan.moves if m.kind is not MoveKind.REMOVE}
    for before, after in zip(asked.bindings, plan.bindings, strict=True):
        assert after.generation - before.generation == (before.cluster in rolled)
        assert not (before.cluster in rolled and has_failed(after, NOW))


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), LIMITS)
def test_percentages_round_up(target: int, ready: int, can_be_ready: int, limit: int | str) -> None:
    asked = request([], max_unavailable=limit, max_surge=limit).rolling_update
    answer = budget(target, asked, Counts(ready=ready, leaving=0, can_be_ready=can_be_ready))
    assert answer.max_to_remove == ready - answer.target + answer.max_unavailable
    assert answer.max_to_add == target + answer.max_surge - can_be_ready
    if isinstance(limit, str):
        assert (answer.max_unavailable - 1) * 100 < int(limit[:-1]) * target <= answer.max_unavailable * 100


def request_with(asked: RolloutRequest, bindings: tuple[Binding, ...]) -> RolloutRequest:
    return replace(asked, bindings=bindings)
