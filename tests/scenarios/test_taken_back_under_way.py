"""A fold is taken back while it is under way, in part or misspelt: what the one that still leaves is to have again and
does not select stays, as it does before the fold and after it (invariant 3)."""

from __future__ import annotations

import pytest

from gitfleet.api.holds import HoldRule
from tests import builders
from tests.builders import to_yaml
from tests.scenarios.staged_world import QUICK, members
from tests.scenarios.test_faulty_renames import placing
from tests.scenarios.test_moves_under_way import assert_done, at_namespace, by_label, of
from tests.scenarios.test_unclear_commits import at
from tests.scenarios.world import World

OWNERS = {"crane": "golf", "fjord": "golf", "apple": "x"}


def leaving(passes: int) -> World:
    """Golf, which selects crane and fjord by its label, is folded into lima; so many passes ago."""
    world = World(rules=(QUICK,))
    spaces = [of(*one) for one in OWNERS.items()]
    apps = [builders.deployment(name, "app") for name in OWNERS]
    share = builders.fleet_config(massDelete={"maxPercent": 100})
    clusters = members("c1", "c2", "c3")
    world.commit(share, *clusters, *spaces, *apps, by_label("golf"), by_label("tango", "apple"))
    world.settle()
    moved = {at_namespace("crane"): to_yaml(of("crane", "lima")), at_namespace("fjord"): to_yaml(of("fjord", "x"))}
    world.write({at("golf"): None, at("lima"): to_yaml(by_label("lima", "fjord")), **moved})
    for _ in range(passes):
        world.reconcile()
        world.advance(seconds=5)
    return world


@pytest.mark.parametrize("passes", [0, 1, 2, 3, 12])
@pytest.mark.parametrize("label", ["glf", "lima"], ids=["misspelt", "forgotten"])
def test_a_selector_that_is_written_back_and_picks_nothing_takes_nothing_away(label: str, passes: int) -> None:
    world = leaving(passes)
    with world.nothing_deleted():
        again = {at("lima"): None, at("golf"): to_yaml(by_label("golf", "fjord"))}
        world.write({**again, at_namespace("crane"): to_yaml(of("crane", label))})
        world.settle()
        (hold,) = world.state().holds.values()
        assert HoldRule.EMPTY_SELECTION in {reason.rule for reason in hold.reasons}
        world.commit(of("crane", "golf"))
        world.settle()
    assert_done(world, "golf", "tango")


def going(whole: bool) -> World:
    """Web, which has n1 and n2, goes from cluster to cluster, or n2 from it; shop has what is labelled so."""
    world = World(rules=(QUICK,))
    apps = [builders.deployment(name, "app") for name in ("n1", "n2", "shop")]
    share, one = builders.fleet_config(massDelete={"maxPercent": 100}), builders.rolling_update(maxUnavailable=1)
    world.commit(
        *(share, *members("c1", "c2", "c3"), of("n1", "x"), of("n2", "x"), of("shop", "shop"), *apps),
        *(placing("web", "n1", "n2", strategy=one), by_label("shop")),
    )
    world.settle()
    world.write({at("web"): None if whole else to_yaml(placing("web", "n1", strategy=one))})
    world.reconcile()
    world.advance(seconds=1)
    assert having(world, "n2") == {"c2", "c3"}
    return world


def having(world: World, namespace: str) -> set[str]:
    return {one for one in ("c1", "c2", "c3") if world.live(one, "Namespace", namespace)}


RIGHT = to_yaml(of("n2", "shop"))
WRONG = {
    "version": RIGHT.replace("apiVersion: v1", "apiVersion: v1x"),
    "label": RIGHT.replace("of: shop", "of: shop\n    n: 1"),
    "kind": RIGHT.replace("kind: Namespace", "kind: Namspace"),
    "metadata": RIGHT.replace("metadata:", "metdata:"),
    "not YAML": "kind: [\n" + RIGHT,
}


@pytest.mark.parametrize("whole", [True, False], ids=["placement", "selector"])
@pytest.mark.parametrize("wrong", WRONG)
def test_what_another_placement_is_to_have_by_its_label_is_deleted_no_more_by_an_error(wrong: str, whole: bool) -> None:
    world = going(whole)
    assert WRONG[wrong] != RIGHT
    with world.nothing_deleted():
        world.write({at_namespace("n2"): WRONG[wrong]})
        world.settle()
        world.restart()
        world.settle()
        assert having(world, "n2") == {"c2", "c3"}
        result = world.reconcile()
        assert result is not None and f"{at_namespace('n2')} has an error: correct it" in "".join(result.asks)
    world.write({at_namespace("n2"): RIGHT})
    world.settle()
    assert having(world, "n2") == having(world, "shop") == {"c1", "c2", "c3"}
    assert (world.state().holds, world.state().faults) == ({}, ())
    assert having(world, "n1") == (set() if whole else {"c1", "c2", "c3"})


@pytest.mark.parametrize("whole", [True, False], ids=["placement", "selector"])
def test_an_error_in_what_nobody_is_to_have_stops_no_removal(whole: bool) -> None:
    world = going(whole)
    world.write({at_namespace("n2"): to_yaml(of("n2", "nobody")).replace("apiVersion: v1", "apiVersion: v1x")})
    world.settle()
    assert having(world, "n2") == set()
