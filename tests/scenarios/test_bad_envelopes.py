"""An envelope that cannot be unwrapped: found with the commit where its file shows it, and said by the binding's
conditions where only an override breaks it; what runs stays."""

from __future__ import annotations

from typing import Any

from gitfleet.api.conditions import ConditionType
from gitfleet.api.faults import Severity
from gitfleet.api.texts import ApiText
from tests import builders
from tests.scenarios.world import World

FLEET = "placement.kubernetes-fleet.io/v1beta1"
CLUSTERS = ("c1", "c2")


def envelope(inner: Any) -> dict[str, Any]:
    return {**builders.an_object(FLEET, "ResourceEnvelope", "bundle", namespace="web"), "data": {"inner.yaml": inner}}


def inner(value: str) -> dict[str, Any]:
    return builders.config_map("web", "inner", {"k": value})


def override(value: Any) -> dict[str, Any]:
    """It replaces what the envelope carries, on one cluster."""
    selector = {"group": "placement.kubernetes-fleet.io", "version": "v1beta1", "kind": "ResourceEnvelope"}
    rule = {
        "clusterSelector": {"clusterSelectorTerms": [{"labelSelector": {"matchLabels": {"zone": "c1"}}}]},
        "jsonPatchOverrides": [{"op": "replace", "path": "/data/inner.yaml", "value": value}],
    }
    spec = {"resourceSelectors": [{**selector, "name": "bundle"}], "policy": {"overrideRules": [rule]}}
    return builders.an_object(FLEET, "ResourceOverride", "breaks", namespace="web", spec=spec)


def settled() -> World:
    world = World()
    world.roll_out(
        *(builders.member_cluster(name, labels={"zone": name}) for name in CLUSTERS),
        builders.namespace("web"),
        envelope(inner("1")),
        override(inner("2")),
        builders.placement("web"),
    )
    assert values(world) == {"c1": "2", "c2": "1"}
    return world


def values(world: World) -> dict[str, Any]:
    return {name: (world.live(name, "ConfigMap", "inner") or {})["data"]["k"] for name in CLUSTERS}


def synchronized(world: World) -> dict[str, tuple[str, str, str]]:
    """Of each cluster's binding: status, reason and message of WorkSynchronized."""
    (record,) = world.state().placements.values()
    return {
        binding.cluster: (str(found.status), str(found.reason), found.message)
        for binding in record.bindings
        for found in binding.conditions
        if found.type == ConditionType.WORK_SYNCHRONIZED
    }


def test_an_envelope_that_an_override_breaks_is_a_work_that_is_not_synchronized() -> None:
    world = settled()
    with world.nothing_deleted():
        world.roll_out(override("oops"))
    found = synchronized(world)
    assert found["c1"][:2] == ("False", "SyncWorkFailed") and found["c2"][:2] == ("True", "AllWorkSynced")
    assert ApiText.CANNOT_UNWRAPPED(key="ResourceEnvelope", place="web/bundle", why="inner.yaml") in found["c1"][2]
    assert values(world) == {"c1": "2", "c2": "1"}
    world.roll_out(override(inner("3")))
    assert {status for status, *_ in synchronized(world).values()} == {"True"}
    assert values(world) == {"c1": "3", "c2": "1"}


def test_an_envelope_that_is_bad_in_its_file_is_an_error_of_the_commit() -> None:
    world = settled()
    with world.nothing_deleted():
        world.roll_out(envelope("oops"))
    (fault,) = (fault for fault in world.state().faults if fault.severity is Severity.ERROR)
    assert (fault.object, fault.field) == ("ResourceEnvelope/web/bundle", 'data["inner.yaml"]') and fault.line
    assert fault.code == "MUST_OBJECT_WRITE_APIVERSION"
    assert {status for status, *_ in synchronized(world).values()} == {"True"}
    assert values(world) == {"c1": "2", "c2": "1"}
