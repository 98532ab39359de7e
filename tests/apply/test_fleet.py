"""Every cluster at once: who is planned for, what two looks say together, what is recorded, and what stays behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from unittest.mock import Mock

import pytest

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.fleet import IgnoreDifferences
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.placements import PlacementKey
from gitfleet.api.strategies import DeletePropagation
from gitfleet.apply import (
    ApplyRequest,
    Going,
    Ignored,
    PlansMemo,
    Wanted,
    disturbed_by,
    left_behind,
    merge_observations,
    plan_fleet,
    record_all_intended,
    settle_all,
)
from gitfleet.apply.claims import unknown
from gitfleet.apply.comparisons import Comparisons
from gitfleet.apply.fleet import Planned
from gitfleet.apply.shapes import shape_digest
from gitfleet.apply.texts import ApplyText
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.observations import ClusterObservation, LiveObject
from gitfleet.model.operations import (
    Create,
    Delete,
    Keep,
    Operation,
    Outcome,
    OutcomeCode,
    Refuse,
    RefuseCode,
    Release,
    Update,
)
from gitfleet.model.removals import Content, WantedObjects
from gitfleet.model.state import FleetState, Inventory, PlacementRecord
from tests.apply.model_cluster import config_map
from tests.apply.test_plan_apply import OTHER, WEB, live, owned, work
from tests.gates import OPEN, open_gate, permit
from tests.growth import grows_with_its_input
from tests.removals.fleets import placed

A, B = config_map("a", a="1"), config_map("b", a="1")
THERE = live(A, "u1")
ENTRY = owned(A, THERE)
MOST = 8
NOW = datetime(2026, 1, 1, tzinfo=UTC)
HERE = {"c1": MemberCluster(name="c1"), "c2": MemberCluster(name="c2")}


def seen(cluster: str, *, reachable: bool = True, **parts: Any) -> ClusterObservation:
    """What one cluster answered."""
    return ClusterObservation(cluster=cluster, reachable=reachable, **parts)


def create(cluster: str, placement: PlacementKey = WEB) -> Create:
    """Making A on a cluster."""
    return Create(cluster=cluster, placement=placement, manifest=A, wave=1, reason="")


def update(cluster: str, placement: PlacementKey = WEB) -> Update:
    """Applying A over what is there."""
    return Update(cluster=cluster, placement=placement, manifest=A, live=THERE, wave=1, reason="")


def delete(cluster: str, key: Any = A.key) -> Delete:
    """Deleting an object."""
    return Delete(cluster=cluster, placement=WEB, key=key, uid="u1", wave=1, reason="", permit=permit(cluster, key))


def test_only_what_is_written_disturbs_and_each_placement_for_itself() -> None:
    operations: list[Operation] = [
        create("c1"),
        update("c2"),
        update("c1", OTHER),
        delete("c3"),
        Keep(cluster="c4", placement=WEB, key=A.key, reason=""),
    ]
    assert disturbed_by(operations) == {WEB: frozenset({"c1", "c2"}), OTHER: frozenset({"c1"})}


@pytest.mark.parametrize(
    ("known", "answer", "owned_there", "planned"),
    [
        (True, seen("c1", live={A.key: None}), False, ["Create"]),
        (False, seen("c1", live={A.key: None}), False, []),
        (True, seen("c1", reachable=False, live={A.key: None}), False, []),
        (False, seen("c1", reachable=False, live={A.key: None}), True, []),
        (True, seen("c1", live={A.key: THERE}), True, ["Keep"]),
    ],
    ids=["answers", "unknown", "silent", "unknown and silent", "in place"],
)
def test_what_is_planned_for_a_cluster(
    known: bool, answer: ClusterObservation, owned_there: bool, planned: list[str]
) -> None:
    state = FleetState(clusters=HERE if known else {}, inventory={"c1": {A.key: ENTRY}} if owned_there else {})
    operations, memo = plan_fleet(state, Wanted({"c1": (work(A),)}), {"c1": answer}, Going({}, OPEN), {}, Failures())
    assert [type(o).__name__ for o in operations] == planned
    assert set(memo) == ({"c1"} if planned else set())


def test_a_cluster_with_neither_works_nor_inventory_is_passed_over_and_the_next_is_planned() -> None:
    """What is owned is planned for without a work; by cluster name."""
    state = FleetState(clusters=HERE, inventory={"c2": {A.key: ENTRY}})
    answers = {name: seen(name, live={A.key: live(A, "u1", manager="gitfleet")}) for name in ("c2", "c1")}
    removing = {"c2": {WEB: DeletePropagation.DELETE}}
    operations, memo = plan_fleet(state, Wanted({}), answers, Going(removing, OPEN), {}, Failures())
    assert [(type(o), o.cluster) for o in operations] == [(Delete, "c2")]
    assert set(memo) == {"c2"}


@pytest.mark.parametrize(
    ("deleting", "setting"), [(None, "deleteStrategy"), (NOW, "MemberCluster's deleteOptions.propagationPolicy")]
)
def test_what_stays_says_which_setting_keeps_it(deleting: datetime | None, setting: str) -> None:
    state = FleetState(clusters={"c1": MemberCluster(name="c1", deleting=deleting)}, inventory={"c1": {A.key: ENTRY}})
    removing = {"c1": {WEB: DeletePropagation.ABANDON}}
    ((operation,), _) = plan_fleet(
        state, Wanted({}), {"c1": seen("c1", live={A.key: THERE})}, Going(removing, OPEN), {}, Failures()
    )
    assert operation == Release(
        cluster="c1",
        placement=WEB,
        key=A.key,
        reason=ApplyText.STAYS_CLUSTER_ABANDON(setting=setting),
    )


def test_what_goes_wrong_on_one_cluster_is_noted_and_the_others_are_planned() -> None:
    broken: Any = object()
    state = FleetState(clusters=HERE, inventory={"c1": broken})
    failures = Failures()
    answers = {name: seen(name, live={A.key: None}) for name in HERE}
    operations, memo = plan_fleet(
        state, Wanted(dict.fromkeys(HERE, (work(A),))), answers, Going({}, OPEN), {}, failures
    )
    assert [o.key for o in operations] == [A.key]
    assert [failure.subject for failure in failures.found] == [Subject("MemberCluster", "c1")]
    assert set(memo) == {"c2"}, "an answer in which something failed is not kept"


def test_an_object_that_cannot_be_judged_is_noted_and_nothing_of_its_cluster_is_remembered() -> None:
    odd: Any = {"metadata": 1}
    state = FleetState(clusters=HERE, inventory={"c1": {A.key: ENTRY}})
    answers = {"c1": seen("c1", live={A.key: LiveObject(A.key, odd), B.key: None})}
    failures = Failures()
    operations, memo = plan_fleet(state, Wanted({"c1": (work(A, B),)}), answers, Going({}, OPEN), {}, failures)
    refusal, created = operations
    (failure,) = failures.found
    assert isinstance(refusal, Refuse) and isinstance(created, Create)
    assert (refusal.code, refusal.reason) == (RefuseCode.INTERNAL_ERROR, failure.sentence)
    assert failure.subject == Subject.of_object(A.key, "c1")
    assert memo == {}


LEFT_ALONE = (IgnoreDifferences(kind="ConfigMap", json_pointers=("/data/a",)),)


def test_what_is_known_of_a_cluster_goes_into_its_plan() -> None:
    wants: dict[PlacementKey, Content | None] = {WEB: frozenset({A.key.identity}), OTHER: None}
    wanted = WantedObjects({key: {"c1": content, "c2": frozenset()} for key, content in wants.items()})
    state = FleetState(clusters=HERE, inventory={"c1": {A.key: ENTRY}}, wanted=wanted)
    answer = seen("c1", live={A.key: THERE, B.key: None}, unreadable={B.key: "500"}, namespaces={"ns": "u"})
    removing, works = {"c1": {OTHER: DeletePropagation.DELETE}}, {"c1": (work(A),)}
    asked = Wanted(works, ignored=LEFT_ALONE)
    _, memo = plan_fleet(state, asked, {"c1": answer}, Going(removing, OPEN), {}, Failures())
    assert memo["c1"].request == ApplyRequest(
        gate=open_gate("c1"),
        cluster="c1",
        works=works["c1"],
        removing=removing["c1"],
        inventory={A.key: ENTRY},
        live=answer.live,
        unreadable={B.key: "500"},
        known_namespaces={"ns": "u"},
        wants=wants,
    )
    assert memo["c1"].request.compared.ignored == Ignored(LEFT_ALONE)
    assert memo["c1"].request.applied is unknown, "it would keep whole states in memory"


@pytest.mark.parametrize(
    ("type_", "before", "placements", "removes"),
    [
        ("ClientSideApply", {"c1": (work(A),)}, {}, {"f:data": {"f:a": {}}}),
        ("ClientSideApply", {}, {WEB: placed(WEB, ("c1",), A)}, {"f:data": {"f:a": {}}}),
        ("ClientSideApply", {"c2": (work(A),)}, {}, {}),
        ("ServerSideApply", {"c1": (work(A),)}, {}, {}),
    ],
)
def test_what_left_the_manifest_that_was_applied_to_a_cluster_goes(
    type_: str, before: Any, placements: dict[PlacementKey, PlacementRecord], removes: dict[str, Any]
) -> None:
    state = FleetState(clusters=HERE, placements=placements, inventory={"c1": {A.key: ENTRY}})
    wanted = Wanted({"c1": (work(config_map("a", b="1"), type=type_),)}, before)
    (operation,), _ = plan_fleet(
        state, wanted, {"c1": seen("c1", live={A.key: THERE})}, Going({}, OPEN), {}, Failures()
    )
    assert isinstance(operation, Update) and operation.removes == removes


def test_what_was_compared_is_carried_on_and_forgotten_when_it_has_grown_too_much() -> None:
    state = FleetState(clusters=HERE, inventory={"c1": {A.key: ENTRY}})

    def compared(memo: PlansMemo) -> tuple[Comparisons, PlansMemo]:
        answer = seen("c1", live={A.key: THERE, B.key: None})
        memo = plan_fleet(state, Wanted({"c1": (work(A),)}), {"c1": answer}, Going({}, OPEN), memo, Failures())[1]
        return memo["c1"].request.compared, memo

    first, memo = compared({})
    assert len(first) == 1
    for n in range(MOST - 2):
        first.shape(A, live(A, f"older-{n}"))
    second, memo = compared(memo)
    assert len(second) == MOST - 1 and second is not first
    second.shape(A, live(A, "one more"))
    assert len(compared(memo)[0]) == 1, "four for each live object, and no more"


FIRST = seen("c1", live={A.key: None}, unreadable={A.key: "403"}, namespaces={"ns": "u"})


@pytest.mark.parametrize(
    ("first", "closer", "merged"),
    [
        ({"c1": FIRST}, {}, {"c1": FIRST}),
        ({}, {"c1": FIRST}, {"c1": FIRST}),
        ({"c1": FIRST}, {"c1": seen("c1", reachable=False)}, {"c1": seen("c1", reachable=False)}),
        (
            {"c1": FIRST},
            {"c1": seen("c1", live={B.key: None}, unreadable={B.key: "500"})},
            {
                "c1": replace(
                    FIRST,
                    live={A.key: None, B.key: None},
                    unreadable={A.key: "403", B.key: "500"},
                    namespaces={"ns": "u"},
                )
            },
        ),
        ({"c1": FIRST}, {"c1": seen("c1", live={A.key: THERE})}, {"c1": replace(FIRST, live={A.key: THERE})}),
    ],
    ids=["not observed again", "new", "silent since", "more", "newer"],
)
def test_two_looks_of_one_reconcile(
    first: dict[str, ClusterObservation], closer: dict[str, ClusterObservation], merged: dict[str, ClusterObservation]
) -> None:
    assert merge_observations(first, closer) == merged


def test_what_cannot_be_recorded_is_not_done_and_what_is_recorded_already_changes_nothing() -> None:
    broken: Any = object()
    failures = Failures()
    operations = (create("c1"), create("c2"), update("c3"))
    before: dict[str, Inventory] = {"c1": broken, "c3": {A.key: ENTRY}}
    recorded, kept = record_all_intended(before, operations, failures)
    assert kept == operations[1:]
    assert recorded == {**before, "c2": {A.key: InventoryEntry(key=A.key, placement=WEB, to_be_made=True)}}
    assert [failure.subject for failure in failures.found] == [Subject("MemberCluster", "c1")]
    assert recorded["c3"] is before["c3"]
    same, all_of_them = record_all_intended({"c3": {A.key: ENTRY}}, operations[2:], Failures())
    assert same == {"c3": {A.key: ENTRY}} and all_of_them == operations[2:]
    unchanged = {"c3": {A.key: ENTRY}}
    assert record_all_intended(unchanged, operations[2:], Failures())[0] is unchanged


def test_each_cluster_is_settled_by_its_own_outcomes_and_releases() -> None:
    before = {name: {A.key: ENTRY} for name in ("c1", "c2", "c3")}
    gone = Outcome(operation=delete("c1"), ok=True, code=OutcomeCode.NOT_FOUND)
    release = Release(cluster="c2", placement=WEB, key=A.key, reason="")
    assert settle_all(before, [release], [gone], Failures(), {}) == {"c3": {A.key: ENTRY}}
    assert settle_all(before, [], [], Failures(), {}) is before
    made = Outcome(operation=create("c9"), ok=True, code=OutcomeCode.APPLIED, live=THERE)
    assert settle_all({}, [], [made], Failures(), {}) == {"c9": {A.key: ENTRY}}
    had = {"c9": {A.key: ENTRY}, "c1": {}}
    assert list(settle_all(had, [], [replace(made, operation=create("c2"))], Failures(), {})) == ["c2", "c9"]


def test_what_an_apply_returned_is_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The shape that goes into the inventory is the one that the next plan asks for."""
    asked = Mock(side_effect=shape_digest)
    monkeypatch.setattr("gitfleet.apply.comparisons.shape_digest", asked)
    planned = Planned(
        ApplyRequest(gate=open_gate("c1"), cluster="c1", works=(), removing={}, inventory={}, live={}), ()
    )
    there = LiveObject(A.key, {**A.body, "metadata": {**A.body["metadata"], "uid": "u1", "resourceVersion": "7"}})
    made = Outcome(operation=create("c1"), ok=True, code=OutcomeCode.APPLIED, live=there)
    settled = settle_all({}, [], [made], Failures(), {"c1": planned})
    assert planned.request.compared.shape(A, there) == settled["c1"][A.key].shape_digest
    asked.assert_called_once()


