"""Repos of Argo CD and Flux, all in one config repo, placed by environment on two real clusters and a simulated one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from kubernetes.client import AutoscalingV2Api, CustomObjectsApi, PolicyV1Api

from tests.e2e.manifests import member
from tests.e2e.members import Member, Members
from tests.e2e.programs import Program
from tests.e2e.repos import ConfigRepo
from tests.layouts import CLUSTERS, PLACEMENTS, brought_in
from tests.realparts.control_plane import CONTROLLERS, ControlPlanes, PodReadier

pytestmark = pytest.mark.real
REAL = ("staging-1", "prod-1")


@pytest.fixture(scope="module")
def members(control_planes: ControlPlanes) -> Iterator[Members]:
    with ExitStack() as stack:
        servers = control_planes.start_many(REAL)
        for server in servers:
            server.start_controller_manager((*CONTROLLERS, "disruption-controller"))
            stack.enter_context(PodReadier(server))
        found = Members(servers)
        yield found
        for one in found.all:
            one.close()


def special(found: Member) -> dict[str, list[str]]:
    """The names of objects that only some clusters have, and of custom objects."""
    with found.server.client() as client:
        budgets = PolicyV1Api(client).list_namespaced_pod_disruption_budget("orders").items
        scalers = AutoscalingV2Api(client).list_namespaced_horizontal_pod_autoscaler("beacon").items
        custom = CustomObjectsApi(client).list_namespaced_custom_object(
            "watch.example.com", "v1", "observability", "watchers"
        )
    return {
        "budgets": [budget.metadata.name for budget in budgets],
        "scalers": [scaler.metadata.name for scaler in scalers],
        "watchers": [watcher["metadata"]["name"] for watcher in custom["items"]],
    }


def test_all_layouts_on_real_clusters_by_environment(
    config: ConfigRepo, program: Program, members: Members, kustomize: Path, helm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{kustomize.parent}:{helm.parent}", prepend=os.pathsep)
    files: dict[str, str | None] = {}
    for layout in PLACEMENTS:
        files |= brought_in(layout)
    for name, env in CLUSTERS.items():
        connection = None if name in REAL else {"simulated": True}
        files[f"clusters/{name}.yaml"] = member(name, connection=connection, env=env)
    config.commit(files, "Bring all applications")
    program.settle(90)

    staging, production = (members.by_name[name] for name in REAL)
    for placements in PLACEMENTS.values():
        for name in placements:
            assert config.condition(name, "ClusterResourcePlacementAvailable")["status"] == "True", name
    workloads = [("hello", "hello"), ("built", "built-hello"), ("helm-hello", "helm-hello"), ("podinfo", "beacon"),
                 ("beacon", "beacon"), ("orders", "orders"), ("observability", "watch-operator")]  # fmt: skip
    for found in members.all:
        assert [place for place in workloads if not found.is_available(*place)] == []
    assert [found.image("orders", "orders") for found in (staging, production)] == ["orders:1.5.0-rc.1", "orders:1.4.0"]
    assert special(staging) == {"budgets": [], "scalers": [], "watchers": ["main"]}
    assert special(production) == {"budgets": ["orders"], "scalers": ["beacon"], "watchers": ["main"]}
