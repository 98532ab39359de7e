"""A custom resource moves to a newer version of its kind on a real API server."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from kubernetes.client import CustomObjectsApi

from tests import builders
from tests.members.real_fleet import RealFleet
from tests.realparts.api_server import ApiServer
from tests.scenarios.test_newer_versions import namespace_of, play
from tests.scenarios.world import World


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
