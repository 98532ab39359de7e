"""What a run, a pin, a quarantine, a rollback or an eviction takes from clusters is deleted without an answer, and what
External clusters have they want (docs/removal.md, situations 26 to 37)."""

from __future__ import annotations

from typing import Any

import pytest

from tests import builders
from tests.scenarios.staged_world import EXTERNAL, QUICK, ROLLING, SUCCEEDED, members, said
from tests.scenarios.test_quarantine import digest_of
from tests.scenarios.test_removals import M, held, maps
from tests.scenarios.world import World

Body = dict[str, Any]
STAGES = builders.staged_strategy(
    "all",
    builders.stage("first", match_labels={"stage": "first"}, approval=True),
    builders.stage("rest", match_labels={"stage": "rest"}),
)


def fleet(strategy: Body, *bodies: Body, policy: Body | None = None, rest: int = 2) -> World:
    """A cluster of the first stage and some of the rest; where runs roll out, the first run is over."""
    world = World(rules=(QUICK,))
    names = [f"c{n}" for n in range(2, rest + 2)]
    world.commit(*members("c1", stage="first"), *members(*names, stage="rest"))
    world.roll_out(
        builders.namespace("web"), *bodies, builders.placement("web", strategy=strategy, policy=policy), STAGES
    )
    if strategy == EXTERNAL:
        begin(world, "one")
        finish(world, "one")
    return world


def begin(world: World, name: str, *also: Body, index: int | None = None) -> None:
    world.roll_out(*also, builders.staged_run(name, placement="web", strategy="all", index=index))


def finish(world: World, name: str) -> None:
    world.roll_out(builders.approval(name, "first"))
    assert said(world, name) == SUCCEEDED


def having(world: World, *bodies: Body) -> dict[str, int]:
    """How many of some objects each cluster has."""
    return {
        name: sum(world.live(name, one["kind"], one["metadata"]["name"], "web") is not None for one in bodies)
        for name in sorted(world.fleet.clusters)
    }


def test_what_the_newest_content_lacks_goes_stage_by_stage_of_a_run_and_is_wanted_where_none_is() -> None:
    one, two = maps(2, "web")
    world = fleet(EXTERNAL, one, two)
    world.roll_out(remove=[one])
    assert (having(world, one), held(world)) == ({"c1": 1, "c2": 1, "c3": 1}, {})
    begin(world, "two")
    assert (having(world, one), held(world)) == ({"c1": 0, "c2": 1, "c3": 1}, {})
    world.roll_out(remove=[builders.staged_run("two", placement="web", strategy="all")])
    assert (having(world, one), held(world)) == ({"c1": 0, "c2": 1, "c3": 1}, {})
    begin(world, "three")
    finish(world, "three")
    assert having(world, one, two) == {"c1": 1, "c2": 1, "c3": 1} and not world.state().holds


@pytest.mark.parametrize("left", [1, 4])
def test_clusters_that_an_external_placement_leaves_are_held_or_go_in_the_deletion_stage(left: int) -> None:
    every = maps(2, "web")
    names = [f"c{n}" for n in range(1, 6)]
    world = fleet(EXTERNAL, *every, policy=builders.pick_fixed(*names), rest=4)
    world.roll_out(builders.placement("web", strategy=EXTERNAL, policy=builders.pick_fixed(*names[: 5 - left])))
    assert set(map(frozenset, held(world).values())) == ({frozenset({M})} if left == 4 else set())
    begin(world, "two")
    finish(world, "two")
    gone = names[4:] if left == 1 else []
    assert having(world, *every) == {name: 0 if name in gone else 2 for name in names}


def test_what_only_newer_content_has_goes_with_a_pin() -> None:
    every = maps(25, "web")
    world = fleet(ROLLING, every[0])
    world.roll_out(*every[1:])
    pin = builders.pin("web", 0, digest_of(world, 0))
    world.roll_out(pin)
    assert (having(world, *every), held(world)) == (dict.fromkeys(("c1", "c2", "c3"), 1), {})
    world.roll_out(remove=[pin])
    assert having(world, *every) == dict.fromkeys(("c1", "c2", "c3"), 25)


def test_what_goes_under_a_pin_is_wanted_until_its_end() -> None:
    every = maps(19, "web")
    world = fleet(ROLLING, *every)
    pin = builders.pin("web", 0, digest_of(world, 0))
    world.roll_out(pin)
    world.roll_out(remove=every[:7])
    assert (having(world, *every)["c1"], held(world)) == (19, {})
    world.roll_out(remove=[pin])
    assert having(world, *every)["c1"] == 19 and list(held(world).values()) == [{M}] * 7


def test_an_eviction_goes_through_on_a_commit_with_errors() -> None:
    every = maps(2, "web")
    world = fleet(ROLLING, *every, policy=builders.pick_n(1, match_labels={"stage": "first"}))
    taint = [{"key": "drain", "value": "true", "effect": "NoSchedule"}]
    world.write({"resources/broken.yaml": "kind: ["})
    world.commit(builders.member_cluster("c1", labels={"stage": "first"}, taints=taint))
    world.roll_out(builders.eviction("drain", "web", "c1"))
    assert (having(world, *every)["c1"], held(world)) == (0, {})
