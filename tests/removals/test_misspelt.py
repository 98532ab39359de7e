"""What goes from a placement though it is still written, while a selector that a commit brings may be misspelt."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gitfleet.api.holds import ALLOW_EMPTY, FieldPlace, HoldRule
from gitfleet.api.objects import Manifest
from gitfleet.api.placements import PlacementKey, SelectionScope
from gitfleet.model.desired import Desired
from gitfleet.model.state import FleetState, PlacementRecord
from gitfleet.removals import going, judge
from gitfleet.removals.gains import Gain
from tests.removals.fleets import SHOP, WEB, config_map, fleet, of_object
from tests.removals.test_gains import IN_FILE, by, gains, having
from tests.removals.test_judging import Said, asked, judged, waits
from tests.works.builders import obj

CART, MUG, BASKET = config_map("cart"), config_map("mug"), config_map("basket", team="shpo")
TEAM, BASKETS = config_map("team", team="shop"), config_map("baskets")
HAD = having(WEB, by("cart"), by("basket"), has=[CART, BASKET])
OLD = having(SHOP, by("mug"), has=[MUG])
INNER, ELSEWHERE = PlacementKey("web", "shop"), PlacementKey("pay", "shop")
WRITTEN = (CART, MUG, BASKET, TEAM, BASKETS)
DROPS = having(WEB, by("cart"), has=[CART])
STAYS = having(WEB, by("cart"), by("basket"), has=[CART, BASKET])
HERE = f" ({IN_FILE})"
GOES = waits(of_object(BASKET))
TYPO = "LikelyTypo: ClusterResourcePlacement shop selects"
NO_MATCH = [f'EmptySelection: ClusterResourcePlacement shop: nothing matches the selector ConfigMap "x"{HERE}']
INSIDE = [f'EmptySelection: ResourcePlacement web/shop: nothing matches the selector ConfigMap "x"{HERE}']
LABELS = [f"{TYPO} ConfigMap by labels{HERE}, and {BASKET.key} ({BASKET.origin}) nearly has them"]
MEANT = [f'{TYPO} ConfigMap "baskets"{HERE}, which may be meant for ConfigMap "basket"']


def shop(*names: str, key: PlacementKey = SHOP, **labels: str) -> PlacementRecord:
    """The placement shop with selectors by these names, and one by labels."""
    selectors = [by(name) for name in names] + ([by(**labels)] if labels else [])
    return having(key, by("mug"), *selectors, has=[MUG], origin=IN_FILE)


def then(*records: PlacementRecord) -> FleetState:
    """What is decided."""
    return replace(fleet(HAD, OLD), placements={one.placement.key: one for one in records})


@pytest.mark.parametrize(
    ("web", "other", "written", "said"),
    [
        (DROPS, shop("x"), WRITTEN, [(NO_MATCH, GOES)]),
        (DROPS, shop("baskets"), WRITTEN, [(MEANT, GOES)]),
        (DROPS, shop(team="shop"), WRITTEN, [(LABELS, GOES)]),
        (DROPS, shop("x", team="shop"), WRITTEN, [([*NO_MATCH, *LABELS], GOES)]),
        (DROPS, shop("x", "baskets"), WRITTEN, [([*NO_MATCH, *MEANT], GOES)]),
        # The very namespace of what goes, or another one.
        (DROPS, shop("x", key=INNER), WRITTEN, [(INSIDE, GOES)]),
        (DROPS, shop("x", key=ELSEWHERE), WRITTEN, []),
        # Nothing of that kind.
        (DROPS, shop(), WRITTEN, []),
        (DROPS, shop("team"), WRITTEN, []),
        (DROPS, shop(team="shop"), (CART, MUG, TEAM, config_map("basket")), []),
        (DROPS, shop(team="pay"), (CART, MUG, config_map("basket", team="shop"), config_map("pay", team="pay")), []),
        # What goes is not written any more: that is no slip of a selector.
        (DROPS, shop("x"), (CART, MUG, TEAM), []),
        (DROPS, shop("baskets"), (CART, MUG, BASKETS), []),
        (DROPS, shop(team="shop"), (CART, MUG, TEAM), []),
        # Nothing goes.
        (STAYS, shop("x"), WRITTEN, []),
    ],
)
def test_what_goes_waits_for_a_selector_that_may_be_misspelt(
    web: PlacementRecord, other: PlacementRecord, written: tuple[Manifest, ...], said: Said
) -> None:
    assert judged(fleet(HAD, OLD), then(web, other), payload=written) == said
    allowed = replace(other, placement=replace(other.placement, annotations={ALLOW_EMPTY: "true"}))
    kept = [([one for one in reasons if "LikelyTypo" in one], found) for reasons, found in said]
    assert judged(fleet(HAD, OLD), then(web, allowed), payload=written) == [one for one in kept if one[0]]


@pytest.mark.parametrize(
    ("other", "rule", "location"),
    [
        (shop("x"), HoldRule.EMPTY_SELECTION, (1, "name")),
        (shop("baskets"), HoldRule.LIKELY_TYPO, (1, "name")),
        (shop("team", team="shop"), HoldRule.LIKELY_TYPO, (2, "labelSelector")),
    ],
)
def test_the_reason_names_the_field_of_the_selector(
    other: PlacementRecord, rule: HoldRule, location: tuple[Any, ...]
) -> None:
    before, after = fleet(HAD, OLD), then(DROPS, other)
    wanted = Desired(commit="d", payload=WRITTEN)
    (group,) = judge(asked(desired=wanted, before=before, after=after, new=going(before, after), holds=(), ended=()))
    (reason,) = group.reasons
    assert (reason.rule, reason.field) == (rule, FieldPlace(IN_FILE, ("spec", "resourceSelectors", *location)))


def test_what_has_no_namespace_is_picked_whatever_namespace_the_others_are_looked_for_in() -> None:
    scope = SelectionScope.NAMESPACE_WITH_RESOURCE_SELECTORS
    record = having(SHOP, replace(by("pay", "Namespace"), selection_scope=scope), by("cart"))
    found = gains(record, written=(obj("v1", "Namespace", "pay"), CART))
    assert found.empty == {SHOP: [Gain(record.placement, 1)]}, "cart is in another namespace"
