"""Do the control planes keep what ``ControlPlanes`` and ``ApiServer`` promise?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import ApiException, AppsV1Api, CoreV1Api, VersionApi
from kubernetes.dynamic import DynamicClient
from kubernetes.dynamic.exceptions import ConflictError, ForbiddenError

from tests.realparts.control_plane import ApiServer, ControlPlanes, StartFailed, make_pods_ready

pytestmark = pytest.mark.real


def eventually(is_so: Callable[[], bool], *, seconds: float = 120.0) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "not so in time"
        time.sleep(0.05)


def config_map(namespace: str, **data: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": namespace},
        "data": data,
    }


def apply(server: ApiServer, manifest: dict[str, Any], manager: str, user: str = "admin") -> Any:
    with server.client(user=user) as client:
        cache = server.folder / "discovery.json"
        make: Callable[..., Any] = DynamicClient
        dynamic = make(client, cache_file=str(cache))
        kind = dynamic.resources.get(api_version=manifest["apiVersion"], kind=manifest["kind"])
        return dynamic.server_side_apply(
            kind, body=manifest, namespace=manifest["metadata"]["namespace"], field_manager=manager
        )


def deployment(namespace: str, name: str, image: str) -> dict[str, Any]:
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "main", "image": image}]},
            },
        },
    }


class TestControlPlanes:
    def test_an_apply_by_another_manager_conflicts(self, two_clusters: tuple[ApiServer, ApiServer]) -> None:
        east, _ = two_clusters
        namespace = east.make_namespace()
        apply(east, config_map(namespace, colour="red"), "one")

        with pytest.raises(ConflictError) as conflict:
            apply(east, config_map(namespace, colour="blue"), "two")
        assert conflict.value.status == 409
        assert ".data.colour" in str(conflict.value.body)

    def test_clusters_share_nothing(self, two_clusters: tuple[ApiServer, ApiServer]) -> None:
        east, west = two_clusters
        namespace = east.make_namespace()

        with west.client() as client, pytest.raises(ApiException) as absent:
            CoreV1Api(client).read_namespace(namespace)
        assert absent.value.status == 404
        assert (east.url, east.token, east.ca_pem) != (west.url, west.token, west.ca_pem)

    def test_the_version_is_that_of_a_release(self, two_clusters: tuple[ApiServer, ApiServer]) -> None:
        with two_clusters[0].client() as client:
            version = VersionApi(client).get_code()

        assert (version.major, version.git_version.startswith("v1.")) == ("1", True)

    @pytest.mark.parametrize("end", [ApiServer.stop, ApiServer.kill])
    def test_a_restart_keeps_data_address_and_token(
        self, control_planes: ControlPlanes, end: Callable[[ApiServer], None]
    ) -> None:
        server = control_planes.start("restarted")
        namespace = server.make_namespace()
        apply(server, config_map(namespace, colour="red"), "one")
        before = server.kubeconfig

        end(server)
        assert not server.running
        with server.client() as client, pytest.raises(Exception, match="refused"):
            VersionApi(client).get_code(_request_timeout=1)
        server.restart()

        assert server.kubeconfig == before
        with server.client() as client:
            kept = CoreV1Api(client).read_namespaced_config_map("settings", namespace)
        assert kept.data == {"colour": "red"}

    def test_a_frozen_server_hangs_until_it_is_thawed(self, control_planes: ControlPlanes) -> None:
        server = control_planes.start("restarted")
        server.freeze()
        with server.client() as client, pytest.raises(Exception, match="timed out"):
            VersionApi(client).get_code(_request_timeout=0.5)
        server.thaw()

        server.await_ready()

    def test_a_user_without_rights_is_refused_under_rbac(self, rbac_cluster: ApiServer) -> None:
        namespace = rbac_cluster.make_namespace()
        apply(rbac_cluster, config_map(namespace, colour="red"), "one")

        with pytest.raises(ForbiddenError):
            apply(rbac_cluster, config_map(namespace, colour="red"), "one", user="nobody")

    def test_a_deployment_becomes_available_and_a_bad_image_never_does(
        self, two_clusters: tuple[ApiServer, ApiServer]
    ) -> None:
        _, west = two_clusters
        west.start_controller_manager()
        namespace = west.make_namespace()
        apply(west, deployment(namespace, "good", "registry.example/app:v1"), "one")
        apply(west, deployment(namespace, "bad", "registry.example/app:broken"), "one")

        with west.client() as client:
            apps = AppsV1Api(client)

            def status(name: str) -> Any:
                return apps.read_namespaced_deployment(name, namespace).status

            with make_pods_ready(west, namespace, bad_image="*:broken") as readier:
                eventually(lambda: status("good").available_replicas == 2)
                eventually(lambda: status("bad").replicas == 2)
                time.sleep(0.5)
                assert not status("bad").available_replicas

                readier.bad_image = None
                eventually(lambda: status("bad").available_replicas == 2)

    def test_a_deleted_namespace_goes_away(self, two_clusters: tuple[ApiServer, ApiServer]) -> None:
        _, west = two_clusters
        west.start_controller_manager()
        namespace = west.make_namespace()
        apply(west, config_map(namespace, colour="red"), "one")

        with west.client() as client:
            core = CoreV1Api(client)
            core.delete_namespace(namespace)
            mine = f"metadata.name={namespace}"
            eventually(lambda: not core.list_namespace(field_selector=mine).items)

    def test_a_server_that_cannot_start_says_why(self, control_planes: ControlPlanes) -> None:
        with pytest.raises(StartFailed, match="no-such-flag"):
            control_planes.start("wrong", flags=["--no-such-flag"])

    def test_a_killed_program_leaves_no_server(self, tmp_path: Path) -> None:
        program = (
            "import sys, time\n"
            "from tests.realparts.processes import ServerProcess\n"
            "from pathlib import Path\n"
            "server = ServerProcess('sleep', ['sleep', '600'], log=Path(sys.argv[1]))\n"
            "server.start()\n"
            "print(server.pid, flush=True)\n"
            "time.sleep(600)\n"
        )
        with subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path / "log")],
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            text=True,
        ) as running:
            assert running.stdout is not None
            pid = int(running.stdout.readline())
            assert is_alive(pid)
            running.kill()

        if sys.platform == "linux":
            eventually(lambda: not is_alive(pid))
        else:
            os.kill(pid, signal.SIGKILL)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False
