"""A custom resource moves to a newer version of its kind, which has fields that the version before lacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gitfleet.api.conditions import find_condition
from tests import builders
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


def test_a_resource_whose_new_version_has_a_field_more_is_applied() -> None:
    world, group = World(), "example.com"
    world.commit(builders.member_cluster("c1"))
    play(world, group, "c1", lambda _: (world.live("c1", "Thing", "one") or {})["spec"], world.settle)
