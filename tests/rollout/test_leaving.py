"""What leaves as a whole: who gives up what, how, and when a cluster is let go."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.bindings import DELETED, KEPT, Binding, BindingState, ClusterDecision, FailedObject
from gitfleet.api.clusters import MemberCluster, silent_from
from gitfleet.api.conditions import Status
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import Manifest, ObjectKey
from gitfleet.api.placements import Placement, PlacementKey
from gitfleet.api.quarantines import Quarantine
from gitfleet.api.strategies import DeletePropagation, RolloutStrategy
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.rolling import Frozen
from gitfleet.model.state import Inventory, PlacementRecord
from gitfleet.rollout import (
    frozen_removals,
    give_up,
    next_forced_leave,
    owners_of,
    plan_rollout,
    recorded_refusal,
    release_left,
    removals,
    retire_bindings,
    take_back,
    without_left,
)
from gitfleet.rollout.leaving import FORCED_LEAVE
from tests.removals.fleets import config_map
from tests.rollout.builders import NOW, OPEN, bound, condition, request
from tests.state import builders
from tests.works.builders import snapshot

WEB, OTHER = PlacementKey("", "web"), PlacementKey("", "other")
DELETE, ABANDON = DeletePropagation.DELETE, DeletePropagation.ABANDON


def owned(*placements: PlacementKey) -> Inventory:
    keys = {ObjectKey("", "v1", "ConfigMap", "n", f"of-{p.name}"): p for p in placements}
    return {key: InventoryEntry(key=key, placement=placement) for key, placement in keys.items()}


def record(*bindings: Binding, key: PlacementKey = WEB, delete: DeletePropagation = DELETE) -> PlacementRecord:
    strategy = RolloutStrategy(delete_propagation_policy=delete)
    return PlacementRecord(placement=Placement(key=key, selectors=(), strategy=strategy), bindings=bindings)


def of(key: PlacementKey, cluster: str, *, given_up: bool = False) -> Binding:
    return replace(bound(cluster), placement=key, deleting=NOW if given_up else None)


def test_a_placement_with_a_binding_gives_nothing_up() -> None:
    """The guard that keeps the objects of a work that could not be rendered."""
    clusters = {"c1": MemberCluster(name="c1")}
    assert removals(clusters, {WEB: record(of(WEB, "c1"))}, {"c1": owned(WEB)}, Failures()) == {}


def test_what_has_no_binding_any_more_goes_by_the_placements_own_policy() -> None:
    clusters = {"c1": MemberCluster(name="c1")}
    records = {WEB: record(of(WEB, "c1", given_up=True), delete=ABANDON), OTHER: record(of(OTHER, "c2"), key=OTHER)}
    assert removals(clusters, records, {"c1": owned(WEB, OTHER)}, Failures()) == {"c1": {WEB: ABANDON, OTHER: DELETE}}


def test_nothing_is_given_up_for_a_placement_or_on_a_cluster_that_nobody_knows() -> None:
    assert removals({"c1": MemberCluster(name="c1")}, {}, {"c1": owned(WEB), "c2": owned(WEB)}, Failures()) == {}


def test_the_binding_of_one_placement_protects_only_its_own_objects() -> None:
    """Whichever of the two comes first in the inventory."""
    clusters, records = {"c1": MemberCluster(name="c1")}, {WEB: record(of(WEB, "c1")), OTHER: record(key=OTHER)}
    for both in (owned(WEB, OTHER), owned(OTHER, WEB)):
        assert removals(clusters, records, {"c1": both}, Failures()) == {"c1": {OTHER: DELETE}}


def test_a_leaving_cluster_decides_for_all_of_its_placements() -> None:
    leaving = MemberCluster(name="c1", deleting=NOW, delete_propagation_policy=DELETE)
    records = {WEB: record(of(WEB, "c1", given_up=True), delete=ABANDON)}
    policies = removals({"c1": leaving}, records, {"c1": owned(WEB, OTHER)}, Failures())
    assert policies == {"c1": {WEB: DELETE, OTHER: DELETE}}


def test_an_abandoning_cluster_takes_its_objects_along_at_once_and_a_silent_deleting_one_after_a_while() -> None:
    """Unless a removal there is held."""
    gone = MemberCluster(name="c1", deleting=NOW)
    answers = replace(gone, name="c4", delete_propagation_policy=DELETE)
    slow = replace(builders.cluster("c2", healthy="Unknown"), deleting=NOW, delete_propagation_policy=DELETE)
    silent = silent_from(slow)
    assert silent is not None
    stays = MemberCluster(name="c3")
    clusters = {c.name: c for c in (gone, slow, stays, answers)}
    inventory = dict.fromkeys(clusters, owned(WEB))
    assert set(release_left(inventory, clusters, (), NOW + FORCED_LEAVE)) == {"c2", "c3", "c4"}
    due = next_forced_leave(clusters)
    assert due is not None and due == NOW + FORCED_LEAVE + timedelta.resolution
    assert set(release_left(inventory, clusters, (), due)) == {"c3", "c4"}
    assert set(release_left(inventory, clusters, {"c2", "c1"}, due)) == {"c2", "c3", "c4"}
    late = replace(slow, deleting=silent - timedelta(hours=1))
    assert next_forced_leave({"c2": late}) == silent + FORCED_LEAVE + timedelta.resolution
    assert next_forced_leave({"c1": gone, "c3": stays}) is None, "what is abandoned waits for no clock"
    assert release_left(inventory, {"c3": stays}, (), due) is inventory and next_forced_leave({"c3": stays}) is None


def test_a_given_up_binding_and_a_leaving_cluster_wait_for_what_they_own() -> None:
    leaving = MemberCluster(name="c1", deleting=NOW)
    records = {WEB: record(of(WEB, "c1", given_up=True))}
    inventory = {"c1": owned(WEB)}
    bindings = records[WEB].bindings
    assert retire_bindings(bindings, owners_of(records, inventory, Failures())) is bindings
    assert retire_bindings(bindings, owners_of(records, {"c1": owned(OTHER)}, Failures())) == ()
    assert set(without_left({"c1": leaving}, records, {}, Failures())) == {"c1"}
    assert set(without_left({"c1": leaving}, {}, inventory, Failures())) == {"c1"}
    assert without_left({"c1": leaving}, {}, {}, Failures()) == {}


class Unreadable(PlacementRecord):
    """A record whose bindings nobody can read."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        if name == "bindings":
            raise ZeroDivisionError
        return super().__getattribute__(name)


