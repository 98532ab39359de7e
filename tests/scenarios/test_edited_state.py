"""The state branch edited by somebody else: what nobody asked to delete is not deleted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from gitfleet.api import write
from gitfleet.api.conditions import Condition, Status
from gitfleet.api.holds import Hold, Removal, RemovalKind, removals_digest
from gitfleet.api.objects import JsonObject
from gitfleet.api.placements import PlacementKey
from gitfleet.formats.yaml_writer import yaml_text
from tests import builders
from tests.scenarios.test_crashes import NAMES, begin
from tests.scenarios.test_holds import answer, objects, only_hold, settled
from tests.scenarios.world import STATE, World


@pytest.mark.parametrize("restarts", [False, True])
def test_bindings_marked_as_deleted_by_hand_delete_nothing(restarts: bool) -> None:
    world = World()
    begin(world)
    objects = {name: world.fleet.cluster(name).objects() for name in NAMES}
    marked = {
        path: content.decode().replace('"metadata":{', '"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z",')
        for path, content in world.repo.files(STATE).items()
        if path.startswith("bindings/")
    }
    assert "deletionTimestamp" in "".join(marked.values())
    world.repo.commit_files(STATE, marked, world.clock.now(), "Somebody else's edit")
    with world.nothing_deleted():
        if restarts:
            world.restart()
        world.settle()
    assert {name: world.fleet.cluster(name).objects() for name in NAMES} == objects
    assert all(
        binding.deleting is None for binding in world.state().placements[next(iter(world.state().placements))].bindings
    )


def forge(world: World, hold: Hold) -> None:
    """Somebody who may push to the state branch, and not to the watched one, writes a hold there as approved."""
    approved = replace(
        hold,
        conditions=(
            Condition(type="Approved", status=Status.TRUE, reason="Approved", last_transition_time=world.clock.now()),
        ),
    )
    text = yaml_text(write(approved))
    world.repo.commit_files(STATE, {f"holds/{hold.name}.yaml": text}, world.clock.now(), "Somebody else's edit")


@pytest.mark.parametrize("restarts", [False, True])
def test_a_hold_that_is_marked_as_approved_on_the_state_branch_waits_for_the_file(restarts: bool) -> None:
    world = settled()
    world.commit(remove=["placements/web.yaml"])
    world.settle()
    forge(world, only_hold(world))
    with world.nothing_deleted():
        if restarts:
            world.restart()
        world.settle()
    assert len(objects(world)) == 54
    assert only_hold(world).answer is None


def test_an_approved_hold_that_gitfleet_never_made_lets_nothing_through() -> None:
    world = settled()
    removals = (Removal(kind=RemovalKind.PLACEMENT, placement=PlacementKey("", "web")),)
    digest = removals_digest("0" * 40, removals)
    name = f"hold-web-{digest[:10]}"
    world.commit(remove=["placements/web.yaml"])
    forge(world, Hold(name=name, commit="0" * 40, since=world.clock.now(), digest=digest, removals=removals))
    with world.nothing_deleted():
        world.settle()
    assert [hold.answer for hold in world.state().holds.values()] == [None]


NOBODY = builders.pick_n(1, match_labels={"region": "nowhere"})["affinity"]
NOWHERE = builders.placement("web", policy={"placementType": "PickAll", "affinity": NOBODY})


@pytest.mark.parametrize(
    ("more", "gone", "left"),
    [
        ((), ["placements/web.yaml"], 36),
        ((), ["resources/web/configmap-settings.yaml", "resources/web/deployment-app.yaml"], 42),
        ((NOWHERE,), [], 36),
        ((), [f"clusters/{name}.yaml" for name in ("c1", "c2", "c3")], 54),
    ],
    ids=["placement", "objects", "bindings", "clusters"],
)
def test_an_approval_file_may_go_once_the_removal_is_under_way(
    more: Sequence[JsonObject], gone: Sequence[str], left: int
) -> None:
    world = settled()
    world.commit(*more, remove=gone)
    world.settle()
    approval = answer(only_hold(world))
    world.write(approval)
    world.reconcile()
    world.write(dict.fromkeys(approval))
    world.settle()
    assert len(objects(world)) == left and not world.state().holds
