"""A fold is taken back while it is under way, in part or misspelt: what the one that still leaves is to have again and
does not select stays, as it does before the fold and after it (invariant 3)."""

from __future__ import annotations

import pytest

from gitfleet.api.holds import HoldRule
from tests import builders
from tests.builders import to_yaml
from tests.scenarios.staged_world import QUICK, members
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
