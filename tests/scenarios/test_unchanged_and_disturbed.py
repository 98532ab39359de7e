"""Nothing changed means no commit; and what clusters and people do by themselves: drift, silence, refusals."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitfleet.api.conditions import find_condition
from gitfleet.api.objects import ObjectKey
from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from gitfleet.errors import RetryLater
from tests.scenarios.test_crashes import NAMES, begin, members, payload, web
from tests.scenarios.world import STATE, World, end_of

SETTINGS = ObjectKey("", "v1", "ConfigMap", "web", "settings")


def settled() -> World:
    """Three clusters that have all of `web`."""
    world = World()
    begin(world)
    return world


def test_a_settled_fleet_makes_no_commit_in_a_hundred_hours() -> None:
    world = settled()
    head = world.repo.fetch()[STATE]
    for hour in range(100):
        world.advance(hours=1)
        if hour % 25 == 0:
            world.restart()
        result = world.driver.reconcile()
        assert result.settled and not result.changed
    assert world.repo.fetch()[STATE] == head


def test_a_commit_that_changes_nothing_of_ours_rewrites_only_what_tells_of_the_commit() -> None:
    world = settled()
    before = world.repo.files(STATE)
    world.write({"docs/note.txt": "hello"})
    world.happenings.clear()
    world.settle()
    after = world.repo.files(STATE)
    assert {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)} <= {
        "fleet.yaml",
        "README.md",
    }
    assert not world.happenings


def test_the_same_history_gives_the_same_bytes() -> None:
    assert settled().repo.fetch() == settled().repo.fetch()


def test_a_cluster_that_is_put_back_to_what_it_was_before_a_repair_is_repaired_again() -> None:
    """Its API server shows exactly what was seen before the repair (a restored backup): that is not "unchanged"."""
    world = settled()
    cluster = world.fleet.cluster("c1")
    cluster.mutate(SETTINGS, [{"op": "replace", "path": "/data/image", "value": "hacked"}])
    version, objects = cluster.memory.version, [replace(one) for one in cluster.memory.objects.values()]
    for _ in range(3):
        result = world.driver.reconcile()
        assert not result.changed
        assert [(o.operation.key, o.ok) for o in result.outcomes] == [(SETTINGS, True)]
        cluster.restore(reachable=True, version=version, objects=[replace(one) for one in objects])
        world.advance(seconds=10)
    world.settle()
    assert (world.live("c1", "ConfigMap", "settings") or {})["data"] == {"image": "web:1"}


def test_a_placement_that_is_deleted_waits_for_a_silent_cluster() -> None:
    world = settled()
    asks_nobody = web()
    asks_nobody["metadata"]["annotations"] = {"gitfleet.dev/removals": "Never"}
    world.roll_out(asks_nobody)
    world.fleet.cluster("c2").reachable = False
    world.roll_out(remove=[web()])
    assert [world.image(name) for name in NAMES] == [None, "web:1", None]
    assert set(world.bindings("web")) == {"c2"}
    assert world.state().inventory.get("c2")
    world.fleet.cluster("c2").reachable = True
    world.settle()
    assert world.image("c2") is None and not world.state().placements and not any(world.state().inventory.values())


def test_a_refused_object_blocks_neither_other_objects_nor_other_clusters() -> None:
    world = World((ClusterRule(names=("c2",), object=ObjectPattern(kind="ConfigMap"), apply="fail"),))
    world.roll_out(*members(), *payload(), web())
    assert [world.image(name) for name in NAMES] == ["web:1"] * 3
    assert [world.live(name, "ConfigMap", "settings") is not None for name in NAMES] == [True, False, True]
    bindings = world.bindings("web")
    failed = find_condition(bindings["c2"].conditions, "Applied", generation=bindings["c2"].generation)
    assert failed is not None and failed.status == "False" and "ConfigMap/web/settings" in failed.message
    assert [f.key.name for f in bindings["c2"].failed] == ["settings"]
    for name in ("c1", "c3"):
        good = find_condition(bindings[name].conditions, "Available", generation=bindings[name].generation)
        assert good is not None and good.status == "True"
    commits = world.state_commits()
    for _ in range(20):
        world.advance(minutes=10)
        world.reconcile()
    assert world.state_commits() == commits  # trying again is no news
    world.fleet.cluster("c2").behave(())
    world.settle()
    assert world.live("c2", "ConfigMap", "settings") is not None
    applied = find_condition(world.bindings("web")["c2"].conditions, "Applied")
    assert applied is not None and applied.status == "True"


def test_a_cluster_that_fails_for_a_moment_is_tried_again() -> None:
    world = World()
    world.commit(*members(), *payload(), web())
    world.fleet.cluster("c1").failing = 2
    world.settle()
    assert [world.image(name) for name in NAMES] == ["web:1"] * 3


def test_a_remote_that_fails_for_a_moment_loses_nothing() -> None:
    world = World()
    world.commit(*members(), *payload(), web())
    world.repo.fetch_faults.append(RetryLater("the remote does not answer"))
    with pytest.raises(RetryLater):
        world.driver.reconcile()
    for _ in range(3):
        world.repo.commit_faults.append(RetryLater("the remote does not answer"))
        with pytest.raises(RetryLater):
            world.driver.reconcile()
    world.settle()
    assert [world.image(name) for name in NAMES] == ["web:1"] * 3


def test_a_report_that_cannot_be_pushed_is_made_up_for() -> None:
    """The operation is done and its report is lost: the next reconcile observes what is there."""
    world = World()
    world.commit(*members(), *payload(), web())
    world.driver.checkpoint = lambda step: (
        world.repo.commit_faults.append(RetryLater("the remote does not answer")) if step == "performed" else None
    )
    with pytest.raises(RetryLater):
        world.driver.reconcile()
    world.driver.checkpoint = lambda step: None
    world.settle()
    fresh = World()
    fresh.commit(*members(), *payload(), web())
    fresh.settle()
    assert end_of(world) == end_of(fresh)
