"""What says of itself that nobody is to delete it stays on its clusters, whatever takes it away, and with it what it
lies in; it is gitfleet's no more, which is said, and no hold waits for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.apply.texts import ApplyText
from gitfleet.cli.plan_text import lines_of
from gitfleet.model.events import EventType
from gitfleet.status import sentence
from gitfleet.status.texts import StatusText
from tests import builders
from tests.scenarios.test_crashes import NAMES, members
from tests.scenarios.test_planned_steps import plan_of
from tests.scenarios.world import World, answer
from tests.texts import part

HELM = {"helm.sh/resource-policy": "keep"}
DATA = ObjectKey("", "v1", "ConfigMap", "web", "data")


def data(annotations: Mapping[str, str] = HELM, **parts: Any) -> JsonObject:
    """What is not to be deleted."""
    return builders.config_map("web", "data", {"a": "1"}, annotations=annotations, **parts)


def placed(kept: JsonObject, *more: JsonObject) -> World:
    """Three clusters that have a namespace with what is kept and a ConfigMap that is not."""
    world = World()
    other = builders.config_map("web", "other", {"a": "1"})
    world.roll_out(*members(leave="Delete"), builders.namespace("web"), kept, other, builders.placement("web"), *more)
    return world


def on_cluster(world: World, cluster: str = "c1") -> set[str]:
    """The names of what is in the namespace, and of the namespace itself."""
    found = [one.key for one in world.fleet.cluster(cluster).objects()]
    return {f"{key.kind}/{key.name}" for key in found if "web" in (key.namespace, key.name)}


def said(world: World) -> list[str]:
    return [sentence(event) for event in world.events if event.type is EventType.RELEASED]


def test_a_plan_says_what_is_left() -> None:
    world = placed(data())
    world.commit(remove=[data()])
    (line,) = (line for line in lines_of(plan_of(world)) if "ConfigMap/web/data" in line)
    assert ApplyText.STAYS_CLUSTER_PROTECTS(by="helm.sh/resource-policy: keep") in line


GONE = {"the placement": ["placements/web.yaml"], "the clusters": [f"clusters/{name}.yaml" for name in NAMES]}


@pytest.mark.parametrize("how", GONE)
@pytest.mark.parametrize("crash", [False, True], ids=["", "crash"])
def test_what_it_lies_in_stays_with_it(how: str, crash: bool) -> None:
    world = placed(data(), builders.fleet_config(removals={"approval": "Never"}))
    world.commit(remove=GONE[how])
    if crash:
        world.reconcile()
        world.restart()
    world.settle()
    assert not world.state().holds and not world.state().inventory
    for name in NAMES:
        assert on_cluster(world, name) == {"Namespace/web", "ConfigMap/data"}, "the other one was deleted"


def test_it_is_taken_back_as_it_is_when_it_is_selected_again() -> None:
    world = placed(data())
    world.roll_out(remove=[data()])
    there = world.live("c1", "ConfigMap", "data")
    world.roll_out(data())
    assert there is not None and world.state().inventory["c1"][DATA].uid == there["metadata"]["uid"]


def test_nothing_that_stays_counts_for_a_hold() -> None:
    """Without the annotation the placement selects nothing any more, which is held."""
    for protection, held in ((HELM, False), ({}, True)):
        world = World()
        selected = [{"group": "", "version": "v1", "kind": "Namespace", "name": "web"}]
        only = {**builders.namespace("web"), "metadata": {"name": "web", "annotations": protection}}
        world.roll_out(builders.member_cluster("c1"), only, builders.placement("web", selectors=selected))
        world.roll_out(remove=[only])
        assert bool(world.state().holds) == held
        assert world.live("c1", "Namespace", "web") is not None


def test_another_placement_takes_it_over() -> None:
    """Nothing is let go of that somebody else is to have."""
    world = placed(data(), builders.fleet_config(removals={"approval": "Never"}))
    world.commit(
        builders.placement("other", selectors=[builders.select_namespace("web")]), remove=["placements/web.yaml"]
    )
    with world.nothing_deleted():
        world.settle()
    assert {str(entry.placement) for entry in world.state().inventory["c1"].values()} == {"other"}
    assert not any(part(StatusText.LEFT_NO_LONGER_MANAGED) in text for text in said(world))


def test_an_override_that_deletes_it_on_a_cluster_leaves_it_there() -> None:
    world = placed(data(), builders.fleet_config(removals={"approval": "Never"}))
    world.commit(builders.override("drop", "ConfigMap/data", builders.override_rule()))
    with world.nothing_deleted():
        world.settle()
    assert DATA not in world.state().inventory["c1"]


@pytest.mark.parametrize(("held", "renamed"), [("resources/web/", False), ("clusters/", True)])
@pytest.mark.parametrize("approved", [True, False], ids=["approved", "taken back"])
def test_what_it_lies_in_stays_with_it_however_late_that_goes(held: str, renamed: bool, approved: bool) -> None:
    """The removal of the namespace, or of its clusters, is held; what is protected in it is let go of."""
    world = placed(data())
    files = {path: text.decode() for path, text in world.repo.files("main").items() if path.startswith(held)}
    its_own = "resources/web/configmap-data.yaml"
    hidden = {f"{path}.off": text for path, text in files.items() if renamed}
    world.roll_out(files={**dict.fromkeys(files), **hidden, its_own: None})
    answers = {path: text for hold in world.state().held.values() for path, text in answer(hold).items()}
    assert answers
    world.roll_out(files=answers if approved else {**files, **dict.fromkeys(hidden), its_own: None})
    assert not world.state().holds
    for name in NAMES:
        assert {"Namespace/web", "ConfigMap/data"} <= on_cluster(world, name)
        assert ("ConfigMap/other" in on_cluster(world, name)) != approved
        assert DATA not in world.state().inventory.get(name, {})


OTHER_FILE = "resources/web/configmap-other.yaml"
LATER = {
    "with its placement": (
        ["placements/web.yaml"],
        StatusText.LEFT_NO_LONGER_MANAGED(place="web", names=": Namespace/web", cluster="c1"),
    ),
    "by itself": (
        ["resources/web/namespace-web.yaml", OTHER_FILE],
        StatusText.LEFT_NO_LONGER_MANAGED(place="web", names=": Namespace/web", cluster="c1"),
    ),
}


@pytest.mark.parametrize("later", LATER)
@pytest.mark.parametrize("edited", [False, True])
def test_what_it_lies_in_stays_with_it_when_that_goes_in_a_later_commit(later: str, edited: bool) -> None:
    world = placed(data(), builders.fleet_config(removals={"approval": "Never"}))
    world.roll_out(remove=[data()])
    assert said(world) and DATA not in world.state().inventory["c1"]
    if edited:
        world.roll_out(builders.namespace("web", labels={"edited": "yes"}))
    world.restart()
    remove, says = LATER[later]
    world.roll_out(remove=remove)
    for hold in world.state().holds.values():
        world.write(answer(hold))
    world.settle()
    assert not world.state().holds
    for name in NAMES:
        assert on_cluster(world, name) == {"Namespace/web", "ConfigMap/data"}, "the other one was deleted"
    assert says in said(world)


def test_what_it_lies_in_goes_once_it_was_taken_back_and_may_be_deleted() -> None:
    world = placed(data(), builders.fleet_config(removals={"approval": "Never"}))
    for files in ({"remove": [data()]}, {}, {"remove": ["placements/web.yaml"]}):
        world.roll_out(*([] if files else [data({})]), **files)
    assert not world.state().holds and not on_cluster(world)
