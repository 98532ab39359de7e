"""A custom resource moves to a newer version of its kind, which has fields that the version before lacks."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from kubernetes.client import CustomObjectsApi

from gitfleet.api.conditions import find_condition
from tests import builders
from tests.members.real_fleet import RealFleet
from tests.realparts.api_server import ApiServer
from tests.scenarios.world import World

TEXT = {"type": "string"}
Spec = Callable[[str], Any]


def definition(group: str, *versions: str) -> dict[str, Any]:
    """A CustomResourceDefinition with versions of which each has one field more, with a default."""
    body = builders.custom_definition(group, "Thing")
    first = body["spec"]["versions"][0]
    fields: dict[str, Any] = {"a": TEXT}
    body["spec"]["versions"] = []
    for version in versions:
        schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": dict(fields)}}}
        is_last = version == versions[-1]
        body["spec"]["versions"].append(
            {**first, "name": version, "storage": is_last, "schema": {"openAPIV3Schema": schema}}
        )
        fields[f"since-{version}"] = {**TEXT, "default": "usual"}
    return body


def thing(group: str, version: str, **spec: str) -> dict[str, Any]:
    """The resource in a version."""
    return builders.an_object(f"{group}/{version}", "Thing", "one", namespace=namespace_of(group), spec=spec)


def namespace_of(group: str) -> str:
    """The namespace of the resource, after which its placement is named, too."""
    return group.replace(".", "-")


def play(world: World, group: str, cluster: str, spec: Spec, rest: Callable[[], Any]) -> None:
    """The resource moves twice; `rest` lets the world come to rest, `spec` reads a version of it."""
    selector = {"group": "apiextensions.k8s.io", "version": "v1", "kind": "CustomResourceDefinition"}
    name = namespace_of(group)
    selectors = [builders.select_namespace(name), {**selector, "name": f"things.{group}"}]
    placement = builders.placement(name, selectors=selectors)
    world.commit(builders.namespace(name), definition(group, "v1"), thing(group, "v1", a="1"), placement)
    rest()
    assert spec("v1") == {"a": "1"}
    world.commit(definition(group, "v1", "v2"), thing(group, "v2", **{"a": "2", "since-v1": "new"}))
    rest()
    assert spec("v2") == {"a": "2", "since-v1": "new"}
    world.commit(
        definition(group, "v1", "v2", "v3"), thing(group, "v3", **{"a": "3", "since-v1": "new", "since-v2": "too"})
    )
    rest()
    assert spec("v3") == {"a": "3", "since-v1": "new", "since-v2": "too"}
    applied = find_condition(world.bindings(name)[cluster].conditions, "Applied")
    assert applied is not None and str(applied.status) == "True"


@pytest.mark.soak("real")
def test_a_resource_whose_new_version_has_a_field_more_is_applied(one_cluster: ApiServer, tmp_path: Path) -> None:
    world, group = World(), f"e{uuid4().hex[:8]}.example.com"

    def spec(version: str) -> Any:
        with one_cluster.client() as client:
            found: Any = CustomObjectsApi(client).get_namespaced_custom_object(
                group, version, namespace_of(group), "things", "one", _request_timeout=5
            )
        return found["spec"]

    def rest() -> None:
        for _ in range(20):  # a definition takes a moment until it is served everywhere
            world.settle(timedelta(minutes=10))
            record = next(iter(world.state().placements.values()))
            latest = record.latest_resources
            assert latest is not None
            if all(one.applied_snapshot == latest.name and not one.failed for one in record.bindings):
                return
            time.sleep(0.2)

    with RealFleet(world, (one_cluster,), tmp_path):
        world.commit(builders.member_cluster("east", connection={"context": "east"}))
        play(world, group, "east", spec, rest)
