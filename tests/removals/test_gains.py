"""Which selectors of a decision pick nothing, and which may be meant for one that is gone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.labels import LabelRequirement, LabelSelector
from gitfleet.api.objects import Manifest, Origin
from gitfleet.api.placements import PlacementKey, ResourceSelector, SelectionScope
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.removals import Kept
from gitfleet.removals.causes import Causes
from gitfleet.removals.gains import Gain, Gains
from gitfleet.removals.placed import Losses
from tests.removals.fleets import NOW, SHOP, WEB, config_map, fleet, none_overridden, placed

CART, TEAM = config_map("cart"), config_map("basket", team="shop")
INNER = PlacementKey("web", "shop")
NO_HOLD = Kept()
IN_FILE = Origin("placements/shop.yaml", 3, "blob")


def by(name: str | None = None, kind: str = "ConfigMap", **labels: str) -> ResourceSelector:
    """A selector by name or by labels."""
    selector = LabelSelector(labels) if labels else None
    return ResourceSelector(group="", version="v1", kind=kind, name=name, label_selector=selector)


def expressing(value: str) -> ResourceSelector:
    """A selector by an expression."""
    return replace(by(), label_selector=LabelSelector({}, (LabelRequirement("team", "In", (value,)),)))


def having(
    key: PlacementKey, *selectors: ResourceSelector, has: Iterable[Manifest] = (), **spec: Any
) -> PlacementRecord:
    """A placement with these selectors, and these objects."""
    record = placed(key, ["c1"], *has)
    return replace(record, placement=replace(record.placement, selectors=selectors, **spec))


BEFORE = fleet(having(WEB, by("cart"), has=[CART]), having(SHOP, by("old")))
OLD = BEFORE.placements[WEB].placement


def gains(
    *after: PlacementRecord,
    written: tuple[Manifest, ...] = (CART, TEAM),
    kept: Kept = NO_HOLD,
    before: FleetState = BEFORE,
) -> Gains:
    """Of a decision that leaves these."""
    left = replace(before, placements={record.placement.key: record for record in after})
    causes = Causes.between(before, left, Desired(commit="d", payload=written))
    return Gains(causes, Losses.between(before, left, kept, none_overridden))


@pytest.mark.parametrize(
    ("record", "numbers"),
    [
        (having(SHOP, by("old"), by("catr")), [1]),
        (having(SHOP, by("old"), by("cart"), by("catr"), by("x")), [2, 3]),
        (having(SHOP, by("old"), by("cart", kind="Secret")), [1]),
        (having(SHOP, by("old")), []),
        (having(PlacementKey("", "new"), by("old")), [0]),
        (having(SHOP, by(team="shop")), []),
        (having(SHOP, by(team="shpo")), [0]),
        (having(SHOP, by()), []),
        (having(SHOP, by("cart"), deleting=NOW), []),
        (having(SHOP, by("catr"), deleting=NOW), []),
        (having(INNER, by("cart"), by("catr")), [1]),
        (having(PlacementKey("pay", "shop"), by("cart")), [0]),
        (having(SHOP, replace(by("pay", "Namespace"), selection_scope=SelectionScope.NAMESPACE_WITH_RESOURCE_SELECTORS),
                by("cart")), [0, 1]),
    ],
)  # fmt: skip
def test_what_a_placement_selects_since_a_commit_and_is_not_there(record: PlacementRecord, numbers: list[int]) -> None:
    key = record.placement.key
    expected = {key: [Gain(record.placement, number) for number in numbers]} if numbers else {}
    assert gains(record).empty == expected
    assert gains(record, kept=Kept(placements=frozenset({key}))).empty == {}


@pytest.mark.parametrize(
    ("dropped", "record", "written", "number"),
    [
        (by("cart"), having(SHOP, by("old"), by("carts")), (CART, config_map("carts")), 1),
        (by("cart"), having(SHOP, by("basket")), (CART, TEAM), None),
        (by("old"), having(SHOP, by("cart"), by("olt")), (CART, config_map("olt")), 1),
        (by("olt"), having(SHOP, by("x"), by("old")), (CART,), 1),
        (by("olt"), having(SHOP, by("old")), (CART, config_map("old")), None),
        (by("olt"), having(INNER, by("old")), (CART, config_map("old")), None),
        (by("carts"), having(SHOP, by("cart")), (CART,), None),
        (by("carts", "Secret"), having(SHOP, by("olds")), (CART, config_map("olds")), None),
        (by(team="shops"), having(SHOP, by(team="shop")), (TEAM,), 0),
        (expressing("shops"), having(SHOP, expressing("shop")), (TEAM,), 0),
        (by(team="shop"), having(SHOP, by()), (TEAM,), None),
    ],
    ids=[
        "new, and nobody had it",
        "another name",
        "whatever it was that is dropped",
        "old, and it picks nothing",
        "old, and it picks something",
        "elsewhere",
        "new, and another one had it",
        "another kind",
        "labels",
        "expressions",
        "all of a kind",
    ],
)
def test_what_may_be_meant_for_a_selector_that_is_gone(
    dropped: ResourceSelector, record: PlacementRecord, written: tuple[Manifest, ...], number: int | None
) -> None:
    expected = None if number is None else Gain(record.placement, number)
    assert gains(record, written=written).nearly(dropped, OLD) == expected


def test_what_an_object_nearly_has_the_labels_of() -> None:
    """Of whatever placement that looks where it is, but not of what placed it by its labels before."""
    old, new = by(team="shop"), by(team="pay")
    record = having(SHOP, by("old"), old, new, by(team="x"), by())
    found = gains(record, written=(CART, TEAM, config_map("till", team="pay")))
    then = config_map("cart")

    def near(of: tuple[ResourceSelector, ...] = (), then: Manifest = then, **labels: str) -> Gain | None:
        return found.nearly_labelled(then, config_map("cart", **labels), of)

    assert near(team="shpo") == Gain(record.placement, 1)
    assert near(team="pya") == Gain(record.placement, 2)
    assert near((old,), team="shpo") == Gain(record.placement, 1)
    assert near((old,), config_map("cart", team="shop"), team="shpo") is None
    assert near(team="till") is near(team="shop") is None
    assert found.empty == {SHOP: [Gain(record.placement, 3)]} and near(team="X") is None
    at_home = gains(having(PlacementKey("pay", "shop"), by(team="pay")), having(INNER, by(team="shop")))
    wrong = config_map("cart", team="shpo"), config_map("cart", "pay", team="shpo")
    assert [at_home.nearly_labelled(then, one, ()) is not None for one in wrong] == [True, False]


def test_what_a_placement_that_leaves_selected_is_new_where_it_is_written_again() -> None:
    record = having(SHOP, by("old"), by(team="shop"))
    assert gains(record, before=fleet(record)).empty == {}
    found = gains(record, before=fleet(having(SHOP, *record.placement.selectors, deleting=NOW)))
    assert found.empty == {SHOP: [Gain(record.placement, 0)]}


def test_its_place_is_that_of_the_commit() -> None:
    """What is unchanged was read from the state, and has none."""
    record = having(SHOP, by("old"), by(team="x"))
    found = gains(record)
    at = found.at(record.placement, 0)
    assert (at.field, at.place) == (None, "")
    written = replace(record.placement, origin=IN_FILE)
    wanted = Desired(commit="d", objects={"placements": {SHOP: written}})
    known = replace(found, causes=replace(found.causes, desired=wanted))
    fields = [known.at(record.placement, number).field for number in (0, 1)]
    assert [field and field.location[2:] for field in fields] == [(0, "name"), (1, "labelSelector")]
    assert known.at(record.placement, 0).place == " (placements/shop.yaml:3)"
    other = replace(record.placement, selectors=(by("x"),))
    assert known.at(other, 0).field is None
