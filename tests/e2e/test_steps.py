"""Jobs as steps on a real API server with the real controllers: takeover, a run, its TTL, a failure and a rollback."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from kubernetes import watch
from kubernetes.client import ApiClient, BatchV1Api, CoreV1Api

from tests import builders
from tests.e2e.programs import Program, eventually
from tests.e2e.repos import ConfigRepo
from tests.folders import FOLDER, folder, select_folder, settings, without_namespace
from tests.realparts.api_server import ApiServer
from tests.realparts.assets import MissingRealPart
from tests.realparts.control_plane import ControlPlanes, PodReadier
from tests.realparts.fixtures import give_up
from tests.realparts.git_http import GitHttpServer

pytestmark = pytest.mark.real
CONTROLLERS = (
    "job-controller", "ttl-after-finished-controller", "namespace-controller", "garbage-collector-controller",
)  # fmt: skip
TTL = 8
"""Seconds: gitfleet has to see that the Job completed."""


class JobPods(PodReadier):
    """Lets every pod succeed, and those with an image that ends in `:bad` fail; `ran` are the images."""

    def __init__(self, server: ApiServer) -> None:
        PodReadier.__init__(self, server, bad_image="*:bad")
        self.ran: list[str] = []

    def _observe(self, client: ApiClient) -> None:
        core = CoreV1Api(client)
        words = {"field_selector": "status.phase=Pending", "timeout_seconds": 1}
        for event in watch.Watch().stream(core.list_pod_for_all_namespaces, **words, _request_timeout=5):
            pod: Any = event["object"]
            if event["type"] == "ADDED" and pod.metadata.deletion_timestamp is None:
                (image,) = (container.image for container in pod.spec.containers)
                status = _ended(image, code=1 if self._is_bad([image]) else 0)
                core.patch_namespaced_pod_status(pod.metadata.name, pod.metadata.namespace, {"status": status})
                self.ran.append(image)


def _ended(image: str, code: int) -> dict[str, Any]:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    terminated = {"exitCode": code, "startedAt": now, "finishedAt": now, "reason": "Error" if code else "Completed"}
    container = {"name": "migrate", "image": image, "imageID": image, "ready": False, "restartCount": 0}
    states = [{**container, "state": {"terminated": terminated}}]
    return {"phase": "Failed" if code else "Succeeded", "startTime": now, "containerStatuses": states}


@pytest.fixture(scope="module")
def server(control_planes: ControlPlanes) -> ApiServer:
    """A cluster with the controllers of Jobs."""
    found = control_planes.start("steps")
    try:
        found.start_controller_manager(CONTROLLERS)
    except MissingRealPart as missing:
        give_up(missing)
    return found


@pytest.fixture
def pods(server: ApiServer) -> Iterator[JobPods]:
    """What stands for the kubelet."""
    found = JobPods(server)
    with found:
        yield found


def files(value: str, image: str) -> dict[str, str]:
    """A Folder with a ConfigMap and a Job that runs before it."""
    job = without_namespace(builders.job("x", "migrate", image, annotations={"argocd.argoproj.io/hook": "PreSync"}))
    job["spec"] |= {"backoffLimit": 0, "ttlSecondsAfterFinished": TTL}
    body = builders.to_yaml(folder("shop", namespace="shop", createNamespace=True))
    made = {FOLDER: body, "settings.yaml": settings(value=value), "migrate.yaml": builders.to_yaml(job)}
    return {f"resources/shop/{name}": text for name, text in made.items()}


def test_a_migration(
    server: ApiServer, pods: JobPods, config: ConfigRepo, git_http: GitHttpServer, tmp_path: Path
) -> None:
    kubeconfig = server.write_kubeconfig(tmp_path / "kubeconfig")
    program = Program(repo=git_http.url("fleet"), home=tmp_path / "home", kubeconfig=kubeconfig)
    fleet = builders.fleet_config(interval="1s")
    cluster = builders.member_cluster("c1", connection={"context": server.name})
    placement = builders.placement("shop", selectors=[select_folder("shop")])
    with server.client() as client:
        core: Any = CoreV1Api(client)
        batch = BatchV1Api(client)
        core.create_namespace(builders.namespace("shop"))
        core.create_namespaced_config_map("shop", builders.config_map("shop", "settings", {"value": "1"}))

        def value() -> str:
            return str(core.read_namespaced_config_map("settings", "shop").data["value"])

        config.commit({**builders.repo_files_for(fleet, cluster, placement), **files("1", "migrate:1")})
        program.settle()
        assert (pods.ran, value()) == ([], "1")  # equal content was there
        config.commit(files("2", "migrate:1"))
        program.settle()
        assert (pods.ran, value()) == (["migrate:1"], "2")
        eventually(lambda: not batch.list_namespaced_job("shop").items)
        program.settle()
        assert (pods.ran, batch.list_namespaced_job("shop").items) == (["migrate:1"], [])
        config.commit(files("3", "migrate:bad"))
        program.run("--until-settled", "--timeout", "30", expect=None)
        assert (pods.ran, value()) == (["migrate:1", "migrate:bad"], "2")
        assert "StepFailed" in config.text("bindings/shop/all.yaml")
        config.commit(files("2", "migrate:1"))
        program.settle()
        assert (pods.ran, value()) == (["migrate:1", "migrate:bad", "migrate:1"], "2")
