"""Which holds go on, what an answer does to them, and which approvals answer nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from gitfleet.api.conditions import Conditions, Status
from gitfleet.api.faults import Fault, Severity
from gitfleet.api.fleet import ApprovalPolicy
from gitfleet.api.holds import Hold, HoldRule, Removal, RemovalKind
from gitfleet.api.objects import Origin
from gitfleet.api.staged import Approval
from gitfleet.api.values import NamespacedName
from gitfleet.approvals import given, judge, unasked, wrong_approvals
from gitfleet.model.approvals import Asked, Verdict, by_request
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.removals import Kept, answered, asked, pending, remaining
from gitfleet.removals.answers import IN_PART, not_begun
from tests.removals.fleets import NOW, SHOP, WEB, config_map, envelope, hold, of_binding, of_cluster, of_object, placed
from tests.state.builders import condition

A, B, C = (of_object(config_map(name)) for name in "abc")
YES, NO, UNKNOWN = (condition("Approved", status) for status in ("True", "False", "Unknown"))
NAME = "hold-web-0123456789"


def approvals(*names: str, status: str = "True", namespace: str = "") -> dict[NamespacedName, Approval]:
    """Approval files of the watched branch."""
    keys = [NamespacedName(namespace, name) for name in names]
    place = Origin("approvals/a.yaml", 3)
    return {key: Approval(key=key, conditions=(condition("Approved", status),), origin=place) for key in keys}


@pytest.mark.parametrize(
    ("recorded", "files", "answer"),
    [
        ((), {}, None),
        ((YES,), {}, None),
        ((NO,), {}, None),
        ((), approvals(NAME), Status.TRUE),
        ((NO,), approvals(NAME), Status.TRUE),
        ((YES,), approvals(NAME, status="False"), Status.FALSE),
        ((YES,), approvals(NAME, status="Unknown"), None),
        ((YES,), approvals(NAME, namespace="web"), None),
        ((YES,), approvals("hold-web-9876543210"), None),
    ],
    ids=["none", "forged", "forged no", "yes", "yes after no", "no after yes", "unknown", "with namespace", "another"],
)
def test_only_the_file_of_the_watched_branch_answers(
    recorded: Conditions, files: dict[NamespacedName, Approval], answer: Status | None
) -> None:
    known = hold(NAME, [A], conditions=recorded)
    verdict = judge(asked(known), given(asked(known), by_request(files.values())), None, ApprovalPolicy(), known.since)
    (now,) = answered({NAME: known}, {NAME: verdict}).values()
    assert now.answer is answer
    assert (now is known) == (now.conditions == recorded)


def test_a_hold_is_asked_for_by_all_that_names_it() -> None:
    known = replace(hold(NAME, [A]), commit="e", after="b")
    assert asked(known) == Asked(name=NAME, digest="d", commit="e", after="b", since=known.since)


def test_an_answer_that_does_not_count_is_said_by_the_hold() -> None:
    known = hold(NAME, [A], conditions=(YES,))
    (now,) = answered({NAME: known}, {NAME: Verdict(waits="1 of 2 approvals are there")}).values()
    (said,) = now.conditions
    assert (said.type, said.status, said.reason) == ("Approved", Status.UNKNOWN, "ApprovalNotCounted")
    assert (said.message, said.last_transition_time) == ("1 of 2 approvals are there", known.since)
    assert answered({NAME: now}, {NAME: Verdict(waits="1 of 2 approvals are there")})[NAME] is now


def test_what_is_not_approved_waits() -> None:
    open_, rejected, approved = (
        hold("h-1", [A]),
        hold("h-2", [B], conditions=(NO,)),
        hold("h-3", [C], conditions=(YES,)),
    )
    assert pending([open_, rejected, approved]) == (A, B)


STAYS, GOES = (
    placed(WEB, ("c1",), *(config_map(name) for name in "ab")),
    Removal(kind=RemovalKind.PLACEMENT, placement=WEB),
)
LEAVES = replace(STAYS, placement=replace(STAYS.placement, deleting=NOW))


@pytest.mark.parametrize(
    ("record", "removal", "begun"),
    [
        (STAYS, GOES, False),
        (LEAVES, GOES, True),
        (STAYS, A, False),
        (STAYS, B, False),
        (STAYS, C, True),
        (placed(WEB, ("c1",), envelope(config_map("c"))), C, False),
        (replace(STAYS, resource_snapshots=()), C, False),
        (LEAVES, A, False),
        (STAYS, replace(C, kind=RemovalKind.OVERRIDDEN, cluster="c1"), False),
        (STAYS, of_binding("c9"), False),
        (LEAVES, of_binding("c1"), False),
        (STAYS, of_cluster("c1"), False),
        (LEAVES, Removal(kind=RemovalKind.PLACEMENT, placement=SHOP), False),
        (STAYS, of_object(config_map("c"), SHOP), False),
    ],
)
def test_what_is_under_way_waits_no_more_but_for_gates(record: PlacementRecord, removal: Removal, begun: bool) -> None:
    """An approved removal begins: its placement is on its way out, its object in the newest content no more."""
    before = FleetState(placements={WEB: record})
    known = hold(NAME, [removal, of_cluster("c2")], "too much")
    gate = replace(known, reasons=(replace(known.reasons[0], rule=HoldRule.GATE_LOST),))
    rest = () if begun else (removal,)
    assert not_begun([known], before) == (*rest, of_cluster("c2"))
    assert not_begun([gate], before) == (removal, of_cluster("c2"))
    assert not_begun([replace(known, conditions=(YES,)), gate, known], before) == (
        *gate.removals,
        *rest,
        of_cluster("c2"),
    )


KEPT_A, KEPT_AB = Kept.of([A]), Kept.of([A, B])


@pytest.mark.parametrize(
    ("known", "before", "kept", "undecided", "left"),
    [
        (hold(NAME, [A, B]), None, KEPT_AB, (), (A, B)),
        (hold(NAME, [A, B]), None, KEPT_A, (), (A,)),
        (hold(NAME, [A, B]), None, Kept(), (), ()),
        (hold(NAME, [A, B], conditions=(NO,)), None, KEPT_A, (), (A,)),
        (hold(NAME, [A, B], conditions=(YES,)), hold(NAME, [A, B]), Kept(), (), (A, B)),
        (hold(NAME, [A, B], conditions=(YES,)), hold(NAME, [A, B], conditions=(NO,)), Kept(), (), (A, B)),
        (hold(NAME, [A, B], conditions=(YES,)), hold(NAME, [A, B], conditions=(YES,)), KEPT_AB, (), ()),
        (hold(NAME, [A, B], conditions=(YES,)), hold(NAME, [A, B], conditions=(YES,)), Kept(), (B,), (B,)),
    ],
    ids=["asked", "in part", "taken back", "rejected in part", "just approved", "approved after all", "over", "late"],
)
def test_a_hold_goes_on_with_what_is_asked_for(
    known: Hold, before: Hold | None, kept: Kept, undecided: tuple[Removal, ...], left: tuple[Removal, ...]
) -> None:
    found = remaining({NAME: known}, {NAME: before} if before else {}, kept, undecided)
    assert [one.removals for one in found.values()] == ([left] if left else [])
    if left == known.removals:
        assert found[NAME] is known


def test_reasons_of_which_nothing_is_left_go_and_the_others_are_numbered_again() -> None:
    a, b, c = (of_object(config_map(n), reasons=r) for n, r in (("a", (0,)), ("b", (1, 2)), ("c", (2,))))
    whole = hold(NAME, [a, b, c], "first", "second", "third")
    (left,) = remaining({NAME: whole}, {}, Kept.of([b, c]), ()).values()
    assert [reason.message for reason in left.reasons] == ["second", "third"]
    assert [removal.reasons for removal in left.removals] == [(0, 1), (1,)]
    (last,) = remaining({NAME: left}, {}, Kept.of([c]), ()).values()
    assert [reason.message for reason in last.reasons] == [f"third{IN_PART}"]
    assert [removal.reasons for removal in last.removals] == [(0,)]


def test_a_removal_without_numbers_waits_for_every_reason() -> None:
    whole = hold(NAME, [A, B, C], "first", "second")
    for kept in (Kept.of([A, B]), KEPT_A):
        (whole,) = remaining({NAME: whole}, {}, kept, ()).values()
        assert [reason.message for reason in whole.reasons] == [f"first{IN_PART}", f"second{IN_PART}"]
        assert {removal.reasons for removal in whole.removals} == {()}


def warned(waits: Sequence[Asked], every: Sequence[Asked], files: dict[NamespacedName, Approval]) -> list[Fault]:
    meant = by_request(files.values())
    return list(wrong_approvals(waits, unasked(every, files, meant), meant))


@pytest.mark.parametrize(
    ("written", "is_said"),
    [
        ("hold-web", True),
        ("hold-web-0123456798", True),
        ("web-0123456789", True),
        ("hold-web-ffffffffff", True),
        ("hold-shop-ffffffffff", False),
        ("web-ffffffffff", False),
        ("run-1-canary", False),
        (NAME, False),
        (f"{NAME}.2", False),
    ],
)
def test_an_approval_that_may_be_meant_for_a_hold_is_warned_about(written: str, is_said: bool) -> None:
    waits = [asked(hold(NAME, [A]))]
    found = warned(waits, waits, approvals(written))
    expected = [("approvals/a.yaml", 3, f"ClusterApprovalRequest/{written}")] if is_said else []
    assert [(fault.path, fault.line, fault.object) for fault in found] == expected
    where, what = ("metadata.name", f"answers no hold that is there now; {NAME} waits for an approval of its own")
    assert {(fault.field, fault.message, fault.severity) for fault in found} <= {(where, what, Severity.WARNING)}
    nowhere = {key: replace(one, origin=None) for key, one in approvals("aaa", written).items()}
    placeless = warned(waits, waits, nowhere)
    assert [(fault.path, fault.line) for fault in placeless] == ([("", 1)] if is_said else [])
    assert not warned([], [asked(hold(NAME, [A], conditions=(NO,)))], approvals(written))
    assert not warned(waits, waits, approvals(written, namespace="web"))


def test_a_cluster_is_asked_for_by_its_name() -> None:
    known = hold(NAME, [of_cluster("c1"), of_cluster("c2")])
    (left,) = remaining({NAME: known}, {}, Kept(clusters=frozenset({"c2"})), ()).values()
    assert [removal.cluster for removal in left.removals] == ["c2"]