def test_a_cluster_or_an_object_that_cannot_be_settled_stays_as_it_was_recorded() -> None:
    broken: Any = object()
    failures = Failures()
    before: dict[str, Inventory] = {"c1": broken, "c2": {A.key: ENTRY}}
    gone = [Outcome(operation=delete(name), ok=True, code=OutcomeCode.NOT_FOUND) for name in before]
    assert settle_all(before, [], gone, failures, {}) == {"c1": broken}
    assert [failure.subject for failure in failures.found] == [Subject("MemberCluster", "c1")]
    unreadable: Any = object()
    odd = Outcome(operation=update("c2"), ok=True, code=OutcomeCode.APPLIED, live=LiveObject(A.key, unreadable))
    failures = Failures()
    assert settle_all({"c2": {A.key: ENTRY}}, [], [odd], failures, {}) == {"c2": {A.key: ENTRY}}
    assert [failure.subject for failure in failures.found] == [Subject.of_object(A.key, "c2")]


UNCONFIRMED = replace(ENTRY, uid=None)


@pytest.mark.parametrize(
    ("entry", "answer", "counted"),
    [
        (ENTRY, None, True),
        (UNCONFIRMED, None, False),
        (ENTRY, seen("c1", live={A.key: None}), False),
        (ENTRY, seen("c1", live={A.key: THERE}), True),
        (UNCONFIRMED, seen("c1", live={A.key: THERE}), True),
        (ENTRY, seen("c1", live={A.key: live(A, "u2")}), False),
    ],
    ids=[
        "silent",
        "silent, unconfirmed",
        "gone",
        "there",
        "made by us",
        "another",
    ],
)
def test_what_stays_behind_is_what_is_there_and_named_no_longer(
    entry: InventoryEntry, answer: ClusterObservation | None, counted: bool
) -> None:
    found = left_behind({"c1": {A.key: entry}}, {}, [], {"c1": answer} if answer else {})
    assert found == ({"c1": {WEB: (A.key,)}} if counted else {})


