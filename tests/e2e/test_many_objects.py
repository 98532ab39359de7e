"""A thousand objects of 3 MB in one placement, while an API server goes away in the middle: through the whole
program."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from kubernetes.client import CoreV1Api

from tests.e2e.manifests import PLACEMENT, config_map, member, namespace_file, text
from tests.e2e.members import Member, Members
from tests.e2e.programs import Program, eventually
from tests.e2e.repos import ConfigRepo
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
NAMES = ("harmed", "sound")
CONTROLLERS = ("namespace-controller", "garbage-collector-controller")
COUNT, PER_FILE = 1000, 100
PADDING = "x" * 3000
CLUSTERS: dict[str, str | None] = {f"clusters/{name}.yaml": member(name) for name in NAMES}


@pytest.fixture(scope="module")
def members(control_planes: ControlPlanes) -> Iterator[Members]:
    """Two clusters that finish deletions."""
    servers = control_planes.start_many(NAMES)
    for server in servers:
        server.start_controller_manager(CONTROLLERS)
    found = Members(servers)
    yield found
    for one in found.all:
        one.close()


def placement(name: str, namespace: str) -> str:
    """A namespace on both clusters at once."""
    selectors = [{"group": "", "version": "v1", "kind": "Namespace", "name": namespace}]
    rolling = {"maxUnavailable": 2, "unavailablePeriodSeconds": 1}
    spec = {"resourceSelectors": selectors, "strategy": {"type": "RollingUpdate", "rollingUpdate": rolling}}
    return text({"apiVersion": PLACEMENT, "kind": "ClusterResourcePlacement", "metadata": {"name": name}, "spec": spec})


def shown(program: Program, name: str) -> Any:
    """The status of a placement as `get -o json` has it."""
    return json.loads(program.command("get", "crp", name, "-o", "json", "-C", program.repo).output)["status"]


def condition(status: Any) -> tuple[str, ...]:
    """A placement's last condition."""
    last = status["conditions"][-1]
    return last["type"].removeprefix("ClusterResourcePlacement"), last["status"], last["reason"]


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
            assert condition(status)[:2] == ("Applied", "False")
            (there,) = (one for one in status["placementStatuses"] if one["clusterName"] == "sound")
            assert not there.get("failedPlacements")
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
