"""What moves to a placement that is not to come to the cluster: it goes once that one really has it elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.placements import PlacementKey
from gitfleet.loop.texts import LoopText
from tests import builders
from tests.scenarios.staged_world import QUICK, members
from tests.scenarios.test_holds import answer, only_hold
from tests.scenarios.world import World

Files = list[dict[str, Any]]
ROLL = builders.rolling_update(maxUnavailable=1)
REPORTS = {**ROLL, "applyStrategy": {"type": "ReportDiff"}}


def placing(name: str, *namespaces: str, **more: Any) -> dict[str, Any]:
    return builders.placement(name, *namespaces, **{"strategy": ROLL, **more})


def begun(*placements: dict[str, Any], more: Files | None = None, held: int = 100) -> World:
    """Clusters c1 of e=a and c2 to c5 of e=b that have what is placed there; massDelete holds more than `held`%."""
    world = World(rules=(QUICK,))
    objects = [*map(builders.namespace, ("web", "x", "shop")), builders.deployment("x", "web")]
    clusters = [*members("c1", e="a"), *members("c2", "c3", "c4", "c5", e="b")]
    world.commit(builders.fleet_config(massDelete={"maxPercent": held}), *clusters, *objects, *placements, *more or ())
    world.settle()
    return world


def having(world: World) -> str:
    """The clusters that have the namespace x, and everything in it."""
    return " ".join(
        c for c in sorted(world.fleet.clusters) if world.live(c, "Namespace", "x") and world.image_in(c, "x")
    )


def asked(world: World) -> tuple[bool, tuple[str, ...]]:
    """Whether the fleet is settled, and what a person is asked for."""
    result = world.reconcile()
    assert result is not None
    return result.settled, result.asks


ENVELOPE = "ClusterResourceEnvelope"
ON_C1 = builders.pick_fixed("c1")


@pytest.mark.parametrize("minutes", [0, 10])
@pytest.mark.parametrize("number", [1, 4])
def test_an_object_stays_while_no_cluster_of_the_other_placement_answers(number: int, minutes: int) -> None:
    picks = builders.pick_n(number, match_labels={"e": "b"})
    world = begun(placing("web", "web", "x", policy=ON_C1), placing("shop", policy=picks))
    targets = sorted(world.bindings("shop"))
    for name in targets:
        world.silence(name)
    world.reconcile()
    world.advance(minutes=minutes)
    with world.nothing_deleted():
        world.commit(placing("web", policy=ON_C1), placing("shop", "shop", "x", policy=picks))
        world.settle()
        world.advance(minutes=10)
        world.settle()
        assert having(world) == "c1"
    kept = world.bindings("web")["c1"].kept
    until = "it stays until ClusterResourcePlacement shop, which selects it, has it where it is picked"
    assert {one.message for one in kept} == {until}
    for name in targets:
        world.fleet.cluster(name).reachable = True
    world.settle()
    assert having(world) == " ".join(targets)


def test_a_named_cluster_that_is_silent_is_no_slip_of_the_policy() -> None:
    picks = builders.pick_fixed("c2")
    world = begun(placing("web", "web", "x", policy=ON_C1), placing("shop", policy=picks))
    world.silence("c2")
    world.reconcile()
    world.advance(minutes=10)
    world.commit(placing("web", policy=ON_C1), placing("shop", "shop", "x", policy=picks))
    world.settle()
    assert having(world) == "c1" and asked(world)[1] == ()
    world.fleet.cluster("c2").reachable = True
    world.settle()
    assert having(world) == "c2"


def test_clusters_of_the_other_placement_that_are_silent_for_long_are_left_out() -> None:
    picks = builders.pick_fixed("c2", "c3")
    world = begun(placing("web", "web", "x", policy=ON_C1), placing("shop", policy=picks))
    world.silence("c3")
    world.reconcile()
    with world.nothing_deleted():
        world.commit(placing("web", policy=ON_C1), placing("shop", "shop", "x", policy=picks))
        for _ in range(4):
            world.advance(minutes=1)
            world.reconcile()
            assert having(world) in ("c1", "c1 c2")
    world.settle()
    assert having(world) == "c2"


@pytest.mark.parametrize("on", [("c1",), ("c1", "c2"), ("c1", "c2", "c3")])
def test_what_moves_to_a_placement_that_only_reports_stays_on_every_cluster(on: tuple[str, ...]) -> None:
    fixed, picks = builders.pick_fixed(*on), builders.pick_fixed("c2")
    world = begun(placing("web", "web", "x", policy=fixed), placing("shop", policy=picks, strategy=REPORTS))
    with world.nothing_deleted():
        world.commit(placing("web", policy=fixed), placing("shop", "shop", "x", policy=picks, strategy=REPORTS))
        world.settle()
        assert having(world) == " ".join(on)
    where = {1: "c1", 2: "c1 and c2", 3: "c1, c2 and c3"}[len(on)]
    keeps = (
        "web "
        + LoopText.KEEPS_NO_LONGER_SELECTS()
        + (f" on {where}" + LoopText.UNTIL_OBJECTS(other="ClusterResourcePlacement", other_2="shop"))
    )
    assert asked(world) == (
        True,
        (f"{keeps}, and it only reports differences: change its applyStrategy, or what it selects",),
    )
    world.commit(placing("shop", "shop", "x", policy=picks))
    world.settle()
    assert having(world) == "c2"


def deleting(name: str) -> dict[str, Any]:
    """A member whose objects go with it."""
    member = members(name, e="b")[0]
    return {**member, "spec": {**member["spec"], "deleteOptions": {"propagationPolicy": "Delete"}}}


@pytest.mark.parametrize(("approved", "gone"), [(False, False), (True, False), (False, True)])
def test_a_cluster_whose_removal_is_held_keeps_what_moves_to_another_placement(approved: bool, gone: bool) -> None:
    world = begun(placing("web", "web", "x"), placing("shop"), held=30)
    world.commit(deleting("c4"), deleting("c5"))
    world.settle()
    with world.nothing_deleted():
        world.commit(remove=["clusters/c4.yaml", "clusters/c5.yaml"])
        world.settle()
        hold = only_hold(world)
        rest = [placing("rest", "web", "spare"), builders.namespace("spare")] if gone else [placing("web")]
        world.commit(
            placing("new", "x", "more"),
            builders.namespace("more"),
            *rest,
            remove=["placements/web.yaml"] if gone else [],
        )
        world.settle()
        assert having(world) == "c1 c2 c3 c4 c5" and hold.name in world.state().holds
        if gone:
            return
        said = {entry.message for entry in world.bindings("web")["c4"].kept}
        assert said == {
            f"it stays for ClusterResourcePlacement new, which selects it, while {hold.name} holds the removal of c4"
        }
        if not approved:
            world.commit(deleting("c4"), deleting("c5"))
            world.settle()
            assert having(world) == "c1 c2 c3 c4 c5" and set(world.bindings("new")) == {"c1", "c2", "c3", "c4", "c5"}
            return
    world.write(answer(hold))
    world.settle()
    assert having(world) == "c1 c2 c3" and not world.state().holds


def test_an_object_that_moves_into_an_envelope_of_a_pinned_placement_stays() -> None:
    role = builders.an_object("rbac.authorization.k8s.io/v1", "ClusterRole", "reader", rules=[])
    names = ("rbac.authorization.k8s.io", "v1", "ClusterRole"), ("placement.kubernetes-fleet.io", "v1beta1", ENVELOPE)
    by_name = [dict(zip(("group", "version", "kind"), one, strict=True)) for one in names]
    web, shop = builders.select_namespace("web"), builders.select_namespace("shop")
    world = begun(
        builders.placement("web", selectors=[web, {**by_name[0], "name": "reader"}]), placing("shop"), more=[role]
    )
    first = world.state().placements[PlacementKey("", "shop")].resource_snapshots[0]
    with world.nothing_deleted():
        carrying = builders.an_object("placement.kubernetes-fleet.io/v1beta1", ENVELOPE, "env", data={"r.yaml": role})
        selectors = [shop, {**by_name[1], "name": "env"}]
        pin = builders.pin("shop", first.index, first.hash)
        world.commit(placing("web"), builders.placement("shop", selectors=selectors), carrying, pin, remove=[role])
        world.settle()
        assert all(world.live(name, "ClusterRole", "reader") for name in world.fleet.clusters)
        world.commit(remove=[pin])
        world.settle()
        assert all(world.live(name, "ClusterRole", "reader") for name in world.fleet.clusters)
