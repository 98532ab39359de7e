"""Picking clusters: what the tables of vectors leave out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitfleet.api.bindings import BindingState
from gitfleet.api.clusters import Taint
from gitfleet.api.placements import PlacementPolicy
from gitfleet.schedule import index_fleet, schedule
from gitfleet.schedule.texts import ScheduleText
from tests.schedule.fleets import (
    CURRENT,
    NOW,
    OLDER,
    binding,
    cluster,
    pick_n,
    request,
    required,
)


def test_what_does_not_change_is_the_same_object() -> None:
    bindings = (binding("a"), binding("b", BindingState.SCHEDULED))
    question = request(PlacementPolicy(), *bindings)
    fleet = index_fleet([cluster("a"), cluster("b")], NOW)
    assert schedule(question, fleet).bindings is question.bindings
    grown = schedule(question, index_fleet([cluster("a"), cluster("b"), cluster("c")], NOW)).bindings
    assert [grown[0] is bindings[0], grown[1] is bindings[1]] == [True, True]


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