def test_a_record_that_cannot_be_read_gives_nothing_up_and_lets_no_cluster_go() -> None:
    leaving = {"c1": MemberCluster(name="c1", deleting=NOW)}
    given_up = record(of(OTHER, "c1", given_up=True))
    records = {WEB: Unreadable(placement=record().placement), OTHER: given_up}
    failures = Failures()
    owners = owners_of(records, {"c1": owned(OTHER)}, failures)
    assert owners == {"c1": {OTHER}}
    assert without_left(leaving, {WEB: records[WEB]}, {}, failures) == leaving
    assert {str(failure.subject) for failure in failures.found} == {"ClusterResourcePlacement web"}
    elsewhere = (of(WEB, "c2", given_up=True),)
    assert retire_bindings(elsewhere, owners) is elsewhere, "nobody asked who owns what on c2"


def test_who_owns_something_is_said_only_of_clusters_that_somebody_gives_up() -> None:
    records = {WEB: record(of(WEB, "c1", given_up=True), of(WEB, "c2"), of(WEB, "c3", given_up=True))}
    bindings = records[WEB].bindings
    owners = owners_of(records, {"c1": owned(WEB, OTHER), "c2": owned(WEB)}, Failures())
    assert owners == {"c1": frozenset({WEB, OTHER}), "c3": frozenset()}
    assert retire_bindings(bindings, owners) == bindings[:2]
    assert retire_bindings(bindings, {}) is bindings


def test_a_removal_that_nothing_asks_for_is_taken_back() -> None:
    """The placement or the cluster came back (decision D33), or somebody else edited the state branch."""
    fleet = {"stays": MemberCluster(name="stays"), "leaves": MemberCluster(name="leaves", deleting=NOW)}
    unpicked = replace(of(WEB, "stays", given_up=True), state=BindingState.UNSCHEDULED)
    gone, leaving = of(WEB, "gone", given_up=True), of(WEB, "leaves", given_up=True)
    before = record(of(WEB, "stays", given_up=True), unpicked, gone, leaving)
    assert take_back(before, fleet).bindings == (of(WEB, "stays"), unpicked, gone, leaving)
    were = {name: MemberCluster(name=name, deleting=NOW) for name in ("stays", "leaves")}
    assert take_back(before, fleet, fleet).bindings[1] is unpicked, "its cluster never left"
    back = (of(WEB, "stays"), replace(unpicked, deleting=None), gone, leaving)
    assert take_back(before, fleet, were).bindings == back


def test_a_deleted_placement_takes_no_removal_back() -> None:
    before = record(of(WEB, "c1", given_up=True))
    deleted = replace(before, placement=replace(before.placement, deleting=NOW))
    assert take_back(deleted, {"c1": MemberCluster(name="c1")}) is deleted


