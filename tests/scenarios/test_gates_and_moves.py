"""What a placement has that is External, frozen, pinned or quarantined moves to another one that is not: it waits for
an approval or for the end of the gate, and goes on behind it meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.holds import HoldRule
from gitfleet.api.placements import PlacementKey
from tests import builders
from tests.scenarios.staged_world import EXTERNAL, QUICK, members, one_stage
from tests.scenarios.test_holds import answer, only_hold
from tests.scenarios.world import World

Files = list[dict[str, Any]]
FEW = ("c1", "c2", "c3")
ONE = builders.rolling_update(maxUnavailable=1)
WEB, SHOP = PlacementKey("", "web"), PlacementKey("", "shop")


def by_label(name: str, strategy: dict[str, Any]) -> dict[str, Any]:
    """A placement of the namespaces that have its name as their label."""
    labels = {"labelSelector": {"matchLabels": {"of": name}}}
    one = {"group": "", "version": "v1", "kind": "Namespace", **labels}
    return builders.placement(name, selectors=[one], strategy=strategy)


def labelled(namespace: str, owner: str) -> dict[str, Any]:
    return {**builders.namespace(namespace), "metadata": {"name": namespace, "labels": {"of": owner}}}


def image(of_x: str) -> dict[str, Any]:
    return builders.deployment("x", "web", image=of_x)


def begun(strategy: dict[str, Any], taker: dict[str, Any]) -> World:
    """Three clusters on which `web` has the namespaces web and x, and `shop` has spare."""
    world = World(rules=(QUICK,))
    namespaces = [labelled("web", "web"), labelled("x", "web"), labelled("spare", "shop")]
    placements = [by_label("web", strategy), by_label("shop", taker)]
    world.commit(*members(*FEW), *namespaces, builders.deployment("web", "web"), image("x:1"), *placements, one_stage())
    world.settle()
    external = [p["metadata"]["name"] for p in placements if p["spec"]["strategy"] == EXTERNAL]
    world.commit(*(builders.staged_run(f"on-{name}", placement=name, strategy="all") for name in external))
    world.settle()
    assert images(world) == {"x:1"} and owner_of_x(world) == {"web"}
    return world


def images(world: World) -> set[str | None]:
    return {world.image_in(name, "x") for name in FEW}


def owner_of_x(world: World) -> set[str]:
    every = (entry for entries in world.state().inventory.values() for entry in entries.values())
    return {str(entry.placement) for entry in every if "x" in (entry.key.namespace, entry.key.name)}


def snapshot(world: World, key: PlacementKey = WEB) -> Any:
    return world.state().placements[key].resource_snapshots[-1]


def frozen(world: World, *placements: str, days: int = 30, name: str = "f") -> Files:
    until = (world.clock.now() + timedelta(days=days)).isoformat()
    return [builders.freeze(name, until, scope={"placements": [*placements]})]


def nothing(_: World) -> Files:
    return []


def freeze(world: World) -> Files:
    world.commit(*(gate := frozen(world, "web")))
    return gate


def window(world: World) -> Files:
    always = {"name": "always", "schedule": "0 0 * * *", "duration": "1439m", "scope": {"placements": ["web"]}}
    world.commit(gate := builders.fleet_config(freezeWindows=[always]))
    return [gate]


def pin(world: World) -> Files:
    found = snapshot(world)
    world.commit(gate := builders.pin("web", found.index, found.hash), image("x:2"))
    return [gate]


def quarantine(world: World) -> Files:
    world.commit(image("x:2"))
    world.settle()
    found = snapshot(world)
    world.commit(image("x:1"))
    world.settle()
    world.commit(gate := builders.quarantine("bad", "web", found.hash), image("x:2"))
    return [gate]


GATES: dict[str, Callable[[World], Files]] = {
    "external": nothing, "freeze": freeze, "window": window, "pin": pin, "quarantine": quarantine
}  # fmt: skip
"""What keeps newer content than x:1 from the clusters; the files of that. Of a pin and a quarantine x:2 is in the repo
already."""
HELD = {gate: HoldRule.NOT_EXTERNAL if gate == "external" else HoldRule.GATE_LOST for gate in GATES}


def fold(_: dict[str, Any], taker: dict[str, Any]) -> tuple[Files, list[str]]:
    return [builders.placement("shop", "spare", "x", "web", strategy=taker)], ["placements/web.yaml"]


def split(_: dict[str, Any], taker: dict[str, Any]) -> tuple[Files, list[str]]:
    parts = (("one", "web"), ("two", "x"))
    return [builders.placement(*part, strategy=taker) for part in parts], ["placements/web.yaml"]


def label(_: dict[str, Any], __: dict[str, Any]) -> tuple[Files, list[str]]:
    return [labelled("x", "shop")], []


def selector(strategy: dict[str, Any], taker: dict[str, Any]) -> tuple[Files, list[str]]:
    named = (
        builders.placement("web", "web", strategy=strategy),
        builders.placement("shop", "spare", "x", strategy=taker),
    )
    return [*named], []


MOVES = {"fold": fold, "split": split, "label": label, "selector": selector}
KEPT = [("pin", "label"), ("pin", "selector")]
"""The pin itself keeps what it has."""
MOVED = [(gate, how) for gate in GATES for how in MOVES if (gate, how) not in [*KEPT, ("quarantine", "label")]]
"""An edit of a label is other content than what is quarantined."""


def gated(gate: str, taker: dict[str, Any] = ONE) -> World:
    world = begun(EXTERNAL if gate == "external" else ONE, taker)
    GATES[gate](world)
    world.settle()
    assert images(world) == {"x:1"} and not world.state().holds
    return world


def move(world: World, gate: str, how: str, *more: dict[str, Any], taker: dict[str, Any] = ONE) -> None:
    files, gone = MOVES[how](EXTERNAL if gate == "external" else ONE, taker)
    with world.nothing_deleted():
        world.commit(*files, *more, remove=gone)
        world.settle()


@pytest.mark.parametrize(("gate", "how"), [*MOVED, *KEPT])
def test_what_leaves_a_gate_for_another_placement_waits(gate: str, how: str) -> None:
    world = gated(gate)
    move(world, gate, how)
    rules = {reason.rule for hold in world.state().holds.values() for reason in hold.reasons}
    world.commit(image("x:2"))
    world.settle()
    world.restart()
    world.settle()
    assert images(world) == {"x:1"} and owner_of_x(world) == {"web"}
    assert rules == (set() if (gate, how) in KEPT else {HELD[gate]})


@pytest.mark.parametrize(("gate", "how"), MOVED)
def test_what_waits_for_a_person_alone_is_settled(gate: str, how: str) -> None:
    world = gated(gate)
    move(world, gate, how)
    result = world.reconcile()
    assert result is not None
    hold = only_hold(world).name
    assert any("stays with ClusterResourcePlacement web on c1" in one and hold in one for one in result.asks)
    ends = gate in ("freeze", "window")
    assert (result.settled, result.frozen, bool(result.waiting)) == (not ends, ends, ends)


@pytest.mark.parametrize(("gate", "how"), [(gate, how) for gate, how in MOVED if how != "label"])
def test_an_approval_lets_it_go(gate: str, how: str) -> None:
    world = gated(gate)
    move(world, gate, how)
    with world.nothing_deleted():
        world.write(answer(only_hold(world)))
        world.settle()
        world.commit(image("x:2"))
        world.settle()
    assert not world.state().holds
    assert images(world) == {"x:2"} and owner_of_x(world) == {"two" if how == "split" else "shop"}


@pytest.mark.parametrize(("gate", "how"), MOVED)
def test_a_revert_takes_it_back(gate: str, how: str) -> None:
    world = gated(gate)
    files, _ = MOVES[how](EXTERNAL if gate == "external" else ONE, ONE)
    paths = [builders.path_of(one) for one in files] + ["placements/web.yaml"]
    was = {path: text.decode() for path, text in world.repo.files("main").items()}
    move(world, gate, how)
    with world.nothing_deleted():
        world.write({path: was.get(path) for path in paths})
        world.settle()
    assert not world.state().holds
    assert images(world) == {"x:1"} and owner_of_x(world) == {"web"}


@pytest.mark.parametrize(("gate", "how"), [(gate, how) for gate, how in MOVED if gate != "external"])
def test_it_goes_once_the_gate_has_ended(gate: str, how: str) -> None:
    world = gated(gate)
    move(world, gate, how)
    (hold,) = world.state().holds
    result = world.reconcile()
    assert result is not None
    timed = [line for line in result.waiting if line.startswith(hold)]
    assert (result.wake_at is not None, bool(timed)) == (
        (True, True) if gate in ("freeze", "window") else (False, False)
    )
    with world.nothing_deleted():
        if gate in ("freeze", "window"):
            assert result.wake_at is not None
            world.move_to(result.wake_at)
        else:
            world.commit(remove=[f"{gate}s/{'web' if gate == 'pin' else 'bad'}.yaml"])
        world.settle()
    assert not world.state().holds and owner_of_x(world) == {"two" if how == "split" else "shop"}


def frozen_too(world: World) -> Files:
    return frozen(world, "shop", days=31, name="g")


def frozen_less(world: World) -> Files:
    return frozen(world, "shop", days=29, name="g")


@pytest.mark.parametrize("how", ["fold", "selector"])
@pytest.mark.parametrize(
    ("gate", "taker", "more", "held"),
    [
        ("external", EXTERNAL, nothing, False),
        ("freeze", ONE, frozen_too, False),
        ("freeze", ONE, frozen_less, True),
        ("freeze", ONE, lambda world: frozen(world, "*"), False),
        ("window", EXTERNAL, nothing, True),
    ],
    ids=["External too", "frozen for longer", "frozen for less", "in the same freeze", "External, not frozen"],
)
def test_it_waits_where_the_other_one_has_no_such_gate(
    how: str, gate: str, taker: dict[str, Any], more: Callable[[World], Files], held: bool
) -> None:
    world = gated(gate, taker)
    world.commit(*more(world))
    world.settle()
    move(world, gate, how, taker=taker)
    rules = [reason.rule for hold in world.state().holds.values() for reason in hold.reasons]
    assert rules == ([HELD[gate]] if held else [])
    assert images(world) == {"x:1"}


def test_the_sentences_say_what_would_not_count_any_more() -> None:
    found = {}
    for gate, how in (("external", "selector"), ("freeze", "selector"), ("pin", "fold"), ("quarantine", "fold")):
        world = gated(gate)
        move(world, gate, how)
        found[gate] = only_hold(world).reasons[0].message
    moved = "takes over Namespace/x and Deployment/x/web of placement web"
    assert found == {
        "external": f"ClusterResourcePlacement shop, which is not External, {moved}: its latest snapshot and all "
        "later ones would go to every cluster without stages and approvals",
        "freeze": f"ClusterResourcePlacement shop {moved}, and is not frozen by f until 2026-01-31 00:00:10 UTC "
        "(ops: no changes)",
        "pin": "ClusterResourcePlacement shop takes over what placement web has, and the Pin of web is not for it: "
        "newer content would go out",
        "quarantine": "ClusterResourcePlacement shop takes over what placement web has, and the Quarantine of web's "
        "newest content is not for it: that would go out",
    }


def test_a_slip_that_comes_meanwhile_does_not_go_with_the_end_of_the_gate() -> None:
    world = gated("pin")
    move(world, "pin", "fold")
    with world.nothing_deleted():
        world.commit(builders.deployment("x", "wbe"), remove=[image("x:1")])
        world.settle()
        world.commit(remove=["pins/web.yaml"])
        world.settle()
        (reason,) = only_hold(world).reasons
    assert (reason.rule, images(world)) == (HoldRule.UNCLEAR_COMMIT, {"x:1"})
    world.write(answer(only_hold(world)))
    world.settle()
    assert (world.state().holds, images(world)) == ({}, {None})
