"""What is held and another placement selects: that one gets it at once, and where it gets all of it the hold goes."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.holds import HoldRule
from gitfleet.api.placements import PlacementKey
from tests import builders
from tests.scenarios.staged_world import EXTERNAL, QUICK, members, one_stage
from tests.scenarios.test_holds import answer, only_hold
from tests.scenarios.world import World

SIX = ("c1", "c2", "c3", "c4", "c5", "c6")
ROLL = builders.rolling_update(maxUnavailable=1)
SPACES = ("web", "x", "y", "shop")


def placing(name: str, *namespaces: str, **more: Any) -> dict[str, Any]:
    return builders.placement(name, *namespaces, **{"strategy": ROLL, **more})


def begun(*placements: dict[str, Any]) -> World:
    """Six clusters that have what is placed on them."""
    world = World(rules=(QUICK,))
    objects = [one for name in SPACES for one in (builders.namespace(name), builders.deployment(name, "web"))]
    world.commit(*members(*SIX), *objects, *placements)
    world.settle()
    return world


def owners(world: World, namespace: str) -> dict[str, str]:
    """By placement the clusters on which it has everything of a namespace."""
    found: dict[str, list[str]] = {}
    for cluster, entries in sorted(world.state().inventory.items()):
        mine = [e for k, e in entries.items() if (k.namespace or k.name) == namespace]
        if len(mine) == 2 and len({entry.placement for entry in mine}) == 1 and world.image_in(cluster, namespace):
            found.setdefault(str(mine[0].placement), []).append(cluster)
    return {name: " ".join(clusters) for name, clusters in found.items()}


ALL = " ".join(SIX)


def settled(world: World) -> tuple[bool, tuple[str, ...], tuple[str, ...]]:
    """Whether the fleet is settled, what it waits for and what it asks a person for."""
    result = world.reconcile()
    assert result is not None
    return result.settled, result.waiting, result.asks


@pytest.mark.parametrize("image", ["web:1", "web:9"])
def test_a_revert_gets_back_what_was_split_off_while_the_rest_is_held(image: str) -> None:
    world = begun(placing("web", "web", "x"), placing("shop"))
    world.commit(placing("web"), placing("new", "x", "y"))
    world.settle()
    assert owners(world, "x") == owners(world, "y") == {"new": ALL}
    with world.nothing_deleted():
        world.commit(
            placing("web", "web", "x"), builders.deployment("x", "web", image=image), remove=["placements/new.yaml"]
        )
        world.settle()
        assert (owners(world, "x"), owners(world, "y")) == ({"web": ALL}, {"new": ALL})
        assert {world.image_in(name, "x") for name in SIX} == {image}
        assert settled(world) == (True, (), ())
        hold = only_hold(world)
        assert (hold.objects, [reason.rule for reason in hold.reasons]) == (12, [HoldRule.MASS_DELETION])
        world.restart()
        world.commit(builders.deployment("x", "web", image="web:10"))
        world.settle()
        assert {world.image_in(name, "x") for name in SIX} == {"web:10"} and only_hold(world) == hold
    world.write(answer(hold))
    world.settle()
    assert (owners(world, "x"), owners(world, "y")) == ({"web": ALL}, {}) and not world.state().holds


@pytest.mark.parametrize("on", [SIX, ("c2", "c5")])
def test_what_is_held_of_a_placement_is_handed_over_where_another_one_takes_it(on: tuple[str, ...]) -> None:
    """On the other clusters it stays, held."""
    policy = builders.pick_fixed(*on)
    world = begun(placing("web", "web", "x", "y"), placing("shop", policy=policy))
    with world.nothing_deleted():
        world.commit(remove=["placements/web.yaml"])
        world.settle()
        hold = only_hold(world)
        assert hold.objects == 36
        world.commit(placing("shop", "shop", "x", policy=policy))
        world.settle()
        rest = " ".join(name for name in SIX if name not in on)
        assert owners(world, "x") == {"shop": " ".join(on), **({"web": rest} if rest else {})}
        assert settled(world) == (True, (), ())
        assert (only_hold(world).name, only_hold(world).objects) == (hold.name, 36 - 2 * len(on))
        world.commit(placing("web", "web", "y") if on == SIX else placing("shop", policy=policy))
        world.settle()
    assert owners(world, "x") == {"shop" if on == SIX else "web": ALL}
    assert owners(world, "web") == owners(world, "y") == {"web": ALL}


def labelled(value: str) -> dict[str, Any]:
    return {"group": "", "version": "v1", "kind": "Namespace", "labelSelector": {"matchLabels": {"g": value}}}


@pytest.mark.parametrize("on", [SIX, ("c2", "c5")])
def test_a_hold_is_gone_once_another_placement_takes_over_all_of_it(on: tuple[str, ...]) -> None:
    world = begun(builders.placement("web", selectors=[builders.select_namespace("web"), labelled("a")], strategy=ROLL))
    world.commit(builders.namespace("x", labels={"g": "a"}), builders.namespace("y", labels={"g": "a"}))
    world.settle()
    shop = builders.placement("shop", selectors=[labelled("b")], strategy=ROLL, policy=builders.pick_fixed(*on))
    with world.nothing_deleted():
        world.commit(builders.namespace("x", labels={"g": "b"}), {**shop, "spec": {**shop["spec"], "nope": 1}})
        world.settle()
        hold = only_hold(world)
        assert HoldRule.LABELS_CHANGED in {reason.rule for reason in hold.reasons}
        world.commit(shop)
        world.settle()
        rest = " ".join(name for name in SIX if name not in on)
        assert owners(world, "x") == {"shop": " ".join(on), **({"web": rest} if rest else {})}
        assert list(world.state().holds) == ([hold.name] if rest else [])
        assert settled(world) == (True, (), ())


def test_a_placement_of_which_all_is_taken_over_is_held_no_more_and_leaves() -> None:
    world = begun(placing("web", "x", "y"), placing("shop"))
    with world.nothing_deleted():
        world.commit(remove=["placements/web.yaml"])
        world.settle()
        assert only_hold(world).objects == 24
        world.commit(placing("shop", "shop", "x", "y"), builders.deployment("x", "web", image="web:2"))
        world.settle()
    assert owners(world, "x") == owners(world, "y") == {"shop": ALL}
    assert {world.image_in(name, "x") for name in SIX} == {"web:2"}
    assert not world.state().holds and set(map(str, world.state().placements)) == {"shop"}


def test_what_is_held_as_the_other_placement_needs_no_run_waits_for_the_answer_and_names_it() -> None:
    world = begun(placing("web", "x", strategy=EXTERNAL), placing("shop"))
    world.commit(one_stage(), builders.staged_run("go", placement="web", strategy="all"))
    world.settle()
    world.commit(placing("shop", "shop", "x"), remove=["placements/web.yaml"])
    world.settle()
    hold = only_hold(world)
    assert [reason.rule for reason in hold.reasons] == [HoldRule.NOT_EXTERNAL] and owners(world, "x") == {"web": ALL}
    says = f"belongs to ClusterResourcePlacement web on this cluster, whose removal {hold.name} holds: approve it, or"
    (binding,) = [b for b in world.bindings("shop").values() if b.failed]
    assert all(says in one.message for one in binding.failed)
    world.write(answer(hold))
    world.settle()
    assert owners(world, "x") == {"shop": ALL} and PlacementKey("", "web") not in world.state().placements


def handing_over(gone: bool, taker: dict[str, Any]) -> World:
    """A placement web that is removed, or has x and y no more, and keeps them for shop, which waits for a run."""
    world = begun(
        placing("web", "x", "y") if gone else placing("web", "web", "x", "y"), placing("shop", strategy=EXTERNAL)
    )
    with world.nothing_deleted():
        world.commit(taker, *[] if gone else [placing("web")], remove=["placements/web.yaml"] if gone else [])
        world.settle()
        assert owners(world, "x") == owners(world, "y") == {"web": ALL} and not world.state().holds
    return world


@pytest.mark.parametrize("gone", [True, False])
@pytest.mark.parametrize("how", ["dropped", "removed"])
def test_what_waits_for_another_placement_counts_where_that_one_drops_it(how: str, gone: bool) -> None:
    taker = placing("shop", "shop", "x", "y", strategy=EXTERNAL)
    world = handing_over(gone, taker)
    with world.nothing_deleted():
        world.commit(
            *[placing("shop", strategy=EXTERNAL)] if how == "dropped" else [],
            remove=["placements/shop.yaml"] if how == "removed" else [],
        )
        world.settle()
        hold = only_hold(world)
        assert (hold.objects, owners(world, "x")) == (24, {"web": ALL})
        world.restart()
        world.settle()
        assert only_hold(world) == hold
        world.commit(taker)
        world.settle()
        assert not world.state().holds and owners(world, "x") == {"web": ALL}


@pytest.mark.parametrize("gone", [True, False])
def test_what_waits_for_another_placement_and_is_taken_back_counts_for_nothing(gone: bool) -> None:
    world = handing_over(gone, placing("shop", "shop", "x", "y", strategy=EXTERNAL))
    with world.nothing_deleted():
        world.commit(placing("web", "web", "x", "y"), placing("shop", strategy=EXTERNAL))
        world.settle()
    assert owners(world, "x") == owners(world, "y") == {"web": ALL} and not world.state().holds
