"""What gitfleet says of what a real API server refuses, and of a Namespace that does not go."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from kubernetes.client import ApiregistrationV1Api

from tests import builders
from tests.members.real_fleet import RealFleet
from tests.realparts.api_server import ApiServer
from tests.scenarios.world import World


def reasons(world: World, name: str) -> list[str]:
    """What failed on the cluster, in order."""
    return [one.message for binding in world.bindings(name).values() for one in binding.failed]


@pytest.mark.soak("real")
def test_reasons_of_a_real_server(workload_cluster: ApiServer, tmp_path: Path) -> None:
    server, world = workload_cluster, World()
    name, away = (f"{one}-{uuid4().hex[:6]}" for one in ("reasons", "away"))
    web = builders.deployment(name, "web", "web:1")
    claim: dict[str, Any] = builders.an_object("v1", "PersistentVolumeClaim", "data", namespace=name)
    claim["spec"] = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    with RealFleet(world, (server,), tmp_path), server.client() as client:
        world.roll_out(
            builders.fleet_config(removals={"approval": "Never"}),
            builders.member_cluster(server.name, connection={"context": server.name}),
            *(builders.namespace(one) for one in (name, away)),
            *(web, claim, builders.config_map(away, "settings", {"a": "b"})),
            builders.placement(name, name, away),
            limit=timedelta(minutes=5),
        )
        web["spec"]["template"]["metadata"]["labels"] = {"app": "other"}
        web["spec"]["selector"]["matchLabels"] = {"app": "other"}
        claim["spec"]["accessModes"] = ["ReadWriteMany"]
        world.roll_out(web, claim, limit=timedelta(minutes=5))
        said = "\n".join(reasons(world, name))
        assert 'Deployment.apps "web" is invalid: spec.selector: field is immutable' in said, said
        assert "spec is immutable after creation" in said and "core.PersistentVolumeClaimSpec" not in said, said

        # A server of an extension that does not answer: its Namespace controller cannot know what is left.
        registry = ApiregistrationV1Api(client)
        service = {"name": "nobody", "namespace": "default"}
        spec = {"group": "broken.example.com", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 10}
        broken = {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": "v1.broken.example.com"},
            "spec": {**spec, "service": service, "insecureSkipTLSVerify": True},
        }
        registry.create_api_service(broken, _request_timeout=5)
        try:
            world.commit(
                builders.placement(name, name),
                remove=[builders.namespace(away), builders.config_map(away, "settings", {})],
            )
            for _ in range(60):
                world.settle(timedelta(minutes=5))
                said = "\n".join(reasons(world, name))
                if "NamespaceDeletionDiscoveryFailure: " in said:
                    break
                time.sleep(0.5)
            assert "NamespaceDeletionDiscoveryFailure: " in said, (said, [*world.state().holds.values()])
        finally:
            registry.delete_api_service("v1.broken.example.com", _request_timeout=5)
