"""What cannot be deleted is named as what is waited for, with the server's own words, until it is gone."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from gitfleet.apply.texts import ApplyText
from gitfleet.rollout.texts import RolloutText
from gitfleet.status.texts import StatusText
from gitfleet.views.kinds import objects_of
from tests import builders
from tests.scenarios.explaining import waiting
from tests.scenarios.world import World
from tests.state.builders import reader_of

REFUSED = 'configmaps "settings" is forbidden: the API server of c1 refuses it, as the scenario says'
SETTINGS = builders.config_map("web", "settings", {"a": "1"})
PLACED = builders.placement("web")


def settled(*, finalizer: bool = False) -> World:
    """Two clusters with a ConfigMap that the first does not give up."""
    refuses = ClusterRule(names=("c1",), object=ObjectPattern(kind="ConfigMap"), delete_fails=True)
    world = World(() if finalizer else (refuses,))
    settings = builders.config_map("web", "settings", {"a": "1"})
    if finalizer:
        settings["metadata"]["finalizers"] = ["example.com/keep"]
    members = (builders.member_cluster("c1"), builders.member_cluster("c2"))
    never = builders.fleet_config(removals={"approval": "Never"})
    world.roll_out(never, *members, builders.namespace("web"), builders.deployment("web", "web"), settings, PLACED)
    return world


def said(world: World) -> list[str]:
    return list(waiting(world.repo, world.fleet, world.clock))


def failed_of(world: World, cluster: str) -> list[dict[str, Any]]:
    """`failedPlacements` as `get crp -o yaml` shows them."""
    (document,) = objects_of("crp", reader_of(world.state()), "web")
    (entry,) = (e for e in document["status"]["placementStatuses"] if e["clusterName"] == cluster)
    return list(entry.get("failedPlacements", []))


def test_an_object_that_left_the_selection() -> None:
    world = settled()
    world.roll_out(remove=[SETTINGS])
    assert said(world) == [
        ("web: c1 " + RolloutText.NOT_DELETED(there="ConfigMap/web/settings", there_2="", more_than_first=REFUSED))
    ]
    assert failed_of(world, "c1") == [
        {
            "version": "v1",
            "kind": "ConfigMap",
            "namespace": "web",
            "name": "settings",
            "condition": {"type": "Deleted", "status": "False", "reason": "Forbidden", "message": REFUSED},
        }
    ]
    assert failed_of(world, "c2") == []


def test_a_placement_that_was_removed() -> None:
    world = settled()
    world.roll_out(remove=[PLACED])
    assert said(world) == [
        (
            "web: c1 "
            + RolloutText.GIVING_UP_RESOURCES()
            + (
                " and "
                + RolloutText.NOT_DELETED(
                    there="ConfigMap/web/settings", there_2="", more_than_first=f"{REFUSED} (and 1 more)"
                )
            )
        )
    ]
    there = [(one["kind"], one["name"], one["condition"]["reason"]) for one in failed_of(world, "c1")]
    assert there == [("ConfigMap", "settings", "Forbidden"), ("Namespace", "web", "Terminating")]


def test_it_is_told_once_and_changes_nothing_again() -> None:
    world = settled()
    world.roll_out(remove=[SETTINGS])
    commits = world.state_commits()
    for _ in range(3):
        world.reconcile()
    assert world.state_commits() == commits
    failed = [e.fields for e in world.events if e.type == "failed"]
    message = StatusText.NOT_DELETED(failed="ConfigMap/web/settings", failed_2=REFUSED)
    assert failed == [{"condition": "Deleted", "reason": "Forbidden", "message": message}]


@pytest.mark.parametrize("remove", [SETTINGS, PLACED], ids=["the object", "the placement"])
def test_a_finalizer_that_nobody_removes(remove: dict[str, object]) -> None:
    world = settled(finalizer=True)
    world.roll_out(remove=[remove])
    whom = (RolloutText.GIVING_UP_RESOURCES() + " and ") if remove is PLACED else ""
    why = ApplyText.BEING_DELETED_WAITS_FINALIZERS(finalizers=" (example.com/keep)")
    why += " (and 1 more)" if remove is PLACED else ""  # the namespace that it is in
    undeleted = RolloutText.NOT_DELETED(there="ConfigMap/web/settings", there_2=why, more_than_first="")
    assert said(world)[0] == f"web: c1 {whom}{undeleted}"
