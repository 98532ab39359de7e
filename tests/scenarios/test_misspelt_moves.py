"""A selector moves from one placement to another one and is misspelt there: what it picked stays (invariant 3)."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.holds import HoldRule
from tests import builders
from tests.builders import path_of, to_yaml
from tests.scenarios.staged_world import QUICK, members
from tests.scenarios.test_folds_with_slips import Texts, files
from tests.scenarios.test_holds import answer
from tests.scenarios.test_unclear_commits import at, wrong
from tests.scenarios.world import World

CLUSTERS = ("c1", "c2", "c3")
THERE = frozenset(("cart", "checkout", "stock"))
CARD = {path_of(one): to_yaml(one) for one in (builders.namespace("cartt"), builders.deployment("cartt", "web"))}
"""A namespace that is nearly called as another one, and that nothing has placed."""


def by_label(value: str) -> dict[str, Any]:
    return {"group": "", "version": "v1", "kind": "Namespace", "labelSelector": {"matchLabels": {"team": value}}}


def named(name: str, kind: str = "Namespace") -> dict[str, Any]:
    group = "rbac.authorization.k8s.io" if kind == "ClusterRole" else ""
    return {"group": group, "version": "v1", "kind": kind, "name": name}


def placing(name: str, *what: str | dict[str, Any]) -> dict[str, Any]:
    selectors = [named(one) if isinstance(one, str) else one for one in what]
    return builders.placement(name, selectors=selectors, strategy=builders.rolling_update(maxUnavailable=1))


def file(name: str, *what: str | dict[str, Any]) -> Texts:
    return {at(name): to_yaml(placing(name, *what))}


def labelled(team: str, name: str = "checkout") -> Texts:
    return files(builders.namespace(name, labels={"team": team}))


def begun() -> World:
    """Web has cart and checkout, shop has stock; nothing is held for its share."""
    world = World(rules=(QUICK,))
    world.commit(
        builders.fleet_config(massDelete={"maxPercent": 100}),
        *members(*CLUSTERS),
        *(one for name in THERE for one in (builders.namespace(name), builders.deployment(name, "web"))),
    )
    world.write({**file("web", "cart", "checkout"), **file("shop", "stock")})
    world.settle()
    assert placed(world) == dict.fromkeys(CLUSTERS, THERE)
    return world


def placed(world: World) -> dict[str, frozenset[str]]:
    """The namespaces of each cluster that have their Deployment."""
    every = (*THERE, "cartt")
    return {
        name: frozenset(one for one in every if world.live(name, "Namespace", one) and world.image_in(name, one))
        for name in CLUSTERS
    }


def stays(world: World, texts: Texts) -> None:
    """A commit after which nothing is deleted of what was there in the beginning, now and later."""
    start = len(world.happenings)
    world.write(texts)
    world.settle()
    world.restart()
    world.settle()
    gone = [one.key for one in world.happenings[start:] if one.what == "delete"]
    assert not [key for key in gone if {key.namespace, key.name} & THERE]


def reasons(world: World) -> list[tuple[HoldRule, str]]:
    return [(one.rule, str(one)) for hold in world.state().holds.values() for one in hold.reasons]


CHECKOUT: Texts = dict.fromkeys(files(builders.namespace("checkout"), builders.deployment("checkout", "web")))
KEPT: Texts = file("web", "cart")
GONE: Texts = {at("web"): None}
NEARLY = "and Namespace/checkout (resources/checkout/namespace-checkout.yaml:1) nearly has them"
NONE = "nothing matches the selector"
MISSPELT: dict[str, tuple[Texts, Texts, HoldRule, str]] = {
    "into one that stays": (
        {**KEPT, **file("shop", "stock", "chekcout")},
        file("shop", "stock", "checkout"),
        HoldRule.EMPTY_SELECTION,
        f'shop: {NONE} Namespace "chekcout" (placements/shop.yaml:14)',
    ),
    "into a new one": (
        {**KEPT, **file("store", "chekcout")},
        file("store", "checkout"),
        HoldRule.EMPTY_SELECTION,
        f'store: {NONE} Namespace "chekcout" (placements/store.yaml:10)',
    ),
    "as a number": (
        {**KEPT, **file("shop", "stock", "checkout2")},
        file("shop", "stock", "checkout"),
        HoldRule.EMPTY_SELECTION,
        f'shop: {NONE} Namespace "checkout2" (placements/shop.yaml:14)',
    ),
    "as another kind": (
        {**KEPT, **file("shop", "stock", named("checkout", "ClusterRole"))},
        file("shop", "stock", "checkout"),
        HoldRule.EMPTY_SELECTION,
        f'shop: {NONE} ClusterRole "checkout" (placements/shop.yaml:14)',
    ),
    "as a label": (
        {**KEPT, **file("shop", "stock", by_label("shop")), **labelled("shp")},
        labelled("shop"),
        HoldRule.EMPTY_SELECTION,
        f"shop: {NONE} Namespace by labels (placements/shop.yaml:14)",
    ),
    "as the label of one of two": (
        {**GONE, **file("shop", "stock", by_label("shop")), **labelled("shpo"), **labelled("shop", "cart")},
        labelled("shop"),
        HoldRule.LIKELY_TYPO,
        f"shop selects Namespace by labels (placements/shop.yaml:14), {NEARLY}",
    ),
    "as the label of one of two, in the same placement": (
        {**file("web", by_label("shop")), **labelled("shpo"), **labelled("shop", "cart")},
        labelled("shop"),
        HoldRule.LIKELY_TYPO,
        f"web selects Namespace by labels (placements/web.yaml:10), {NEARLY}",
    ),
    "in one of two that it is split into": (
        {**GONE, **file("one", "cart"), **file("two", "chekcout")},
        file("two", "checkout"),
        HoldRule.EMPTY_SELECTION,
        f'two: {NONE} Namespace "chekcout" (placements/two.yaml:10)',
    ),
    "in both that it is split into": (
        {**GONE, **file("one", "catr"), **file("two", "chekcout")},
        {**file("one", "cart"), **file("two", "checkout")},
        HoldRule.EMPTY_SELECTION,
        f'two: {NONE} Namespace "chekcout" (placements/two.yaml:10)',
    ),
    "as it is folded": (
        {**GONE, **file("shop", "stock", "cart", "chekcout")},
        file("shop", "stock", "cart", "checkout"),
        HoldRule.EMPTY_SELECTION,
        f'shop: {NONE} Namespace "chekcout" (placements/shop.yaml:18)',
    ),
    "as another namespace that is there": (
        {**file("web", "checkout"), **file("shop", "stock", "cartt"), **CARD},
        file("shop", "stock", "cart"),
        HoldRule.LIKELY_TYPO,
        'shop selects Namespace "cartt" (placements/shop.yaml:14)',
    ),
    "as another namespace that is there, where it is folded": (
        {**GONE, **file("shop", "stock", "cartt", "checkout"), **CARD},
        file("shop", "stock", "cart", "checkout"),
        HoldRule.LIKELY_TYPO,
        'shop selects Namespace "cartt" (placements/shop.yaml:14)',
    ),
}  # fmt: skip


def wanting(**labels: str | list[str]) -> dict[str, Any]:
    """Namespaces by labels: a list is one of these values, an empty one any."""
    plain = {key: value for key, value in labels.items() if isinstance(value, str)}
    expressions = [
        {"key": key, "operator": "In", "values": value} if value else {"key": key, "operator": "Exists"}
        for key, value in labels.items()
        if not isinstance(value, str)
    ]
    selector = {"matchLabels": plain, "matchExpressions": expressions}
    return {"group": "", "version": "v1", "kind": "Namespace", "labelSelector": selector}


def with_labels(name: str, **labels: str) -> Texts:
    return files(builders.namespace(name, labels=labels))


TEAM, FRONT = {"team": "shop"}, {"team": "shop", "tier": "front"}
BY_LABELS: dict[str, tuple[dict[str, Any], dict[str, str], dict[str, Any], dict[str, str], dict[str, str]]] = {
    "value": (by_label("shop"), TEAM, by_label("shop"), {"team": "shpo"}, TEAM),
    "key": (by_label("shop"), TEAM, by_label("shop"), {"taem": "shop"}, TEAM),
    "case": (by_label("shop"), TEAM, by_label("shop"), {"team": "Shop"}, TEAM),
    "one of two": (wanting(**FRONT), FRONT, wanting(**FRONT), {"team": "shpo", "tier": "front"}, FRONT),
    "one of two is missing": (wanting(**FRONT), FRONT, wanting(**FRONT), {"team": "shop"}, FRONT),
    "In": (wanting(team=["shop"]), TEAM, wanting(team=["shop"]), {"team": "shpo"}, TEAM),
    "In, by its key": (wanting(team=["shop"]), TEAM, wanting(team=["shop"]), {"taem": "shop"}, TEAM),
    "In gets one": (wanting(team=["shop"]), TEAM, wanting(team=["shop", "pay"]), {"team": "pya"}, {"team": "pay"}),
    "Exists": (wanting(shop=[]), {"shop": "1"}, wanting(shop=[]), {"shpo": "1"}, {"shop": "2"}),
    "In, new": (named("stock"), TEAM, wanting(team=["shop"]), {"team": "shpo"}, TEAM),
    "In, by its key, new": (named("stock"), TEAM, wanting(team=["shop"]), {"taem": "shop"}, TEAM),
    "one of two is missing, new": (named("stock"), FRONT, wanting(**FRONT), {"team": "shop"}, FRONT),
}  # fmt: skip
"""What shop selects before and after a commit, with the labels of stock, and those that checkout gets, and should."""
WEB: dict[str, tuple[Texts, Texts]] = {
    "by name": (file("web", "cart", "checkout"), KEPT),
    "by label": ({**file("web", "cart", by_label("web")), **labelled("web")}, KEPT),
    "as a whole": ({**file("web", "checkout"), **file("rest", "cart")}, GONE),
}


@pytest.mark.parametrize("case", BY_LABELS)
def test_a_label_that_is_misspelt_for_what_another_placement_selects_takes_nothing_away(case: str) -> None:
    before, labels, after, wrong, right = BY_LABELS[case]
    moves_by_label(WEB["by name"], (before, labels, after, wrong, right))


@pytest.mark.parametrize("how", ["by label", "as a whole"])
def test_a_label_is_misspelt_as_its_object_moves_otherwise(how: str) -> None:
    moves_by_label(WEB[how], BY_LABELS["value"])


def moves_by_label(
    web: tuple[Texts, Texts],
    case: tuple[dict[str, Any], dict[str, str], dict[str, Any], dict[str, str], dict[str, str]],
) -> None:
    """Checkout moves to shop with a slip, and then as it was meant."""
    before, labels, after, wrong, right = case
    world = begun()
    world.write({**web[0], **file("shop", before), **with_labels("stock", **labels)})
    world.settle()
    assert placed(world) == dict.fromkeys(CLUSTERS, THERE)
    stays(world, {**web[1], **file("shop", after), **with_labels("checkout", **wrong)})
    says = f"shop selects Namespace by labels (placements/shop.yaml:10), {NEARLY}"
    assert [one for one in reasons(world) if one[0] is HoldRule.LIKELY_TYPO and says in one[1]], reasons(world)
    stays(world, with_labels("checkout", **right))
    assert (world.state().holds, world.state().faults) == ({}, ())
    assert placed(world) == dict.fromkeys(CLUSTERS, THERE)


OTHER: dict[str, dict[str, str]] = {
    "no label": {},
    "another value": {"team": "pay"},
    "another key": {"area": "shop"},
    "a version": {"team": "shop-2"},
    "a real team": {"team": "ship"},
}


@pytest.mark.parametrize("case", OTHER)
def test_what_goes_with_other_labels_is_not_held(case: str) -> None:
    world = begun()
    world.write({**file("shop", by_label("shop")), **labelled("shop", "stock"), **file("ship", by_label("ship"))})
    world.settle()
    assert placed(world) == dict.fromkeys(CLUSTERS, THERE)
    world.write({**file("web", "cart"), **with_labels("checkout", **OTHER[case])})
    world.settle()
    left = THERE if OTHER[case] == {"team": "ship"} else THERE - {"checkout"}
    assert (world.state().holds, placed(world)) == ({}, dict.fromkeys(CLUSTERS, left))


@pytest.mark.parametrize("case", MISSPELT)
def test_a_selector_that_moves_and_is_misspelt_takes_nothing_away(case: str) -> None:
    commit, correction, rule, says = MISSPELT[case]
    world = begun()
    stays(world, commit)
    assert [one for one in reasons(world) if one[0] is rule and says in one[1]], reasons(world)
    stays(world, correction)
    assert (world.state().holds, world.state().faults) == ({}, ())
    assert placed(world) == dict.fromkeys(CLUSTERS, THERE)


def test_one_that_is_misspelt_in_the_commit_that_corrects_an_error_takes_nothing_away() -> None:
    world = begun()
    stays(world, {**KEPT, at("store"): wrong(placing("store", "chekcout"))})
    stays(world, file("store", "chekcout"))
    assert reasons(world)
    stays(world, file("store", "checkout"))
    assert not world.state().holds


def test_one_that_was_misspelt_before_it_was_given_up_takes_nothing_away() -> None:
    world = begun()
    stays(world, file("shop", "stock", "chekcout"))
    assert not world.state().holds
    stays(world, KEPT)
    says = 'shop selects Namespace "chekcout" (placements/shop.yaml:14)'
    assert [one for one in reasons(world) if one[0] is HoldRule.LIKELY_TYPO and says in one[1]]
    stays(world, file("shop", "stock", "checkout"))
    assert not world.state().holds


MEANT: dict[str, tuple[Texts, frozenset[str]]] = {
    "it moves": ({**KEPT, **file("shop", "stock", "checkout")}, THERE),
    "it moves to a label": (
        {**KEPT, **file("shop", "stock", by_label("shop")), **labelled("shop")},
        THERE,
    ),
    "it goes": (KEPT, THERE - {"checkout"}),
    "it goes with another label": (
        {**file("web", by_label("shop")), **labelled("pay"), **labelled("shop", "cart")},
        THERE - {"checkout"},
    ),
    "it goes while another one gains what is there": (
        {**KEPT, **file("shop", "stock", "cartt"), **CARD},
        (THERE | {"cartt"}) - {"checkout"},
    ),
    "its files go, too, while another one waits for something": (
        {
            **KEPT,
            **file("shop", "stock", "later"),
            **CHECKOUT,
        },
        THERE - {"checkout"},
    ),
    "another one waits for something": (file("shop", "stock", "later"), THERE),
    "all of it goes": (GONE, frozenset({"stock"})),
}  # fmt: skip


@pytest.mark.parametrize("case", MEANT)
def test_what_is_meant_is_not_held(case: str) -> None:
    texts, left = MEANT[case]
    world = begun()
    world.write(texts)
    world.settle()
    assert (world.state().holds, placed(world)) == ({}, dict.fromkeys(CLUSTERS, left))


def test_an_answer_lets_it_go() -> None:
    world = begun()
    stays(world, {**KEPT, **file("shop", "stock", "later")})
    for hold in world.state().holds.values():
        world.write(answer(hold))
    world.settle()
    assert (world.state().holds, placed(world)) == ({}, dict.fromkeys(CLUSTERS, THERE - {"checkout"}))
