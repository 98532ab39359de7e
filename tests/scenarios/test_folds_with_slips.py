"""A placement is folded into another one, split, or gives a selector to it, while a slip takes an object away: what the
slip takes is held as it is where nothing moves, and what was held before stays held (records 0011 and 0021)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from gitfleet.api.holds import HoldRule
from gitfleet.api.placements import PlacementKey
from tests import builders
from tests.builders import path_of, to_yaml
from tests.scenarios.staged_world import QUICK, members
from tests.scenarios.test_holds import answer
from tests.scenarios.world import World

Texts = dict[str, str | None]
CLUSTERS = ("c1", "c2", "c3")
THERE = frozenset(("web", "x", "y", "z", "shop"))
NAMESPACES = (*sorted(THERE), "other")
BY_LABEL = {"group": "", "version": "v1", "kind": "Namespace", "labelSelector": {"matchLabels": {"group": "a"}}}
"""It selects x and y."""
WEB_OF_X = path_of(builders.deployment("x", "web"))


def namespace(name: str, **labels: str) -> dict[str, Any]:
    return builders.namespace(name, labels=labels or ({"group": "a"} if name in "xy" else {}))


def selecting(name: str, *what: str, clusters: Iterable[str] = ()) -> Texts:
    """The file of a placement that selects namespaces by their names, or ("label") by a label."""
    selectors = [BY_LABEL if one == "label" else builders.select_namespace(one) for one in what]
    parts = {"policy": builders.pick_fixed(*clusters)} if clusters else {}
    placed = builders.placement(name, selectors=selectors, strategy=builders.rolling_update(maxUnavailable=1), **parts)
    return {path_of(placed): to_yaml(placed)}


def files(*objects: dict[str, Any]) -> Texts:
    return {path_of(one): to_yaml(one) for one in objects}


def with_web(*names: str) -> Texts:
    """Namespaces, each with a Deployment `web`."""
    return files(*map(namespace, names), *(builders.deployment(one, "web") for one in names))


WEB = selecting("web", "web", "z", "label")
GONE: Texts = dict.fromkeys(WEB)
BEGINNING = {
    **files(builders.fleet_config(massDelete={"maxPercent": 100}), *members(*CLUSTERS)),
    **with_web(*THERE),
    **WEB,
    **selecting("shop", "shop"),
}
HOW: dict[str, Texts] = {
    "folded": {**GONE, **selecting("shop", "shop", "web", "z", "label")},
    "split": {**GONE, **selecting("one", "web", "z"), **selecting("two", "label")},
    "moved": {**selecting("web", "web"), **selecting("shop", "shop", "z", "label")},
    "renamed": {**GONE, **selecting("store", "web", "z", "label")},
    "grown": {**with_web("other"), **selecting("web", "web", "z", "label", "other")},
    "narrowed": selecting("web", "web", "label"),
    "edited": selecting("web", "web", "z", "label"),
}
SLIPS: dict[str, tuple[HoldRule, Texts]] = {
    "misspelt": (HoldRule.LIKELY_TYPO, {WEB_OF_X: None, **files(builders.deployment("x", "webb"))}),
    "ignored": (HoldRule.IGNORED_FILE, {".gitfleetignore": "resources/x/deployment*\n"}),
    "unread": (
        HoldRule.IGNORED_FILE,
        {WEB_OF_X: None, f"{WEB_OF_X}.bak": to_yaml(builders.deployment("x", "web"))},
    ),
    "relabelled": (HoldRule.LABELS_CHANGED, files(namespace("x", group="b"))),
    "emptied": (HoldRule.EMPTY_SELECTION, dict.fromkeys(with_web("z"))),
}


def begun(texts: Mapping[str, str | None] = WEB) -> World:
    world = World(rules=(QUICK,))
    world.write({**BEGINNING, **texts})
    world.settle()
    assert placed(world) == dict.fromkeys(CLUSTERS, THERE)
    return world


def placed(world: World) -> dict[str, frozenset[str]]:
    """The namespaces of each cluster that have their Deployment `web`."""
    return {
        name: frozenset(one for one in NAMESPACES if world.live(name, "Namespace", one) and world.image_in(name, one))
        for name in CLUSTERS
    }


def holding(world: World) -> dict[HoldRule, str]:
    """Why anything is held, by rule."""
    return {reason.rule: reason.sentence for hold in world.state().holds.values() for reason in hold.reasons}


def stays(world: World, texts: Mapping[str, str | None]) -> None:
    """A commit after which nothing is deleted of what was there in the beginning, now and later."""
    start = len(world.happenings)
    world.write(texts)
    world.settle()
    world.restart()
    world.settle()
    gone = [one.key for one in world.happenings[start:] if one.what == "delete"]
    assert not [key for key in gone if key.name in THERE and key.namespace in ("", *THERE)]


def taken_back(slip: str) -> Texts:
    return {path: BEGINNING.get(path) for path in SLIPS[slip][1]}


@pytest.mark.parametrize("slip", SLIPS)
@pytest.mark.parametrize("how", [how for how in HOW if how != "narrowed"])
def test_a_slip_in_the_same_commit_is_held(how: str, slip: str) -> None:
    world = begun()
    rule, edit = SLIPS[slip]
    stays(world, {**HOW[how], **edit})
    assert rule in holding(world)
    stays(world, taken_back(slip))
    assert not world.state().holds
    assert all(found >= THERE for found in placed(world).values())


@pytest.mark.parametrize("slip", SLIPS)
@pytest.mark.parametrize("how", [how for how in HOW if how != "narrowed"])
def test_what_a_slip_took_stays_held_whatever_becomes_of_the_placement(how: str, slip: str) -> None:
    world = begun()
    rule, edit = SLIPS[slip]
    stays(world, edit)
    assert rule in holding(world)
    stays(world, HOW[how])
    assert rule in holding(world)
    stays(world, {path: BEGINNING.get(path) for path in HOW[how]})
    assert rule in holding(world)
    for hold in world.state().holds.values():
        world.write(answer(hold))
    world.settle()
    assert not world.state().holds and placed(world) != dict.fromkeys(CLUSTERS, THERE)


@pytest.mark.parametrize("how", HOW)
def test_without_a_slip_nothing_is_held(how: str) -> None:
    world = begun()
    dropped: Texts = {}
    if how == "narrowed":  # what is meant goes, below the shares
        dropped = SLIPS["emptied"][1]
        world.write({**HOW[how], **dropped})
        world.settle()
    else:
        stays(world, HOW[how])
    assert not world.state().holds
    left = (THERE - {"z"} if dropped else THERE) | ({"other"} if how == "grown" else set())
    assert placed(world) == dict.fromkeys(CLUSTERS, left)


@pytest.mark.parametrize("slip", SLIPS)
def test_a_placement_that_nobody_takes_over_goes_with_what_was_held_of_it(slip: str) -> None:
    world = begun()
    stays(world, SLIPS[slip][1])
    world.write(GONE)
    world.settle()
    assert not world.state().holds and placed(world) == dict.fromkeys(CLUSTERS, frozenset(["shop"]))


@pytest.mark.parametrize("slip", SLIPS)
@pytest.mark.parametrize("how", ["folded", "split"])
def test_an_answer_lets_the_whole_placement_go(how: str, slip: str) -> None:
    world = begun()
    stays(world, {**HOW[how], **SLIPS[slip][1]})
    (hold,) = world.state().holds.values()
    kept = placed(world)
    world.write(answer(hold))
    world.settle()
    assert not world.state().holds
    lost = "z" if slip == "emptied" else "x"
    assert placed(world) == {name: found - {lost} for name, found in kept.items()}
    assert PlacementKey("", "web") not in world.state().placements


@pytest.mark.parametrize("slip", SLIPS)
def test_what_is_approved_in_the_commit_that_folds_its_placement_goes(slip: str) -> None:
    world = begun()
    stays(world, SLIPS[slip][1])
    approvals = [answer(hold) for hold in world.state().holds.values()]
    world.write({**HOW["folded"], **{path: text for one in approvals for path, text in one.items()}})
    world.settle()
    lost = "z" if slip == "emptied" else "x"
    assert (placed(world), world.state().holds) == (dict.fromkeys(CLUSTERS, THERE - {lost}), {})


@pytest.mark.parametrize("slip", SLIPS)
def test_a_placement_that_is_folded_once_the_other_one_selects_the_same_is_no_plain_removal(slip: str) -> None:
    world = begun()
    stays(world, {path: text for path, text in HOW["folded"].items() if path not in WEB})
    stays(world, {**GONE, **SLIPS[slip][1]})
    assert SLIPS[slip][0] in holding(world)


MEANT: dict[str, tuple[Texts, set[str]]] = {
    "goes with its selectors": ({**GONE, **selecting("shop", "shop", "web", "z")}, {"x", "y"}),
    "goes with its selector and its files": (
        {**GONE, **selecting("shop", "shop", "web", "label"), **SLIPS["emptied"][1]},
        {"z"},
    ),
    "goes with its files": ({**GONE, **selecting("shop", "shop", "web", "z", "label"), WEB_OF_X: None}, {"x"}),
    "is removed": ({**GONE, **SLIPS["misspelt"][1]}, {"web", "x", "y", "z"}),
    "is removed, and another one selects the same elsewhere": (
        {**GONE, **selecting("there", "web", "z", "label", clusters=["c9"])},
        {"web", "x", "y", "z"},
    ),
}


@pytest.mark.parametrize("case", MEANT)
def test_what_is_meant_goes(case: str) -> None:
    world = begun({**WEB, **with_web("other")})  # a Deployment of the same name that nothing places
    texts, gone = MEANT[case]
    if case.endswith("elsewhere"):
        world.write({**files(*members("c9")), **selecting("there", "web", "z", "label", clusters=["c9"])})
        world.settle()
    world.write(texts)
    world.settle()
    assert (placed(world), world.state().holds) == (dict.fromkeys(CLUSTERS, THERE - gone), {})


def test_what_is_held_on_one_cluster_stays_held_there_when_the_placement_is_split() -> None:
    """It names a cluster that there is not: what it would leave is held, and the others are not to have it there."""
    world = begun(selecting("web", "web", "z", "label", clusters=CLUSTERS))
    stays(world, selecting("web", "web", "z", "label", clusters=["c1", "c2", "c33"]))
    assert HoldRule.LIKELY_TYPO in holding(world)
    two = ["c1", "c2"]
    split = {**selecting("one", "web", "z", clusters=two), **selecting("two", "label", clusters=two)}
    stays(world, {**GONE, **split})
    assert HoldRule.LIKELY_TYPO in holding(world)
