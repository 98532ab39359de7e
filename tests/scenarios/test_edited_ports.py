"""Somebody edits the number or the protocol of a port, which is its key in the list: it is set back."""

from __future__ import annotations

from typing import Any

import pytest

from gitfleet.api.objects import ObjectKey
from tests import builders
from tests.scenarios.world import World

TCP = {"protocol": "TCP"}
PORTS: dict[str, list[dict[str, Any]]] = {
    "a name": [{"name": "http", "port": 80, **TCP}],
    "no name": [{"port": 80, **TCP}],
    "two names": [{"name": "http", "port": 80, **TCP}, {"name": "https", "port": 443, **TCP}],
}
EDITS = {"number": ("port", 8080), "protocol": ("protocol", "UDP")}
KEYS = {
    "Service": ("", "port", "/spec/ports"),
    "Deployment": ("apps", "containerPort", "/spec/template/spec/containers/0/ports"),
}


def body_with(kind: str, namespace: str, ports: list[dict[str, Any]]) -> dict[str, Any]:
    """A Service, or a Deployment whose container has the ports."""
    if kind == "Service":
        body = builders.service(namespace, "web")
        body["spec"]["ports"] = ports
        return body
    body = builders.deployment(namespace, "web", "web:1")
    renamed = [{("containerPort" if name == "port" else name): value for name, value in one.items()} for one in ports]
    body["spec"]["template"]["spec"]["containers"][0]["ports"] = renamed
    return body


def ports_of(body: Any) -> list[dict[str, Any]]:
    """The ports of such an object by number, as both kinds write them."""
    spec = body["spec"]
    found = spec["ports"] if "ports" in spec else spec["template"]["spec"]["containers"][0]["ports"]
    chosen = ("name", "port", "containerPort", "protocol")
    ports = [{("port" if k == "containerPort" else k): v for k, v in one.items() if k in chosen} for one in found]
    return sorted(ports, key=lambda one: int(one["port"]))


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("which", PORTS)
@pytest.mark.parametrize("kind", KEYS)
def test_a_port_that_was_edited_by_hand_is_set_back(kind: str, which: str, edit: str) -> None:
    world, ports = World(), PORTS[which]
    world.roll_out(
        builders.member_cluster("c1"),
        builders.namespace("web"),
        body_with(kind, "web", ports),
        builders.placement("web"),
    )
    group, key, path = KEYS[kind]
    field, value = EDITS[edit]
    name = key if field == "port" else field
    patch = [{"op": "replace", "path": f"{path}/0/{name}", "value": value}]
    object_key = ObjectKey(group, "v1", kind, "web", "web")
    world.fleet.cluster("c1").mutate(object_key, patch)
    assert ports_of(world.live("c1", kind, "web")) != ports
    world.settle()
    assert ports_of(world.live("c1", kind, "web")) == ports


def test_a_port_is_set_back_beside_one_that_somebody_adds() -> None:
    world, ports = World(), PORTS["a name"]
    world.commit(builders.member_cluster("c1"), builders.namespace("web"), body_with("Service", "web", ports))
    world.roll_out(builders.placement("web"))
    debug = {"name": "debug", "port": 6060, **TCP}
    patch: list[dict[str, Any]] = [
        {"op": "replace", "path": "/spec/ports/0/port", "value": 8080},
        {"op": "add", "path": "/spec/ports/-", "value": debug},
    ]
    world.fleet.cluster("c1").mutate(ObjectKey("", "v1", "Service", "web", "web"), patch)
    world.settle()
    assert ports_of(world.live("c1", "Service", "web")) == [*ports, debug]


def test_a_port_that_somebody_adds_stays() -> None:
    world, ports = World(), PORTS["two names"]
    world.roll_out(
        builders.member_cluster("c1"),
        builders.namespace("web"),
        body_with("Service", "web", ports),
        builders.placement("web"),
    )
    patch = [{"op": "add", "path": "/spec/ports/-", "value": {"name": "debug", "port": 6060, **TCP}}]
    world.fleet.cluster("c1").mutate(ObjectKey("", "v1", "Service", "web", "web"), patch)
    world.roll_out(body_with("Service", "web", [{**ports[0], "port": 81}, ports[1]]))
    assert [one["port"] for one in ports_of(world.live("c1", "Service", "web"))] == [81, 443, 6060]
