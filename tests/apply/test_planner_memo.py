"""What is kept of plans saves work and nothing else: whatever one part of the question changes alone counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from gitfleet.api.clusters import MemberCluster
from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import Manifest, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.strategies import DeletePropagation
from gitfleet.apply import ApplyRequest, Comparisons, PlansMemo, plan_apply, plan_fleet
from gitfleet.apply.shapes import shape_digest
from gitfleet.model.failures import Failures
from gitfleet.model.observations import ClusterObservation, LiveObject
from gitfleet.model.operations import Operation, Update
from gitfleet.model.state import FleetState, Inventory
from gitfleet.model.works import Work
from tests.apply.model_cluster import config_map
from tests.apply.test_plan_apply import WEB, live, owned, work

NEW, OLD = config_map("new", a="1"), config_map("old", a="1")
THERE = live(OLD)
Question = tuple[tuple[Work, ...], dict[PlacementKey, DeletePropagation], Inventory, ClusterObservation]


class Planner:
    """Plans for one cluster after the other."""

    def __init__(self) -> None:
        self._memo: PlansMemo = {}

    def plan(
        self,
        cluster: str,
        works: tuple[Work, ...],
        removing: dict[PlacementKey, DeletePropagation],
        inventory: Inventory,
        seen: ClusterObservation,
    ) -> tuple[Operation, ...]:
        state = FleetState(clusters={cluster: MemberCluster(name=cluster)}, inventory={cluster: inventory})
        asked = {cluster: works}, {cluster: seen}, {cluster: removing}
        operations, memo = plan_fleet(state, *asked, self._memo, Failures())
        self._memo = {**self._memo, **memo}
        return operations


NAMESPACES = {"ns": "uid-of-ns"}
LIVE: dict[ObjectKey, LiveObject | None] = {NEW.key: None, OLD.key: THERE}
SEEN = ClusterObservation(cluster="c1", reachable=True, live=LIVE, namespaces=NAMESPACES)
FIRST: Question = ((work(NEW),), {}, {OLD.key: owned(OLD, THERE)}, SEEN)
CHANGES: dict[str, Callable[[], Question]] = {
    "works": lambda: ((work(NEW, OLD),), *FIRST[1:]),
    "removing": lambda: (FIRST[0], {WEB: DeletePropagation.ABANDON}, *FIRST[2:]),
    "inventory": lambda: (*FIRST[:2], {}, FIRST[3]),
    "live": lambda: (*FIRST[:3], replace(SEEN, live={**LIVE, OLD.key: None})),
    "unreadable": lambda: (*FIRST[:3], replace(SEEN, unreadable={NEW.key: "403"})),
    "namespaces": lambda: (*FIRST[:3], replace(SEEN, namespaces={})),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_changed_alone_is_planned_anew(change: str) -> None:
    planner, then = Planner(), CHANGES[change]()
    before = planner.plan("c1", *FIRST)
    assert before == Planner().plan("c1", *FIRST)
    assert planner.plan("c1", *then) == Planner().plan("c1", *then)
    assert Planner().plan("c1", *then) != before, "the change must be one that is to be seen"
    assert planner.plan("c1", *FIRST) == before


def test_clusters_are_remembered_apart_and_the_same_question_has_the_same_answer() -> None:
    planner = Planner()
    one, other = planner.plan("c1", *FIRST), planner.plan("c2", *FIRST)
    assert {o.cluster for o in one} == {"c1"}
    assert {o.cluster for o in other if not isinstance(o, Update)} >= {"c2"}
    assert all(a is b for a, b in zip(planner.plan("c1", *FIRST), one, strict=True))


def reapplied(wanted: Manifest, there: LiveObject, entry: InventoryEntry, compared: Comparisons) -> Operation:
    """The operation for one manifest of ours."""
    asked = ApplyRequest(
        cluster="c1", works=(work(wanted),), live={wanted.key: there}, inventory={wanted.key: entry}, compared=compared
    )
    (operation,) = plan_apply(asked)
    return operation


DRIFTED = config_map("old", a="9")


def at(uid: str, version: str | None, **data: str) -> LiveObject:
    """The old object with other data, as one version of one object."""
    metadata = {**OLD.body["metadata"], "uid": uid, **({"resourceVersion": version} if version else {})}
    return LiveObject(OLD.key, {**OLD.body, "data": data, "metadata": metadata})


def test_each_version_of_each_object_is_compared_with_each_manifest_once() -> None:
    compared, first, more = Comparisons(), at("u1", "7", a="9"), config_map("old", a="1", b="2")
    answers = [
        compared.differences(OLD, first, full=False),
        compared.differences(more, first, full=False),
        compared.differences(OLD, at("u1", "8", a="8"), full=False),
        compared.differences(OLD, at("u2", "7", a="7"), full=False),
        compared.differences(OLD, at("u3", "7", a="6", c="3"), full=True),
        compared.differences(OLD, at("u3", "7", a="6", c="3"), full=False),
    ]
    a_is = [("/data/a", found, "1") for found in "987"]
    assert answers == [
        (a_is[0],),
        (a_is[0], ("/data/b", None, "2")),
        (a_is[1],),
        (a_is[2],),
        (("/data/a", "6", "1"), ("/data/c", "3", None)),
        (("/data/a", "6", "1"),),
    ]
    assert compared.differences(OLD, first, full=False) is answers[0]
    shape = compared.shape(OLD, first)
    assert compared.shape(OLD, first) is shape == shape_digest(OLD.body, first.body)
    assert len(compared) == len(answers) + 1


def test_an_object_without_a_version_is_compared_each_time() -> None:
    compared = Comparisons()
    for value in "89":
        there = at("u1", None, a=value)
        assert compared.differences(OLD, there, full=False) == (("/data/a", value, "1"),)
        assert compared.shape(OLD, there) == shape_digest(OLD.body, there.body)


def test_a_copy_of_what_was_compared_is_extended_apart() -> None:
    compared = Comparisons()
    compared.shape(OLD, at("u1", "7"))
    compared.differences(OLD, at("u1", "7"), full=True)
    copied = compared.copy()
    assert copied == compared and len(copied) == 2
    copied.shape(OLD, at("u1", "8"))
    copied.differences(OLD, at("u1", "8"), full=True)
    assert (len(copied), len(compared)) == (4, 2)


@pytest.mark.parametrize(
    ("manifest", "uid", "version"),
    [(OLD, "u2", "7"), (OLD, "u1", "8"), (config_map("old", a="1", b="2"), "u1", "7")],
    ids=["uid", "resourceVersion", "manifest"],
)
def test_a_shape_is_that_of_one_version_of_one_object_and_one_manifest(
    manifest: Manifest, uid: str, version: str
) -> None:
    """Each part of the key of the shape cache counts: without it drift would pass for what was applied."""
    compared = Comparisons()
    assert not isinstance(reapplied(OLD, THERE, owned(OLD, THERE), compared), Update)
    drifted = LiveObject(
        OLD.key, {**DRIFTED.body, "metadata": {**DRIFTED.body["metadata"], "uid": uid, "resourceVersion": version}}
    )
    applied = replace(owned(manifest, drifted), shape_digest=shape_digest(OLD.body, THERE.body))
    assert reapplied(manifest, drifted, applied, compared) == reapplied(manifest, drifted, applied, Comparisons())
    assert isinstance(reapplied(manifest, drifted, applied, compared), Update)