def test_what_belongs_to_a_record_that_cannot_be_read_is_removed_nowhere() -> None:
    """Not even from a cluster that leaves: nobody knows which of its bindings protect it."""
    clusters = {"c1": MemberCluster(name="c1"), "c2": MemberCluster(name="c2", deleting=NOW)}
    records = {WEB: Unreadable(placement=record().placement), OTHER: record(key=OTHER)}
    failures = Failures()
    found = removals(clusters, records, dict.fromkeys(clusters, owned(WEB, OTHER)), failures)
    assert {name: set(keys) for name, keys in found.items()} == {"c1": {OTHER}, "c2": {OTHER}}
    assert [failure.subject for failure in failures.found] == [Subject.of_placement(WEB)]


B = config_map("b")
HOLDS = snapshot(B, placement=WEB)
GIVEN_UP = replace(
    of(WEB, "c1", given_up=True),
    state=BindingState.UNSCHEDULED,
    previous_state=BindingState.BOUND,
    policy_snapshot="web-0",
    failed=(FailedObject(key=B.key, condition=DELETED, reason=KEPT[0], message=""),),
    generation=3,
)
AGAIN = Binding(
    placement=WEB,
    cluster="c1",
    state=BindingState.SCHEDULED,
    policy_snapshot="web-1",
    decision=ClusterDecision(cluster="c1", selected=True),
)
BACK = replace(
    GIVEN_UP,
    deleting=None,
    state=BindingState.BOUND,
    previous_state=None,
    policy_snapshot="web-1",
    decision=AGAIN.decision,
)


@pytest.mark.parametrize(
    ("had", "again", "selected", "after"),
    [
        (GIVEN_UP, AGAIN, (B,), BACK),
        (replace(GIVEN_UP, previous_state=BindingState.SCHEDULED), AGAIN, (B,),
         replace(BACK, state=BindingState.SCHEDULED)),
        (GIVEN_UP, None, (B,), GIVEN_UP),
        (GIVEN_UP, replace(AGAIN, cluster="c2"), (B,), GIVEN_UP),
        (GIVEN_UP, AGAIN, (config_map("a"),), GIVEN_UP),
        (replace(GIVEN_UP, failed=()), AGAIN, (B,), replace(GIVEN_UP, failed=())),
    ],
)  # fmt: skip
def test_a_cluster_that_is_picked_again_goes_on_with_what_it_keeps(
    had: Binding, again: Binding | None, selected: tuple[Manifest, ...], after: Binding
) -> None:
    """One binding stands there, the one that was to go; other clusters have theirs, and all are in order."""
    others = (of(WEB, "c0"), of(WEB, "c9"))
    elsewhere = () if again is None or again.cluster == "c1" else (again,)
    before = record(*others, *(one for one in (again, had) if one is not None))
    before = replace(before, resource_snapshots=(snapshot(*selected, placement=WEB),), schedule_key="k")
    clusters = {name: MemberCluster(name=name) for name in ("c0", "c1", "c2", "c9")}
    found = give_up(before, clusters, NOW, OPEN)
    assert found.bindings == (others[0], after, *elsewhere, others[1])
    dropped = again is not None and again.cluster == "c1" and after.deleting is not None
    assert found.schedule_key == ("" if dropped else "k")


BAD = Quarantine(name="q", placement=WEB, digest="h", reason="it burns")
PINNED = condition("ClusterResourcePlacementPinned", Status.FALSE, "SnapshotLost")


@pytest.mark.parametrize(
    ("changes", "quarantines", "said"),
    [
        ({}, [], ""),
        ({}, [BAD], f"snapshot 3 {BAD.sentence}"),
        ({}, [replace(BAD, digest="other")], ""),
        ({}, [replace(BAD, placement=OTHER)], ""),
        ({}, [replace(BAD, lifted=True)], ""),
        ({"resource_snapshots": ()}, [BAD], ""),
        ({"conditions": (replace(PINNED, message="is lost"),)}, [BAD], "is lost"),
        ({"conditions": (replace(PINNED, status=Status.TRUE, message="is pinned"),)}, [], ""),
    ],
)
def test_why_the_newest_snapshot_goes_nowhere(
    changes: dict[str, Any], quarantines: list[Quarantine], said: str
) -> None:
    web = replace(record(), resource_snapshots=(replace(HOLDS, index=3, hash="h"),))
    assert recorded_refusal(replace(web, **changes), quarantines) == said


def test_a_placement_that_stays_says_why_and_what_its_runs_wait_for() -> None:
    deleted_ = record(of(WEB, "c1"), of(WEB, "c2"))
    deleted_ = replace(deleted_, placement=replace(deleted_.placement, deleting=NOW))
    waits = {"c1": Frozen("frozen by sale", None)}
    runs = replace(plan_rollout(request([])), waiting=("run go waits",), asks=("approve it",))
    for plan, waiting, asks in ((None, (), ()), (runs, ("run go waits",), ("approve it",))):
        found = frozen_removals(deleted_, waits, NOW, plan)
        assert found is not None and (found.waiting, found.asks, found.clock) == (waiting, asks, None)
        assert found.blocked == {"c1": "frozen by sale"}
