"""A placement renamed with `gitfleet.dev/renamed-from` retains its record, and nothing moves (decision record 0045)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.holds import HoldRule
from gitfleet.api.placements import PlacementKey
from gitfleet.desired.texts import DesiredText
from gitfleet.model.events import EventType
from tests import builders
from tests.scenarios.staged_world import EXTERNAL, QUICK, SUCCEEDED, members, one_stage, rolled_out, said, staged
from tests.scenarios.test_quarantine import digest_of, rolling_world
from tests.scenarios.world import World

ROLLING = builders.rolling_update(maxUnavailable=1)
SHOP = PlacementKey("", "shop")
EVERY = ("c1", "c2", "c3")
Pair = tuple[dict[str, Any], dict[str, Any]]
"""A file that names `web`, and the same that names `shop`."""


def released(image: str) -> World:
    """Three clusters that have the second image of `web`."""
    world = rolling_world()
    world.roll_out(builders.deployment("web", "web", image=image))
    return world


def renamed(name: str = "shop", former: str | None = "web", strategy: dict[str, Any] = ROLLING) -> dict[str, Any]:
    """What `web` selects, under another name."""
    return builders.placement(name, "web", strategy=strategy, renamed_from=former)


def rename(world: World, *also: dict[str, Any], strategy: dict[str, Any] = ROLLING) -> None:
    world.commit(renamed(strategy=strategy), *also, remove=["placements/web.yaml"])


def owners(world: World) -> set[str]:
    """The placements that own anything."""
    return {str(entry.placement) for owned in world.state().inventory.values() for entry in owned.values()}


def names(world: World) -> set[str]:
    """The placements that there are."""
    return {str(key) for key in world.state().placements}


def untouched(world: World, change: Callable[[], object]) -> None:
    """A change and all that follows it do nothing on any cluster, in this process and in the next."""
    start = len(world.happenings)
    change()
    world.settle()
    world.restart()
    world.settle()
    assert [f"{h.what} {h.key} on {h.cluster}" for h in world.happenings[start:]] == []


def errors(world: World) -> list[str]:
    faults = (fault for fault in world.state().faults if fault.severity == "error")
    return [f"{fault.path}: {fault.message}" for fault in faults if fault.path.startswith(("placements/", "runs/"))]


def test_a_renamed_placement_retains_its_clusters_and_snapshots() -> None:
    world = released("web:2")
    untouched(world, lambda: rename(world))
    assert (names(world), owners(world), world.state().faults) == ({"shop"}, {"shop"}, ())
    record = world.state().placements[SHOP]
    assert [(b.cluster, b.applied_snapshot, b.policy_snapshot) for b in record.bindings] == [
        (name, "shop-1-snapshot", "shop-0") for name in EVERY
    ]
    told = [event for event in world.events if event.type is EventType.PLACEMENT and "state" in event.fields]
    assert (told[-1].placement, dict(told[-1].fields)) == ("shop", {"state": "renamed", "former": "web"})
    untouched(world, lambda: world.commit(renamed("store", "shop"), remove=[renamed()]))
    untouched(world, lambda: world.commit(renamed("store", None)))
    assert (names(world), owners(world), world.state().faults) == ({"store"}, {"store"}, ())
    digest = world.state().placements[PlacementKey("", "store")].resource_snapshots[0].hash
    world.roll_out(builders.pin("store", 0, digest))
    assert rolled_out(world) == dict.fromkeys(EVERY, "web:1")


def test_a_rename_with_an_edit_rolls_out_within_the_budget() -> None:
    world = released("web:2")
    with world.nothing_deleted():
        rename(world, builders.deployment("web", "web", image="web:3"))
        world.reconcile()
        assert sorted(rolled_out(world).values(), key=str) == ["web:2", "web:2", "web:3"]
        world.settle()
    assert set(rolled_out(world).values()) == {"web:3"}


def test_an_object_that_a_new_name_does_not_have_is_held() -> None:
    """Without the annotation the old placement is emptied."""
    world, settings = released("web:2"), builders.config_map("web", "settings", {"k": "v"})
    world.roll_out(settings)
    with world.nothing_deleted():
        world.roll_out(renamed(former=None), remove=["placements/web.yaml", settings])
    held = [one for hold in world.state().held.values() for one in hold.removals if one.rules]
    assert [(str(one.placement), set(one.rules)) for one in held] == [("web", {HoldRule.EMPTIED})] * len(held)
    assert any("settings" in str(one) for one in held)


def test_a_rename_of_a_placement_that_still_has_a_file_waits_until_that_is_removed() -> None:
    world = released("web:2")
    untouched(world, lambda: world.commit(renamed()))
    there = DesiredText.RENAMED_PLACEMENT_THERE(old="web", origin="placements/web.yaml:1")
    assert (names(world), errors(world)) == ({"web"}, [f"placements/shop.yaml: {there}"])
    untouched(world, lambda: world.commit(remove=["placements/web.yaml"]))
    assert (names(world), owners(world), errors(world)) == ({"shop"}, {"shop"}, [])


def a_pin(world: World) -> Pair:
    digest = digest_of(world, 0)
    pin = builders.pin("web", 0, digest)
    return pin, {**pin, "spec": {**pin["spec"], "placement": "shop"}}


def a_quarantine(world: World) -> Pair:
    bad = digest_of(world, 1)
    return builders.quarantine("bad", "web", bad), builders.quarantine("bad", "shop", bad)


def a_freeze(world: World) -> Pair:
    until = (world.clock.now() + timedelta(days=300)).isoformat()
    old, new = (builders.freeze("sale", until, scope={"placements": [name]}) for name in ("web", "shop"))
    return old, new


def an_override(world: World) -> Pair:
    rule = builders.override_rule({"op": "add", "path": "/metadata/annotations", "value": {"x": "y"}})
    old, new = (builders.override("only", "Namespace/web", rule, placement={"name": name}) for name in ("web", "shop"))
    return old, new


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("naming", [a_pin, a_quarantine, a_freeze, an_override])
def test_gates_and_overrides_of_the_old_name_are_renamed_in_the_same_commit(
    naming: Callable[[World], Pair], at_once: bool
) -> None:
    world = released("web:2")
    old, new = naming(world)
    world.roll_out(old)
    edit = builders.deployment("web", "web", image="web:2", replicas=1)
    if not at_once:
        untouched(world, lambda: rename(world, edit))
        place = f"{builders.path_of(old)}:1"
        still = DesiredText.RENAMED_PLACEMENT_NAMED(old="web", places=place, key="shop")
        assert (names(world), f"placements/shop.yaml: {still}" in errors(world)) == ({"web"}, True)
    untouched(world, lambda: world.commit(new) if not at_once else rename(world, new))
    assert (names(world), owners(world), errors(world)) == ({"shop"}, {"shop"}, [])


def test_an_unfinished_run_goes_on_under_the_new_name() -> None:
    world = staged(World(rules=(QUICK,)), *members(*EVERY))
    world.roll_out(one_stage(), builders.staged_run("go", placement="web", strategy="all"))
    waiting = builders.staged_run("go2", placement="web", strategy="all")
    waiting["spec"]["state"] = "Initialize"
    world.roll_out(waiting, builders.deployment("web", "web", image="web:2"))
    untouched(world, lambda: rename(world, strategy=EXTERNAL))
    assert names(world) == {"web"}
    waiting["spec"]["placementName"] = "shop"
    untouched(world, lambda: world.commit(waiting))
    assert (names(world), owners(world), errors(world)) == ({"shop"}, {"shop"}, [])
    waiting["spec"]["state"] = "Run"
    world.roll_out(waiting)
    assert (said(world, "go2"), rolled_out(world)) == (SUCCEEDED, dict.fromkeys(EVERY, "web:2"))


def test_a_process_that_dies_while_a_placement_is_renamed_leaves_it_to_the_next() -> None:
    seen: set[str] = set()
    while True:
        world = released("web:2")
        start = len(world.happenings)

        def die(label: str) -> None:
            if label not in seen:
                seen.add(label)
                raise SystemExit

        world.driver.checkpoint = die
        rename(world)
        try:
            world.reconcile()
        except SystemExit:
            world.restart()
            world.settle()
            assert [h.what for h in world.happenings[start:]] == []
            assert (names(world), owners(world)) == ({"shop"}, {"shop"})
            continue
        break
    assert len(seen) > 3
