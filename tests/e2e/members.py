"""Member clusters as an outsider sees them: through the official client, never through gitfleet."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kubernetes.client import ApiClient, ApiException, AppsV1Api, CoreV1Api
from urllib3.exceptions import HTTPError

from tests.realparts.api_server import ApiServer

_SECONDS = 30
_SAMPLE_EVERY = 0.1


class Member:
    """One real cluster."""

    def __init__(self, server: ApiServer) -> None:
        self.server = server
        self.name = server.name
        self._client: ApiClient = server.client()

    def config_map(self, namespace: str, name: str = "settings") -> dict[str, str] | None:
        """The data of a ConfigMap, None when it is not there."""
        found = self._found(lambda: CoreV1Api(self._client).read_namespaced_config_map(name, namespace))
        return None if found is None else dict(found.data or {})

    def has_namespace(self, name: str) -> bool:
        """Whether a namespace is there and stays."""
        found = self._found(lambda: CoreV1Api(self._client).read_namespace(name))
        return found is not None and found.metadata.deletion_timestamp is None

    def has_service(self, namespace: str, name: str = "web") -> bool:
        """Whether a Service is there."""
        return self._found(lambda: CoreV1Api(self._client).read_namespaced_service(name, namespace)) is not None

    def image(self, namespace: str, name: str = "web") -> str | None:
        """The image of a Deployment, None when it is not there."""
        found = self._deployment(namespace, name)
        return None if found is None else str(found.spec.template.spec.containers[0].image)

    def is_available(self, namespace: str, name: str = "web") -> bool:
        """Whether a Deployment stays, and has all its replicas up."""
        found = self._deployment(namespace, name)
        if found is None or found.metadata.deletion_timestamp is not None:
            return False
        return int(found.status.available_replicas or 0) >= int(found.spec.replicas)

    def delete_config_map(self, namespace: str, name: str = "settings") -> None:
        """Delete a ConfigMap behind gitfleet's back."""
        CoreV1Api(self._client).delete_namespaced_config_map(name, namespace, _request_timeout=_SECONDS)

    def objects(self, namespace: str) -> dict[str, Any]:
        """What people put into a namespace, less what the server adds: by kind and name."""
        core = CoreV1Api(self._client)
        maps: list[Any] = core.list_namespaced_config_map(namespace, _request_timeout=_SECONDS).items
        services: list[Any] = core.list_namespaced_service(namespace, _request_timeout=_SECONDS).items
        apps = AppsV1Api(self._client)
        deployments: list[Any] = apps.list_namespaced_deployment(namespace, _request_timeout=_SECONDS).items
        found: dict[str, Any] = {f"ConfigMap/{m.metadata.name}": m.data for m in maps}
        found.pop("ConfigMap/kube-root-ca.crt", None)
        found.update({f"Service/{s.metadata.name}": [p.port for p in s.spec.ports] for s in services})
        found.update({f"Deployment/{d.metadata.name}": d.spec.template.spec.containers[0].image for d in deployments})
        return found

    def close(self) -> None:
        """Let the connection go."""
        self._client.close()

    def _deployment(self, namespace: str, name: str) -> Any:
        return self._found(lambda: AppsV1Api(self._client).read_namespaced_deployment(name, namespace))

    def _found(self, ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except ApiException as error:
            if error.status == 404:
                return None
            raise


class Members:
    """The real clusters of a run."""

    def __init__(self, servers: Sequence[ApiServer]) -> None:
        self.all = tuple(Member(server) for server in servers)
        self.by_name = {member.name: member for member in self.all}

    def namespace(self, prefix: str) -> str:
        """A name of a namespace that nobody else uses."""
        return f"{prefix}-{secrets.token_hex(3)}"

    def kubeconfig(self, path: Path) -> Path:
        """One kubeconfig with a context for each cluster."""
        merged: dict[str, Any] = {"apiVersion": "v1", "kind": "Config", "clusters": [], "users": [], "contexts": []}
        for member in self.all:
            one = member.server.kubeconfig
            merged["clusters"] += one["clusters"]
            merged["users"] += [{"name": member.name, "user": one["users"][0]["user"]}]
            merged["contexts"] += [{"name": member.name, "context": {"cluster": member.name, "user": member.name}}]
        path.touch(mode=0o600)
        path.write_text(json.dumps(merged))
        return path

    @contextmanager
    def sampled(self, sample: Callable[[Member], Any]) -> Iterator[list[dict[str, Any]]]:
        """While the block runs, ask every cluster ten times a second; the answers by cluster, in order of time."""
        seen: list[dict[str, Any]] = []
        stop = threading.Event()

        def observe() -> None:
            own = [Member(member.server) for member in self.all]
            while not stop.wait(_SAMPLE_EVERY):
                try:
                    seen.append({member.name: sample(member) for member in own})
                except (ApiException, HTTPError, OSError):
                    continue
            for member in own:
                member.close()

        thread = threading.Thread(target=observe, name="sampler", daemon=True)
        thread.start()
        try:
            yield seen
        finally:
            stop.set()
            thread.join()
