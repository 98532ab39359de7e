"""Corners where a budget was once broken: each was found by a random history (tests/properties) or a race."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from gitfleet.simulation.cluster import ClusterEvent
from gitfleet.works.texts import WorksText
from tests import builders
from tests.scenarios.world import World

CLUSTERS = ("c1", "c2", "c3", "c4")
DEPLOYMENT = ObjectKey("apps", "v1", "Deployment", "web", "web")
ONE_AT_A_TIME = builders.placement("web", strategy=builders.rolling_update(maxUnavailable=1))


def members(zone: str) -> list[JsonObject]:
    """Four clusters in one zone."""
    return [builders.member_cluster(name, labels={"zone": zone}) for name in CLUSTERS]


def more_replicas_in(zone: str, replicas: int | str) -> JsonObject:
    """An override for one zone."""
    patch = {"op": "replace", "path": "/spec/replicas", "value": replicas}
    return builders.override("more", "Deployment/web", builders.override_rule(patch, labels={"zone": zone}))


def most_down(world: World) -> list[int]:
    """A list that grows with the number of clusters that are down after each operation."""
    counted: list[int] = []

    def count(_: ClusterEvent) -> None:
        counted.append(sum(bool(cluster.unavailable()) for cluster in world.fleet.clusters.values()))

    world.watch = count
    return counted


def replicas(world: World) -> list[int | None]:
    """What each cluster runs."""
    found = [world.live(name, "Deployment", "web") for name in CLUSTERS]
    return [body["spec"]["replicas"] if body else None for body in found]


@pytest.mark.parametrize(("before", "after"), [("a", "b"), ("b", "a")])
def test_relabelling_all_clusters_is_a_rollout_where_an_override_looks_at_the_label(before: str, after: str) -> None:
    world = World()
    payload = (builders.namespace("web"), builders.deployment("web", "web"))
    world.roll_out(*members(before), *payload, ONE_AT_A_TIME, more_replicas_in("a", 3))
    assert replicas(world) == ([3] * 4 if before == "a" else [1] * 4)
    counted = most_down(world)
    world.commit(*members(after))
    world.restart()  # what the overrides saw is on the state branch, not in a process's memory
    world.settle()
    assert replicas(world) == ([3] * 4 if after == "a" else [1] * 4)
    assert max(counted) == 1


def test_a_property_in_a_value_is_rolled_out_and_one_that_is_not_known_stops_its_cluster_alone() -> None:
    world = World()
    named = more_replicas_in("a", 1)
    rule = named["spec"]["policy"]["overrideRules"][0]
    rule["clusterSelector"] = {"clusterSelectorTerms": []}
    note = {"sku": "${MEMBER-CLUSTER-PROPERTY-example.com/sku}"}
    rule["jsonPatchOverrides"] = [{"op": "add", "path": "/spec/template/metadata/annotations", "value": note}]

    def skus(**found: str) -> list[dict[str, Any]]:
        known = {name: {"example.com/sku": sku, "example.com/other": sku} for name, sku in found.items()}
        return [builders.member_cluster(name, properties=known.get(name)) for name in CLUSTERS]

    def placed() -> list[str | None]:
        bodies = [world.live(name, "Deployment", "web") for name in CLUSTERS]
        return [body["spec"]["template"]["metadata"]["annotations"]["sku"] if body else None for body in bodies]

    payload = (builders.namespace("web"), builders.deployment("web", "web"))
    at_once = builders.placement("web", strategy=builders.rolling_update(maxUnavailable="100%"))
    world.roll_out(*skus(c1="a", c2="a", c3="a"), *payload, at_once, named)
    assert placed() == ["a", "a", "a", None]
    (said,) = [one.message for one in world.bindings("web")["c4"].conditions if one.reason == "OverriddenFailed"]
    assert WorksText.NOT_FOUND_CLUSTER(what="property", plain="example.com/sku", cluster="c4") in said
    world.roll_out(*skus(c1="b", c3="a", c4="a"))
    assert placed() == ["b", "a", "a", "a"], "c2 keeps what it has"


def test_healing_drift_and_a_rollout_share_one_budget() -> None:
    """The drift is on a cluster whose Deployment is available as somebody changed it; the correction restarts it."""
    world = World((ClusterRule(names=("c4",), object=ObjectPattern(image="web:hacked"), available=timedelta(0)),))
    payload = (builders.namespace("web"), builders.deployment("web", "web"))
    world.roll_out(*members("a"), *payload, ONE_AT_A_TIME)
    image = "/spec/template/spec/containers/0/image"
    world.fleet.cluster("c4").mutate(DEPLOYMENT, [{"op": "replace", "path": image, "value": "web:hacked"}])
    assert not world.fleet.cluster("c4").unavailable()
    counted = most_down(world)
    world.roll_out(builders.deployment("web", "web", image="web:2"))
    assert [world.image(name) for name in CLUSTERS] == ["web:2"] * 4
    assert max(counted) == 1


def test_a_cluster_that_leaves_is_no_longer_counted_on() -> None:
    """Its leaving and an update of the last others must not come together."""
    world = World()
    strategy = builders.rolling_update(maxUnavailable=3, maxSurge="100%")
    placed = builders.placement("web", policy=builders.pick_n(4), strategy=strategy)
    payload = (builders.namespace("web"), builders.deployment("web", "web"))
    world.roll_out(*members("a"), *payload, placed)
    world.commit(builders.config_map("web", "settings", {"a": "1"}))
    world.fleet.crash.arm(1)
    world.reconcile()  # three are asked to change, one did, and its report is lost
    assert world.crashes == 1
    (changed,) = {h.cluster for h in world.happenings if h.key.name == "settings"}
    world.happenings.clear()
    (kept,) = {name for name in CLUSTERS if world.bindings("web")[name].resource_snapshot == "web-0-snapshot"}
    # The one that was kept back leaves, and there is something new to roll out.
    body = next(m for m in members("a") if m["metadata"]["name"] == kept)
    world.commit(builders.config_map("web", "settings", {"a": "2"}), remove=[body])
    result = world.driver.reconcile()
    assert changed not in {h.cluster for h in world.happenings if (h.key.name, h.what) == ("settings", "delete")}
    binding = next(b for r in result.state.placements.values() for b in r.bindings if b.cluster == changed)
    assert binding.resource_snapshot == "web-1-snapshot"  # it is the only one that is left, so it waits
    world.settle()
    assert {b.applied_snapshot for b in world.bindings("web").values()} == {"web-2-snapshot"}


def test_a_report_that_was_lost_long_ago_is_no_failure() -> None:
    """What a dead process had begun is not known to have failed; the cluster may serve since then."""
    world = World()
    payload = (builders.namespace("web"), builders.deployment("web", "web"), builders.config_map("web", "settings"))
    world.roll_out(*members("a"), *payload, ONE_AT_A_TIME)
    for name in ("c1", "c2"):
        world.fleet.cluster(name).delete_by_hand(ObjectKey("", "v1", "ConfigMap", "web", "settings"))
    world.fleet.crash.arm(2)
    world.reconcile()
    assert world.crashes == 1
    world.advance(hours=1)
    counted = most_down(world)
    world.roll_out(builders.deployment("web", "web", image="web:2"))
    assert [world.image(name) for name in CLUSTERS] == ["web:2"] * 4
    assert max(counted) == 1
