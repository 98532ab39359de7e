"""What decides between equals, and what an earlier cycle of one chain, or an earlier policy, leaves behind."""

from __future__ import annotations

import pytest

from gitfleet.api.bindings import BindingState
from gitfleet.api.clusters import MemberCluster
from gitfleet.schedule import Cycle, SchedulerPlugin, Score, index_fleet, schedule
from tests.schedule.fleets import NOW, OLDER, binding, cluster, pick_n, request
from tests.schedule.test_plugins import profile_with

THREE = index_fleet([cluster(name) for name in "abc"], NOW)


def test_of_equals_the_largest_name_is_picked() -> None:
    assert [b.cluster for b in schedule(request(pick_n(1)), THREE).bindings] == ["c"]


class OneByOne(SchedulerPlugin):
    """Picks one cluster in each cycle, those of `order` first."""

    name = "OneByOne"

    def __init__(self, order: str) -> None:
        self.order = order

    def post_batch(self, cycle: Cycle, size: int) -> int:
        return 1

    def score(self, cycle: Cycle, cluster: MemberCluster) -> Score:
        return Score(affinity=100 - 10 * self.order.index(cluster.name) if cluster.name in self.order else 0)


@pytest.mark.parametrize("state", [BindingState.BOUND, BindingState.SCHEDULED])
def test_what_an_earlier_cycle_gave_up_and_a_later_one_picked_was_never_given_up(state: BindingState) -> None:
    old = binding("a", state, OLDER, generation=7)
    answer = schedule(request(pick_n(2), old), THREE, profile_with(OneByOne("ba")))
    (kept,) = (b for b in answer.bindings if b.cluster == "a")
    assert answer.cycles == 2
    assert (kept.state, kept.generation, kept.previous_state) == (state, 7, None)
    assert [b.cluster for b in answer.bindings] == ["a", "b"]


def test_what_was_given_up_in_an_earlier_cycle_wins_no_tie() -> None:
    """From the second cycle on an older policy's clusters are candidates like any other."""
    answer = schedule(request(pick_n(2), binding("a", BindingState.BOUND, OLDER)), THREE, profile_with(OneByOne("b")))
    assert [b.cluster for b in answer.bindings if b.state is not BindingState.UNSCHEDULED] == ["b", "c"]


def test_a_second_binding_on_one_cluster_is_carried_along() -> None:
    """It should not be; it is never lost, since somebody has to clear what it placed."""
    twice = (binding("a", BindingState.BOUND), binding("a", BindingState.BOUND, generation=2))
    answer = schedule(request(pick_n(1), *twice), THREE)
    assert sorted(b.generation for b in answer.bindings if b.cluster == "a") == [1, 2]
