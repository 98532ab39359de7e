"""Somebody edits the number of a port by hand on a real API server: it is set back."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from kubernetes.client import AppsV1Api, CoreV1Api

from tests import builders
from tests.members.real_fleet import RealFleet
from tests.realparts.api_server import ApiServer
from tests.scenarios.test_edited_ports import PORTS, body_with, ports_of
from tests.scenarios.world import World


@pytest.mark.soak("real")
@pytest.mark.parametrize("which", PORTS)
def test_ports_that_were_edited_by_hand_are_set_back(one_cluster: ApiServer, tmp_path: Path, which: str) -> None:
    world, name, ports = World(), f"ports-{uuid4().hex[:8]}", PORTS[which]
    bodies = [body_with(kind, name, ports) for kind in ("Service", "Deployment")]
    with RealFleet(world, (one_cluster,), tmp_path), one_cluster.client() as client:
        core, apps = CoreV1Api(client), AppsV1Api(client)

        def found() -> list[Any]:
            read: list[Any] = [
                core.read_namespaced_service("web", name, _request_timeout=5),
                apps.read_namespaced_deployment("web", name, _request_timeout=5),
            ]
            return [ports_of(client.sanitize_for_serialization(one)) for one in read]

        world.commit(
            builders.member_cluster("east", connection={"context": "east"}),
            builders.namespace(name),
            *bodies,
            builders.placement(name),
        )
        world.rest()
        wanted = [ports] * 2
        assert found() == wanted
        edits: list[tuple[str, Any]] = [
            ("/spec/ports/0/port", core.patch_namespaced_service),
            ("/spec/template/spec/containers/0/ports/0/containerPort", apps.patch_namespaced_deployment),
        ]
        for path, patch in edits:
            steps = [{"op": "replace", "path": path, "value": 8080}]
            patch("web", name, steps, field_manager="kubectl-edit", _request_timeout=5)
        assert found() != wanted
        world.rest()
        assert found() == wanted
