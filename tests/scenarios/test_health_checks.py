"""A fleet's own health checks, and failures that controllers report, on whole simulated fleets: a rollout waits for
what is not available, and says why."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.objects import JsonObject, key_of
from gitfleet.formats.texts import FormatsText
from gitfleet.observe.texts import ObserveText
from tests import builders
from tests.scenarios.explaining import explain
from tests.scenarios.world import World

GROUP = "acme.example.com"
CHECK = {
    "group": GROUP,
    "kind": "Database",
    "available": "status.phase == 'Ready'",
    "failed": "status.phase == 'Error'",
}


def database(size: int = 1) -> JsonObject:
    return builders.an_object(f"{GROUP}/v1", "Database", "orders", namespace="web", spec={"size": size})


def fleet(config: JsonObject, *payload: JsonObject) -> World:
    """Two clusters that get a namespace with what is given, one after the other when it changes."""
    world = World()
    placement = builders.placement(
        "web",
        selectors=[
            builders.select_namespace("web"),
            {"group": "apiextensions.k8s.io", "version": "v1", "kind": "CustomResourceDefinition"},
        ],
        policy=builders.pick_n(2),
        strategy=builders.rolling_update(maxUnavailable=1, unavailablePeriodSeconds=0),
    )
    clusters = [builders.member_cluster(name) for name in ("c1", "c2")]
    definition = builders.custom_definition(GROUP, "Database")
    world.roll_out(config, *clusters, placement, definition, builders.namespace("web"), *payload)
    return world


def report(world: World, of: JsonObject, status: dict[str, Any], *clusters: str) -> None:
    """The controllers of clusters write a status for the present spec."""
    for name in clusters:
        cluster = world.fleet.cluster(name)
        live = cluster.get(key_of(of))
        assert live is not None
        present = {"observedGeneration": live.generation, **status}
        cluster.mutate(live.key, [{"op": "add", "path": "/status", "value": present}])
    world.settle()


def sizes(world: World) -> dict[str, int]:
    """What each cluster has."""
    return {name: (world.live(name, "Database", "orders") or {})["spec"]["size"] for name in ("c1", "c2")}


def said(world: World) -> dict[str, list[str]]:
    """What each cluster's objects are not available for."""
    return {name: [one.message for one in found.failed] for name, found in world.bindings("web").items()}


def test_a_custom_resource_is_available_when_the_fleet_says_so() -> None:
    """The condition is KubeFleet's, the message is the cause; a failed object holds the rollout where it is."""
    world = fleet(builders.fleet_config(healthChecks=[CHECK]), database())
    missing = ObserveText.HEALTH_CHECK_CANNOT_EVALUATED(name="failed", error=FormatsText.NO_FIELD(missing="{}"))
    assert said(world) == {name: [missing.format("phase")] for name in ("c1", "c2")}
    report(world, database(), {"phase": "Ready"}, "c1", "c2")
    assert said(world) == {"c1": [], "c2": []}

    world.roll_out(database(2))
    assert sorted(sizes(world).values()) == [1, 2], "the old status says nothing of the new spec"
    first = next(name for name, size in sizes(world).items() if size == 2)
    report(world, database(), {"phase": "Error", "conditions": [
        {"type": "Ready", "status": "False", "reason": "NoDisk", "message": "no volume of 2 GiB"}]}, first)  # fmt: skip
    cause = ObserveText.HEALTH_CHECK_SAYS_FAILED(
        beside=("; " + ObserveText.NOT_READY(cause_text="NoDisk: no volume of 2 GiB"))
    )
    (available,) = [c for c in world.bindings("web")[first].conditions if c.type == "Available"]
    assert (available.status, available.reason) == ("False", "NotAllWorkAreAvailable")
    failed = ObserveText.IS_NOT(first="Database/web/orders", verb="available", why=cause, more_than_first="")
    assert available.message == failed
    assert said(world)[first] == [cause]
    why = {row["clusterName"]: row["why"] for row in explain(world.repo, world.fleet, world.clock, "web")}
    assert cause in why[first]
    assert sorted(sizes(world).values()) == [1, 2], "a failed state does not make the rollout go on"

    report(world, database(), {"phase": "Ready"}, first)
    assert sizes(world) == {"c1": 2, "c2": 2}


def test_without_a_check_the_kind_is_judged_by_gitfleet_and_a_new_check_counts_at_once() -> None:
    world = fleet(builders.fleet_config(), database())
    assert said(world) == {"c1": [], "c2": []}
    world.roll_out(builders.fleet_config(healthChecks=[CHECK | {"failed": "false"}]))
    cause = [ObserveText.HEALTH_CHECK_CANNOT_EVALUATED(name="available", error=FormatsText.NO_FIELD(missing="phase"))]
    assert said(world) == {"c1": cause, "c2": cause}
    world.restart()
    world.settle()
    assert said(world) == {"c1": cause, "c2": cause}
    world.roll_out(builders.fleet_config())
    assert said(world) == {"c1": [], "c2": []}


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("available", "stats.phase == 'Ready'", "LINE_COLUMN"),
        ("available", "status.phase ==", "LINE_COLUMN"),
        ("failed", "status.l.all(a, status.l.all(b, status.l.all(c, a == b)))", "LINE_COLUMN"),
        ("group", f"{GROUP}/v1", "MUST_API_GROUP_WITHOUT_VERSION"),
        ("kind", "my-db", "MUST_NAME_KIND"),
    ],
)  # fmt: skip
def test_a_check_that_cannot_be_read_leaves_the_last_good_ones(field: str, value: str, code: str) -> None:
    world = fleet(builders.fleet_config(healthChecks=[CHECK]), database())
    report(world, database(), {"phase": "Ready"}, "c1", "c2")
    world.roll_out(builders.fleet_config(healthChecks=[CHECK | {field: value}]))
    (fault,) = world.state().faults
    assert (fault.path, fault.field, fault.code) == ("gitfleet.yaml", f"spec.healthChecks[0].{field}", code)
    assert fault.line
    report(world, database(), {"phase": "Error"}, "c1")
    assert said(world) == {"c1": [ObserveText.HEALTH_CHECK_SAYS_FAILED(beside="")], "c2": []}
