"""One real kube-apiserver of a test: a cluster's whole API, without nodes."""

from __future__ import annotations

import base64
import json
import secrets
import ssl
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kubernetes.client import ApiClient, CoreV1Api, V1Namespace, V1Node, V1ObjectMeta
from kubernetes.config import new_client_from_config_dict

from .assets import API_SERVER, CONTROLLER_MANAGER, MissingRealPart
from .certificates import write_server_certificate, write_signing_key
from .processes import HeldPort, ServerProcess

ADMIN = "admin"
CONTROLLERS = ("deployment-controller", "replicaset-controller", "namespace-controller", "garbage-collector-controller")

_READY_SECONDS = 60.0
_REQUEST_SECONDS = 5.0
# Without a limit a server grows past 700 MB under load; a limit below 300 MB has it collect garbage all the time.
_SMALL = {"GOGC": "100", "GOMEMLIMIT": "600MiB"}


class ApiServer:
    """A kube-apiserver with its own address, authority, tokens and part of etcd.

    Address, authority and tokens stay the same through ``stop``, ``kill`` and ``restart``,
    and so does what is stored. ``folder`` is private to it: logs, keys, and package for caches.
    Made by ``ControlPlanes.start``.
    """

    def __init__(
        self,
        name: str,
        *,
        assets: Path,
        folder: Path,
        etcd_url: str,
        authorization: str = "AlwaysAllow",
        users: Sequence[str] = (),
        flags: Sequence[str] = (),
    ) -> None:
        folder.mkdir()
        self._ports = [port := HeldPort()]
        certificate, key = write_server_certificate(folder, name)
        self.name = name
        self.folder = folder
        self.url = f"https://127.0.0.1:{port.number}"
        self.ca_pem = certificate.read_text()
        self._tokens = {user: secrets.token_hex(16) for user in (ADMIN, *users)}
        self._trust = ssl.create_default_context(cadata=self.ca_pem)
        self._assets = assets
        self._controller_manager: ServerProcess | None = None
        self._process = ServerProcess(
            f"{API_SERVER} {name}",
            [
                str(assets / API_SERVER),
                f"--etcd-servers={etcd_url}",
                f"--etcd-prefix=/{name}",
                f"--secure-port={port.number}",
                "--bind-address=127.0.0.1",
                "--advertise-address=127.0.0.1",
                f"--tls-cert-file={certificate}",
                f"--tls-private-key-file={key}",
                f"--cert-dir={folder}",
                "--service-account-issuer=https://127.0.0.1",
                f"--service-account-key-file={(signing := write_signing_key(folder / 'sa.key'))}",
                f"--service-account-signing-key-file={signing}",
                f"--token-auth-file={self._write_tokens()}",
                f"--authorization-mode={authorization}",
                "--endpoint-reconciler-type=none",
                "--service-cluster-ip-range=10.0.0.0/16",
                "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
                *flags,
            ],
            log=folder / "apiserver.log",
            environment=_SMALL,
        )

    def __repr__(self) -> str:
        return f"<ApiServer {self.name} {self.url}>"

    @property
    def running(self) -> bool:
        """Whether the server's process is there (frozen counts)."""
        return self._process.running

    @property
    def processes(self) -> tuple[ServerProcess | None, ...]:
        """The server's process, and that of its controllers."""
        return self._process, self._controller_manager

    @property
    def pid(self) -> int | None:
        """The server's process id while it runs."""
        return self._process.pid

    @property
    def token(self) -> str:
        """The bearer token of the administrator."""
        return self._tokens[ADMIN]

    @property
    def kubeconfig(self) -> dict[str, Any]:
        """A kubeconfig for the administrator, with everything it needs inside it."""
        return self.kubeconfig_for(ADMIN)

    def kubeconfig_for(self, user: str) -> dict[str, Any]:
        """Return a kubeconfig for one of the ``users`` named at the start, or for ``admin``."""
        authority = base64.b64encode(self.ca_pem.encode()).decode()
        cluster = {"server": self.url, "certificate-authority-data": authority}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": self.name, "cluster": cluster}],
            "users": [{"name": user, "user": {"token": self._tokens[user]}}],
            "contexts": [{"name": self.name, "context": {"cluster": self.name, "user": user}}],
            "current-context": self.name,
        }

    def write_kubeconfig(self, path: Path, *, user: str = ADMIN) -> Path:
        """Write a kubeconfig, readable for its owner only; return its path."""
        path.touch(mode=0o600)
        path.write_text(json.dumps(self.kubeconfig_for(user), indent=2) + "\n")
        return path

    def client(self, *, user: str = ADMIN) -> ApiClient:
        """Return a new API client of the ``kubernetes`` package; the caller may close it."""
        load: Callable[..., ApiClient] = new_client_from_config_dict
        return load(self.kubeconfig_for(user), persist_config=False)

    def make_namespace(self, prefix: str = "test") -> str:
        """Create a namespace that nobody else uses; return its name."""
        name = f"{prefix}-{secrets.token_hex(4)}"
        with self.client() as client:
            CoreV1Api(client).create_namespace(V1Namespace(metadata=V1ObjectMeta(name=name)))
        return name

    def make_node(self, name: str) -> None:
        """Create a node that nothing runs on."""
        with self.client() as client:
            CoreV1Api(client).create_node(V1Node(metadata=V1ObjectMeta(name=name)))

    def launch(self) -> None:
        """Start the process unless it runs, without waiting for it."""
        self._process.start()

    def await_ready(self) -> None:
        """Return when requests are answered and the default namespace is there."""
        self._process.await_ready(
            lambda: self._observations("/readyz") and self._observations("/api/v1/namespaces/default"),
            seconds=_READY_SECONDS,
        )

    def stop(self) -> None:
        """Shut the server down in an orderly way; its controller manager ends with it."""
        self._end(ServerProcess.stop)

    def kill(self) -> None:
        """End the server as a crash would; its controller manager ends with it."""
        self._end(ServerProcess.kill)

    def restart(self) -> None:
        """Bring the server up again, whether it runs or not, with all that it stored.

        A controller manager that was running is started again too.
        """
        managed = self._controller_manager is not None and self._controller_manager.running
        self.stop()
        self.launch()
        self.await_ready()
        if managed:
            self.start_controller_manager()

    def freeze(self) -> None:
        """Let the server hang: connections open and nothing answers, until ``thaw``."""
        self._process.freeze()

    def thaw(self) -> None:
        """End a freeze."""
        self._process.thaw()

    def start_controller_manager(self, controllers: Sequence[str] = CONTROLLERS, flags: Sequence[str] = ()) -> None:
        """Run the controllers that turn Deployments into Pods and finish deletions.

        Does nothing when they run already. Raises ``MissingRealPart`` when the folder of
        ``KUBEBUILDER_ASSETS`` has no kube-controller-manager.
        """
        if self._controller_manager is not None and self._controller_manager.running:
            return
        binary = self._assets / CONTROLLER_MANAGER
        if not binary.is_file():
            raise MissingRealPart(f"{self._assets} has no {CONTROLLER_MANAGER}: unset KUBEBUILDER_ASSETS to build it")
        kubeconfig = self.write_kubeconfig(self.folder / "controller-manager.kubeconfig")
        self._ports.append(health_port := HeldPort())
        manager = ServerProcess(
            f"{CONTROLLER_MANAGER} {self.name}",
            [
                str(binary),
                f"--kubeconfig={kubeconfig}",
                "--leader-elect=false",
                "--bind-address=127.0.0.1",
                f"--secure-port={health_port.number}",
                f"--tls-cert-file={self.folder / 'tls.crt'}",
                f"--tls-private-key-file={self.folder / 'tls.key'}",
                f"--controllers={','.join(controllers)}",
                *flags,
            ],
            log=self.folder / "controller-manager.log",
            environment=_SMALL,
        )
        manager.start()
        self._controller_manager = manager
        health = f"https://127.0.0.1:{health_port.number}"
        manager.await_ready(lambda: self._observations("/healthz", base=health), seconds=_READY_SECONDS)

    def _end(self, end: Callable[[ServerProcess], None]) -> None:
        if self._controller_manager is not None:
            self._controller_manager.kill()
        end(self._process)

    def _write_tokens(self) -> Path:
        path = self.folder / "tokens.csv"
        path.touch(mode=0o600)
        groups = {ADMIN: "system:masters"}
        path.write_text(
            "".join(f'{token},{user},{user},"{groups.get(user, "testers")}"\n' for user, token in self._tokens.items())
        )
        return path

    def _observations(self, path: str, *, base: str | None = None) -> bool:
        headers: Mapping[str, str] = {"Authorization": f"Bearer {self.token}"} if not base else {}
        request = urllib.request.Request((base or self.url) + path, headers=dict(headers))
        try:
            with urllib.request.urlopen(request, timeout=_REQUEST_SECONDS, context=self._trust) as response:
                return bool(response.status == 200)
        except OSError:  # Also every HTTP error and refused or broken connection.
            return False
