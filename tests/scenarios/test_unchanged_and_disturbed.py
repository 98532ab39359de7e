"""Nothing changed means no commit; and what clusters and people do by themselves: drift, silence, refusals."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from gitfleet.api.conditions import find_condition
from gitfleet.api.objects import ObjectKey
from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from gitfleet.errors import RetryLater
from tests import builders
from tests.scenarios.test_crashes import NAMES, begin, members, payload, web
from tests.scenarios.world import STATE, World, end_of

DEPLOYMENT = ObjectKey("apps", "v1", "Deployment", "web", "web")
SETTINGS = ObjectKey("", "v1", "ConfigMap", "web", "settings")
IMAGE = "/spec/template/spec/containers/0/image"


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
        result = world.reconcile()
        assert result is not None and result.settled and not result.changed
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


def test_drift_by_hand_is_healed_without_a_rollout() -> None:
    world = settled()
    world.fleet.cluster("c1").mutate(DEPLOYMENT, [{"op": "replace", "path": IMAGE, "value": "web:hacked"}])
    world.fleet.cluster("c2").mutate(SETTINGS, [{"op": "replace", "path": "/data/image", "value": "hacked"}])
    world.settle()
    assert [world.image(name) for name in NAMES] == ["web:1"] * 3
    assert (world.live("c2", "ConfigMap", "settings") or {})["data"] == {"image": "web:1"}
    assert {b.resource_snapshot for b in world.bindings("web").values()} == {"web-0-snapshot"}
    commits = world.state_commits()
    world.settle()
    assert world.state_commits() == commits


def test_a_cluster_that_is_put_back_to_what_it_was_before_a_repair_is_repaired_again() -> None:
    """Its API server shows exactly what was seen before the repair (a restored backup): that is not "unchanged"."""
    world = settled()
    cluster = world.fleet.cluster("c1")
    cluster.mutate(SETTINGS, [{"op": "replace", "path": "/data/image", "value": "hacked"}])
    version, objects = cluster.memory.version, [replace(one) for one in cluster.memory.objects.values()]
    for _ in range(3):
        result = world.reconcile()
        assert result is not None and not result.changed
        assert [(o.operation.key, o.ok) for o in result.outcomes] == [(SETTINGS, True)]
        cluster.restore(reachable=True, version=version, objects=[replace(one) for one in objects])
        world.advance(seconds=10)
    world.settle()
    assert (world.live("c1", "ConfigMap", "settings") or {})["data"] == {"image": "web:1"}


def test_what_others_add_is_left_alone() -> None:
    """A field that the manifest does not have is somebody else's (an autoscaler's, an injector's)."""
    world = settled()
    patch = [{"op": "add", "path": "/metadata/annotations", "value": {"example.com/by": "hand"}}]
    world.fleet.cluster("c1").mutate(DEPLOYMENT, patch)
    world.happenings.clear()
    world.settle()
    assert not world.happenings
    assert (world.live("c1", "Deployment", "web") or {})["metadata"]["annotations"] == {"example.com/by": "hand"}


@pytest.mark.parametrize("key", [SETTINGS, DEPLOYMENT, ObjectKey("", "v1", "Namespace", "", "web")])
def test_what_is_deleted_by_hand_comes_back(key: ObjectKey) -> None:
    world = settled()
    wanted = end_of(world)
    world.fleet.cluster("c1").delete_by_hand(key)
    world.settle()
    assert end_of(world)["objects"].keys() == wanted["objects"].keys()
    assert end_of(world) == wanted


