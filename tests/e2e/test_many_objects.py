"""A thousand objects of 3 MB in one placement, while an API server goes away in the middle; and a definition with its
objects: through the whole program."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from kubernetes.client import ApiException, CoreV1Api, CustomObjectsApi

from tests import builders
from tests.e2e.manifests import PLACEMENT, asks_nobody, config_map, member, namespace_file, text
from tests.e2e.members import Member, Members
from tests.e2e.programs import Program, eventually
from tests.e2e.repos import ConfigRepo
from tests.e2e.test_refused_objects import CONTROLLERS, NAMES, condition, failed, placement, shown, two_members
from tests.realparts.control_plane import ControlPlanes

pytestmark = pytest.mark.real
SECONDLY = text(
    {
        "apiVersion": "gitfleet.dev/v1alpha1",
        "kind": "FleetConfig",
        "metadata": {"name": "fleet"},
        "spec": {"interval": "1s"},
    }
)
APIEXTENSIONS = {"group": "apiextensions.k8s.io", "version": "v1"}
COUNT, PER_FILE = 1000, 100
PADDING = "x" * 3000
CLUSTERS: dict[str, str | None] = {f"clusters/{name}.yaml": member(name) for name in NAMES}


@pytest.fixture(scope="module")
def members(control_planes: ControlPlanes) -> Iterator[Members]:
    with two_members(control_planes) as found:
        yield found


def a_thousand(namespace: str) -> dict[str, str | None]:
    """1,000 ConfigMaps of 3 kB, in ten files."""
    bodies = [config_map(namespace, f"cm-{number:04}", number=str(number), padding=PADDING) for number in range(COUNT)]
    starts = range(0, COUNT, PER_FILE)
    return {f"resources/big/{start:04}.yaml": "---\n".join(bodies[start : start + PER_FILE]) for start in starts}


def versions(found: Member, namespace: str) -> dict[str, str]:
    """The resourceVersion of each ConfigMap that is there and whole."""
    with found.server.client() as client:
        items: list[Any] = CoreV1Api(client).list_namespaced_config_map(namespace, _request_timeout=20).items
    return {
        one.metadata.name: one.metadata.resource_version
        for one in items
        if one.data.get("padding") == PADDING and one.metadata.name == f"cm-{int(one.data['number']):04}"
    }


@pytest.mark.soak("real")
def test_a_thousand_objects_while_an_api_server_goes_away(
    config: ConfigRepo, program: Program, members: Members
) -> None:
    lost, sound = (members.by_name[name] for name in NAMES)
    namespace, other = members.namespace("big"), members.namespace("other")
    many = a_thousand(namespace)
    assert sum(len(body or "") for body in many.values()) > 3_000_000
    placed = {"placements/big.yaml": placement("big", namespace), "placements/other.yaml": placement("other", other)}
    spaces = {f"resources/{name}/namespace.yaml": namespace_file(name) for name in (namespace, other)}
    config.commit({**CLUSTERS, "gitfleet.yaml": SECONDLY, **placed, **spaces})
    program.settle(120)

    with program.running() as running:
        config.commit({**many, "resources/other/settings.yaml": config_map(other, a="1")}, "A thousand objects")
        eventually(lambda: len(versions(lost, namespace)) > 50, lambda: running.talk)
        lost.server.kill()
        try:
            eventually(lambda: len(versions(sound, namespace)) == COUNT, lambda: running.talk)
            eventually(lambda: sound.config_map(other) == {"a": "1"}, lambda: running.talk)
            eventually(lambda: "harmed: unhealthy" in running.talk, lambda: running.talk)
            status = shown(program, "big")
            assert condition(status)[:2] == ("Applied", "False") and failed(status, "sound") == {}
            (line,) = (
                one
                for one in program.command("explain", "big", "-C", program.repo).output.splitlines()
                if "harmed" in one
            )
            assert "the API server of harmed did not answer: connection refused" in line and "more)" in line
        finally:
            lost.server.restart()
            lost.server.start_controller_manager(CONTROLLERS)
        before = versions(lost, namespace)
        assert 0 < len(before) < COUNT, "it went away in the middle"
        eventually(lambda: len(versions(lost, namespace)) == COUNT, lambda: running.talk)
        available = ("Available", "True", "ResourceAvailable")
        eventually(lambda: condition(shown(program, "big")) == available, lambda: running.talk)
        assert "Traceback" not in running.talk
        assert running.terminate() == 0
    for one in members.all:
        parts = [config.text(path) for path in config.paths() if path.startswith(f"inventory/{one.name}/")]
        assert set(re.findall(r"cm-\d{4}", "".join(parts))) == {f"cm-{number:04}" for number in range(COUNT)}

    # The cost follows the change: one edit writes one object.
    known = {one.name: versions(one, namespace) for one in members.all}
    edited = (many["resources/big/0000.yaml"] or "").replace('"number": "7"', '"number": "7", "edited": "1"', 1)
    config.commit({"resources/big/0000.yaml": edited}, "One edit")
    program.settle(120)
    for one in members.all:
        now = versions(one, namespace)
        assert {name for name in now if now[name] != known[one.name][name]} == {"cm-0007"}


def definition(**schema: object) -> dict[str, Any]:
    """Of a kind of its own, with a schema that the server takes or does not."""
    body = builders.custom_definition("e2e.example.com", "Gear")
    version = body["spec"]["versions"][0]
    version["schema"] = {"openAPIV3Schema": {"type": "object", "properties": {"spec": schema}}}
    return body


def gears(found: Member, namespace: str) -> list[str] | None:
    """The names of the custom objects, None where nobody knows the kind."""
    with found.server.client() as client:
        try:
            listed = CustomObjectsApi(client).list_namespaced_custom_object("e2e.example.com", "v1", namespace, "gears")
        except ApiException as error:
            assert error.status == 404
            return None
    return sorted(one["metadata"]["name"] for one in listed["items"])


@pytest.mark.soak("real")
def test_a_definition_and_its_objects_in_one_placement(config: ConfigRepo, program: Program, members: Members) -> None:
    namespace = members.namespace("gears")
    selectors = [
        {"group": "", "version": "v1", "kind": "Namespace", "name": namespace},
        {**APIEXTENSIONS, "kind": "CustomResourceDefinition", "name": "gears.e2e.example.com"},
    ]
    spec = {"resourceSelectors": selectors, "strategy": {"rollingUpdate": {"maxUnavailable": 2}}}
    web = {"apiVersion": PLACEMENT, "kind": "ClusterResourcePlacement", "metadata": {"name": "web"}, "spec": spec}
    made = [
        builders.an_object("e2e.example.com/v1", "Gear", name, namespace=namespace, spec={"teeth": 12})
        for name in ("big", "small")
    ]
    files = {
        "gitfleet.yaml": asks_nobody(),
        "placements/web.yaml": text(web),
        "resources/gears/namespace.yaml": namespace_file(namespace),
        "resources/gears/settings.yaml": config_map(namespace, a="1"),
        "resources/gears/gears.yaml": text(*made),
    }
    # The server refuses the definition: its objects wait for it, the others are applied.
    config.commit({**CLUSTERS, **files, "resources/gears/definition.yaml": text(definition(properties={}))})
    program.run("--until-settled", "--timeout", "5", expect=1)
    status = shown(program, "web")
    assert condition(status) == ("Applied", "False", "ApplyFailed")
    for one in members.all:
        assert one.config_map(namespace) == {"a": "1"} and gears(one, namespace) is None
        found = failed(status, one.name)
        assert {key: code for key, (code, _) in found.items()} == {
            ("CustomResourceDefinition", "gears.e2e.example.com"): "Invalid",
            ("Gear", "big"): "NeedsCRD",
            ("Gear", "small"): "NeedsCRD",
        }
        assert "type: Required value" in found["CustomResourceDefinition", "gears.e2e.example.com"][1]

    # With the right one all is there.
    right = definition(type="object", properties={"teeth": {"type": "integer"}})
    config.commit({"resources/gears/definition.yaml": text(right)}, "The right definition")
    program.settle(120)
    assert [gears(one, namespace) for one in members.all] == [["big", "small"]] * 2
    assert condition(shown(program, "web"))[:2] == ("Available", "True")
    # What goes, goes before its definition.
    config.commit({"placements/web.yaml": None}, "Nothing any more")
    program.settle(120)
    assert [gears(one, namespace) for one in members.all] == [None, None]
