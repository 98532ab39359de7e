"""ClientSideApply through whole reconciles: what the snapshot before had and this one has not goes, whoever set it."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.objects import key_of
from tests import builders
from tests.scenarios.staged_world import QUICK, members
from tests.scenarios.world import World

ADDED = {"op": "add", "path": "/data/gone", "value": "1"}
OVERRIDE = builders.override("more", "ConfigMap/settings", builders.override_rule(ADDED))


def settings(**data: str) -> dict[str, Any]:
    return builders.config_map("web", "settings", data)


def begun(*more: dict[str, Any], type_: str = "ClientSideApply", **data: str) -> World:
    """A cluster with what git has, of which another manager applied `gone` too, and `theirs` beside."""
    world = World(rules=(QUICK,))
    strategy = {**builders.rolling_update(maxUnavailable="100%"), "applyStrategy": {"type": type_}}
    placement = builders.placement("web", "web", strategy=strategy)
    world.commit(*members("c1"), builders.namespace("web"), settings(**data), placement, *more)
    world.settle()
    assert data_of(world) == {"kept": "1", "gone": "1"}
    world.fleet.clusters["c1"].apply_by_hand(settings(gone="1", theirs="1"), manager="another")
    world.settle()
    return world


def data_of(world: World) -> dict[str, str]:
    live = world.live("c1", "ConfigMap", "settings", "web")
    assert live is not None
    return dict(live["data"])


def test_a_field_that_left_the_manifest_goes_though_another_manager_applied_it_too() -> None:
    world = begun(kept="1", gone="1")
    world.commit(settings(kept="1"))
    world.settle()
    assert data_of(world) == {"kept": "1", "theirs": "1"}


def test_it_stays_with_server_side_apply() -> None:
    world = begun(type_="ServerSideApply", kept="1", gone="1")
    world.commit(settings(kept="1"))
    world.settle()
    assert data_of(world) == {"kept": "1", "gone": "1", "theirs": "1"}


@pytest.mark.parametrize("restarted", [False, True])
def test_it_goes_after_the_cluster_did_not_answer_and_the_process_was_started_again(restarted: bool) -> None:
    world = begun(kept="1", gone="1")
    world.fleet.clusters["c1"].failing = 1
    world.commit(settings(kept="1"))
    world.reconcile()
    assert data_of(world) == {"kept": "1", "gone": "1", "theirs": "1"}
    if restarted:
        world.restart()
    world.advance(seconds=30)
    world.settle()
    assert data_of(world) == {"kept": "1", "theirs": "1"}


def test_what_an_override_set_goes_with_the_override() -> None:
    world = begun(OVERRIDE, kept="1")
    world.commit(remove=[OVERRIDE])
    world.settle()
    assert data_of(world) == {"kept": "1", "theirs": "1"}
    assert world.fleet.clusters["c1"].get(key_of(settings())) is not None


def test_a_map_that_left_the_manifest_goes_without_what_is_left_alone() -> None:
    rule = {"kind": "Deployment", "jsonPointers": ["/spec/template/metadata/annotations/theirs"]}
    world = begun(builders.fleet_config(ignoreDifferences=[rule]), kept="1", gone="1")
    world.commit(annotated(ours="1"))
    world.settle()
    theirs = {"template": {"metadata": {"annotations": {"theirs": "1", "ours": "1"}}}}
    there = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "web"}}
    world.fleet.clusters["c1"].apply_by_hand({**there, "spec": theirs}, manager="another")
    world.settle()
    world.commit(annotated())
    world.settle()
    live = world.live("c1", "Deployment", "web", "web")
    assert live is not None
    assert live["spec"]["template"]["metadata"]["annotations"] == {"theirs": "1"}


def annotated(**annotations: str) -> dict[str, Any]:
    body = builders.deployment("web", "web")
    if annotations:
        body["spec"]["template"]["metadata"]["annotations"] = annotations
    return body
