"""What begins to go between two states, each once, and what does not count."""

from __future__ import annotations

from dataclasses import replace

from gitfleet.api.placements import PlacementKey
from gitfleet.model.state import FleetState
from gitfleet.removals import going
from tests.removals.fleets import (
    CLUSTERS,
    SHOP,
    WEB,
    config_map,
    deleting,
    envelope,
    fleet,
    placed,
    unpicked,
    with_objects,
    with_web,
    without,
)

A, B = config_map("a"), config_map("b")
OTHER = PlacementKey("", "zoo")
BEFORE = fleet(placed(WEB, CLUSTERS, A, B), placed(SHOP, CLUSTERS, config_map("s", "shop")))
HAD = BEFORE.placements[WEB]


def ids(before: FleetState, after: FleetState) -> list[str]:
    """What goes."""
    return [removal.id for removal in going(before, after)]


def test_what_goes_is_named_once() -> None:
    gone = with_web(BEFORE, replace(HAD))
    assert ids(BEFORE, gone) == ids(BEFORE, BEFORE) == []
    no_web = replace(BEFORE, placements={SHOP: BEFORE.placements[SHOP]})
    assert ids(BEFORE, deleting(BEFORE)) == ids(BEFORE, no_web) == ["Placement web"]
    assert ids(BEFORE, without(BEFORE, "c1")) == ids(BEFORE, without(BEFORE, "c1", leaving=True)) == ["Cluster c1"]
    assert ids(BEFORE, with_objects(BEFORE, A)) == ["Object ConfigMap web/b of web"]
    assert ids(BEFORE, unpicked(BEFORE, "c2")) == ["Binding of web to c2"]


def test_what_was_on_its_way_out_is_not_named_again() -> None:
    leaving = without(BEFORE, "c1", leaving=True)
    assert ids(leaving, without(BEFORE, "c1")) == []
    assert ids(deleting(BEFORE), replace(BEFORE, placements={})) == ["Placement shop"]
    other = replace(HAD, placement=replace(HAD.placement, key=OTHER))
    more = replace(deleting(BEFORE), placements={**deleting(BEFORE).placements, OTHER: other})
    assert ids(more, replace(more, placements={})) == ["Placement shop", "Placement zoo"]
    assert ids(deleting(BEFORE), unpicked(with_objects(deleting(BEFORE), A), "c1")) == []
    assert ids(unpicked(BEFORE, "c1"), with_web(BEFORE, replace(HAD, bindings=HAD.bindings[1:]))) == []


def test_what_goes_with_its_placement_or_cluster_is_not_named_by_itself() -> None:
    assert ids(BEFORE, deleting(unpicked(with_objects(BEFORE, A), "c1"))) == ["Placement web"]
    assert ids(BEFORE, without(unpicked(BEFORE, "c1"), "c1", leaving=True)) == ["Cluster c1"]


def test_what_comes_is_no_removal() -> None:
    assert ids(with_objects(BEFORE, A), BEFORE) == ids(unpicked(BEFORE, "c2"), BEFORE) == []
    assert ids(without(BEFORE, "c1"), BEFORE) == ids(FleetState(), BEFORE) == []
    nothing = with_web(BEFORE, replace(HAD, resource_snapshots=()))
    assert ids(nothing, with_objects(BEFORE, A)) == ids(BEFORE, nothing) == []


def test_an_object_in_an_envelope_counts_as_itself() -> None:
    before = with_objects(BEFORE, A, envelope(B))
    assert ids(before, with_objects(BEFORE, envelope(B))) == ["Object ConfigMap web/a of web"], (
        "what stays inside stays"
    )
    assert ids(with_objects(BEFORE, A, B), with_objects(BEFORE, A, envelope(B))) == [], "it moved in"
    assert ids(before, with_objects(BEFORE, A, envelope())) == ["Object ConfigMap web/b of web"]
    assert ids(before, with_objects(BEFORE, A, B, envelope())) == []
    assert ids(before, with_objects(BEFORE, A)) == [
        "Object ResourceEnvelope.placement.kubernetes-fleet.io web/bundle of web",
        "Object ConfigMap web/b of web",
    ]


def test_of_an_envelope_that_cannot_be_read_nothing_goes() -> None:
    assert ids(with_objects(BEFORE, A, envelope(B)), with_objects(BEFORE, A, envelope(broken=True))) == []


def test_of_a_snapshot_without_manifests_no_envelope_is_judged() -> None:
    before, after = with_objects(BEFORE, A, envelope(B)), with_objects(BEFORE, A, envelope())
    (unread,) = after.placements[WEB].resource_snapshots
    assert (
        ids(
            before,
            with_web(after, replace(after.placements[WEB], resource_snapshots=(replace(unread, manifests=None),))),
        )
        == []
    )
