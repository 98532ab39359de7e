"""Deciding with holds: what is decided again, with what kept, and which holds stand behind it. The decision itself is
given: what a commit would leave of the placement web."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from gitfleet.api.faults import Severity
from gitfleet.api.fleet import ApprovalPolicy, FleetConfig, MassDelete
from gitfleet.api.freeze_files import FREEZES, Freeze
from gitfleet.api.freezes import FreezeScope
from gitfleet.api.holds import Hold, HoldReason, HoldRule, Removal, RemovalKind
from gitfleet.api.labels import LabelSelector
from gitfleet.api.objects import Manifest, Origin
from gitfleet.api.pins import Pin
from gitfleet.api.placements import PlacementKey, ResourceSelector
from gitfleet.api.quarantines import Quarantine
from gitfleet.api.staged import Approval
from gitfleet.api.values import NamespacedName
from gitfleet.errors import GiveUp
from gitfleet.model.approvals import ApprovalCommit, ApprovalFacts
from gitfleet.model.decisions import Decision, Inputs
from gitfleet.model.desired import Desired
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.reconcile.holds import decide_with_holds
from gitfleet.removals import Kept
from tests.reconcile.test_evictions import of
from tests.removals.fleets import (
    CLUSTERS,
    SHOP,
    WEB,
    config_map,
    fleet,
    hold,
    of_cluster,
    of_object,
    placed,
    unpicked,
    with_objects,
)
from tests.rollout.builders import NOW
from tests.state.builders import condition
from tests.works.builders import override, rule

A, B, C = config_map("a"), config_map("b"), config_map("c")
SHOPS = placed(SHOP, CLUSTERS, config_map("s", "shop"))
WEBS = placed(WEB, CLUSTERS, A, B, C)
BY_NAME = tuple(ResourceSelector(group="", version="v1", kind="ConfigMap", name=name) for name in "abc")
WEBS = replace(WEBS, placement=replace(WEBS.placement, selectors=BY_NAME))
BEFORE = replace(fleet(WEBS, SHOPS), observed_commit="c")
FEW = FleetConfig(mass_delete=MassDelete(max_percent=1))
Decide = Callable[[Kept], tuple[Decision, int, Kept]]


def inputs(*holds: Hold, before: FleetState = BEFORE, **more: Any) -> Inputs:
    """A commit of a fleet in which few objects may go at once, and the holds that there were."""
    config, answer = more.pop("config", FEW), more.pop("answers", None)
    approvals = answers("h", answer) if answer else {}
    wanted = Desired(commit="d", objects={"fleetconfigs": {"fleet": config}, **approvals}, payload=(A, B, C))
    there = replace(before, holds={one.name: one for one in holds})
    return Inputs(desired=wanted, before=there, observations={}, now=NOW, **more)


def leaving(
    given: Inputs, calls: list[Kept], *left: Manifest, obeys: bool = True, failed: Iterable[Failure] = ()
) -> Decide:
    """What decides that web has these objects left, and those that are kept."""

    def decide(kept: Kept) -> tuple[Decision, int, Kept]:
        calls.append(kept)
        identities = kept.objects.get(WEB, frozenset()) if obeys else frozenset()
        back = [m for m in (A, B, C) if m in left or m.key.identity in identities]
        gone = frozenset(i for i in identities if i not in {m.key.identity for m in left})
        after = replace(with_objects(given.before, *back), observed_commit="d")
        decision = Decision(inputs=given, after=after, failures=tuple(failed))
        return decision, len(calls), replace(kept, objects={WEB: gone} if gone else {})

    return decide


def held(*manifests: Manifest, name: str = "h", answer: str | None = None) -> Hold:
    """A hold of some objects of web, and how it was answered."""
    conditions = (condition("Approved", answer),) if answer else ()
    return hold(name, [of_object(one) for one in manifests], "why", conditions=conditions)


def ids(holds: Iterable[Hold]) -> list[list[str]]:
    """The names of the objects in each hold."""
    return [[r.object.name if r.object else r.cluster for r in one.removals] for one in holds]


def asked(calls: list[Kept]) -> list[list[str]]:
    """The names of the objects that were to be kept in each call."""
    return [sorted(name for *_, name in kept.objects.get(WEB, ())) for kept in calls]


def test_a_commit_that_removes_nothing_is_decided_once() -> None:
    given, calls = inputs(), list[Kept]()
    decision, memo = decide_with_holds(given, leaving(given, calls, A, B, C))
    assert (memo, calls) == (1, [Kept()])
    assert decision.after.holds is given.before.holds
    assert decision.after.faults == ()


def test_what_a_commit_may_not_remove_is_decided_again_with_that_kept() -> None:
    given, calls = inputs(), list[Kept]()
    decision, memo = decide_with_holds(given, leaving(given, calls, A))
    assert (memo, asked(calls)) == (2, [[], ["b", "c"]])
    ((name, one),) = decision.after.holds.items()
    assert (one.name, one.commit, one.after, one.since) == (name, "d", "c", NOW)
    assert ids([one]) == [["b", "c"]]
    assert one.objects == 4 and [(count.cluster, count.objects) for count in one.clusters] == [("c1", 2), ("c2", 2)]
    first = inputs(before=replace(BEFORE, observed_commit=None))
    (one,) = decide_with_holds(first, leaving(first, [], A))[0].after.holds.values()
    assert one.after == ""


def test_a_hold_waits_beside_a_new_one_and_is_the_same_while_nothing_changes() -> None:
    given, calls = inputs(), list[Kept]()
    (first,) = decide_with_holds(given, leaving(given, calls, B, C))[0].after.holds.values()
    given, calls = inputs(first), []
    decision, memo = decide_with_holds(given, leaving(given, calls, B, C))
    assert (memo, asked(calls)) == (1, [["a"]])
    assert decision.after.holds is given.before.holds, "it says the same"
    decision, memo = decide_with_holds(given, leaving(given, calls := [], C))
    assert (memo, asked(calls)) == (2, [["a"], ["a", "b"]])
    assert sorted(ids(decision.after.holds.values())) == [["a"], ["b"]]
    assert list(decision.after.holds) == sorted(decision.after.holds)
    assert decision.after.holds is not given.before.holds
    decision, _ = decide_with_holds(given, leaving(given, [], A, B, C))
    assert decision.after.holds == {}, "the commit took it back"


def test_what_only_the_next_decision_removes_is_held_beside_the_first() -> None:
    given, calls = inputs(), list[Kept]()

    def decide(kept: Kept) -> tuple[Decision, int, Kept]:
        """Without b; with it, without c."""
        identities = kept.objects.get(WEB, frozenset())
        calls.append(kept)
        gone = next((one for one in (B, C) if one.key.identity not in identities), None)
        after = with_objects(given.before, *(one for one in (A, B, C) if one is not gone))
        return Decision(inputs=given, after=after), len(calls), kept

    decision, memo = decide_with_holds(given, decide)
    assert (memo, asked(calls)) == (3, [[], ["b"], ["b", "c"]])
    assert sorted(ids(decision.after.holds.values())) == [["b"], ["c"]]
    assert [kept.unwritten for kept in calls] == [{}] * 3, "they stand in files"


def test_what_overrides_newly_delete_is_asked_about_until_it_is_kept() -> None:
    given, calls = inputs(), list[Kept]()
    gone = tuple(deleted(one, name) for name in CLUSTERS for one in (A, B, C))

    def decide(kept: Kept) -> tuple[Decision, int, Kept]:
        calls.append(kept)
        return Decision(inputs=given, after=given.before, deletions=gone), len(calls), kept

    decision, memo = decide_with_holds(given, decide)
    assert memo == 2 and [sorted(kept.overridden.get(WEB, {})) for kept in calls] == [[], ["c1", "c2"]]
    assert ids(decision.after.holds.values()) == [["a", "a", "b", "b", "c", "c"]]


def test_what_an_override_takes_besides_counts_once() -> None:
    """Another placement selects an object that leaves, but where an override takes it from that one."""
    both = placed(SHOP, CLUSTERS, config_map("s", "shop"), B)
    given = inputs(before=replace(fleet(WEBS, both), observed_commit="c"))
    takes = override("gone", B, rule(delete=True), ns="web")

    def decide(kept: Kept) -> tuple[Decision, int, Kept]:
        decision, count, kept = leaving(given, [], A)(kept)
        return replace(decision, overrides=(takes,)), count, kept

    for deciding, objects in ((leaving(given, [], A), 2), (decide, 4)):
        (one,) = decide_with_holds(given, deciding)[0].after.holds.values()
        assert one.objects == objects
    alone = placed(SHOP, CLUSTERS, config_map("s", "shop"), B, C)
    given = inputs(before=replace(fleet(WEBS, alone), observed_commit="c"))
    assert decide_with_holds(given, leaving(given, [], A))[0].after.holds == {}, "nothing is lost"
    assert ids(decide_with_holds(given, decide)[0].after.holds.values()) == [["b"]]


@pytest.mark.parametrize(("holds", "counted"), [((), ""), ((held(B),), ", and 4 with what is held already")])
def test_what_is_held_counts_with_what_goes_beside_it(holds: tuple[Hold, ...], counted: str) -> None:
    few = MassDelete(max_percent=30, min_objects=1)
    given = inputs(*holds, config=FleetConfig(mass_delete=few), before=replace(BEFORE, mass_delete=few))
    decision, _ = decide_with_holds(given, leaving(given, [], C, *(() if holds else (B,))))
    (new,) = (one for name, one in decision.after.holds.items() if name != "h")
    assert ids([new]) == [["a"]] and new.reasons[0].message == (
        f"the commit removes 2 of the 6 objects that placement web has, from 2 clusters{counted} (more than 30%)"
    )


def test_what_comes_back_with_less_than_was_held_is_asked_about_as_before() -> None:
    """The whole placement was to go; now it is in the repo again, without a."""
    whole = Removal(kind=RemovalKind.PLACEMENT, placement=WEB)
    given, calls = inputs(hold("h", [whole], "why")), list[Kept]()

    def decide(kept: Kept) -> tuple[Decision, int, Kept]:
        decision, count, left = leaving(given, calls, B, C)(kept)
        return decision, count, replace(left, placements=frozenset())

    (one,) = decide_with_holds(given, decide)[0].after.holds.values()
    assert ids([one]) == [["a"]] and "why; asked already, and not answered, by h" in [r.message for r in one.reasons]


def test_what_goes_in_spite_of_a_hold_ends_the_pass() -> None:
    given = inputs(held(B))
    with pytest.raises(GiveUp, match=r"^the removal of .* is held and would happen all the same$"):
        decide_with_holds(given, leaving(given, [], A, C, obeys=False))


@pytest.mark.parametrize(("evicted", "waits"), [("c2", []), ("c1", ["c2"]), (None, ["c2"])])
def test_what_a_person_evicted_is_not_asked_about(evicted: str | None, waits: list[str]) -> None:
    """The last cluster of a placement goes."""
    given = inputs(before=unpicked(BEFORE, "c1"))
    executed = condition("Executed", "True", "ClusterResourcePlacementEvictionExecuted")
    done = {"e": replace(of("e", cluster=evicted), conditions=(executed,))} if evicted else {}
    calls: list[Kept] = []

    def decide(kept: Kept) -> tuple[Decision, int, Kept]:
        calls.append(kept)
        after = given.before if kept.bindings else unpicked(given.before, "c2")
        return Decision(inputs=given, after=replace(after, evictions=done)), len(calls), kept

    decision, _ = decide_with_holds(given, decide)
    assert ids(decision.after.holds.values()) == ([waits] if waits else [])
    assert [sorted(kept.bindings) for kept in calls] == ([[], [WEB]] if waits else [[]])


def answers(name: str, status: str) -> dict[str, Any]:
    """An approval of a hold, as a file says it."""
    key = NamespacedName("", name)
    place = Origin(f"approvals/{name}.yaml", 1)
    return {"approvals": {key: Approval(key=key, conditions=(condition("Approved", status),), origin=place)}}


@pytest.mark.parametrize(
    ("answer", "recorded", "failed", "calls", "left"),
    [
        ("True", None, False, [[]], [["b", "c"]]),
        ("True", "True", False, [[]], []),
        ("True", "True", True, [[]], [["b", "c"]]),
        ("False", None, False, [["b", "c"]], [["b", "c"]]),
        (None, "True", False, [["b", "c"]], [["b", "c"]]),
    ],
)
def test_an_approved_hold_lets_its_removals_happen_once(
    answer: str | None, recorded: str | None, failed: bool, calls: list[list[str]], left: list[list[str]]
) -> None:
    """It stays for the pass in which they do, and while they cannot be decided; a recorded answer does not count."""
    given, made = inputs(held(B, C, answer=recorded), answers=answer), list[Kept]()
    failures = [failure(Subject.of_placement(WEB))] if failed else []
    decision, _ = decide_with_holds(given, leaving(given, made, A, failed=failures))
    assert asked(made) == calls
    assert ids(decision.after.holds.values()) == left


def failure(subject: Subject) -> Failure:
    """Something that could not be decided."""

    def breaks() -> None:
        raise ValueError("no")

    found = attempt(subject, breaks)
    assert isinstance(found, Failure)
    return found


def test_an_answer_to_no_hold_and_one_that_does_not_count_are_said() -> None:
    """Which the policy is made of: an approval counts for nothing where nobody could look who gave it."""
    strict = replace(FEW, approvals=ApprovalPolicy(separate_duties=True))
    given = inputs(held(B, C), answers="True", config=strict)
    decision, _ = decide_with_holds(given, leaving(given, [], A))
    assert ids(decision.after.holds.values()) == [["b", "c"]]
    assert [(f.path, f.severity) for f in decision.after.faults] == [("approvals/h.yaml", Severity.WARNING)]
    merged = ApprovalCommit(id="c", author="a@x", committer="a@x", at=NOW - timedelta(hours=2))
    for hours, waits in ((1, True), (3, False)):
        facts = ApprovalFacts(commits=(merged,), policy=ApprovalPolicy(expires_after=hours * 3600))
        early = replace(held(B, C), since=NOW - timedelta(hours=3))
        given = inputs(early, answers="True", approvals={NamespacedName("", "h"): facts})
        decision, _ = decide_with_holds(given, leaving(given, [], A))
        (left,) = decision.after.holds.values()
        assert (left.answer is None) is waits
    stray = inputs(answers="True")
    decision, _ = decide_with_holds(stray, leaving(stray, [], A, B, C))
    assert decision.after.holds is stray.before.holds


def deleted(manifest: Manifest, cluster: str) -> Removal:
    """An override that takes an object of web from a cluster."""
    return replace(of_object(manifest), kind=RemovalKind.OVERRIDDEN, cluster=cluster)


@pytest.mark.parametrize(
    ("approved", "pending", "failed", "stays"),
    [
        (of_cluster("c1"), [], [], False),
        (of_cluster("c1"), [], [Subject("MemberCluster", "c1")], True),
        (of_cluster("c1"), [], [Subject("MemberCluster", "c2")], False),
        (of_object(A), [], [Subject.of_placement(SHOP)], False),
        (of_object(A), [], [Subject.of_placement(WEB)], True),
        (deleted(A, "c1"), [deleted(B, "c1")], [], True),
        (deleted(A, "c1"), [deleted(B, "c2")], [], False),
        (deleted(A, "c1"), [], [], False),
        (replace(of_object(A), cluster="c1"), [deleted(B, "c1")], [], False),
    ],
)
def test_an_approved_hold_stays_until_its_removal_could_be_decided(
    approved: Removal, pending: list[Removal], failed: list[Subject], stays: bool
) -> None:
    """What an override deletes beside what another hold keeps on the cluster stays with that."""
    holds = [hold("h", [approved], "why", conditions=(condition("Approved", "True"),))]
    holds += [hold("other", pending, "why")] if pending else []
    given = inputs(*holds, answers="True")
    decision = Decision(inputs=given, after=given.before, failures=tuple(map(failure, failed)))
    found, _ = decide_with_holds(given, lambda kept: (decision, 1, kept))
    assert ("h" in found.after.holds) is stays
    assert ("other" in found.after.holds) is bool(pending)


OTHER = PlacementKey("", "other")
UNTIL, SOON = NOW + timedelta(days=1), NOW + timedelta(hours=1)
SCOPE = FreezeScope(placements=("web",), clusters=LabelSelector(match_labels={"region": "eu"}))
SALE = Freeze(name="sale", owner="ann", reason="r", until=UNTIL, scope=SCOPE)
FROZEN: dict[str, Any] = {FREEZES: {("Freeze", "sale"): SALE}}
OF_SHOP: dict[str, Any] = {FREEZES: {("Freeze", "sale"): replace(SALE, scope=FreezeScope(placements=("shop",)))}}
ELSEWHERE: dict[str, Any] = {
    FREEZES: {("Freeze", "sale"): replace(SALE, scope=replace(SCOPE, clusters=LabelSelector({"region": "us"})))}
}
IS_PINNED = replace(WEBS, conditions=(condition("ClusterResourcePlacementPinned"),))
PINS: dict[str, Any] = {"pins": {"p": Pin(name="p", placement=WEB, snapshot=0, digest="d")}}
BAD = Quarantine(name="bad", placement=WEB, digest=WEBS.resource_snapshots[0].hash)


@pytest.mark.parametrize(
    ("web", "objects", "quarantines", "gone", "gate", "wakes"),
    [
        (WEBS, {}, {}, False, "", SOON),
        (WEBS, FROZEN, {}, False, "and is not frozen by ", SOON),
        (WEBS, OF_SHOP, {}, False, "", SOON),
        (WEBS, ELSEWHERE, {}, False, "", SOON),
        (IS_PINNED, PINS, {}, False, "and the Pin of web is not for it", SOON),
        (IS_PINNED, {}, {}, False, "", SOON),
        (IS_PINNED, {}, {}, True, "and the Pin of web is not for it", SOON),
        (WEBS, {"quarantines": {"bad": BAD}}, {}, False, "and the Quarantine of web's newest content is not", SOON),
        (WEBS, {}, {"bad": replace(BAD, run="go")}, False, "and the Quarantine of web's newest content is not", SOON),
        (WEBS, {}, {}, False, "", None),
        (WEBS, FROZEN, {}, False, "and is not frozen by ", UNTIL),
    ],
)
def test_what_goes_out_of_a_gate_is_held_and_with_a_freeze_until_its_end(
    web: PlacementRecord, objects: Any, quarantines: Any, gone: bool, gate: str, wakes: datetime | None
) -> None:
    """The next decision is at the end of the freeze, unless something is to be decided before."""
    clusters = {name: replace(one, labels={"region": "eu"}) for name, one in BEFORE.clusters.items()}
    placements = {**BEFORE.placements, WEB: web}
    given = inputs(before=replace(BEFORE, clusters=clusters, placements=placements, quarantines=quarantines))
    wanted = replace(given.desired, objects={**given.desired.objects, **objects}, holds_removals=gone)
    given = replace(given, desired=wanted)

    def decide(kept: Kept) -> tuple[Decision, int, Kept]:
        decision, count, kept = handed_over(given)(kept)
        return replace(decision, wake_at=SOON if wakes == SOON else None, waiting=("a run waits",)), count, kept

    decision, _ = decide_with_holds(given, decide)
    holds = decision.after.holds
    assert ids(holds.values()) == ([["a"]] if gate else [])
    assert all(gate in reason.message for one in holds.values() for reason in one.reasons)
    assert decision.wake_at == wakes
    first, *waits = decision.waiting
    assert first == "a run waits" and len(waits) == ("frozen" in gate)
    assert [one.partition(": frozen by ")[0] for one in waits] == [f"{n} waits for an approval" for n in holds if waits]


def handed_over(given: Inputs) -> Decide:
    """What decides that web gives a to another placement."""

    def decide(kept: Kept) -> tuple[Decision, int, Kept]:
        decision, count, kept = leaving(given, [], B, C)(kept)
        after = replace(decision.after, placements={**decision.after.placements, OTHER: placed(OTHER, CLUSTERS, A)})
        return replace(decision, after=after), count, kept

    return decide


@pytest.mark.parametrize(("objects", "stays"), [(FROZEN, True), ({}, False)])
def test_what_was_held_for_a_gate_goes_when_the_gate_has_ended(objects: dict[str, Any], stays: bool) -> None:
    clusters = {name: replace(one, labels={"region": "eu"}) for name, one in BEFORE.clusters.items()}
    reason = HoldReason(rule=HoldRule.GATE_LOST, message="other takes over a, and is not frozen by sale")
    given = inputs(replace(held(A), reasons=(reason,)), before=replace(BEFORE, clusters=clusters))
    given = replace(given, desired=replace(given.desired, objects={**given.desired.objects, **objects}))
    decision, _ = decide_with_holds(given, handed_over(given))
    assert ids(decision.after.holds.values()) == ([["a"]] if stays else [])


@pytest.mark.parametrize(("overridden", "stays"), [(False, False), (True, True)])
def test_a_hold_of_what_another_placement_has_by_now_is_gone(overridden: bool, stays: bool) -> None:
    """But not where an override takes it from that one."""
    takes = override("gone", A, rule(delete=True), ns="web")
    given = inputs(held(A))

    def decide(kept: Kept) -> tuple[Decision, int, Kept]:
        decision, count, kept = handed_over(given)(kept)
        return replace(decision, overrides=(takes,) if overridden else ()), count, kept

    decision, _ = decide_with_holds(given, decide)
    assert list(decision.after.holds) == (["h"] if stays else [])


def test_a_placement_of_which_nobody_can_say_what_a_rollout_brought_is_noted() -> None:
    unread: Any = None
    newest = WEBS.resource_snapshots[0]
    broken = replace(newest, index=1, documents=unread)
    bindings = tuple(replace(b, resource_snapshot=broken.name) for b in WEBS.bindings)
    web = replace(WEBS, resource_snapshots=(broken, replace(newest, index=2)), bindings=bindings)
    earlier = failure(Subject.of_placement(SHOP))
    given = inputs(before=replace(BEFORE, placements={**BEFORE.placements, WEB: web}))

    def decide(kept: Kept) -> tuple[Decision, int, Kept]:
        decision, count, kept = handed_over(given)(kept)
        return replace(decision, failures=(earlier,)), count, kept

    decision, _ = decide_with_holds(given, decide)
    assert decision.after.holds == {}
    assert [one.subject.name for one in decision.failures] == ["shop", "web"]
