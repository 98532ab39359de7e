"""Placements that need no run any more: they stay External until a person approves, in whatever way they end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.bindings import Binding
from gitfleet.api.holds import Cause, FieldPlace, Removal, RemovalKind
from gitfleet.api.objects import Identity, Origin
from gitfleet.api.placements import PlacementKey
from gitfleet.api.strategies import RolloutStrategy, RolloutStrategyType
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.removals import Kept, going, still_wanted
from gitfleet.removals.causes import Causes
from gitfleet.removals.placed import Losses
from tests.removals.fleets import (
    CLUSTERS,
    SHOP,
    WEB,
    config_map,
    fleet,
    none_overridden,
    of_binding,
    of_object,
    placed,
    unpicked,
)
from tests.removals.test_judging import gone, identity, judged, waits

A, B = config_map("a"), config_map("b")
OTHER = PlacementKey("", "other")
EXTERNAL, ROLLING = RolloutStrategy(type=RolloutStrategyType.EXTERNAL), RolloutStrategy()
OF_WEB = Removal(kind=RemovalKind.PLACEMENT, placement=WEB)
STRATEGY = Removal(kind=RemovalKind.STRATEGY, placement=WEB)
TO_ALL = "its latest snapshot and all later ones would go to every cluster without stages and approvals"


def with_strategy(record: PlacementRecord, strategy: RolloutStrategy, **more: Any) -> PlacementRecord:
    """The record with another strategy."""
    return replace(record, placement=replace(record.placement, strategy=strategy, **more))


EXT_WEB = with_strategy(placed(WEB, CLUSTERS, A), EXTERNAL)
BEFORE = fleet(EXT_WEB, placed(SHOP, CLUSTERS, B))


def after(*records: PlacementRecord) -> FleetState:
    """The fleet with these placements, and with all that lies on its clusters."""
    return replace(BEFORE, placements={record.placement.key: record for record in records})


@pytest.mark.parametrize(
    ("old", "new", "begins"),
    [
        (EXTERNAL, ROLLING, [STRATEGY]),
        (ROLLING, EXTERNAL, []),
        (EXTERNAL, replace(EXTERNAL), []),
        (ROLLING, replace(ROLLING), []),
    ],
)
def test_the_strategy_external_may_end(old: RolloutStrategy, new: RolloutStrategy, begins: list[Removal]) -> None:
    before, later = (fleet(with_strategy(EXT_WEB, one)) for one in (old, new))
    assert list(going(before, later)) == begins


@pytest.mark.parametrize("blob", ["", "b10b"])
def test_a_placement_that_is_not_external_any_more_waits_whatever_it_has(blob: str) -> None:
    origin = Origin("placements/web.yaml", 3, blob=blob)
    rolling = with_strategy(EXT_WEB, ROLLING, origin=origin)
    text = "placements/web.yaml has strategy RollingUpdate"
    message = f"NotExternal: ClusterResourcePlacement web would need no run any more: {TO_ALL}"
    wanted = {"placements": {WEB: rolling.placement}}
    for before in (BEFORE, replace(BEFORE, inventory={})):
        assert judged(before, after(rolling), objects=wanted) == [([message], waits(STRATEGY, cause=text))]
    causes = Causes.between(BEFORE, after(rolling), Desired(commit="d", objects=wanted))
    field = FieldPlace(origin, ("spec", "strategy")) if blob else None
    assert causes.of(STRATEGY) == Cause("placements/web.yaml", 3, text, field=field)


SAME = placed(OTHER, CLUSTERS, A)


@pytest.mark.parametrize(
    ("old", "others", "held"),
    [
        (EXTERNAL, [SAME], True),
        (EXTERNAL, [with_strategy(SAME, EXTERNAL)], False),
        (EXTERNAL, [with_strategy(placed(PlacementKey("", "first"), CLUSTERS, A), EXTERNAL), SAME], True),
        (EXTERNAL, [placed(OTHER, ["c2"], A)], True),
        (EXTERNAL, [placed(OTHER, CLUSTERS, B)], False),
        (EXTERNAL, [placed(OTHER, ["c9"], A)], False),
        (EXTERNAL, [], False),
        (ROLLING, [SAME], False),
    ],
    ids=["another", "external too", "one of two", "on one cluster", "other objects", "elsewhere", "none", "rolling"],
)
def test_what_an_external_placement_has_goes_to_one_that_needs_no_run(
    old: RolloutStrategy, others: list[PlacementRecord], held: bool
) -> None:
    before = replace(BEFORE, placements={**BEFORE.placements, WEB: with_strategy(EXT_WEB, old)})
    takes = "ClusterResourcePlacement other, which is not External, takes over what placement web has"
    message = f"NotExternal: {takes}: {TO_ALL}"
    left = after(BEFORE.placements[SHOP], *others)
    found = judged(before, left, [OF_WEB])
    assert [why for whys, _ in found for why in whys if "NotExternal" in why] == ([message] if held else [])
    assert judged(after(BEFORE.placements[SHOP]), left, [OF_WEB]) == [], "nothing is known of web"
    assert judged(replace(before, inventory={}), left, [OF_WEB]) == [], "nothing lies anywhere"


def bound(snapshot: str | None) -> Binding:
    """The placement other on c1, with this snapshot."""
    return replace(SAME.bindings[0], resource_snapshot=snapshot)


@pytest.mark.parametrize(
    ("taker", "removal", "lost"),
    [
        (replace(SAME, bindings=(bound(None),)), of_binding("c1"), False),
        (with_strategy(SAME, EXTERNAL), of_binding("c1"), False),
        (with_strategy(replace(SAME, bindings=(bound(None),)), EXTERNAL), of_binding("c1"), False),
        (with_strategy(replace(SAME, bindings=(bound("other-7-snapshot"),)), EXTERNAL), of_binding("c1"), False),
        (with_strategy(replace(SAME, bindings=(bound(None),)), EXTERNAL), OF_WEB, False),
        (replace(SAME, bindings=SAME.bindings[1:]), of_binding("c1"), True),
    ],
    ids=["rolling", "through its run", "no run yet", "lost snapshot", "the placement waits", "not on this cluster"],
)
def test_an_object_is_not_lost_that_stays_until_another_placement_has_it(
    taker: PlacementRecord, removal: Removal, lost: bool
) -> None:
    left = after(*unpicked(BEFORE, "c1").placements.values(), taker)
    cells = {cell for cell in Losses.between(BEFORE, left, Kept(), none_overridden).of(removal) if cell[0] == "c1"}
    assert cells == ({("c1", A.key.identity)} if lost else set())


@pytest.mark.parametrize(("cluster", "lost"), [("c1", True), ("c2", False)])
def test_an_object_that_overrides_delete_for_the_other_placement_is_lost(cluster: str, lost: bool) -> None:
    def overridden(key: PlacementKey, name: str) -> set[Identity]:
        return {A.key.identity} if (key, name) == (OTHER, cluster) else set()

    left = after(*unpicked(BEFORE, "c1").placements.values(), SAME)
    losses = Losses.between(BEFORE, left, Kept(), overridden)
    assert losses.of(of_binding("c1")) == ({("c1", A.key.identity)} if lost else set())


@pytest.mark.parametrize(
    ("wanted", "known", "kept"),
    [(ROLLING, True, True), (EXTERNAL, True, False), (None, True, False), (ROLLING, False, False)],
    ids=["ended", "external again", "no such placement", "not known"],
)
def test_a_strategy_that_is_kept_takes_the_place_of_the_written_one(
    wanted: RolloutStrategy | None, known: bool, kept: bool
) -> None:
    written = replace(EXT_WEB.placement, strategy=wanted, labels={"new": "1"}) if wanted is not None else None
    objects: dict[str, Any] = {"placements": {WEB: written} if written is not None else {}, "clusters": BEFORE.clusters}
    desired = Desired(commit="d", objects=objects)
    found, added = still_wanted(desired, BEFORE if known else FleetState(), Kept(strategies=frozenset({WEB})))
    assert added == Kept(strategies=frozenset({WEB} if kept else ()))
    assert (found is desired) is not kept
    if kept and written is not None:
        assert found.placements == {WEB: replace(written, strategy=EXTERNAL)}


@pytest.mark.parametrize(
    ("successor", "placed_there", "said"),
    [
        ("placement shop", True, False),
        ("placement shop", False, True),
        ("placement gone", True, True),
        ("object b", True, False),
        ("object x", True, True),
    ],
)
def test_what_moves_to_another_namespace_must_be_placed_there(successor: str, placed_there: bool, said: bool) -> None:
    removal = OF_WEB if successor.startswith("placement") else of_object(A)
    shop = placed(SHOP, CLUSTERS, *([B] if placed_there else []))
    left = after(shop) if removal is OF_WEB else after(with_strategy(placed(WEB, CLUSTERS, B), EXTERNAL), shop)
    was = identity("placement web") if removal is OF_WEB else A.key.identity
    moved = {was: gone(successor=identity(successor), elsewhere=True)}
    found = judged(BEFORE, left, [removal], vanished=moved)
    sentence = f"LikelyTypo: the commit moves {removal} to a namespace in which no placement takes it"
    assert any(sentence in whys for whys, _ in found) is said
