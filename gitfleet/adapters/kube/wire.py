"""Requests to one API server: the official client's connections, time limits, size limits, and patience with a busy
server. Nothing above this module knows HTTP."""

from __future__ import annotations

import contextlib
import random
import ssl
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import urllib3
from kubernetes.client import ApiClient, Configuration

from gitfleet import __version__
from gitfleet.adapters.kube.logins import Login, LoginSource
from gitfleet.errors import ClusterUnreachable
from gitfleet.formats.masking import masked

MIB: Final = 1024 * 1024
APPLY_PATCH: Final = "application/apply-patch+yaml"
JSON: Final = "application/json"
_BUSY: Final = frozenset({429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where an API server is and whom to trust there. `authority` is a PEM text, None for the machine's own."""

    server: str
    authority: str | None = field(default=None, repr=False)
    server_name: str | None = None
    insecure: bool = False
    proxy: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Limits in seconds and tries. A read that timed out is not tried again here: the next reconcile is soon enough."""

    connect_seconds: float = 5.0
    read_seconds: float = 20.0
    tries: int = 3
    first_pause_seconds: float = 0.1
    longest_pause_seconds: float = 2.0


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer, whatever its status."""

    status: int
    body: bytes = field(repr=False)

    @property
    def ok(self) -> bool:
        """Whether the server did it."""
        return 200 <= self.status < 300

    def text(self) -> str:
        """The beginning of the body, for people."""
        return self.body[:1024].decode(errors="replace").strip()


class Wire:
    """Sends requests to one API server; may be used by several threads."""

    def __init__(
        self,
        name: str,
        endpoint: Endpoint,
        login: LoginSource,
        *,
        parallel: int = 8,
        patience: Patience | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name = name
        self.refused = False
        """Set when the server refused every login: whoever made this wire should look for newer credentials."""
        self._endpoint = endpoint
        self._source = login
        self._parallel = parallel
        self._patience = patience or Patience()
        self._pause = pause
        self._lock = threading.Lock()
        self._login: Login | None = None
        self._client: ApiClient | None = None

    def send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        *,
        body: bytes | None = None,
        content_type: str = JSON,
        accept: str = JSON,
        limit: int = 8 * MIB,
    ) -> Answer:
        """One request, tried again while the server is busy or its connection breaks: only send what may be sent twice.

        `path` is already quoted. ClusterUnreachable when no answer came; an answer larger than `limit` bytes counts as
        status 413. MissingPart or Forbidden when there is no login to send.
        """
        url = self._endpoint.server.rstrip("/") + path + (f"?{urlencode(query)}" if query else "")
        renewed = False
        tries = self._patience.tries
        while True:
            tries -= 1
            client, login = self._connected()
            headers = {"User-Agent": f"gitfleet/{__version__}", "Accept": accept, **login.headers}
            if body is not None:
                headers["Content-Type"] = content_type
            try:
                answer, wait = self._once(client, method, url, headers, body, limit)
            except (urllib3.exceptions.HTTPError, OSError) as error:
                if tries > 0 and _is_passing(error):
                    self._pause(self._next_pause(tries, None))
                    continue
                raise ClusterUnreachable(self._sentence(error)) from error
            if answer.status == 401 and not renewed:
                renewed = True
                if self._renew(login):
                    continue
            self.refused = answer.status == 401
            if tries > 0 and answer.status in _BUSY and not _is_verdict(answer):
                self._pause(self._next_pause(tries, wait))
                continue
            return answer

    @property
    def server(self) -> str:
        """The URL of the API server."""
        return self._endpoint.server

    def close(self) -> None:
        """Let connections go."""
        with self._lock:
            if self._client is not None:
                self._client.rest_client.pool_manager.clear()
                self._client = None

    def _once(
        self, client: ApiClient, method: str, url: str, headers: Mapping[str, str], body: bytes | None, limit: int
    ) -> tuple[Answer, str | None]:
        patience = self._patience
        response = client.rest_client.pool_manager.request(
            method,
            url,
            headers=headers,
            body=body,
            preload_content=False,
            retries=False,
            redirect=False,  # a redirect would carry the credentials to somebody else
            timeout=urllib3.Timeout(connect=patience.connect_seconds, read=patience.read_seconds),
        )
        try:
            content = response.read(limit + 1, decode_content=True)
            if len(content) > limit:
                response.close()
                return Answer(413, f"the answer is larger than {limit // MIB} MiB".encode()), None
            return Answer(response.status, content), response.headers.get("Retry-After")
        finally:
            response.release_conn()

    def _connected(self) -> tuple[ApiClient, Login]:
        with self._lock:
            login = self._source.current()
            old = self._login
            if self._client is None or old is None or (old.certificate, old.key) != (login.certificate, login.key):
                if self._client is not None:
                    self._client.rest_client.pool_manager.clear()
                self._client = connect(self._endpoint, login, self._parallel)
            self._login = login
            return self._client, login

    def _renew(self, login: Login) -> bool:
        with self._lock:
            # Another thread may have renewed it meanwhile.
            return self._login is not login or self._source.renew()

    def _next_pause(self, tries_left: int, wait: str | None) -> float:
        patience = self._patience
        step = patience.tries - tries_left - 1
        pause: float = patience.first_pause_seconds * 2.0**step * (0.5 + random.random())
        if wait is not None and wait.isdigit():
            pause = max(pause, float(wait))
        return min(pause, patience.longest_pause_seconds)

    def _sentence(self, error: Exception) -> str:
        """Why no answer came, in words that are the same each time, so that the same fault makes no new commit."""
        reason = getattr(error, "reason", None)
        cause = reason if isinstance(reason, Exception) else error
        match cause:
            case urllib3.exceptions.NameResolutionError():
                why = "its host name cannot be resolved"
            case urllib3.exceptions.NewConnectionError():
                why = "connection refused" if "refused" in str(cause) else "no connection"
            case urllib3.exceptions.ConnectTimeoutError():
                why = f"no connection within {self._patience.connect_seconds:g} s"
            case urllib3.exceptions.ReadTimeoutError():
                why = f"no answer within {self._patience.read_seconds:g} s"
            case urllib3.exceptions.SSLError() | ssl.SSLError():
                why = masked(f"its TLS certificate or ours was not accepted: {_tls_reason(cause)}")
            case urllib3.exceptions.ProtocolError():
                why = "the connection broke off"
            case _:
                why = f"the connection failed ({type(cause).__name__})"
        return f"the API server of {self.name} did not answer: {why}"


def connect(endpoint: Endpoint, login: Login, parallel: int) -> ApiClient:
    """A client of the official package for one server and one login; certificates are given to it in memory."""
    configuration = Configuration()
    configuration.host = endpoint.server
    configuration.verify_ssl = not endpoint.insecure
    configuration.tls_server_name = endpoint.server_name
    configuration.connection_pool_maxsize = parallel
    configuration.assert_hostname = None
    if endpoint.proxy is not None:
        configuration.proxy = endpoint.proxy
    client = ApiClient(configuration)
    if endpoint.server.startswith("https:"):
        client.rest_client.pool_manager.connection_pool_kw["ssl_context"] = _context(endpoint, login)
    return client


def _context(endpoint: Endpoint, login: Login) -> ssl.SSLContext:
    if endpoint.insecure:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    else:
        context = ssl.create_default_context(cadata=endpoint.authority)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if login.certificate is not None:
        # The ssl module reads certificates from files only: written where nobody else reads, gone at once.
        with tempfile.TemporaryDirectory(prefix="gitfleet-") as folder:
            path = Path(folder) / "login.pem"
            path.touch(mode=0o600)
            path.write_text(f"{login.certificate}\n{login.key or ''}\n", encoding="ascii")
            context.load_cert_chain(path)
    return context


def _is_passing(error: Exception) -> bool:
    """Whether a broken connection may be whole a moment later. A wrong certificate or host name will not be, and a
    server that lets us wait is not asked again at once."""
    if isinstance(error, urllib3.exceptions.NewConnectionError):
        return not isinstance(error, urllib3.exceptions.NameResolutionError)
    lasting = (urllib3.exceptions.SSLError, ssl.SSLError, urllib3.exceptions.TimeoutError)
    return not isinstance(error, lasting)


def _is_verdict(answer: Answer) -> bool:
    """Whether a 500 is a judgement on the request itself, which another try would only repeat."""
    return answer.status == 500 and b"failed to create typed patch object" in answer.body


def _tls_reason(error: Any) -> str:
    inner = error
    with contextlib.suppress(IndexError, AttributeError):
        inner = error.args[0]
    return str(getattr(inner, "verify_message", None) or getattr(inner, "reason", None) or type(error).__name__)