def test_an_object_of_somebody_else_is_never_deleted() -> None:
    """Neither one that gitfleet never had, nor one that took the name of one that it had."""
    rbac = "rbac.authorization.k8s.io"
    role = builders.an_object(f"{rbac}/v1", "ClusterRole", "reader", rules=[])
    selector = {"group": rbac, "version": "v1", "kind": "ClusterRole", "name": "reader"}
    placed = builders.placement("roles", selectors=[selector])
    world = settled()
    world.commit(role, placed)
    world.settle()
    assert all(world.live(name, "ClusterRole", "reader") for name in NAMES)
    cluster = world.fleet.cluster("c1")
    cluster.apply_by_hand(builders.namespace("theirs"))
    cluster.apply_by_hand(builders.config_map("theirs", "settings", {"a": "b"}))
    cluster.delete_by_hand(ObjectKey(rbac, "v1", "ClusterRole", "", "reader"))
    cluster.apply_by_hand({**role, "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]})
    world.commit(remove=[placed])
    world.settle()
    assert [world.live(name, "ClusterRole", "reader") is not None for name in NAMES] == [True, False, False]
    assert world.live("c1", "ConfigMap", "settings", "theirs") is not None
    assert not [key for key in world.state().inventory["c1"] if key.kind == "ClusterRole"]


def test_an_unreachable_cluster_keeps_its_bindings_while_others_go_on() -> None:
    world = settled()
    world.fleet.cluster("c2").reachable = False
    world.commit(*payload("web:2"))
    with world.nothing_deleted():
        world.settle(limit=timedelta(minutes=4))
    assert [world.image(name) for name in NAMES] == ["web:1"] * 3  # one is down already: the budget is spent
    bindings = world.bindings("web")
    assert set(bindings) == set(NAMES)
    silent = find_condition(bindings["c2"].conditions, "Available", generation=bindings["c2"].generation)
    assert silent is not None and silent.status == "Unknown" and "c2" in silent.message
    world.fleet.cluster("c2").reachable = True
    world.settle()
    assert [world.image(name) for name in NAMES] == ["web:2"] * 3


def test_a_larger_budget_lets_the_others_go_on_and_the_lost_one_catches_up() -> None:
    world = World()
    strategy = builders.rolling_update(maxUnavailable=2)
    world.commit(*members(), *payload(), builders.placement("web", policy=builders.pick_n(3), strategy=strategy))
    world.settle()
    world.fleet.cluster("c2").reachable = False
    world.commit(*payload("web:2"))
    world.settle()
    assert [world.image(name) for name in NAMES] == ["web:2", "web:1", "web:2"]
    commits = world.state_commits()
    world.advance(hours=5)
    world.settle()
    assert (
        world.state_commits() - commits <= 2
    )  # that it is unhealthy for long may be reported once, not in every reconcile
    world.fleet.cluster("c2").reachable = True
    world.settle()
    assert [world.image(name) for name in NAMES] == ["web:2"] * 3


def test_a_placement_that_is_deleted_waits_for_a_silent_cluster() -> None:
    world = settled()
    world.fleet.cluster("c2").reachable = False
    world.commit(remove=[web()])
    world.settle()
    assert [world.image(name) for name in NAMES] == [None, "web:1", None]
    assert set(world.bindings("web")) == {"c2"}
    assert world.state().inventory.get("c2")
    world.fleet.cluster("c2").reachable = True
    world.settle()
    assert world.image("c2") is None and not world.state().placements and not any(world.state().inventory.values())


def test_a_refused_object_blocks_neither_other_objects_nor_other_clusters() -> None:
    world = World((ClusterRule(names=("c2",), object=ObjectPattern(kind="ConfigMap"), apply="fail"),))
    world.commit(*members(), *payload(), web())
    world.settle()
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


def test_a_cluster_that_joins_later_gets_what_everybody_has() -> None:
    world = World()
    world.commit(*members(), *payload(), builders.placement("web"))
    world.settle()
    world.commit(builders.member_cluster("c4"))
    with world.nothing_deleted():
        world.settle()
    assert world.image("c4") == "web:1"


def test_a_history_that_was_rewritten_takes_nothing_away() -> None:
    """Force-pushed to a commit without the old one in its history: only the content counts."""
    world = settled()
    files = {path: data.decode() for path, data in world.repo.files("main").items()}
    world.repo.move_branch("main", None)
    world.advance(minutes=1)
    world.repo.commit_files("main", files, world.clock.now(), "Squashed")
    with world.nothing_deleted():
        world.settle()
    assert [world.image(name) for name in NAMES] == ["web:1"] * 3


def test_losing_everything_but_the_remote_loses_nothing() -> None:
    world = settled()
    world.commit(*payload("web:2"))
    world.reconcile()
    for _ in range(30):
        world.restart()
        world.reconcile()
        world.clock.advance(5)
    assert [world.image(name) for name in NAMES] == ["web:2"] * 3
