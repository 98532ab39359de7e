"""Pins on whole simulated fleets: a rolling placement keeps the content of an older snapshot as long as a file says."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.conditions import Status
from gitfleet.api.faults import Severity
from gitfleet.api.placements import PlacementKey
from gitfleet.api.texts import ApiText
from gitfleet.desired.texts import DesiredText
from gitfleet.errors import BadInput
from gitfleet.model.desired import Desired
from gitfleet.model.state import PlacementRecord
from gitfleet.reconcile.texts import ReconcileText
from gitfleet.snapshots.texts import SnapshotsText
from gitfleet.views.rollbacks import rollback_of
from tests import builders
from tests.scenarios.staged_world import EXTERNAL, QUICK, members, never, rolled_out
from tests.scenarios.test_quarantine import WEB, digest_of, quarantine, rolling_world
from tests.scenarios.world import World, end_of
from tests.texts import part


def released(*images: str) -> World:
    """Three clusters that had these images one after the other, and have the last one."""
    world = rolling_world()
    for image in images:
        world.roll_out(builders.deployment("web", "web", image=image))
    return world


def pinned(world: World, snapshot: int, **spec: Any) -> dict[str, Any]:
    """A pin of `web` to a snapshot that it has."""
    return builders.pin("web", snapshot, digest_of(world, snapshot), **spec)


def record_of(world: World) -> PlacementRecord:
    """The record of `web`."""
    return world.state().placements[WEB]


def said_of_pin(world: World) -> tuple[str, str]:
    """Status and message of the condition that a pin gives `web`; empty where it has none."""
    found = record_of(world).pinned
    return (found.status.value, found.message) if found is not None else ("", "")


EVERY = ("c1", "c2", "c3")
OTHER = ReconcileText.WRITE_ONLY_IF_MEANT(
    content=ReconcileText.SNAPSHOT_DIGEST_OTHER_CONTENT(snapshot="0", placement="web", hash="{digest}")
)


def test_a_pin_gives_every_cluster_the_old_content_within_the_budget_and_later_edits_wait() -> None:
    world = released("web:2", "web:3")
    world.commit(pinned(world, 0, reason="3 drops orders"))
    most = 0

    def count() -> None:
        nonlocal most
        moved = [b for b in world.bindings("web").values() if b.resource_snapshot == "web-3-snapshot"]
        most = max(most, sum(1 for b in moved if b.conditions[-1].status is not Status.TRUE))

    world.settle(each=count)
    assert rolled_out(world) == dict.fromkeys(EVERY, "web:1")
    assert most == 1
    taken = record_of(world).resource_snapshots
    assert [s.index for s in taken] == [0, 1, 2, 3]
    assert (taken[3].hash, taken[3].documents) == (taken[0].hash, taken[0].documents)
    keeps = "pins/web.yaml:1 " + ReconcileText.KEEPS_CONTENT_SNAPSHOT(what="it", snapshot="0 (3 drops orders)")
    assert said_of_pin(world) == (
        "True",
        (f"{keeps}" + ReconcileText.WAITS_UNTIL_FILE_REMOVED_2(keeps="", waiting="snapshot 2")),
    )

    commits = world.state_commits()
    world.roll_out(builders.deployment("web", "web", image="web:4"))
    world.restart()
    world.settle()
    assert rolled_out(world) == dict.fromkeys(EVERY, "web:1")
    assert len(record_of(world).resource_snapshots) == 4
    assert said_of_pin(world) == (
        "True",
        (f"{keeps}" + ReconcileText.WAITS_UNTIL_FILE_REMOVED_2(keeps="", waiting="newer content")),
    )
    assert world.state_commits() - commits == 1

    world.roll_out(remove=["pins/web.yaml"])
    assert rolled_out(world) == dict.fromkeys(EVERY, "web:4")
    assert said_of_pin(world) == ("", "")


def test_a_process_that_knows_nothing_writes_the_same_bytes() -> None:
    ends = []
    for forgetful in (False, True):
        world = released("web:2")
        world.commit(pinned(world, 0))
        for _ in range(100):
            if forgetful:
                world.restart()
            result = world.driver.reconcile()
            if not result.changed and world.fleet.next_change() is None:
                break
            world.advance(seconds=5)
        world.commit(builders.deployment("web", "web", image="web:4"))
        world.settle(each=world.restart if forgetful else lambda: None)
        ends.append((end_of(world), said_of_pin(world), [s.hash for s in record_of(world).resource_snapshots]))
    assert ends[0] == ends[1]


def test_what_newer_content_added_goes_and_what_it_removed_comes_back() -> None:
    world = released()
    world.roll_out(builders.config_map("web", "old", {"a": "1"}))
    world.roll_out(builders.config_map("web", "new"), remove=["resources/web/configmap-old.yaml"])
    world.roll_out(pinned(world, 1))
    assert world.state().holds == {}
    for cluster in EVERY:
        assert world.live(cluster, "ConfigMap", "new") is None
        found = world.body(cluster, "ConfigMap", "old")
        assert found["data"] == {"a": "1"}
    world.roll_out(remove=["pins/web.yaml"])
    assert world.state().holds == {}
    assert [world.live("c1", "ConfigMap", name) is None for name in ("old", "new")] == [True, False]


def no_snapshot(world: World) -> dict[str, Any]:
    return builders.pin("web", 7, digest_of(world, 0))


def other_digest(world: World) -> dict[str, Any]:
    return builders.pin("web", 0, digest_of(world, 1))


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (no_snapshot, ReconcileText.NO_SNAPSHOT_NAME_ONE_THESE(placement="web", snapshot="7", known="0, 1, 2")),
        (other_digest, OTHER),
    ],
)
def test_a_pin_that_names_nothing_holds_the_rollout_and_takes_nothing_away(
    made: Callable[[World], dict[str, Any]], why: str
) -> None:
    world = released("web:2")
    why = why.format(digest=digest_of(world, 0))
    world.commit(made(world), builders.deployment("web", "web", image="web:3"), *members("c4"))
    with world.nothing_deleted():
        world.settle()
        world.restart()
        world.settle()
    assert rolled_out(world) == {**dict.fromkeys(EVERY, "web:2"), "c4": None}
    (fault,) = world.state().faults
    assert (fault.path, fault.line, fault.severity) == ("pins/web.yaml", 1, Severity.WARNING)
    assert fault.message == why
    assert said_of_pin(world) == (
        "False",
        ReconcileText.CANNOT_FOLLOWED(
            where="pins/web.yaml:1", why=ReconcileText.UNTIL_THEN_NOTHING_ROLLED_OUT(why=why)
        ),
    )
    world.roll_out(remove=["pins/web.yaml"])
    assert set(rolled_out(world).values()) == {"web:3"}


def test_a_pin_with_an_error_keeps_its_last_good_version_and_a_second_one_is_refused() -> None:
    world = released("web:2")
    good = pinned(world, 0)
    world.roll_out(good)
    for broken in ({**good, "spec": {**good["spec"], "digest": "no digest"}}, {**good, "spec": {"placement": "web"}}):
        world.commit(broken, builders.deployment("web", "web", image="web:3"))
        world.restart()
        world.settle()
        assert (set(rolled_out(world).values()), said_of_pin(world)[0]) == ({"web:1"}, "True")
        assert any(fault.path == "pins/web.yaml" and fault.severity is Severity.ERROR for fault in world.state().faults)
    world.roll_out(good, builders.pin("web", 1, digest_of(world, 1), name="a-second"))
    world.restart()
    world.settle()
    assert set(rolled_out(world).values()) == {"web:1"}
    assert [f.message for f in world.state().faults if f.severity is Severity.ERROR] == [
        DesiredText.PINNED_ALREADY_REMOVE_ONE_TWO(origin="pins/web.yaml:1")
    ]
    world.roll_out(remove=["pins/web.yaml"])
    assert set(rolled_out(world).values()) == {"web:2"}


def test_a_pin_to_quarantined_content_waits_until_it_is_lifted() -> None:
    world = released("web:2")
    world.roll_out(quarantine(digest_of(world, 0)))
    wanted = Desired(commit="", objects={"quarantines": world.state().quarantines})
    with pytest.raises(BadInput, match=part(ApiText.QUARANTINED_OTHER_CONTENT_GOES_OUT)):
        rollback_of(world.state(), wanted, "web", 0, None, lambda path: False)
    world.roll_out(pinned(world, 0))
    assert set(rolled_out(world).values()) == {"web:2"}
    result = world.driver.reconcile()
    quarantined = ApiText.QUARANTINED_OTHER_CONTENT_GOES_OUT(name="web-bad", why="", lift="").partition(";")[0]
    assert [ask.partition(";")[0] for ask in result.asks] == [f"web: snapshot 2 {quarantined}"]
    world.roll_out(remove=["quarantines/web-bad.yaml"])
    assert set(rolled_out(world).values()) == {"web:1"}


def test_overrides_of_today_are_applied_to_the_old_content() -> None:
    world = released("web:2")
    world.roll_out(pinned(world, 0))
    rule = builders.override_rule({"op": "add", "path": "/spec/replicas", "value": 7})
    world.roll_out(builders.override("more", "Deployment/web", rule, placement={"name": "web"}))
    body = world.body("c1", "Deployment", "web")
    assert body["spec"]["replicas"] == 7
    assert set(rolled_out(world).values()) == {"web:1"}


def begun(world: World) -> None:
    world.commit(builders.deployment("web", "web", image="web:3"))
    world.rest()


def stuck(world: World) -> None:
    world.fleet.cluster("c1").behave([never("web:3"), QUICK])
    begun(world)
    world.settle(limit=timedelta(minutes=20))


def silent(world: World) -> None:
    begun(world)
    world.fleet.cluster("c3").reachable = False
    world.settle(limit=timedelta(minutes=20))
    world.fleet.cluster("c3").reachable = True


@pytest.mark.parametrize("state", [begun, stuck, silent])
def test_a_rollback_is_possible_in_every_state_of_the_rollout(state: Callable[[World], None]) -> None:
    world = released("web:2")
    state(world)
    made = rollback_of(world.state(), Desired(commit=""), "web", 0, None, lambda path: False)
    world.write({made.path: made.text})
    world.restart()
    with world.nothing_deleted():
        world.settle()
    assert set(rolled_out(world).values()) == {"web:1"}


API = {"group": "apps", "version": "v1", "kind": "Deployment", "name": "api"}


def test_a_namespaced_placement_is_pinned_too() -> None:
    world = released()
    world.roll_out(
        builders.placement("web", strategy=EXTERNAL),
        builders.deployment("web", "api"),
        builders.an_object(
            builders.PLACEMENT_API, "ResourcePlacement", "api", namespace="web", spec={"resourceSelectors": [API]}
        ),
    )
    key = PlacementKey("web", "api")
    world.roll_out(builders.deployment("web", "api", image="web:2"))
    made = rollback_of(world.state(), Desired(commit=""), "web/api", 0, None, lambda path: False)
    assert made.path == "pins/web/api.yaml"
    world.roll_out(files={made.path: made.text})
    record = world.state().placements[key]
    assert record.is_pinned and record.latest_resources is not None
    assert record.latest_resources.hash == record.resource_snapshots[0].hash
    assert said_of_pin(world) == ("", "")


def test_without_the_state_branch_a_pin_holds_what_runs() -> None:
    world = released("web:2")
    world.roll_out(pinned(world, 0))
    world.repo.move_branch("gitfleet/state", None)
    world.restart()
    with world.nothing_deleted():
        world.settle()
    assert set(rolled_out(world).values()) == {"web:1"}
    assert said_of_pin(world)[0] == "False"


def test_selectors_with_an_error_do_not_keep_a_pin_from_going_back() -> None:
    world = released("web:2")
    twice = [builders.select_namespace("web"), {**builders.select_namespace("web")}]
    world.roll_out(pinned(world, 0), builders.placement("web", selectors=twice))
    assert set(rolled_out(world).values()) == {"web:1"}
    assert said_of_pin(world)[1].endswith(
        SnapshotsText.SELECTS_NOW_CANNOT_USED() + ReconcileText.WAITS_UNTIL_FILE_REMOVED(waiting="")
    )
