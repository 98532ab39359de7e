"""Picking clusters: what the tables of vectors leave out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitfleet.api.bindings import Binding, BindingState, ClusterDecision, ClusterScore
from gitfleet.api.clusters import Taint
from gitfleet.api.placements import PlacementPolicy
from gitfleet.schedule import index_fleet, schedule
from gitfleet.schedule.texts import ScheduleText
from tests.schedule.fleets import (
    CURRENT,
    NOW,
    OLDER,
    WEB,
    binding,
    cluster,
    pick_n,
    request,
    required,
    spread,
)


def test_a_new_binding_whole() -> None:
    answer = schedule(request(PlacementPolicy()), index_fleet([cluster("a")], NOW))
    decision = ClusterDecision(
        cluster="a",
        selected=True,
        score=ClusterScore(0, 0),
        reason=ScheduleText.SUCCESSFULLY_SCHEDULED_RESOURCES_PLACEMENT(
            cluster="a", scores=ScheduleText.AFFINITY_SCORE_TOPOLOGY_SPREAD_SCORE(affinity="0", topology_spread="0")
        ),
    )
    made = Binding(placement=WEB, cluster="a", state=BindingState.SCHEDULED, policy_snapshot=CURRENT, decision=decision)
    assert answer.bindings == (made,)
    assert answer.decisions == (decision,)
    assert answer.message == ScheduleText.FOUND_ALL_CLUSTER_NEEDED_SPECIFIED(found="1")


def test_giving_up_and_taking_up_again_raise_the_generation() -> None:
    held = binding("a", BindingState.BOUND, generation=3)
    (given_up,) = schedule(request(PlacementPolicy(), held), index_fleet([], NOW)).bindings
    assert (given_up.state, given_up.previous_state, given_up.generation) == (
        BindingState.UNSCHEDULED,
        BindingState.BOUND,
        4,
    )
    (again,) = schedule(request(PlacementPolicy(), given_up), index_fleet([cluster("a")], NOW)).bindings
    assert (again.state, again.previous_state, again.generation) == (BindingState.BOUND, None, 5)


def test_a_deleting_binding_is_left_alone_and_does_not_count() -> None:
    gone = binding("a", deleting=NOW)
    answer = schedule(request(pick_n(1), gone), index_fleet([cluster("a")], NOW))
    assert answer.bindings[0] is gone
    assert [each.state for each in answer.bindings] == [BindingState.BOUND, BindingState.SCHEDULED]
    assert answer.fulfilled is True


def test_what_does_not_change_is_the_same_object() -> None:
    bindings = (binding("a"), binding("b", BindingState.SCHEDULED))
    question = request(PlacementPolicy(), *bindings)
    fleet = index_fleet([cluster("a"), cluster("b")], NOW)
    assert schedule(question, fleet).bindings is question.bindings
    grown = schedule(question, index_fleet([cluster("a"), cluster("b"), cluster("c")], NOW)).bindings
    assert [grown[0] is bindings[0], grown[1] is bindings[1]] == [True, True]


def test_an_existing_skew_heals() -> None:
    fleet = index_fleet([cluster(name, {"zone": name[0]}) for name in ("a1", "a2", "a3", "b1", "b2", "b3")], NOW)
    held = [binding(name) for name in ("a1", "a2", "a3")]
    policy = pick_n(6, topology_spread_constraints=(spread("zone"),))
    answer = schedule(request(policy, *held), fleet)
    assert (answer.fulfilled, answer.cycles) == (True, 3)


def test_what_is_no_plugin_s_fault_is_raised_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitfleet.schedule.pick.refused_in", {}.__getitem__)  # a defect behind the last plug-in
    with pytest.raises(TypeError):
        schedule(request(PlacementPolicy()), index_fleet([cluster("a")], NOW))


NAMED = {"affinity": required({"env": "prod"})}
TAINTED = (Taint("k", "v", "NoSchedule"),)
NOT_MATCHED = ScheduleText.CLUSTER_UNSCHEDULABLE(why=ScheduleText.CLUSTER_NOT_MATCH_ANY_REQUIRED())
NOT_TOLERATED = ScheduleText.CLUSTER_UNSCHEDULABLE(
    why=ScheduleText.TAINT_KEY_VALUE(taint="k", taint_2="v", effect="NoSchedule")
)


def test_a_cluster_that_is_held_already_is_no_refusal() -> None:
    """What is held is said to be held, never refused."""
    members = [
        cluster("a", {"env": "prod"}),
        cluster("b", {"env": "dev"}),
        cluster("c", {"env": "prod"}),
        cluster("d", {"env": "prod"}, taints=TAINTED),
        cluster("e", {"env": "prod"}, deleting=NOW),
    ]
    held, older = binding("a"), binding("c", BindingState.SCHEDULED, OLDER)
    answer = schedule(request(pick_n(4, **NAMED), held, older), index_fleet(members, NOW))
    patched = replace(older, policy_snapshot=CURRENT, decision=answer.decisions[0])
    assert answer.bindings == (held, patched)
    assert [(one.cluster, one.selected, one.refused_by, one.reason) for one in answer.decisions[1:]] == [
        ("a", True, None, ""),
        ("b", False, "ClusterAffinity", NOT_MATCHED),
        ("d", False, "TaintToleration", NOT_TOLERATED),
        ("e", False, "ClusterEligibility", (ScheduleText.CLUSTER_UNSCHEDULABLE(why=ScheduleText.CLUSTER_LEFT_FLEET()))),
    ]
    enough = schedule(request(pick_n(1, **NAMED), held, older), index_fleet(members, NOW))
    assert (enough.bindings[0], enough.bindings[1].state) == (held, BindingState.UNSCHEDULED)
