"""What must hold for every fleet, policy and history."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

from hypothesis import assume, given
from hypothesis import strategies as st

from gitfleet.api.bindings import Binding, BindingState
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.placements import PlacementPolicy
from gitfleet.schedule import DEFAULT_PROFILE, explain, index_fleet, schedule, schedule_key
from gitfleet.schedule.builtin import DEFAULT_PLUGINS
from tests.schedule.fleets import NOW, PLAIN_PROFILE, cluster, fleets, histories, pick_n, policies, request, spread

HELD = (BindingState.SCHEDULED, BindingState.BOUND)


@given(fleets(), policies(), histories())
def test_judging_the_whole_fleet_equals_judging_one_by_one(
    fleet: list[MemberCluster], policy: PlacementPolicy, history: tuple[Binding, ...]
) -> None:
    index = index_fleet(fleet, NOW)
    assert schedule(request(policy, *history), index) == schedule(request(policy, *history), index, PLAIN_PROFILE)


@given(fleets(), policies(), histories(), st.integers(0, 999))
def test_the_order_of_clusters_and_bindings_does_not_matter(
    fleet: list[MemberCluster], policy: PlacementPolicy, history: tuple[Binding, ...], seed: int
) -> None:
    shuffled_fleet, shuffled_history = list(fleet), list(history)
    Random(seed).shuffle(shuffled_fleet)
    Random(seed).shuffle(shuffled_history)
    answer = schedule(request(policy, *history), index_fleet(fleet, NOW))
    assert schedule(request(policy, *history), index_fleet(shuffled_fleet, NOW)) == answer
    other = schedule(request(policy, *shuffled_history), index_fleet(shuffled_fleet, NOW))
    # The decisions on clusters that are held already are listed in the order in which their bindings were listed.
    assert replace(other, decisions=()) == replace(answer, decisions=())
    assert set(other.decisions) == set(answer.decisions)


@given(fleets(), policies(), histories())
def test_a_cluster_is_never_held_twice_and_no_binding_is_lost(
    fleet: list[MemberCluster], policy: PlacementPolicy, history: tuple[Binding, ...]
) -> None:
    answer = schedule(request(policy, *history), index_fleet(fleet, NOW))
    live = Counter(each.cluster for each in answer.bindings if each.deleting is None)
    assert max(live.values(), default=0) <= 1
    assert {each.name for each in history} <= {each.name for each in answer.bindings}
    assert [each for each in answer.bindings if each.deleting] == [each for each in history if each.deleting]


@given(fleets(), policies(), histories())
def test_scheduling_again_changes_nothing(
    fleet: list[MemberCluster], policy: PlacementPolicy, history: tuple[Binding, ...]
) -> None:
    index = index_fleet(fleet, NOW)
    first = schedule(request(policy, *history), index)
    again = schedule(request(policy, *first.bindings), index)
    assert again.bindings is first.bindings or again.bindings == first.bindings
    assert (again.fulfilled, again.reason, again.message) == (first.fulfilled, first.reason, first.message)


@given(fleets(), policies(), histories())
def test_the_generation_is_raised_exactly_when_the_state_changes(
    fleet: list[MemberCluster], policy: PlacementPolicy, history: tuple[Binding, ...]
) -> None:
    answer = schedule(request(policy, *history), index_fleet(fleet, NOW))
    before = {(each.cluster, each.deleting): each for each in history}
    for after in answer.bindings:
        old = before.get((after.cluster, after.deleting))
        if old is None:
            assert (after.state, after.generation) == (BindingState.SCHEDULED, 1)
        else:
            assert after.generation == old.generation + (after.state is not old.state)
            assert (after.previous_state is not None) == (after.state is BindingState.UNSCHEDULED)


@given(fleets(), policies(), histories(), st.sampled_from([{}, {"zone": "a", "env": "b"}, {"zone": "new"}]))
def test_a_new_cluster_that_cannot_be_picked_changes_no_binding(
    fleet: list[MemberCluster], policy: PlacementPolicy, history: tuple[Binding, ...], labels: dict[str, str]
) -> None:
    settled = schedule(request(policy, *history), index_fleet(fleet, NOW)).bindings
    grown = index_fleet([*fleet, cluster("zz", labels, status=None)], NOW)
    after = {(each.name, each.deleting): each for each in schedule(request(policy, *settled), grown).bindings}
    assert [after[each.name, each.deleting] for each in settled] == list(settled)


@given(fleets(plain=True), st.integers(0, 12), st.sampled_from(["zone", "rack"]), st.integers(1, 3))
def test_spread_is_never_worse_than_a_hard_constraint(
    fleet: list[MemberCluster], count: int, key: str, max_skew: int
) -> None:
    policy = pick_n(count, topology_spread_constraints=(spread(key, max_skew),))
    answer = schedule(request(policy), index_fleet(fleet, NOW))
    domains = {each.name: each.labels[key] for each in fleet if key in each.labels}
    counts = Counter(dict.fromkeys(domains.values(), 0))
    counts.update(domains[each.cluster] for each in answer.bindings if each.cluster in domains)
    assert max(counts.values(), default=0) - min(counts.values(), default=0) <= max_skew
    package = {each.name for each in fleet} - {each.cluster for each in answer.bindings}
    if answer.fulfilled is False:
        lowest = min(counts.values(), default=0)
        assert all(name in domains and counts[domains[name]] > lowest for name in package)


@given(fleets(), policies(), histories())
def test_every_cluster_has_a_verdict_that_agrees_with_the_bindings(
    fleet: list[MemberCluster], policy: PlacementPolicy, history: tuple[Binding, ...]
) -> None:
    index = index_fleet(fleet, NOW)
    answer = schedule(request(policy, *history), index)
    verdicts = {each.cluster: each for each in explain(request(policy, *history), index)}
    assert set(verdicts) >= {each.name for each in fleet}
    held = {each.cluster for each in answer.bindings if each.deleting is None and each.state in HELD}
    assert {name for name, verdict in verdicts.items() if verdict.selected} == held & set(verdicts)
    for verdict in verdicts.values():
        assert verdict.selected or verdict.reason


@given(fleets(), policies(), histories(), fleets())
def test_an_index_carried_on_equals_a_new_one(
    fleet: list[MemberCluster], policy: PlacementPolicy, history: tuple[Binding, ...], later: list[MemberCluster]
) -> None:
    first = index_fleet(fleet, NOW)
    schedule(request(policy, *history), first)  # so that there are columns to carry on
    carried, fresh = index_fleet(later, NOW, first), index_fleet(later, NOW)
    assert schedule(request(policy, *history), carried) == schedule(request(policy, *history), fresh)


@given(
    fleets().filter(bool),
    policies(),
    histories(),
    st.integers(0, 11),
    st.dictionaries(st.sampled_from(["zone", "env", "rack", "unused"]), st.sampled_from("abc"), max_size=3),
)
def test_the_same_key_means_the_same_bindings(
    fleet: list[MemberCluster], policy: PlacementPolicy, history: tuple[Binding, ...], at: int, labels: dict[str, str]
) -> None:
    edited = list(fleet)
    edited[at % len(fleet)] = replace(edited[at % len(fleet)], labels=labels)
    index, changed = index_fleet(fleet, NOW), index_fleet(edited, NOW)
    settled = request(policy, *schedule(request(policy, *history), index).bindings)
    assume(schedule_key(settled, index) == schedule_key(settled, changed))
    assert schedule(settled, changed).bindings == settled.bindings


def test_the_default_profile_has_every_built_in_plugin_once() -> None:
    assert [entry.plugin for entry in DEFAULT_PROFILE.entries] == list(DEFAULT_PLUGINS)
