"""A move that is under way when somebody edits what moves goes on: nobody waits for another one without end."""

from __future__ import annotations

from typing import Any

import pytest

from tests import builders
from tests.builders import to_yaml
from tests.scenarios.staged_world import QUICK, members, placing
from tests.scenarios.world import World


def at(name: str) -> str:
    return f"placements/{name}.yaml"


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
    world.roll_out(*members("c1", "c2", "c3"), *spaces, *apps, by_label("web"), by_label("shop"))
    with world.nothing_deleted():
        moved = {at_namespace(name): to_yaml(of(name, "store")) for name in ("web", "n2")}
        world.write({at("web"): None, at("store"): to_yaml(by_label("store")), **moved})
        for _ in range(passes):
            world.reconcile()
        world.roll_out(edit)
    assert_done(world, "shop", "store")


@pytest.mark.parametrize(("first", "second"), [(2, 1), (1, 1), (1, 2), (3, 1)])
def test_a_placement_that_leaves_sets_nothing_back(first: int, second: int) -> None:
    """web is renamed to store, edited, and moves on to shop: no cluster gets the old content again."""
    world, images = World(rules=(QUICK,)), dict[str, list[str]]()
    owners = {"web": "web", "shop": "shop"}
    spaces, apps = [of(*one) for one in owners.items()], [builders.deployment(name, "app") for name in owners]
    world.roll_out(*members("c1", "c2", "c3"), *spaces, *apps, by_label("web"), by_label("shop"))

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
