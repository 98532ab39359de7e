"""Corners where a budget was once broken: each was found by a random history (tests/properties) or a race."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from gitfleet.api.objects import JsonObject, ObjectKey
from gitfleet.api.scenarios import ClusterRule, ObjectPattern
from gitfleet.rollout.texts import RolloutText
from gitfleet.simulation.cluster import ClusterEvent
from gitfleet.works.texts import WorksText
from tests import builders
from tests.scenarios.explaining import explain, waiting
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
    world.commit(*members(before), *payload, ONE_AT_A_TIME, more_replicas_in("a", 3))
    world.settle()
    assert replicas(world) == ([3] * 4 if before == "a" else [1] * 4)
    counted = most_down(world)
    world.commit(*members(after))
    world.restart()  # what the overrides saw is on the state branch, not in a process's memory
    world.settle()
    assert replicas(world) == ([3] * 4 if after == "a" else [1] * 4)
    assert max(counted) == 1


def test_a_label_in_a_value_is_rolled_out_too() -> None:
    world = World()
    payload = (builders.namespace("web"), builders.deployment("web", "web"))
    named = more_replicas_in("a", 1)
    rule = named["spec"]["policy"]["overrideRules"][0]
    rule["clusterSelector"] = {"clusterSelectorTerms": []}
    label = {"zone": "${MEMBER-CLUSTER-LABEL-KEY-zone}"}
    rule["jsonPatchOverrides"] = [{"op": "add", "path": "/spec/template/metadata/annotations", "value": label}]
    world.commit(*members("a"), *payload, ONE_AT_A_TIME, named)
    world.settle()
    counted = most_down(world)
    world.commit(*members("b"))
    world.settle()
    bodies = [world.live(name, "Deployment", "web") for name in CLUSTERS]
    assert [(b or {})["spec"]["template"]["metadata"]["annotations"] for b in bodies] == [{"zone": "b"}] * 4
    assert max(counted) == 1


def test_an_annotation_in_a_value_is_rolled_out_too() -> None:
    world = World()
    payload = (builders.namespace("web"), builders.deployment("web", "web"))
    named = more_replicas_in("a", 1)
    rule = named["spec"]["policy"]["overrideRules"][0]
    rule["clusterSelector"] = {"clusterSelectorTerms": []}
    note = {"zone": "${MEMBER-CLUSTER-ANNOTATION-KEY-zone}"}
    rule["jsonPatchOverrides"] = [{"op": "add", "path": "/spec/template/metadata/annotations", "value": note}]

    def noted(zone: str, *names: str) -> list[dict[str, Any]]:
        found = [builders.member_cluster(name) for name in names]
        return [{**body, "metadata": {**body["metadata"], "annotations": {"zone": zone}}} for body in found]

    def zones() -> list[str]:
        bodies = [world.live(name, "Deployment", "web") for name in CLUSTERS]
        return [(body or {})["spec"]["template"]["metadata"]["annotations"]["zone"] for body in bodies]

    world.commit(*noted("a", *CLUSTERS), *payload, ONE_AT_A_TIME, named)
    world.settle()
    counted = most_down(world)
    world.restart()
    world.commit(*noted("b", *CLUSTERS[:2]))
    world.settle()
    assert (zones(), max(counted)) == (["b", "b", "a", "a"], 1)
    assert world.state().faults == ()


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
    world.commit(*skus(c1="a", c2="a", c3="a"), *payload, at_once, named)
    world.settle()
    assert placed() == ["a", "a", "a", None]
    (said,) = [one.message for one in world.bindings("web")["c4"].conditions if one.reason == "OverriddenFailed"]
    assert WorksText.NOT_FOUND_CLUSTER(what="property", plain="example.com/sku", cluster="c4") in said
    world.commit(*skus(c1="b", c3="a", c4="a"))
    world.settle()
    assert placed() == ["b", "a", "a", "a"], "c2 keeps what it has"


def test_a_label_that_no_override_looks_at_changes_nothing() -> None:
    world = World()
    payload = (builders.namespace("web"), builders.deployment("web", "web"))
    world.commit(*members("a"), *payload, ONE_AT_A_TIME, more_replicas_in("a", 3))
    world.settle()
    generations = [binding.generation for binding in world.bindings("web").values()]
    world.happenings.clear()
    world.commit(*(builders.member_cluster(name, labels={"zone": "a", "team": "x"}) for name in CLUSTERS))
    world.settle()
    assert not world.happenings
    assert [binding.generation for binding in world.bindings("web").values()] == generations


def test_healing_drift_and_a_rollout_share_one_budget() -> None:
    """The drift is on a cluster whose Deployment is available as somebody changed it; the correction restarts it."""
    world = World((ClusterRule(names=("c4",), object=ObjectPattern(image="web:hacked"), available=timedelta(0)),))
    payload = (builders.namespace("web"), builders.deployment("web", "web"))
    world.commit(*members("a"), *payload, ONE_AT_A_TIME)
    world.settle()
    image = "/spec/template/spec/containers/0/image"
    world.fleet.cluster("c4").mutate(DEPLOYMENT, [{"op": "replace", "path": image, "value": "web:hacked"}])
    assert not world.fleet.cluster("c4").unavailable()
    counted = most_down(world)
    world.commit(builders.deployment("web", "web", image="web:2"))
    world.settle()
    assert [world.image(name) for name in CLUSTERS] == ["web:2"] * 4
    assert max(counted) == 1


def test_a_cluster_that_leaves_is_no_longer_counted_on() -> None:
    """Its leaving and an update of the last others must not come together."""
    world = World()
    strategy = builders.rolling_update(maxUnavailable=3, maxSurge="100%")
    placed = builders.placement("web", policy=builders.pick_n(4), strategy=strategy)
    payload = (builders.namespace("web"), builders.deployment("web", "web"))
    world.commit(*members("a"), *payload, placed)
    world.settle()
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
    result = world.reconcile()
    assert result is not None
    assert changed not in {h.cluster for h in world.happenings if (h.key.name, h.what) == ("settings", "delete")}
    binding = next(b for r in result.state.placements.values() for b in r.bindings if b.cluster == changed)
    assert binding.resource_snapshot == "web-1-snapshot"  # it is the only one that is left, so it waits
    world.settle()
    assert {b.applied_snapshot for b in world.bindings("web").values()} == {"web-2-snapshot"}


def test_a_report_that_was_lost_long_ago_is_no_failure() -> None:
    """What a dead process had begun is not known to have failed; the cluster may serve since then."""
    world = World()
    payload = (builders.namespace("web"), builders.deployment("web", "web"), builders.config_map("web", "settings"))
    world.commit(*members("a"), *payload, ONE_AT_A_TIME)
    world.settle()
    for name in ("c1", "c2"):
        world.fleet.cluster(name).delete_by_hand(ObjectKey("", "v1", "ConfigMap", "web", "settings"))
    world.fleet.crash.arm(2)
    world.reconcile()
    assert world.crashes == 1
    world.advance(hours=1)
    counted = most_down(world)
    world.commit(builders.deployment("web", "web", image="web:2"))
    world.settle()
    assert [world.image(name) for name in CLUSTERS] == ["web:2"] * 4
    assert max(counted) == 1


def test_what_waits_for_clusters_that_never_became_available_says_what_a_person_can_do() -> None:
    """D6's stuck case: the old clusters and their successors fill maxSurge, and clearing the old ones needs budget."""
    never = ClusterRule(names=("c1", "c2", "c3"), object=ObjectPattern(kind="Deployment"), available="never")
    world = World((never,))

    def placed(*clusters: str, unavailable: int = 1) -> JsonObject:
        limits = builders.rolling_update(maxUnavailable=unavailable, maxSurge=1)
        return builders.placement("web", policy=builders.pick_fixed(*clusters), strategy=limits)

    world.commit(*members("a"), builders.namespace("web"), builders.deployment("web", "web"), placed("c1", "c2"))
    world.settle()
    world.commit(placed("c3", "c4"))
    world.settle()
    clearing = "0 of 2 clusters are " + RolloutText.ALLOWS_NO_FURTHER(
        state="available",
        must=RolloutText.LEAST_MUST_STAY(floor="1"),
        limit="maxUnavailable 1",
        what="",
        until="",
        remedy=(
            "removal until c3 is available"
            + RolloutText.NOT_AVAILABLE_EITHER(idle="c1", are="and c2 are", enough="4", them="them")
        ),
    )
    adding = RolloutText.RESOURCES_MOST(
        count="3", verb="clusters have", most="3"
    ) + RolloutText.ALLOWS_NO_FURTHER_CLUSTER(state="", limit="maxSurge 1", until=" until c1 and c2 are")
    expected = {"c1": clearing, "c2": clearing, "c4": f"{adding} cleared"}
    rows = {row["clusterName"]: row["why"] for row in explain(world.repo, world.fleet, world.clock, "web")}
    assert {name: rows[name] for name in expected} == expected
    said = waiting(world.repo, world.fleet, world.clock)
    assert {f"web: {name} waits: {sentence}" for name, sentence in expected.items()} <= set(said)
    world.commit(placed("c3", "c4", unavailable=4))
    world.settle()
    assert set(world.bindings("web")) == {"c3", "c4"} and world.image("c4") == "web:1"
