"""Overrides of objects that stand in no file and stay, because their removal is held: as they were rolled out last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.bindings import Binding, BindingState
from gitfleet.api.clusters import MemberCluster
from gitfleet.api.objects import Identity
from gitfleet.api.overrides import JsonPatch, OverridePlacement
from gitfleet.api.placements import Placement
from gitfleet.api.snapshots import OverrideSnapshot
from gitfleet.model.failures import Failures
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.works import Unwritten, deleted_on, state_when_done, target_overrides, works_when_done
from tests.works.builders import (
    EAST,
    NAMESPACE,
    ROLE,
    SETTINGS,
    WEB,
    WEST,
    binding_of,
    override,
    rule,
    snapshot,
)

CLUSTERS = {"east": EAST, "west": WEST}
LATEST = snapshot(NAMESPACE, SETTINGS, ROLE)
GONE: frozenset[Identity] = frozenset({SETTINGS.key.identity})


def patch(name: str, index: int, selects: Any = SETTINGS, **more: Any) -> OverrideSnapshot:
    """An override of which each snapshot sets a value of its own."""
    ns = more.pop("ns", "web" if selects is SETTINGS else "")
    one = rule(JsonPatch("add", "/metadata/labels", {name: str(index)}), region=more.pop("region", None))
    return replace(override(name, selects, one, ns=ns, **more), index=index)


FEW = [patch("few", index, region="eu" if index else None) for index in range(4)]
OF_API = patch("api", 1, placement=OverridePlacement("api", "Cluster"))
ROLES = patch("roles", 5, ROLE)
WHOLE = patch("whole", 2, NAMESPACE)
FRESH = patch("fresh", 0)


def at(cluster: MemberCluster, *namespaced: str, **more: Any) -> Binding:
    """A binding with these overrides."""
    return replace(binding_of(cluster), resource_overrides=namespaced, **more)


def record_of(*bindings: Binding, **more: Any) -> PlacementRecord:
    """The placement with these bindings."""
    given = {"resource_snapshots": (LATEST,), **more}
    return PlacementRecord(placement=Placement(key=WEB, selectors=()), bindings=bindings, **given)


BOUND = record_of(
    at(EAST, "web/few-1"),
    at(WEST, "web/few-0"),
    at(MemberCluster(name="old"), "web/few-2", state=BindingState.UNSCHEDULED),
)


@pytest.mark.parametrize(
    ("record", "gone", "every", "current", "names", "overrides"),
    [
        (BOUND, frozenset(), FEW, [FEW[3]], set(), [FEW[3]]),
        (BOUND, GONE, FEW[::-1], [FEW[3], ROLES], {"web/few"}, [ROLES, FEW[1]]),
        (BOUND, GONE, FEW, [ROLES], {"web/few"}, [ROLES, FEW[1]]),
        (BOUND, {ROLE.key.identity}, [*FEW, ROLES], [FEW[3], ROLES], {"roles"}, [FEW[3]]),
        (BOUND, GONE, [*FEW, FRESH], [FRESH], {"web/few", "web/fresh"}, [FEW[1]]),
        (record_of(at(EAST), at(WEST)), GONE, FEW, [FEW[3]], {"web/few"}, []),
        (record_of(at(EAST, "web/api-1")), GONE, [OF_API], [OF_API, ROLES], set(), [OF_API, ROLES]),
        (record_of(at(EAST, cluster_resource_overrides=("whole-2",))), GONE, [WHOLE, patch("whole", 3, NAMESPACE)], [],
         {"whole"}, [WHOLE]),
    ],
    ids=["all is written", "an older one is bound", "the override is gone, too", "another object", "a new override",
         "none is bound", "of another placement", "of its namespace"],
)  # fmt: skip
def test_which_overrides_stay_and_as_which_snapshot(
    record: PlacementRecord,
    gone: frozenset[Identity],
    every: list[OverrideSnapshot],
    current: list[OverrideSnapshot],
    names: set[str],
    overrides: list[OverrideSnapshot],
) -> None:
    found = Unwritten(gone, tuple(every)).staying(record, LATEST, tuple(current))
    assert found == (frozenset(names), tuple(overrides))


HERE = (("region", "past"),)


@pytest.mark.parametrize(
    ("bindings", "references", "labels"),
    [
        ([at(EAST, "web/few-1", override_labels=HERE), at(WEST)], {"east": ((), ("web/few-1",)), "west": ((), ())},
         {"east": HERE}),
        ([at(EAST), at(WEST, "web/few-0", override_labels=HERE)], {"east": ((), ()), "west": ((), ("web/few-0",))},
         {"west": HERE}),
        ([at(MemberCluster(name="left"), "web/few-1"), at(EAST, "web/few-1", override_labels=HERE)],
         {"east": ((), ("web/few-1",))}, {"east": HERE}),
        ([at(EAST, "web/few-1", resource_snapshot=None), at(WEST, "web/few-0", override_labels=HERE)],
         {"east": ((), ("web/few-1",)), "west": ((), ("web/few-0",))}, {"east": (("region", "eu"),), "west": HERE}),
    ],
    ids=["the second has none", "the first has none", "the first left the fleet", "the first is not rolled out"],
)  # fmt: skip
def test_each_cluster_keeps_what_it_was_rolled_out_with(
    bindings: list[Binding], references: Mapping[str, Any], labels: Mapping[str, Any]
) -> None:
    """Where nothing of it is bound nothing of it comes, whatever the repo says now; one that is not rolled out yet
    gets it as the others have it."""
    unwritten = Unwritten(GONE, tuple(FEW))
    target = target_overrides(record_of(*bindings), (FEW[3],), CLUSTERS, {}, unwritten)
    assert (target.references, target.labels, target.held) == (references, labels, {})


def test_when_all_is_done_it_is_as_it_was() -> None:
    state = FleetState(placements={WEB: BOUND}, clusters=CLUSTERS, overrides={FEW[0].override.key: tuple(FEW)})
    failures = Failures()
    for unwritten, current, expected in (
        ({WEB: GONE}, (FEW[3],), {"east": ("web/few-1",), "west": ("web/few-0",)}),
        ({WEB: GONE}, (), {"east": ("web/few-1",), "west": ("web/few-0",)}),
        ({}, (FEW[3],), {"east": ("web/few-3",), "west": ()}),
        ({}, (), {"east": (), "west": ()}),
    ):
        done = state_when_done(state, current, {}, [WEB], failures, unwritten)
        assert {b.cluster: b.resource_overrides for b in done.placements[WEB].bindings} == expected
        works = works_when_done(state, current, unwritten=unwritten)
        assert {
            name: [m.body["metadata"].get("labels") for m in work.manifests if m.key == SETTINGS.key]
            for name, (work,) in works.items()
        } == {name: [{"few": one[0][-1]} if one else None] for name, one in expected.items()}
    assert not failures.found


def test_what_overrides_delete_is_asked_by_placement_and_cluster() -> None:
    deletes = override("gone", SETTINGS, rule(region="eu", delete=True), ns="web")
    of_web, of_api = (
        override(name, ROLE, rule(delete=True), placement=OverridePlacement(name, "Cluster")) for name in ("web", "api")
    )
    for record, expected in (
        (record_of(), {"east": {SETTINGS.key, ROLE.key}, "west": {ROLE.key}, "gone": set()}),
        (record_of(resource_snapshots=()), {"east": set(), "west": set(), "gone": set()}),
    ):
        state = FleetState(placements={WEB: record}, clusters=CLUSTERS)
        ask = deleted_on(state, iter((deletes, of_web, of_api)))
        for _ in range(2):
            assert {name: ask(WEB, name) for name in expected} == {
                name: {key.identity for key in keys} for name, keys in expected.items()
            }
