"""Which selectors by labels an object nearly has the labels of."""

from __future__ import annotations

import pytest

from gitfleet.api.labels import LabelRequirement, LabelSelector
from gitfleet.api.objects import NAME_LABEL
from gitfleet.model.near_labels import NearLabels

Labels = dict[str, str]
SHOP, TWO = LabelSelector({"team": "shop"}), LabelSelector({"team": "shop", "tier": "front"})


def expressing(*requirements: LabelRequirement, **labels: str) -> LabelSelector:
    return LabelSelector(labels, requirements)


ONE_OF = expressing(LabelRequirement("team", "In", ("pay", "shop")))
ANY_TEAM = expressing(LabelRequirement("team", "Exists"))
NOT_OLD = expressing(LabelRequirement("stage", "NotIn", ("old",)), team="shop")
NO_STAGE = expressing(LabelRequirement("stage", "DoesNotExist"), team="shop")
UNKNOWN = expressing(LabelRequirement("stage", "Like", ("old",)), team="shop")


@pytest.mark.parametrize(
    ("selector", "then", "now", "near"),
    [
        (SHOP, {}, {"team": "shpo"}, True),
        (SHOP, {"team": "shpo"}, {"team": "shpo"}, True),
        (SHOP, {}, {"taem": "Shop", "x": "y"}, True),
        (SHOP, {}, {"Team": "shop"}, True),
        (SHOP, {}, {"team": "SHOP"}, True),
        (SHOP, {}, {"team": "shop"}, False),
        (SHOP, {}, {"team": "pay"}, False),
        (SHOP, {}, {"area": "shop"}, False),
        (SHOP, {}, {"team": "shopping"}, False),
        (SHOP, {}, {}, False),
        (SHOP, {"team": "shop"}, {}, False),
        (LabelSelector({"team": "shop-1"}), {}, {"team": "shop-2"}, False),
        (LabelSelector({"app.kubernetes.io/name": "shop"}), {}, {"app.kubernetes.io/part-of": "shop"}, False),
        (LabelSelector({NAME_LABEL: "shop"}), {}, {NAME_LABEL: "shpo"}, False),
        (LabelSelector({NAME_LABEL: "shop", "team": "a"}), {}, {NAME_LABEL: "shop", "taem": "a"}, True),
        (TWO, {}, {"team": "shpo", "tier": "front"}, True),
        (TWO, {}, {"team": "shpo", "tier": "fron"}, True),
        (TWO, {}, {"team": "shpo", "tier": "back"}, False),
        (TWO, {}, {"team": "shop", "tier": "back"}, False),
        (TWO, {}, {"team": "shpo"}, False),
        (TWO, {}, {"team": "shop"}, True),
        (TWO, {"team": "pay", "tier": "front"}, {"team": "shop"}, True),
        (TWO, {"team": "shop"}, {"team": "shop"}, False),
        (TWO, {"team": "shop", "tier": "back"}, {"team": "shop"}, False),
        (LabelSelector({**TWO.match_labels, "env": "prod"}), {}, {"team": "shop"}, False),
        (ONE_OF, {}, {"team": "shpo"}, True),
        (ONE_OF, {}, {"taem": "pay"}, True),
        (ONE_OF, {}, {"team": "pay"}, False),
        (ANY_TEAM, {}, {"taem": "whatever"}, True),
        (ANY_TEAM, {}, {"Team": "whatever"}, True),
        (ANY_TEAM, {}, {"team": "whatever"}, False),
        (ANY_TEAM, {}, {"area": "whatever"}, False),
        (NOT_OLD, {}, {"team": "shpo"}, True),
        (NOT_OLD, {}, {"team": "shpo", "stage": "old"}, False),
        (NO_STAGE, {}, {"team": "shpo"}, True),
        (NO_STAGE, {}, {"team": "shpo", "stage": ""}, False),
        (UNKNOWN, {}, {"team": "shpo"}, False),
        (LabelSelector(), {}, {"team": "shpo"}, False),
        (LabelSelector({"team": ""}), {}, {"taem": ""}, True),
    ],
)
def test_labels_that_are_nearly_what_a_selector_asks_for(
    selector: LabelSelector, then: Labels, now: Labels, near: bool
) -> None:
    assert [*NearLabels([selector]).of(then, now)] == ([0] if near else [])


@pytest.mark.parametrize(
    ("selectors", "before", "now", "near"),
    [
        (["shop"], [], {"team": "shops"}, True),
        (["shop", "shops"], [], {"team": "shops"}, False),
        (["shop", "shops"], [], {"team": "shopz"}, True),
        (["shop"], ["shop", "shops"], {"team": "shops"}, False),
        (["shop"], ["shops"], {"team": "shops"}, True),
        (["shop"], ["shop"], {"team": "shops"}, True),
    ],
)
def test_two_that_are_asked_for_side_by_side_are_no_slips(
    selectors: list[str], before: list[str], now: Labels, near: bool
) -> None:
    """Now, or before the commit; a selector that is corrected is no other one."""
    labels = NearLabels(
        [LabelSelector({"team": one}) for one in selectors], [LabelSelector({"team": b}) for b in before]
    )
    assert (0 in labels.of({}, now)) == near


def test_two_keys_that_are_asked_for_side_by_side_are_no_slips() -> None:
    labels = NearLabels([LabelSelector({"tier": "a"}), LabelSelector({"tiers": "b"})])
    assert [*labels.of({}, {"tiers": "a"})] == []
    assert [*labels.of({}, {"tir": "a"})] == [0]


def test_what_many_selectors_ask_for_names_none_of_them() -> None:
    many = [
        LabelSelector({"env": "prod", "team": f"t{'abcdefghij'[n // 10]}{'abcdefghij'[n % 10]}"}) for n in range(100)
    ]
    labels = NearLabels(many)
    assert [*labels.of({}, {"env": "prod"})] == []
    assert [*labels.of({}, {"team": "tcd"})] == [23]