def test_what_stays_behind_is_counted_by_cluster_and_placement() -> None:
    other = replace(ENTRY, key=B.key, placement=OTHER)
    third = replace(ENTRY, key=config_map("c").key)
    inventory = {e.key: e for e in (ENTRY, other, third)}
    before: dict[str, Inventory] = {"c0": inventory, "c1": inventory, "c2": inventory, "c3": inventory}
    after: dict[str, Inventory] = {"c0": inventory, "c2": {A.key: ENTRY}}
    deleted = [
        Outcome(operation=delete("c3"), ok=True, code=OutcomeCode.NOT_FOUND),
        Outcome(operation=delete("c3", B.key), ok=False, code=OutcomeCode.FORBIDDEN),
        Outcome(operation=update("c3"), ok=True, code=OutcomeCode.APPLIED),
    ]
    assert left_behind(before, after, deleted, {}) == {
        "c1": {WEB: (A.key, third.key), OTHER: (B.key,)},
        "c2": {WEB: (third.key,), OTHER: (B.key,)},
        "c3": {WEB: (third.key,), OTHER: (B.key,)},
    }


def test_what_stays_behind_is_found_in_the_time_that_reading_it_takes() -> None:
    def run(size: int) -> Callable[[], object]:
        keys = [replace(A.key, name=f"a{i}") for i in range(size)]
        before: dict[str, Inventory] = {"c1": {key: replace(ENTRY, key=key) for key in keys}}
        return lambda: left_behind(before, {}, [], {})

    assert grows_with_its_input(run)
