"""Real control planes for tests: one etcd, and as many API servers as a test asks for."""

from __future__ import annotations

import atexit
import re
import shutil
import tempfile
import threading
import urllib.request
from collections.abc import Iterable, Sequence
from pathlib import Path

from .api_server import ADMIN, CONTROLLERS, ApiServer
from .assets import ETCD, MissingRealPart, ensure_assets
from .pods import PodReadier, make_pods_ready
from .processes import HeldPort, ServerProcess, StartFailed

__all__ = [
    "ADMIN",
    "CONTROLLERS",
    "ApiServer",
    "ControlPlanes",
    "MissingRealPart",
    "PodReadier",
    "StartFailed",
    "ensure_assets",
    "make_pods_ready",
]

_ETCD_READY_SECONDS = 30.0
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")


class ControlPlanes:
    """A set of API servers that share one etcd; a context manager, safe to use from threads.

    Nothing starts before the first ``start``. Leaving the block ends every process and
    removes every file; so does the end of the program when the block is never left.
    """

    def __init__(self, assets: Path | None = None, *, parent: Path | None = None) -> None:
        """Take the binaries from ``assets``, or else from ``ensure_assets()``.

        Everything is written to a new folder in ``parent``, or else where temporary files go.
        """
        self._assets = assets
        self._parent = parent
        self._servers: dict[str, ApiServer] = {}
        self._etcd: ServerProcess | None = None
        self._etcd_url = ""
        self._folder: Path | None = None
        self._lock = threading.RLock()

    def __enter__(self) -> ControlPlanes:
        self._assets = self._assets or ensure_assets()
        self._folder = Path(tempfile.mkdtemp(prefix="gitfleet-planes-", dir=self._parent))
        atexit.register(self.close)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def servers(self) -> tuple[ApiServer, ...]:
        """Every server that was started, in the order of starting."""
        return tuple(self._servers.values())

    def start(
        self, name: str, *, authorization: str = "AlwaysAllow", users: Sequence[str] = (), flags: Sequence[str] = ()
    ) -> ApiServer:
        """Return the ready server of this name: started if new, brought back if it was stopped.

        ``authorization`` is the API server's mode (``RBAC`` to test permissions), ``users``
        are further names that get tokens, ``flags`` go to kube-apiserver as they are. All
        three count only when the server is new. Raises ``StartFailed`` with the end of the
        log when the server does not become ready.
        """
        server = self._launch(name, authorization=authorization, users=users, flags=flags)
        server.await_ready()
        return server

    def start_many(self, names: Iterable[str]) -> tuple[ApiServer, ...]:
        """Like ``start`` for each name, but all at once: two take little longer than one."""
        servers = tuple(self._launch(name) for name in names)
        for server in servers:
            server.await_ready()
        return servers

    def freeze(self, frozen: bool) -> None:
        """Let every process hang, or run on: idle servers cost as much CPU as many tests."""
        with self._lock:
            for process in (self._etcd, *(part for server in self._servers.values() for part in server.processes)):
                if process is not None:
                    (process.freeze if frozen else process.thaw)()

    def close(self) -> None:
        """End every process and remove every file; harmless when done twice."""
        with self._lock:
            for server in self._servers.values():
                server.kill()
            self._servers.clear()
            if self._etcd is not None:
                self._etcd.kill()
                self._etcd = None
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
                self._folder = None
            atexit.unregister(self.close)

    def _launch(
        self, name: str, *, authorization: str = "AlwaysAllow", users: Sequence[str] = (), flags: Sequence[str] = ()
    ) -> ApiServer:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not a name: lower-case letters, digits and hyphens")
        with self._lock:
            if self._folder is None or self._assets is None:
                raise RuntimeError("ControlPlanes is a context manager: use it in a with block")
            self._ensure_etcd(self._assets, self._folder)
            server = self._servers.get(name)
            if server is None:
                server = self._servers[name] = ApiServer(
                    name,
                    assets=self._assets,
                    folder=self._folder / f"cluster-{name}",
                    etcd_url=self._etcd_url,
                    authorization=authorization,
                    users=users,
                    flags=flags,
                )
            server.launch()
        return server

    def _ensure_etcd(self, assets: Path, folder: Path) -> None:
        if self._etcd is None:
            self._ports = (HeldPort(), HeldPort())
            self._etcd_url, peer = (f"http://127.0.0.1:{port.number}" for port in self._ports)
            self._etcd = ServerProcess(
                ETCD,
                [
                    str(assets / ETCD),
                    f"--data-dir={folder / 'etcd'}",
                    f"--listen-client-urls={self._etcd_url}",
                    f"--advertise-client-urls={self._etcd_url}",
                    f"--listen-peer-urls={peer}",
                    f"--initial-advertise-peer-urls={peer}",
                    f"--initial-cluster=default={peer}",
                    "--unsafe-no-fsync",
                    "--quota-backend-bytes=4294967296",
                    "--log-level=warn",
                ],
                log=folder / "etcd.log",
            )
        if not self._etcd.running:
            self._etcd.start()
            self._etcd.await_ready(lambda: _is_healthy(self._etcd_url), seconds=_ETCD_READY_SECONDS)


def _is_healthy(etcd_url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{etcd_url}/health", timeout=2) as response:
            return b'"true"' in response.read()
    except OSError:  # Also every HTTP error and refused connection.
        return False
