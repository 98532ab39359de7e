"""What a held placement keeps is what it has: what another one took over and changed since, it does not set back where
that one leaves."""

from __future__ import annotations

from typing import Any

import pytest

from tests import builders
from tests.builders import to_yaml
from tests.scenarios.staged_world import QUICK, members
from tests.scenarios.test_holds import answer, only_hold
from tests.scenarios.test_moves_under_way import at_namespace, by_label, of
from tests.scenarios.test_unclear_commits import at
from tests.scenarios.world import World

CLUSTERS = ("c1", "c2", "c3")
OLD, NEW = "nginx:1", "nginx:2"


def app(name: str, image: str = OLD) -> dict[str, Any]:
    return builders.deployment(name, "app", image=image)


def zulu(*namespaces: str) -> dict[str, Any]:
    body = by_label("zulu", *namespaces)
    body["spec"]["policy"] = builders.pick_fixed("c2")
    return body


def held_and_taken() -> World:
    """The removal of web, which had red and hot, is held; store has red by newer content, and web still has hot."""
    world = World(rules=(QUICK,))
    spaces = [of("red", "web"), of("hot", "web"), of("blue", "x")]
    share = builders.fleet_config(massDelete={"maxPercent": 100})
    apps = [app(name) for name in ("red", "hot", "blue")]
    world.commit(share, *members(*CLUSTERS), *spaces, *apps, by_label("web"), zulu("blue"))
    world.settle()
    moved = {at("web"): None, at("store"): to_yaml(by_label("store")), at("zulu"): to_yaml(zulu("blue", "hot"))}
    world.write(
        {
            **moved,
            at_namespace("red"): "kind: [\n" + to_yaml(of("red", "store")),
            at_namespace("hot"): to_yaml(of("hot", "x")),
        }
    )
    world.settle()
    world.commit(of("red", "store"))
    world.settle()
    world.commit(app("red", NEW))
    world.settle()
    assert images(world) == [NEW, NEW, NEW]
    assert len(world.state().holds) == 1
    return world


def images(world: World) -> list[str | None]:
    return [image(world, one) for one in CLUSTERS]


def image(world: World, cluster: str) -> str | None:
    live = world.live(cluster, "Deployment", "app", "red")
    return live["spec"]["template"]["spec"]["containers"][0]["image"] if live is not None else None


def folded(world: World) -> None:
    """Store is folded into zulu, which is on c2 alone."""
    moved = {at("store"): None, at("zulu"): to_yaml(zulu("blue", "hot"))}
    world.write({**moved, at_namespace("red"): to_yaml(of("red", "zulu"))})


def dropped(world: World) -> None:
    """Store stays, and red goes from it to zulu."""
    world.commit(of("red", "zulu"), of("blue", "store"), zulu("hot"))


@pytest.mark.parametrize("goes", [folded, dropped])
def test_a_held_placement_takes_nothing_back_that_it_would_set_back(goes: Any) -> None:
    world = held_and_taken()
    with world.nothing_deleted():
        goes(world)
        world.settle(each=lambda: assert_new(world))
    state = world.state()
    owners = {
        one: {e.placement.name for e in owned.values() if e.key.namespace == "red"}
        for one, owned in state.inventory.items()
    }
    assert owners == {"c1": {"store"}, "c2": {"zulu"}, "c3": {"store"}}
    kept = {one.message for record in state.placements.values() for b in record.bindings for one in b.kept}
    says = "stays as it is until the hold on its removal from ClusterResourcePlacement web is answered"
    assert goes is dropped or kept == {f"it {says}"}


def assert_new(world: World) -> None:
    assert images(world) == [NEW, NEW, NEW]


def test_once_the_hold_is_approved_it_is_gone_where_nobody_selects_it() -> None:
    world = held_and_taken()
    folded(world)
    world.settle()
    world.write(answer(only_hold(world)))
    world.settle()
    assert images(world) == [None, NEW, None]
    assert {key.name for key in world.state().placements} == {"zulu"}


def test_once_the_placement_is_written_back_it_has_it_by_the_newest_content() -> None:
    world = held_and_taken()
    with world.nothing_deleted():
        folded(world)
        world.settle()
        world.commit(by_label("web"), of("red", "web"), of("hot", "web"), zulu("blue"))
        world.settle(each=lambda: assert_new(world))
    assert {key.name for key in world.state().placements} == {"web", "zulu"}
