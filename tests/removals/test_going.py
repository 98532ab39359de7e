"""What begins to go between two states, each once, and what does not count."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.objects import Manifest
from gitfleet.api.placements import PlacementKey
from gitfleet.model.failures import Failures, Subject
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.removals import going
from gitfleet.removals.going import handed_on, waiting_for_pins
from tests.removals.fleets import (
    CLUSTERS,
    NOW,
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
from tests.state.builders import condition

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
    assert ids(replace(nothing, inventory={}), with_objects(BEFORE, A)) == ids(BEFORE, nothing) == []


def test_of_a_lost_snapshot_is_known_what_clusters_have() -> None:
    lost = with_web(BEFORE, replace(HAD, resource_snapshots=()))
    assert ids(lost, with_objects(BEFORE, A)) == ["Object ConfigMap web/b of web"]
    assert ids(lost, with_objects(BEFORE, A, B)) == ids(lost, with_objects(BEFORE, A, envelope(B))) == []
    older = replace(HAD.resource_snapshots[-1], index=7)
    assert ids(with_web(BEFORE, replace(HAD, resource_snapshots=(older,))), with_objects(BEFORE, A)) == [
        "Object ConfigMap web/b of web"
    ], "once"


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


def having(*contents: Collection[Manifest], key: PlacementKey = WEB, at: int = 0) -> PlacementRecord:
    """One snapshot after the other, of which the clusters have one."""
    found = [placed(key, CLUSTERS, *content) for content in contents]
    snapshots = [replace(one.resource_snapshots[0], index=index) for index, one in enumerate(found)]
    bindings = (replace(one, resource_snapshot=snapshots[at].name) for one in found[0].bindings)
    return replace(found[0], resource_snapshots=tuple(snapshots), bindings=tuple(bindings))


def leaving(record: PlacementRecord) -> PlacementRecord:
    """On its way out."""
    return replace(record, placement=replace(record.placement, deleting=NOW))


def handed(before: list[PlacementRecord], after: list[PlacementRecord]) -> list[str]:
    """What is handed on between two states, of which nothing fails."""
    failures = Failures()
    was, now = (FleetState(placements={one.placement.key: one for one in records}) for records in (before, after))
    found = [removal.id for removal in handed_on(was, now, failures)]
    assert not failures.found
    return found


GAVE_UP = having([A, B], [B])
ZOO = having([A, B], [B], key=OTHER)
NOTHING, SELECTS_A = having([], key=SHOP), having([A], key=SHOP)
A_GOES, WEB_GOES = ["Object ConfigMap web/a of web"], ["Placement web"]


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ([GAVE_UP, NOTHING], [GAVE_UP, SELECTS_A], A_GOES),
        ([GAVE_UP], [GAVE_UP, SELECTS_A], A_GOES),
        ([having([A, envelope(B)], []), NOTHING], [having([A, envelope(B)], []), having([B], key=SHOP)],
         ["Object ConfigMap web/b of web"]),
        ([having([B, A], []), NOTHING], [having([B, A], []), having([B, A], key=SHOP)],
         ["Object ConfigMap web/a of web", "Object ConfigMap web/b of web"]),
        ([GAVE_UP, NOTHING], [GAVE_UP, having([A, B], key=SHOP)], A_GOES),
        ([GAVE_UP, NOTHING], [GAVE_UP, having([A, config_map("new")], key=SHOP)], A_GOES),
        ([GAVE_UP, ZOO, NOTHING], [GAVE_UP, ZOO, SELECTS_A], [*A_GOES, "Object ConfigMap web/a of zoo"]),
        ([GAVE_UP, replace(NOTHING, resource_snapshots=())], [GAVE_UP, SELECTS_A], A_GOES),
        # Nothing is selected newly, or not for long.
        ([GAVE_UP, SELECTS_A], [GAVE_UP, replace(SELECTS_A)], []),
        ([GAVE_UP, having([], [A], key=SHOP)], [GAVE_UP, having([], [A], [A, B], key=SHOP)], []),
        ([GAVE_UP, NOTHING], [GAVE_UP, leaving(SELECTS_A)], []),
        ([GAVE_UP, SELECTS_A], [GAVE_UP], []),
        # Nothing was given up, no cluster has it, or it is taken back.
        ([having([A, B]), NOTHING], [having([A, B]), SELECTS_A], []),
        ([having([A, B], [B], at=1), NOTHING], [having([A, B], [B], at=1), SELECTS_A], []),
        ([GAVE_UP, NOTHING], [having([A, B], [B], [A]), SELECTS_A], []),
        ([GAVE_UP, NOTHING], [SELECTS_A], []),
        # A whole placement that goes, by what its clusters have.
        ([leaving(HAD), NOTHING], [leaving(HAD), SELECTS_A], WEB_GOES),
        ([leaving(having([B], [A])), NOTHING], [leaving(having([B], [A])), SELECTS_A], []),
        ([leaving(having([A], [B])), NOTHING], [leaving(having([A], [B])), SELECTS_A], WEB_GOES),
        ([leaving(HAD), NOTHING], [HAD, SELECTS_A], []),
        ([leaving(HAD), NOTHING], [SELECTS_A], []),
        ([HAD, NOTHING], [leaving(HAD), SELECTS_A], []),
    ],
)  # fmt: skip
def test_what_was_given_up_earlier_goes_to_who_selects_it_newly(
    before: list[PlacementRecord], after: list[PlacementRecord], found: list[str]
) -> None:
    assert handed(before, after) == found


def test_what_cannot_be_read_hands_nothing_on_and_is_noted() -> None:
    odd: Any = object()
    zoo = having([A], key=OTHER)
    for records, subject, found in (
        ({WEB: GAVE_UP, SHOP: replace(SELECTS_A, resource_snapshots=odd), OTHER: zoo}, SHOP, A_GOES),
        ({SHOP: leaving(replace(HAD, bindings=odd)), WEB: GAVE_UP, OTHER: zoo}, SHOP, A_GOES),
    ):
        failures = Failures()
        before = {key: one for key, one in records.items() if key != OTHER and one.resource_snapshots is not odd}
        made = handed_on(FleetState(placements=before), FleetState(placements=records), failures)
        assert [removal.id for removal in made] == found
        assert [one.subject for one in failures.found] == [Subject.of_placement(subject)]


PINNED = (condition("ClusterResourcePlacementPinned"),)


@pytest.mark.parametrize(
    ("record", "selected", "found"),
    [
        (having([A, B]), [A], ["Object ConfigMap web/b of web"]),
        (having([A, B]), [A, B], []),
        (having([B, A], [A]), [], A_GOES),
        (having([envelope(A), B]), [B, envelope(A)], A_GOES),
        (replace(having([A]), resource_snapshots=()), [], []),
    ],
)
def test_what_a_pin_keeps_and_nothing_selects_goes_when_it_ends(
    record: PlacementRecord, selected: Collection[Manifest], found: list[str]
) -> None:
    unsaid = {WEB: frozenset(one.key.identity for one in selected)}
    for conditions, expected in (
        (PINNED, found),
        ((), []),
        ((condition("ClusterResourcePlacementPinned", "False"),), []),
    ):
        state = FleetState(placements={WEB: replace(record, conditions=conditions)}, unsaid=unsaid)
        assert [removal.id for removal in waiting_for_pins(state, Failures())] == expected
    assert waiting_for_pins(FleetState(unsaid=unsaid), Failures()) == ()


def test_of_several_pinned_placements_one_that_cannot_be_read_is_noted() -> None:
    odd: Any = None
    records = {WEB: having([A]), OTHER: having([A], key=OTHER), SHOP: having([B], key=SHOP)}
    pinned = {key: replace(one, conditions=PINNED) for key, one in records.items()}
    failures = Failures()
    found = waiting_for_pins(
        FleetState(placements=pinned, unsaid={WEB: frozenset(), OTHER: odd, SHOP: frozenset()}), failures
    )
    assert [removal.id for removal in found] == ["Object ConfigMap web/b of shop", *A_GOES]
    assert [one.subject for one in failures.found] == [Subject.of_placement(OTHER)]
