"""A move that is under way when somebody edits what moves goes on: nobody waits for another one without end."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests import builders
from tests.builders import to_yaml
from tests.scenarios.staged_world import QUICK, members
from tests.scenarios.test_faulty_renames import placing
from tests.scenarios.test_unclear_commits import at
from tests.scenarios.world import World


def of(name: str, owner: str) -> dict[str, Any]:
    return builders.namespace(name, labels={"of": owner})


def by_label(name: str, *more: str) -> dict[str, Any]:
    """A placement of the namespaces with its own label, one cluster at a time, and of more by name."""
    body = placing(name, *more, strategy=builders.rolling_update(maxUnavailable=1))
    label = {"group": "", "version": "v1", "kind": "Namespace", "labelSelector": {"matchLabels": {"of": name}}}
    body["spec"]["resourceSelectors"].append(label)
    return body


def at_namespace(name: str) -> str:
    return builders.path_of(builders.namespace(name))


def newer(namespace: str) -> dict[str, Any]:
    return builders.deployment(namespace, "app", image="nginx:2")


EDITS: dict[str, dict[str, Any]] = {
    "of what comes from the third": newer("n2"),
    "of what is renamed": newer("web"),
    "a new object": builders.config_map("n2", "more", {"a": "1"}),
    "the labels of a namespace": builders.namespace("web", labels={"of": "store", "tier": "x"}),
}


def assert_done(world: World, *names: str) -> None:
    state = world.state()
    assert {key.name for key in state.placements} == set(names)
    assert (state.holds, state.faults) == ({}, ())
    for record in state.placements.values():
        assert record.latest_resources is not None
        assert {binding.applied_snapshot for binding in record.bindings} == {record.latest_resources.name}


@pytest.mark.parametrize("passes", [0, 1, 2, 3])
@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_an_edit_of_what_is_renamed_and_takes_over_ends(edit: dict[str, Any], passes: int) -> None:
    """web is renamed to store, which takes n2 from shop as well; then somebody edits something in it."""
    world = World(rules=(QUICK,))
    apps = [builders.deployment(name, "app") for name in ("web", "n2", "shop")]
    spaces = [of("web", "web"), of("n2", "shop"), of("shop", "shop")]
    world.commit(*members("c1", "c2", "c3"), *spaces, *apps, by_label("web"), by_label("shop"))
    world.settle()
    with world.nothing_deleted():
        moved = {at_namespace(name): to_yaml(of(name, "store")) for name in ("web", "n2")}
        world.write({at("web"): None, at("store"): to_yaml(by_label("store")), **moved})
        for _ in range(passes):
            world.reconcile()
        world.commit(edit)
        world.settle()
    assert_done(world, "shop", "store")


def test_two_that_are_folded_while_one_of_them_leaves_end() -> None:
    owners = {"red": "lima", "green": "lima", "blue": "x", "grey": "x", "gold": "golf"}
    world = World(rules=(QUICK,))
    spaces = [of(name, owner) for name, owner in owners.items()]
    apps = [builders.deployment(name, "app") for name in owners]
    settings = builders.fleet_config(massDelete={"maxPercent": 100})
    world.commit(
        settings, *members("c1", "c2", "c3"), *spaces, *apps, by_label("golf", "blue", "grey"), by_label("lima")
    )
    world.settle()
    world.write({at("golf"): None})
    world.reconcile()
    delta = to_yaml(by_label("delta", "blue", "grey"))
    world.write({at("lima"): None, at("delta"): delta, at_namespace("green"): to_yaml(of("green", "delta"))})
    world.reconcile()
    world.write({at_namespace("gold"): to_yaml(of("gold", "delta"))})
    world.settle()
    assert_done(world, "delta")


@pytest.mark.parametrize("passes", [1, 2, 3])
@pytest.mark.parametrize("names", [("c1", "c2"), ("c1", "c2", "c3")])
def test_a_part_of_what_is_renamed_that_goes_on_to_a_third_placement_ends(names: tuple[str, ...], passes: int) -> None:
    """web is renamed to store; then one of its two namespaces gets the label of shop."""
    world = World(rules=(QUICK,))
    owners = {"web": "web", "n2": "web", "shop": "shop"}
    spaces, apps = [of(*one) for one in owners.items()], [builders.deployment(name, "app") for name in owners]
    world.commit(*members(*names), *spaces, *apps, by_label("web"), by_label("shop"))
    world.settle()
    with world.nothing_deleted():
        moved = {at_namespace(name): to_yaml(of(name, "store")) for name in ("web", "n2")}
        world.write({at("web"): None, at("store"): to_yaml(by_label("store")), **moved})
        for _ in range(passes):
            world.advance(seconds=20)
            world.reconcile()
        world.commit(of("n2", "shop"))
        world.settle()
    assert_done(world, "shop", "store")


@pytest.mark.parametrize(("first", "second"), [(2, 1), (1, 1), (1, 2), (3, 1)])
def test_a_placement_that_leaves_sets_nothing_back(first: int, second: int) -> None:
    """web is renamed to store, edited, and moves on to shop: no cluster gets the old content again."""
    world, images = World(rules=(QUICK,)), dict[str, list[str]]()
    owners = {"web": "web", "shop": "shop"}
    spaces, apps = [of(*one) for one in owners.items()], [builders.deployment(name, "app") for name in owners]
    world.commit(*members("c1", "c2", "c3"), *spaces, *apps, by_label("web"), by_label("shop"))
    world.settle()

    def reconcile(passes: int) -> None:
        for _ in range(passes):
            world.reconcile()
            world.advance(seconds=20)
            for name in ("c1", "c2", "c3"):
                live = world.live(name, "Deployment", "app", "web") or {}
                (container,) = live["spec"]["template"]["spec"]["containers"]
                images.setdefault(name, []).append(container["image"])

    world.write(
        {at("web"): None, at("store"): to_yaml(by_label("store")), at_namespace("web"): to_yaml(of("web", "store"))}
    )
    reconcile(first)
    world.commit(newer("web"))
    reconcile(second)
    world.commit(of("web", "shop"))
    reconcile(30)
    for seen in images.values():
        assert seen == sorted(seen, key=lambda image: image == "nginx:2") and seen[-1] == "nginx:2"


CIRCLE = ("bravo", "charlie", "kilo")


def three_in_a_circle(world: World, passes: int) -> None:
    """grey moves from bravo to kilo, which is new, and on to charlie while it does; green from charlie to kilo."""
    owners = {"grey": "bravo", "green": "charlie", "red": "bravo"}
    spaces, apps = [of(*one) for one in owners.items()], [builders.deployment(name, "app") for name in owners]
    world.commit(*members("c1", "c2", "c3"), *spaces, *apps, by_label("bravo"), by_label("charlie"))
    world.settle()
    world.commit(by_label("kilo"), of("grey", "kilo"))
    for _ in range(passes):
        world.advance(seconds=20)
        world.reconcile()
    world.commit(of("green", "kilo"), of("grey", "charlie"))


def labels(world: World, owner: str) -> dict[tuple[str, str], str]:
    """By cluster and name, the labels of the namespaces that a placement owns where its newest content is not yet."""
    state = world.state()
    record = next(record for key, record in state.placements.items() if key.name == owner)
    newest = record.latest_resources.name if record.latest_resources is not None else ""
    late = [binding.cluster for binding in record.bindings if binding.resource_snapshot != newest]
    owned = [(c, key.name) for c in late for key, entry in state.inventory[c].items() if entry.placement.name == owner]
    live = {(c, name): world.live(c, "Namespace", name) for c, name in owned}
    return {at: body["metadata"]["labels"]["of"] for at, body in live.items() if body is not None}


@pytest.mark.parametrize("passes", [1, 2, 3])
def test_three_between_which_an_object_moves_on_while_it_moves_end(passes: int) -> None:
    world = World(rules=(QUICK,))
    with world.nothing_deleted():
        three_in_a_circle(world, passes)
        world.settle()
    assert_done(world, *CIRCLE)


@pytest.mark.parametrize("later", [1, 2, 3])
@pytest.mark.parametrize("frozen", CIRCLE)
def test_what_a_freeze_keeps_with_a_placement_is_handed_over_after_its_end(frozen: str, later: int) -> None:
    """The freeze comes when the moves are under way: before that, it would be a gate that is lost."""
    world = World(rules=(QUICK,))
    with world.nothing_deleted():
        three_in_a_circle(world, 2)
        for _ in range(later):
            world.reconcile()
        until = (world.clock.now() + timedelta(days=9)).isoformat()
        before = labels(world, frozen)
        world.commit(builders.freeze("sale", until, scope={"placements": [frozen]}))
        world.settle()
        assert labels(world, frozen).items() >= before.items()
        world.commit(remove=["freezes/sale.yaml"])
        world.settle()
    assert_done(world, *CIRCLE)


@pytest.mark.parametrize("passes", [1, 2, 3, 4, 5, 6])
def test_a_fold_that_is_taken_back_the_other_way_round_while_it_is_under_way_ends(passes: int) -> None:
    """grove goes to lima; then golf comes back, and has what lima had."""
    world = World(rules=(QUICK,))
    owners = {"grove": "golf", "crane": "lima", "bread": "lima"}
    spaces, apps = [of(*one) for one in owners.items()], [builders.deployment(name, "app") for name in owners]
    settings = builders.fleet_config(massDelete={"maxPercent": 100})
    world.commit(settings, *members("c1", "c2", "c3"), *spaces, *apps, by_label("golf"), by_label("lima"))
    world.settle()
    with world.nothing_deleted():
        world.write({at("golf"): None, at_namespace("grove"): to_yaml(of("grove", "lima"))})
        for _ in range(passes):
            world.reconcile()
            world.advance(seconds=5)
        world.commit(by_label("golf"), of("crane", "golf"), of("bread", "golf"))
        world.settle()
    assert_done(world, "golf", "lima")
