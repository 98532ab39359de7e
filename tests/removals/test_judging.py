"""The removal gate: lists that stay what they were, what people answer, what goes when, and what waits."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.faults import Fault
from gitfleet.api.fleet import FleetConfig, RemovalApproval, RemovalSettings
from gitfleet.api.holds import Hold, HoldRule, Removal, RemovalKind, removals_digest
from gitfleet.api.objects import Manifest
from gitfleet.api.placements import PlacementKey
from gitfleet.api.strategies import DeletePropagation, RollingUpdate, RolloutStrategy
from gitfleet.model.approvals import Verdict
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState
from gitfleet.model.works import Work
from gitfleet.removals import Judgement, JudgeRequest, OrphansMemo, OrphansRequest, judge, orphans_of, recorded_gate
from gitfleet.removals.texts import RemovalsText
from tests.removals.fleets import CLUSTERS, NOW, SHOP, WEB, config_map, fleet, of_object, placed, wanting, with_web
from tests.state.builders import condition

A, B, C, S = (config_map(name) for name in ("a", "b", "c", "s"))
STATE = replace(fleet(placed(WEB, CLUSTERS, A, B, C), placed(SHOP, CLUSTERS, S)), observed_commit="c0")
SHOPS = {SHOP: dict.fromkeys(CLUSTERS, (S,))}
FREE = {"fleet": FleetConfig()}
STRICT = {"fleet": FleetConfig(removals=RemovalSettings(approval=RemovalApproval.ALWAYS))}
LOOSE = {"fleet": FleetConfig(removals=RemovalSettings(approval=RemovalApproval.NEVER))}
LATER = NOW + timedelta(hours=1)
Wants = Mapping[PlacementKey, Mapping[str, Collection[Manifest] | None]]


def web(*manifests: Manifest, clusters: Collection[str] = CLUSTERS) -> Wants:
    """The placement web wants these on clusters; shop all that it has."""
    return {WEB: dict.fromkeys(clusters, manifests), **SHOPS}


def decide(before: FleetState, wants: Wants, commit: str = "c1", **more: Any) -> tuple[FleetState, Judgement]:
    """A commit after which this is wanted, and what the gate says of it; with the state after."""
    config, faults, blobs = more.pop("config", FREE), more.pop("faults", ()), more.pop("blobs", ())
    state = more.pop("state", before)
    desired = Desired(commit=commit, objects={"fleetconfigs": config}, faults=faults, blobs=blobs)
    after = wanting(replace(state, observed_commit=commit), wants)
    orphans, _ = orphans_of(OrphansRequest(state=after, **more.pop("orphans", {})), OrphansMemo())
    request = JudgeRequest(
        desired=desired, before=before, after=after, orphans=orphans, **{"now": NOW, **more}
    )  # fmt: skip
    found = judge(request)
    return replace(after, holds=found.holds, restored=found.restored), found


def goes(found: Judgement, *manifests: Manifest) -> list[str]:
    """Where these may be deleted."""
    return [
        name for name in ("c1", "c2", "c3", "c4")
        if all(found.gate.on(name).permit(one.key.identity) is not None for one in manifests)
    ]  # fmt: skip


def listed(holds: Mapping[str, Hold]) -> list[list[str]]:
    """The names in each list, oldest first."""
    every = sorted(holds.values(), key=lambda hold: (hold.since, hold.name))
    return [[one.object.name if one.object is not None else one.cluster for one in hold.removals] for hold in every]


def said(answer: str, hold: Hold) -> dict[str, Verdict]:
    """An answer to a hold."""
    return {hold.name: Verdict(answer=condition("Approved", answer))}


def only(found: Judgement) -> Hold:
    """The one hold that there is."""
    (one,) = found.holds.values()
    return one


def test_what_no_rule_holds_goes_and_is_on_record_until_it_is_gone() -> None:
    state, found = decide(STATE, web(A, B))
    one = only(found)
    assert (one.commit, one.after, one.since, one.objects, one.waits) == ("c1", "c0", NOW, 2, False)
    assert [(count.cluster, count.objects) for count in one.clusters] == [("c1", 1), ("c2", 1)]
    assert goes(found, C) == ["c1", "c2"] and goes(found, A) == []
    permit = found.gate.on("c1").permit(C.key.identity)
    assert permit is not None and permit.granted_by == one.name
    assert decide(state, web(A, B))[1].holds is state.holds, "nothing changed"
    assert decide(state, web(A, B, C))[1].holds == {}
    assert decide(STATE, web(A, B, C))[1] == Judgement()


def test_a_list_keeps_its_name_and_digest_when_a_part_of_it_is_wanted_again() -> None:
    state, found = decide(STATE, web(A), config=STRICT)
    one = only(found)
    assert one.digest == removals_digest("c1", [of_object(B), of_object(C)])
    assert one.name == f"hold-web-{one.digest[:10]}" and one.waits
    _, less = decide(state, web(A, B), "c2", config=STRICT, now=LATER)
    assert listed(less.holds) == [["c"]]
    left = only(less)
    assert (left.name, left.digest, left.commit, left.since, left.objects) == (one.name, one.digest, "c1", NOW, 2)
    _, other = decide(STATE, web(A), "c9", config=STRICT)
    assert only(other).name != one.name, "an approval of the one is none of the other"


def test_a_later_removal_makes_another_list_and_is_not_covered_by_the_answer_to_the_first() -> None:
    state, found = decide(STATE, web(A, B), config=STRICT)
    first = only(found)
    state, both = decide(state, web(A), "c2", config=STRICT, now=LATER, verdicts=said("True", first))
    assert listed(both.holds) == [["c"], ["b"]]
    assert goes(both, C) and not goes(both, B)
    (second,) = (one for one in both.holds.values() if one.name != first.name)
    assert (second.commit, second.after, second.since) == ("c2", "c1", LATER)
    _, again = decide(state, web(A, B, C), "c3")
    assert again.holds == {}


def test_there_is_one_list_for_each_placement_and_kind_and_one_for_each_cluster_that_leaves() -> None:
    gone = replace(STATE.clusters["c2"], deleting=NOW, delete_propagation_policy=DeletePropagation.DELETE)
    leaves = replace(STATE, clusters={**STATE.clusters, "c2": gone})
    _, found = decide(STATE, {WEB: {"c1": (A,)}, SHOP: {"c1": ()}}, state=leaves)
    assert sorted(name.rpartition("-")[0] for name in found.holds) == ["hold-c2", "hold-shop", "hold-web"]
    assert sorted(listed(found.holds)) == [["b", "c"], ["c2"], ["s"]]
    _, apart = decide(STATE, {WEB: {"c1": (A, B)}, SHOP: {"c1": (S,)}})
    kinds = sorted((str(one.removals[0].kind), str(one.removals[0].placement)) for one in apart.holds.values())
    assert kinds == [("Binding", "shop"), ("Binding", "web"), ("Object", "web")]
    assert goes(apart, A) == goes(apart, B) == ["c2"] and goes(apart, C) == ["c1", "c2"]


@pytest.mark.parametrize(("answer", "gone"), [("True", ["c1"]), ("False", []), ("Unknown", [])])
def test_an_answer_counts_for_every_rule_and_while_it_stands(answer: str, gone: list[str]) -> None:
    error = Fault("clusters/c9.yaml", 1, "", "", "is wrong")
    state, found = decide(STATE, web(), faults=(error,))
    one = only(found)
    assert [reason.rule for reason in one.reasons] == ["CommitHasErrors", "Emptied"]
    state, answered = decide(state, web(), faults=(error,), verdicts=said(answer, one))
    assert goes(answered, A) == gone
    if answer == "False":
        assert found.gate.on("c1").why_held(A.key.identity) == RemovalsText.WAITS_FOR_APPROVAL(
            hold=one.name, rules="CommitHasErrors, Emptied"
        )
        assert answered.gate.on("c1").why_held(A.key.identity) == RemovalsText.WAS_REJECTED(
            hold=one.name, rules="CommitHasErrors, Emptied"
        )
    assert goes(decide(state, web(), faults=(error,))[1], A) == [], "what only the state branch says approves nothing"


def test_an_answer_that_does_not_count_is_said() -> None:
    state, found = decide(STATE, web())
    name = only(found).name
    _, again = decide(state, web(), verdicts={name: Verdict(waits="one more must approve")})
    (answer,) = only(again).conditions
    assert (answer.status, answer.message) == ("Unknown", "one more must approve") and only(again).waits


@pytest.mark.parametrize(
    ("faults", "blobs", "written", "config", "rules"),
    [
        ((), (), (), FREE, []),
        ((Fault("a.yaml", 1, "", "", "x"),), (), (), FREE, ["CommitHasErrors"]),
        ((Fault("resources/a.yaml", 1, "ConfigMap/other/x", "", "x"),), (), (), FREE, []),
        ((), ("blob",), (), FREE, ["StillInRepo"]),
        ((), (), (C.key.identity,), FREE, ["StillInRepo"]),
        ((Fault("a.yaml", 1, "", "", "x"),), ("blob",), (), FREE, ["CommitHasErrors", "StillInRepo"]),
        ((Fault("a.yaml", 1, "", "", "x"),), ("blob",), (), LOOSE, ["CommitHasErrors"]),
    ],
)
def test_what_ends_by_itself_is_judged_at_every_decision(
    faults: tuple[Fault, ...], blobs: tuple[str, ...], written: Any, config: Any, rules: list[str]
) -> None:
    before = replace(STATE, removal_settings=config["fleet"].removals)
    state, found = decide(before, web(A, B), config=config, faults=faults, blobs=blobs, written=written)
    assert only(found).removals[0].rules == tuple(rules) and only(found).waits is bool(rules)
    assert goes(found, C) == ([] if rules else ["c1", "c2"])
    state, later = decide(state, web(A, B), "c2", config=config)
    assert not only(later).waits and goes(later, C) == (["c1"] if rules else ["c1", "c2"])
    _, back = decide(state, web(A, B), "c3", config=config, faults=faults, blobs=blobs, written=written)
    assert only(back).removals[0].rules == tuple(rules) and goes(back, C) == ([] if rules else ["c1", "c2"])


def test_an_object_of_one_cluster_waits_for_an_error_and_its_list_goes_on() -> None:
    """Two objects in two namespaces, one of which has an error."""
    x, y = config_map("x", "one"), config_map("y", "two")
    state = fleet(placed(WEB, CLUSTERS, A, x, y))
    _, found = decide(
        state, {WEB: dict.fromkeys(CLUSTERS, (A,))}, faults=(Fault("resources/x.yaml", 1, "ConfigMap/one/z", "", "x"),)
    )
    assert goes(found, x) == [] and goes(found, y) == ["c1", "c2"]


def test_what_was_judged_once_lasts_whatever_the_settings_become() -> None:
    state, _ = decide(STATE, web(A, B), config=STRICT)
    _, found = decide(state, web(A, B), "c2", config=LOOSE)
    assert only(found).removals[0].rules == (HoldRule.APPROVAL_REQUIRED,) and not goes(found, C)


def test_orphans_that_nobody_approved_count_until_they_are_gone() -> None:
    """Three of ten in one commit are few; with one more in the next one it is too much."""
    every = [config_map(f"o{number}") for number in range(10)]
    state = fleet(placed(WEB, ("c1",), *every))
    config = {"fleet": FleetConfig(removals=RemovalSettings(min_objects=10))}
    state, few = decide(state, {WEB: {"c1": every[3:]}}, config=config)
    assert goes(few, *every[:3]) == ["c1"]
    _, found = decide(state, {WEB: {"c1": every[4:]}}, "c2", config=config, now=LATER)
    assert goes(found, every[0]) == ["c1"] and goes(found, every[3]) == []
    _, approved = decide(
        state, {WEB: {"c1": every[4:]}}, "c2", config=config, now=LATER, verdicts=said("True", only(few))
    )
    assert goes(approved, every[3]) == ["c1"]


def test_a_restored_state_holds_everything_until_a_person_approves_that() -> None:
    restored = replace(STATE, restored="abc")
    requested = {"newest": lambda *_: {C.key.identity}}
    state, found = decide(restored, web(A, B), orphans=requested)
    one = only(found)
    assert (one.reasons[0].rule, one.commit, one.removals) == (HoldRule.STATE_RESTORED, "c1", ())
    assert goes(found, C) == [] and found.restored == "abc" and one.waits
    state, still = decide(state, web(A), "c2", orphans=requested, now=LATER)
    assert still.holds[one.name].commit == "c1" and goes(still, B) == goes(still, C) == []
    assert len(still.holds) == 2, "what is dropped has its own list"
    _, list_alone = decide(state, web(A), "c2", verdicts={
        name: Verdict(answer=condition("Approved")) for name in state.holds if name != one.name
    })  # fmt: skip
    assert goes(list_alone, B) == [], "an approval of a list is none of the state"
    _, free = decide(state, web(A), "c2", orphans=requested, verdicts=said("True", one))
    assert free.restored == "" and goes(free, C) == ["c1", "c2"] and one.name not in free.holds
    assert decide(restored, web(A, B, C))[1].holds.keys() == {one.name}, "even when nothing is to go"


def with_pace(state: FleetState, most: str | int) -> FleetState:
    """The placement web with another maxUnavailable."""
    strategy = RolloutStrategy(rolling_update=RollingUpdate(max_unavailable=most))
    record = state.placements[WEB]
    return with_web(state, replace(record, placement=replace(record.placement, strategy=strategy)))


def has(*clusters: str) -> dict[str, tuple[Work, ...]]:
    """On these clusters the work has c still: it is not their turn yet."""
    return {
        name: (Work(placement=WEB, cluster=name, generation=1, snapshot="s", manifests=(A, B, C)),) for name in clusters
    }


FOUR = ("c1", "c2", "c3", "c4")


@pytest.mark.parametrize(
    ("most", "works", "left_out", "first"),
    [
        (1, {}, (), ["c1"]),
        (2, {}, (), ["c1", "c2"]),
        ("75%", {}, (), ["c1", "c2", "c3"]),
        ("1%", {}, (), ["c1"]),
        (2, has("c1", "c3"), (), ["c2", "c4"]),
        (1, has("c1", "c2", "c3", "c4"), (), []),
        (1, {}, ("c1",), ["c2"]),
    ],
)
def test_an_approved_list_goes_from_a_few_clusters_at_a_time(
    most: str | int, works: Any, left_out: tuple[str, ...], first: list[str]
) -> None:
    """Of those whose turn has come in the rollout; one that nobody needed to approve goes with that turn alone."""
    state = with_pace(replace(fleet(placed(WEB, FOUR, A, B, C)), left_out=left_out), most)
    wants: Wants = {WEB: dict.fromkeys(FOUR, (A, B))}
    state, found = decide(state, wants, config=STRICT, works=works)
    assert goes(found, C) == []
    _, approved = decide(state, wants, config=STRICT, works=works, verdicts=said("True", only(found)))
    assert goes(approved, C) == first
    waits = approved.gate.on(FOUR[-1]).held.get(C.key.identity)
    assert waits is None or waits == RemovalsText.NEXT_CLUSTERS()
    _, unheld = decide(replace(state, holds={}), wants, works=works)
    assert goes(unheld, C) == list(FOUR)


def test_a_cluster_that_leaves_goes_as_a_whole_once_that_is_approved() -> None:
    gone = replace(STATE.clusters["c2"], deleting=NOW, delete_propagation_policy=DeletePropagation.DELETE)
    leaves = replace(STATE, clusters={**STATE.clusters, "c2": gone})
    state, found = decide(leaves, web(A, B, C))
    assert listed(found.holds) == [["c2"]] and [reason.rule for reason in only(found).reasons] == ["Emptied"]
    assert goes(found, A) == []
    _, approved = decide(state, web(A, B, C), verdicts=said("True", only(found)))
    assert goes(approved, A, B, C, S) == ["c2"]


def test_a_dropped_object_that_waits_also_waits_on_a_cluster_that_leaves() -> None:
    """Whatever the settings have become: what nobody approved stays, and the rest of the cluster goes."""
    state, found = decide(STATE, web(A, B), config=STRICT)
    hold = only(found)
    gone = replace(STATE.clusters["c2"], deleting=NOW, delete_propagation_policy=DeletePropagation.DELETE)
    loose = RemovalSettings(approval=RemovalApproval.NEVER)
    state = replace(state, clusters={**state.clusters, "c2": gone}, removal_settings=loose)
    for verdict, may_go in ((said("False", hold), False), (said("True", hold), True)):
        after, judged = decide(state, web(A, B), config=LOOSE, verdicts=verdict, now=LATER)
        assert ("c2" in goes(judged, A), bool(goes(judged, C))) == (True, may_go)  # C from one cluster at a time
        recorded = recorded_gate(judged.holds, orphans_of(OrphansRequest(state=after), OrphansMemo())[0])
        assert (C.key.identity in recorded.on("c2").held) is not may_go
    _, wanted_again = decide(state, web(A, B, C), config=LOOSE)
    assert "c2" in goes(wanted_again, A, B, C) and hold.name not in wanted_again.holds


def of_release_2(kind: RemovalKind, **names: Any) -> Hold:
    """A hold as it is read from a state branch of release 2."""
    asks = (HoldRule.APPROVAL_REQUIRED,)
    removal = Removal(kind=kind, judged=asks, rules=asks, **names)
    return Hold(name="hold-old", commit="c0", since=NOW, digest="old", removals=(removal,))


@pytest.mark.parametrize(
    ("hold", "held"),
    [
        (of_release_2(RemovalKind.OBJECT, placement=WEB, object=C.key), ["c"]),
        (of_release_2(RemovalKind.OVERRIDDEN, placement=WEB, cluster="c1", object=C.key), ["c"]),
        (of_release_2(RemovalKind.PLACEMENT, placement=WEB), ["b", "c"]),
        (of_release_2(RemovalKind.PLACEMENT, placement=SHOP), []),
        (of_release_2(RemovalKind.STRATEGY, placement=WEB), []),
        (of_release_2(RemovalKind.BINDING, placement=WEB, cluster="c1"), []),
    ],
)
def test_a_hold_of_release_2_holds_what_it_names_until_it_is_approved(hold: Hold, held: list[str]) -> None:
    before = replace(STATE, holds={hold.name: hold})
    state, found = decide(before, web(A))
    for one in (B, C):
        assert goes(found, one) == ([] if one.key.name in held else ["c1", "c2"])
    assert (hold.name in found.holds) is bool(held)
    if held:
        assert found.holds[hold.name].waits
        _, approved = decide(state, web(A), verdicts=said("True", hold))
        assert goes(approved, C) == ["c1"]


def test_the_gate_that_a_state_has_on_record_is_that_of_the_pass_before() -> None:
    state, found = decide(STATE, web(A), config=STRICT)
    orphans, _ = orphans_of(OrphansRequest(state=state), OrphansMemo())
    for holds, by in ((found.holds, None), ({}, "requested")):
        permit = recorded_gate(holds, orphans).on("c1").permit(B.key.identity)
        assert (None if permit is None else permit.granted_by) == by
    free = decide(STATE, web(A))[1].holds
    permit = recorded_gate(free, orphans).on("c1").permit(B.key.identity)
    assert permit is not None and permit.granted_by in free
