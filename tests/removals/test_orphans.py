"""Orphans: what clusters own and no placement wants there, and why."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.inventory import InventoryEntry
from gitfleet.api.objects import Manifest, ObjectKey
from gitfleet.api.placements import PlacementKey
from gitfleet.api.strategies import DeletePropagation, RolloutStrategy
from gitfleet.model.state import FleetState
from gitfleet.removals import Orphan, OrphanKind, OrphansMemo, OrphansRequest, orphans_of
from tests.removals.fleets import CLUSTERS, NOW, SHOP, WEB, config_map, fleet, placed, wanting, with_web
from tests.works.builders import obj

A, B = config_map("a"), config_map("b")
HAS = fleet(placed(WEB, CLUSTERS, A, B))
BOTH = replace(HAS, placements={**HAS.placements, SHOP: placed(SHOP, CLUSTERS)})
REQUESTED, LEAVING, WITHDRAWN, DROPPED = OrphanKind
Wants = Mapping[PlacementKey, Mapping[str, Collection[Manifest] | None]]


def everywhere(*manifests: Manifest) -> dict[str, Collection[Manifest] | None]:
    """The same on both clusters."""
    return dict.fromkeys(CLUSTERS, manifests)


def changed(state: FleetState, policy: DeletePropagation) -> FleetState:
    """The placement web with another deleteStrategy."""
    web = state.placements[WEB]
    strategy = RolloutStrategy(delete_propagation_policy=policy)
    return with_web(state, replace(web, placement=replace(web.placement, strategy=strategy)))


def leaving(state: FleetState, policy: DeletePropagation) -> FleetState:
    """The cluster c2 on its way out."""
    gone = replace(state.clusters["c2"], deleting=NOW, delete_propagation_policy=policy)
    return replace(state, clusters={**state.clusters, "c2": gone})


def protected(state: FleetState) -> FleetState:
    """The object b must be kept on both clusters."""
    kept = {
        name: {key: replace(one, protected_by="x" if key == B.key else None) for key, one in owned.items()}
        for name, owned in state.inventory.items()
    }
    return replace(state, inventory=kept)


def same(state: FleetState) -> FleetState:
    """Nothing else."""
    return state


def found(orphans: Collection[Orphan]) -> dict[str, OrphanKind]:
    """Each with its kind."""
    return {f"{one.cluster} {one.key.name}": one.kind for one in orphans}


@pytest.mark.parametrize(
    ("wants", "change", "newest", "evicted", "expected"),
    [
        ({WEB: everywhere(A, B)}, same, (), "", {}),
        ({WEB: everywhere(A)}, same, (), "", {"c1 b": DROPPED, "c2 b": DROPPED}),
        ({WEB: {"c1": (A, B), "c2": (A,)}}, same, (), "", {"c2 b": WITHDRAWN}),
        ({WEB: {"c1": (A, B)}}, same, (), "", {"c2 a": WITHDRAWN, "c2 b": WITHDRAWN}),
        ({WEB: {"c1": (A,)}}, same, (), "", {"c1 b": DROPPED, "c2 a": WITHDRAWN, "c2 b": DROPPED}),
        ({WEB: {}}, same, (), "", dict.fromkeys(("c1 a", "c1 b", "c2 a", "c2 b"), DROPPED)),
        ({WEB: {"c1": None, "c2": (A, B)}}, same, (), "", {}),
        ({}, same, (), "", {}),
        ({WEB: everywhere(A), SHOP: {"c1": (B,)}}, same, (), "", {"c2 b": WITHDRAWN}),
        ({WEB: everywhere(A), SHOP: {"c1": None, "c2": None}}, same, (), "", {"c1 b": DROPPED, "c2 b": DROPPED}),
        ({WEB: everywhere(A)}, same, (B,), "", {"c1 b": REQUESTED, "c2 b": REQUESTED}),
        ({WEB: {"c1": (A,)}}, same, (B,), "", {"c1 b": REQUESTED, "c2 a": WITHDRAWN, "c2 b": DROPPED}),
        ({WEB: {"c1": (A, B)}}, same, (), "c2", {"c2 a": REQUESTED, "c2 b": REQUESTED}),
        ({WEB: {"c1": (A, B), "c2": (A,)}}, same, (), "c2", {"c2 b": WITHDRAWN}),
        ({WEB: everywhere(A, B)}, lambda s: leaving(s, DeletePropagation.DELETE), (), "",
         {"c2 a": LEAVING, "c2 b": LEAVING}),
        ({WEB: {}}, lambda s: leaving(s, DeletePropagation.ABANDON), (), "", {"c1 a": DROPPED, "c1 b": DROPPED}),
        ({WEB: {"c1": (A,)}}, lambda s: changed(s, DeletePropagation.ABANDON), (), "", {"c1 b": DROPPED}),
        ({WEB: everywhere(A)}, protected, (), "", {}),
        ({WEB: {}}, lambda s: replace(s, placements={}), (), "", {}),
    ],
)  # fmt: skip
def test_what_no_placement_wants_where_it_is(
    wants: Wants,
    change: Callable[[FleetState], FleetState],
    newest: Collection[Manifest],
    evicted: str,
    expected: dict[str, OrphanKind],
) -> None:
    request = OrphansRequest(
        state=wanting(change(BOTH), wants),
        newest=lambda key, _: {one.key.identity for one in newest if key == WEB},
        evicted={(WEB, evicted)} if evicted else frozenset(),
    )
    assert found(orphans_of(request, OrphansMemo())[0]) == expected


GENERATED = {name: config_map(name) for name in ("app-24567889bc", "app-tmkhgfdcb9", "api-24567889bc", "app-new")}


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (GENERATED["app-24567889bc"], GENERATED["app-tmkhgfdcb9"], REQUESTED),
        (GENERATED["app-24567889bc"], GENERATED["api-24567889bc"], DROPPED),
        (GENERATED["app-24567889bc"], GENERATED["app-new"], DROPPED),
        (GENERATED["app-new"], GENERATED["app-24567889bc"], DROPPED),
        (GENERATED["app-24567889bc"], config_map("app-tmkhgfdcb9", "other"), DROPPED),
        (GENERATED["app-24567889bc"], obj("v1", "Secret", "app-tmkhgfdcb9", "web"), DROPPED),
        (obj("v1", "Secret", "app-24567889bc", "web"), obj("v1", "Secret", "app-tmkhgfdcb9", "web"), REQUESTED),
        (obj("v1", "Service", "app-24567889bc", "web"), obj("v1", "Service", "app-tmkhgfdcb9", "web"), DROPPED),
    ],
)
def test_a_new_hash_of_a_generator_asks_for_the_old_object_to_go(
    old: Manifest, new: Manifest, kind: OrphanKind
) -> None:
    state = wanting(fleet(placed(WEB, ("c1",), old)), {WEB: {"c1": (new,)}})
    (one,) = orphans_of(OrphansRequest(state=state), OrphansMemo())[0]
    assert one == Orphan("c1", WEB, old.key, kind)


class Looks(dict[ObjectKey, InventoryEntry]):
    """What a cluster owns, and how often all of it was looked at."""

    count = 0

    def values(self) -> Any:
        """The entries."""
        self.count += 1
        return super().values()


def test_a_cluster_is_looked_at_again_once_anything_changed_there() -> None:
    looks = {name: Looks(owned) for name, owned in HAS.inventory.items()}
    state = wanting(replace(HAS, inventory=looks), {WEB: {"c1": (A,), "c2": (A, B)}})
    request = OrphansRequest(state=state)
    first, memo = orphans_of(request, OrphansMemo())
    again, memo = orphans_of(request, memo)
    assert again == first and found(first) == {"c1 b": WITHDRAWN}
    assert [looks[name].count for name in CLUSTERS] == [1, 1]
    moved = replace(state, clusters={**state.clusters, "c2": replace(state.clusters["c2"], labels={"a": "b"})})
    unwanted = replace(state, wanted=wanting(state, {WEB: {"c1": (A, B), "c2": (A,)}}).wanted)
    unknown = wanting(replace(state, placements={}), {})
    for changed_, orphans in ((moved, {"c1 b": WITHDRAWN}), (unwanted, {"c2 b": WITHDRAWN}), (unknown, {})):
        before = looks["c2"].count
        assert found(orphans_of(OrphansRequest(state=changed_), memo)[0]) == orphans
        assert looks["c2"].count == before + 1
