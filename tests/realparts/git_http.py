"""Bare repositories over HTTP, served by git itself, with faults on demand."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from .assets import MissingRealPart
from .git_cgi import GitCgiServer, Verdict

_REPOSITORY_SETTINGS = (
    ("http.receivepack", "true"),
    ("uploadpack.allowFilter", "true"),
    ("uploadpack.allowAnySHA1InWant", "true"),
    ("receive.autogc", "false"),
    ("gc.auto", "0"),
)


@dataclass
class _Fault:
    left: int
    match: str
    verdict: Verdict


class GitHttpServer:
    """A git server on a loopback port for the bare repositories beneath ``root``.

    A context manager. Speaks the smart protocol (versions 0 to 2) for fetch and push, with
    partial clone and fetches of single objects allowed, as the large hosts do. With ``user``
    and ``password`` every request needs both, as basic authentication. With a ``certificate`` (its
    file and that of its key) it speaks https.

    ``more_logins`` are other users with their passwords, ``program`` is a CGI program in the
    place of git's own: both may be set before it serves.

    These may be changed while it serves: ``latency`` (seconds before each request is looked
    at) and ``before_receive_pack`` (called with the repository's path after a push arrived
    and before git sees it, so that a test can win a race). ``requests`` lists every request
    in order, as ``"GET /name.git/info/refs?service=git-upload-pack"``.
    """

    def __init__(
        self,
        root: Path,
        *,
        user: str | None = None,
        password: str | None = None,
        certificate: tuple[Path, Path] | None = None,
    ) -> None:
        self.root = root
        self._certificate = certificate
        self.credentials = None if user is None else (user, password or "")
        self.more_logins: dict[str, str] = {}
        self.program: Path | None = None
        self.latency = 0.0
        self.before_receive_pack: Callable[[Path], None] | None = None
        self.requests: list[str] = []
        self._faults: list[_Fault] = []
        self._lock = threading.Lock()
        self._git = _find_git()
        self._environment = _clean_environment()
        self._server: GitCgiServer | None = None

    @property
    def logins(self) -> dict[str, str]:
        """Every user with a password; nobody needs one where there is none."""
        return {**dict([self.credentials] if self.credentials else []), **self.more_logins}

    def __enter__(self) -> GitHttpServer:
        self.root.mkdir(parents=True, exist_ok=True)
        backend = [self._git, "http-backend"] if self.program is None else [str(self.program)]
        self._server = GitCgiServer(self, backend, self._environment)
        if self._certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self._certificate)
            # The handshake belongs to the thread of the connection: one that fails must not end the server.
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        threading.Thread(target=self._server.serve_forever, args=(0.05,), name="git-http", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def create(self, name: str) -> Path:
        """Make an empty bare repository whose first branch is ``main``; return its path."""
        path = self.root / f"{name}.git"
        path.mkdir(parents=True)
        self._run("init", "--quiet", "--bare", "--initial-branch=main", "--template=", str(path))
        for key, value in _REPOSITORY_SETTINGS:
            self._run("--git-dir", str(path), "config", key, value)
        return path

    def url(self, name: str, *, with_credentials: bool = False, user: str | None = None) -> str:
        """Return a repository's address, on request with the user, or one of ``more_logins``, and password in it."""
        if self._server is None:
            raise RuntimeError("GitHttpServer is a context manager: use it in a with block")
        login = ""
        if with_credentials and self.credentials is not None:
            login = ":".join(self.credentials) + "@"
        if user is not None:
            login = f"{quote(user, safe='')}:{quote(self.logins[user], safe='')}@"
        scheme = "http" if self._certificate is None else "https"
        return f"{scheme}://{login}127.0.0.1:{self._server.server_port}/{name}.git"

    def fail_next(self, count: int, status: int = 503, *, match: str = "") -> None:
        """Answer the next ``count`` requests that contain ``match`` with ``status``.

        ``match`` is sought in a request as ``requests`` shows it: ``"git-receive-pack"`` is in
        both requests of a push, ``"POST"`` in the second one of a push or fetch.
        """
        self._add_fault(_Fault(count, match, Verdict(status=status)))

    def lose_answers(self, count: int, *, match: str = "/git-receive-pack") -> None:
        """Carry out the next ``count`` matching requests and hang up instead of answering.

        As it is, a push takes effect and its sender is told nothing but a broken connection.
        """
        self._add_fault(_Fault(count, match, Verdict(lose_answer=True)))

    def clear_faults(self) -> None:
        """Forget every fault that has not happened yet, the latency and the hook."""
        with self._lock:
            self._faults.clear()
        self.latency = 0.0
        self.before_receive_pack = None

    def judge(self, request: str) -> Verdict:
        """Note a request and say what shall happen to it; for the serving threads."""
        if self.latency:
            time.sleep(self.latency)
        with self._lock:
            self.requests.append(request)
            for fault in self._faults:
                if fault.left > 0 and fault.match in request:
                    fault.left -= 1
                    return fault.verdict
        return Verdict()

    def _add_fault(self, fault: _Fault) -> None:
        with self._lock:
            self._faults.append(fault)

    def _run(self, *arguments: str) -> None:
        subprocess.run([self._git, *arguments], env=self._environment, check=True, capture_output=True)


def _find_git() -> str:
    git = shutil.which("git")
    if git is None:
        raise MissingRealPart("git is not on the PATH: install git 2.38 or newer")
    where = subprocess.run([git, "--exec-path"], capture_output=True, text=True, check=True)
    if not (Path(where.stdout.strip()) / "git-http-backend").exists():
        raise MissingRealPart(
            "this git has no http-backend: install the package of your system that brings it "
            "(git itself on Debian and macOS, git-daemon on Alpine)"
        )
    return git


def _clean_environment() -> dict[str, str]:
    """Return this program's environment without any git setting of the user or the system."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
