"""The metrics API of a real API server: what a metrics-server says of the CPU that pods use."""

from __future__ import annotations

import json
import re
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from kubernetes.client import ApiregistrationV1Api, CoreV1Api

from .api_server import ApiServer

_GROUP, _VERSION = "metrics.k8s.io", "v1beta1"
_NAME = f"{_VERSION}.{_GROUP}"
_SERVICE = "metrics"
_PODS = re.compile(rf"/apis/{_GROUP}/{_VERSION}/namespaces/([^/?]+)/pods(\?.*)?")
_READY_SECONDS = 30.0


class MetricsApi:
    """`load` is the CPU in millicores that the ready pods of a namespace use together, an equal part each."""

    def __init__(self, server: ApiServer) -> None:
        self.load = 0
        self._server = server

    def answer(self, path: str) -> dict[str, Any] | None:
        """The answer to a GET; None where nothing is there."""
        if path.partition("?")[0] == f"/apis/{_GROUP}/{_VERSION}":
            pods = {"name": "pods", "kind": "PodMetrics", "namespaced": True, "verbs": ["get", "list"]}
            return {
                "apiVersion": "v1",
                "kind": "APIResourceList",
                "groupVersion": f"{_GROUP}/{_VERSION}",
                "resources": [{**pods, "singularName": ""}],
            }
        found = _PODS.fullmatch(path)
        return self._pods(found[1]) if found else None

    def _pods(self, namespace: str) -> dict[str, Any]:
        with self._server.client() as client:
            listed: list[Any] = CoreV1Api(client).list_namespaced_pod(namespace).items
        pods = [pod for pod in listed if _is_ready(pod)]
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        usage = {"cpu": f"{self.load // max(1, len(pods))}m", "memory": "1Mi"}
        items = [
            {
                "metadata": {"name": pod.metadata.name, "namespace": namespace, "labels": pod.metadata.labels},
                "timestamp": now,
                "window": "0s",
                "containers": [{"name": pod.spec.containers[0].name, "usage": usage}],
            }
            for pod in pods
        ]
        return {"apiVersion": f"{_GROUP}/{_VERSION}", "kind": "PodMetricsList", "metadata": {}, "items": items}


@contextmanager
def metrics_api(server: ApiServer) -> Iterator[MetricsApi]:
    """Register a metrics API with an API server while the block runs; its pods have one container each."""
    api = MetricsApi(server)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(server.folder / "tls.crt", server.folder / "tls.key")
    http = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"api": api}))
    http.socket = context.wrap_socket(http.socket, server_side=True)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    try:
        with _registered(server, http.server_address[1]):
            yield api
    finally:
        http.shutdown()
        http.server_close()


@contextmanager
def _registered(server: ApiServer, port: int) -> Iterator[None]:
    """Behind a Service of type ExternalName: Endpoints of a loopback address are refused."""
    service: Any = {
        "metadata": {"name": _SERVICE},
        "spec": {"type": "ExternalName", "externalName": "127.0.0.1", "ports": [{"port": port}]},
    }
    reference = {"namespace": "default", "name": _SERVICE, "port": port}
    spec = {
        "group": _GROUP,
        "version": _VERSION,
        "service": reference,
        "insecureSkipTLSVerify": True,
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
    }
    with server.client() as client:
        core, registration = CoreV1Api(client), ApiregistrationV1Api(client)
        core.create_namespaced_service("default", service)
        registration.create_api_service({"metadata": {"name": _NAME}, "spec": spec})
        try:
            _await_available(registration)
            yield
        finally:
            registration.delete_api_service(_NAME)
            core.delete_namespaced_service(_SERVICE, "default")


def _await_available(registration: ApiregistrationV1Api) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while True:
        status = registration.read_api_service(_NAME).status
        conditions = (status.conditions if status is not None else None) or ()
        if any(one.type == "Available" and one.status == "True" for one in conditions):
            return
        if time.monotonic() > deadline:
            raise RuntimeError(f"{_NAME} is not available: {[one.message for one in conditions]}")
        time.sleep(0.1)


def _is_ready(pod: Any) -> bool:
    conditions = pod.status.conditions or ()
    is_ready = any(one.type == "Ready" and one.status == "True" for one in conditions)
    return is_ready and pod.metadata.deletion_timestamp is None


class _Handler(BaseHTTPRequestHandler):
    api: MetricsApi

    def do_GET(self) -> None:
        found = self.api.answer(self.path)
        body = json.dumps(found or {}).encode()
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass
