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
from gitfleet.apply import ApplyRequest, Comparisons, Going, PlansMemo, Wanted, plan_apply, plan_fleet
from gitfleet.apply.shapes import shape_digest
from gitfleet.model.failures import Failures
from gitfleet.model.observations import ClusterObservation, LiveObject
from gitfleet.model.operations import KeepCode, Operation, Update
from gitfleet.model.state import FleetState, Inventory
from gitfleet.model.works import Work
from tests.apply.model_cluster import config_map
from tests.apply.test_plan_apply import OTHER, WEB, live, owned, work
from tests.gates import OPEN, open_gate

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
        answers, removed = {cluster: seen}, {cluster: removing}
        operations, memo = plan_fleet(
            state, Wanted({cluster: works}), answers, Going(removed, OPEN), self._memo, Failures()
        )
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


API = config_map("api", a="1")
WEB_LIVE, API_LIVE = live(OLD, manager="gitfleet"), live(API, "u2", manager="gitfleet")
SETTLED_LIVE: dict[ObjectKey, LiveObject | None] = {OLD.key: WEB_LIVE, API.key: API_LIVE}
SETTLED_SEEN = replace(SEEN, live=SETTLED_LIVE)
SETTLED_INVENTORY = {OLD.key: owned(OLD, WEB_LIVE), API.key: owned(API, API_LIVE, OTHER)}
WEB_WORK, API_WORK = work(OLD), work(API, placement=OTHER)
BOTH = (WEB_WORK, API_WORK)
SETTLED: Question = (BOTH, {}, SETTLED_INVENTORY, SETTLED_SEEN)
DELETED = live(OLD, manager="gitfleet", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
EDITED = LiveObject(
    OLD.key, {**WEB_LIVE.body, "data": {"a": "9"}, "metadata": {**WEB_LIVE.body["metadata"], "resourceVersion": "8"}}
)
AS_V2 = replace(OLD, key=replace(OLD.key, version="v2"))

OF_ONE_WORK: dict[str, Question] = {
    "another manifest": ((work(config_map("old", a="2")), API_WORK), *SETTLED[1:]),
    "one manifest more": (
        (work(OLD, NEW), API_WORK),
        *SETTLED[1:3],
        replace(SEEN, live={**SETTLED_LIVE, NEW.key: None}),
    ),
    "one that stands twice": ((work(OLD, OLD), API_WORK), *SETTLED[1:]),
    "another strategy": ((work(OLD, type="ReportDiff"), API_WORK), *SETTLED[1:]),
    "an error": ((work(error="it fails"), API_WORK), *SETTLED[1:]),
    "no work": ((API_WORK,), *SETTLED[1:]),
    "drift": (*SETTLED[:3], replace(SEEN, live={**SETTLED_LIVE, OLD.key: EDITED})),
    "deletion under way": (*SETTLED[:3], replace(SEEN, live={**SETTLED_LIVE, OLD.key: DELETED})),
    "gone": (*SETTLED[:3], replace(SEEN, live={**SETTLED_LIVE, OLD.key: None})),
    "not observed": (*SETTLED[:3], replace(SEEN, live={API.key: API_LIVE})),
    "no entry": (*SETTLED[:2], {API.key: SETTLED_INVENTORY[API.key]}, SETTLED_SEEN),
    "an entry of another uid": (
        *SETTLED[:2],
        {**SETTLED_INVENTORY, OLD.key: replace(SETTLED_INVENTORY[OLD.key], uid="u9")},
        SETTLED_SEEN,
    ),
    "an entry of the same object in another version": (
        *SETTLED[:2],
        {**SETTLED_INVENTORY, AS_V2.key: owned(AS_V2, WEB_LIVE, OTHER)},
        SETTLED_SEEN,
    ),
}
OF_BOTH: dict[str, Question] = {
    "unreadable": (*SETTLED[:3], replace(SETTLED_SEEN, unreadable={OLD.key: "403"})),
    "given up, and wanted by another": (
        (WEB_WORK, work(OLD, API, placement=OTHER)),
        {WEB: DeletePropagation.DELETE},
        *SETTLED[2:],
    ),
}


@pytest.mark.parametrize("then", [*OF_ONE_WORK.values(), *OF_BOTH.values()], ids=[*OF_ONE_WORK, *OF_BOTH])
def test_works_in_place_are_planned_anew_with_whatever_of_them_changed(then: Question) -> None:
    planner = Planner()
    before = planner.plan("c1", *SETTLED)
    assert [getattr(operation, "code", None) for operation in before] == [KeepCode.IN_PLACE] * 2
    after = planner.plan("c1", *then)
    assert after == Planner().plan("c1", *then) != before
    if then not in OF_BOTH.values():
        (kept,) = (operation for operation in before if operation.key == API.key)
        assert any(operation is kept for operation in after), "those of the other work stay"
    assert planner.plan("c1", *SETTLED) == before


def test_a_work_that_is_no_longer_in_place_is_forgotten() -> None:
    compared = Comparisons()
    for works, live_there in (
        (BOTH, SETTLED_LIVE),
        ((API_WORK,), SETTLED_LIVE),
        (BOTH, {**SETTLED_LIVE, OLD.key: None}),
    ):
        asked = ApplyRequest(
            gate=open_gate("c1"),
            cluster="c1",
            works=works,
            live=live_there,
            inventory=SETTLED_INVENTORY,
            compared=compared,
        )
        plan_apply(asked)
        wholly = BOTH if works is BOTH and live_there is SETTLED_LIVE else (API_WORK,)
        assert set(compared.in_place) == {work.placement for work in wholly}


def reapplied(wanted: Manifest, there: LiveObject, entry: InventoryEntry, compared: Comparisons) -> Operation:
    """The operation for one manifest of ours."""
    asked = ApplyRequest(
        gate=open_gate("c1"),
        cluster="c1",
        works=(work(wanted),),
        live={wanted.key: there},
        inventory={wanted.key: entry},
        compared=compared,
    )
    (operation,) = plan_apply(asked)
    return operation


DRIFTED = config_map("old", a="9")


def at(uid: str, version: str | None, **data: str) -> LiveObject:
    """The old object with other data, as one version of one object."""
    metadata = {**OLD.body["metadata"], "uid": uid, **({"resourceVersion": version} if version else {})}
    return LiveObject(OLD.key, {**OLD.body, "data": data, "metadata": metadata})


@pytest.mark.parametrize("version", [None, "7"])
def test_other_content_is_compared_though_a_server_gives_it_the_same_version(version: str | None) -> None:
    """A server may have lied about an object once, and an etcd that was restored gives versions again."""
    compared = Comparisons()
    for value in "898":
        there = at("u1", version, a=value)
        assert compared.differences(OLD, there, full=False) == (("/data/a", value, "1"),)
        assert compared.shape(OLD, there) == shape_digest(OLD.body, there.body)


def test_a_copy_of_what_was_compared_is_extended_apart() -> None:
    compared = Comparisons()
    compared.shape(OLD, at("u1", "7"))
    compared.differences(OLD, at("u1", "7"), full=True)
    copied = compared.copy(compared.ignored, {})
    assert replace(copied, questions=compared.questions) == compared and len(copied) == 2
    copied.shape(OLD, at("u2", "7"))
    copied.differences(OLD, at("u2", "7"), full=True)
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
