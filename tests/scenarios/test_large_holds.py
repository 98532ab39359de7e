"""A hold of more removals than a person reads: it outlives the process, shrinks, is released as a whole, and where a
part of it is lost everything is held again."""

from __future__ import annotations

import pytest

from gitfleet.api.holds import HoldRule
from tests import builders
from tests.scenarios.staged_world import QUICK
from tests.scenarios.test_faulty_renames import placing
from tests.scenarios.test_garbled_state import garble
from tests.scenarios.test_holds import answer, only_hold
from tests.scenarios.test_unclear_commits import at, wrong
from tests.scenarios.world import World

COUNT = 250


def map_file(first: int) -> str:
    """Fifty ConfigMaps."""
    return "---\n".join(
        builders.to_yaml(builders.config_map("web", f"c{number:03}", {"k": "v"})) for number in range(first, first + 50)
    )


FILES = {f"resources/web/maps-{first:03}.yaml": map_file(first) for first in range(0, COUNT, 50)}


def held() -> World:
    """A commit took 250 ConfigMaps out of one placement on two clusters."""
    world = World()
    world.commit(*(builders.member_cluster(name) for name in ("c1", "c2")), builders.namespace("web"))
    world.write({**FILES, "placements/web.yaml": builders.to_yaml(builders.placement("web"))})
    world.settle()
    world.write(dict.fromkeys(FILES))
    world.settle()
    return world


def maps(world: World) -> int:
    """How many ConfigMaps the clusters have."""
    return sum(
        found.key.namespace == "web" and found.key.kind == "ConfigMap"
        for cluster in world.fleet.clusters.values()
        for found in cluster.objects()
    )


def paths(world: World) -> list[str]:
    """The files of holds."""
    return [path for path in world.repo.files("gitfleet/state") if path.startswith("holds/")]


def test_it_outlives_the_process_shrinks_and_goes_as_a_whole() -> None:
    world = held()
    hold, commits = only_hold(world), world.state_commits()
    assert (len(hold.removals), hold.objects, maps(world)) == (COUNT, 2 * COUNT, 2 * COUNT)
    with world.nothing_deleted():
        world.restart()
        world.settle()
        assert world.state_commits() == commits, "nothing changed"
        path = next(iter(FILES))
        world.write({path: FILES[path]})
        world.restart()
        world.settle()
    assert (only_hold(world).name, len(only_hold(world).removals)) == (hold.name, COUNT - 50)
    world.restart()
    world.write(answer(hold))
    world.settle()
    assert (maps(world), world.state().holds, paths(world)) == (100, {}, [])


@pytest.mark.parametrize("lost", ["own file", "a part", "the parts"])
@pytest.mark.parametrize("content", [None, b"\x00"], ids=["removed", "garbled"])
def test_where_a_part_of_it_is_lost_nothing_is_deleted(lost: str, content: bytes | None) -> None:
    world = held()
    own, *parts = sorted(paths(world), key=len)
    gone = {"own file": [own], "a part": parts[:1], "the parts": parts}[lost]
    garble(world, dict.fromkeys(gone, content), history=False)
    world.restart()
    with world.nothing_deleted():
        world.settle()
    assert maps(world) == 2 * COUNT
    assert sum(len(one.removals) for one in world.state().holds.values()) == COUNT
    rules = {reason.rule for one in world.state().holds.values() for reason in one.reasons}
    assert rules & {HoldRule.UNREADABLE_HOLD, HoldRule.MASS_DELETION}
    assert world.state().damage.any is False, "the branch is whole again"
    with world.nothing_deleted():
        world.restart()
        world.settle()
    for one in list(world.state().holds.values()):
        world.write(answer(one))
    world.settle()
    assert (maps(world), paths(world)) == (0, [])


@pytest.mark.parametrize("content", [None, b"\x00"], ids=["removed", "garbled"])
@pytest.mark.parametrize("own", [None, b"", b"\x00"], ids=["removed", "empty", "garbled"])
@pytest.mark.parametrize("gone", [1, 2])
def test_where_parts_and_its_own_file_are_lost_an_earlier_version_of_the_file_is_not_enough(
    content: bytes | None, own: bytes | None, gone: int
) -> None:
    world = held_by_an_error_elsewhere()
    head, *parts = sorted(paths(world), key=len)
    with world.nothing_deleted():
        garble(world, {head: own, **dict.fromkeys(parts[:gone], content)}, history=True)
        world.restart()
        world.settle()
        world.write({"docs/a.md": "x"})
        world.settle()
    assert maps(world) == 300
    assert sum(len(one.removals) for one in world.state().holds.values()) == 150


def test_a_file_that_does_not_say_that_there_are_more_leaves_out_none() -> None:
    world = held_by_an_error_elsewhere()
    head = min(paths(world), key=len)
    text = world.repo.files("gitfleet/state")[head]
    fewer = text.replace(b"  more:\n  - placement: web\n    removals: 140\n", b"")
    assert len(fewer) < len(text)
    with world.nothing_deleted():
        garble(world, {head: fewer}, history=True)
        world.restart()
        world.settle()
    assert sum(len(one.removals) for one in world.state().holds.values()) == 150


def held_by_an_error_elsewhere() -> World:
    """A commit took 150 ConfigMaps away; no size nor cause of their own would hold them again."""
    world = World(rules=(QUICK,))
    world.commit(
        builders.fleet_config(massDelete={"maxPercent": 100}),
        *(builders.member_cluster(name) for name in ("c1", "c2")),
        *map(builders.namespace, ("web", "n1")),
    )
    files = {path: text for path, text in FILES.items() if path.endswith(("000.yaml", "050.yaml", "100.yaml"))}
    world.write({**files, at("web"): builders.to_yaml(placing("web", "web"))})
    world.write({at("other"): builders.to_yaml(placing("other", "n1"))})
    world.settle()
    world.write({**dict.fromkeys(files), at("other"): wrong(placing("other", "n1"))})
    world.settle()
    assert [len(one.removals) for one in world.state().holds.values()] == [150]
    return world
