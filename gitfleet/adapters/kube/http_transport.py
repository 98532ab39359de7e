"""The transport to a real API server: the connections of the official client, with the login and time limits."""

from __future__ import annotations

import io
import socket
import ssl
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlencode

import urllib3
from kubernetes.client import ApiClient, Configuration

from gitfleet.adapters.bounded_reads import pools_with_limit, read_body, why_no_response
from gitfleet.adapters.clock import SystemClock
from gitfleet.adapters.kube.logins import Endpoint, Login, LoginSource
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.adapters.kube.wire import MIB, Timeouts
from gitfleet.errors import BadInput, MissingPart, NoResponse
from gitfleet.formats.canonical_json import json_bytes
from gitfleet.ports.transport import OpenStream, Request, Response

T = TypeVar("T")


class HttpTransport:
    """Transport over HTTP. A login that the server refuses is renewed once for each request."""

    def __init__(
        self, endpoint: Endpoint, login: LoginSource, *, parallel: int = 8, timeouts: Timeouts | None = None
    ) -> None:
        self._endpoint = endpoint
        self._source = login
        self._parallel = parallel
        self._timeouts = timeouts or Timeouts()
        self._lock = threading.Lock()
        self._login: Login | None = None
        self._client: ApiClient | None = None

    @property
    def server(self) -> str:
        """Transport.server."""
        return self._endpoint.server

    def request(self, request: Request) -> Response:
        """Transport.request."""
        return self._renewing(self._once, request)

    def stream(self, request: Request) -> Response | OpenStream:
        """Streaming.stream."""
        return self._renewing(self._begun, request)

    def close(self) -> None:
        """Transport.close. A login that is under way is not waited for, since its plug-in may hang: its connections go
        with the object. What streams goes on."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            if self._client is not None:
                self._client.rest_client.pool_manager.clear()
                self._client = None
        finally:
            self._lock.release()

    def _renewing(self, send: Callable[[ApiClient, Login, Request], T], request: Request) -> T:
        client, login = self._connected()
        try:
            response = send(client, login, request)
            if isinstance(response, Response) and response.status == 401 and self._renew(login):
                response = send(*self._connected(), request)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            why = why_no_response(error, self._timeouts.connect_seconds, self._timeouts.read_seconds)
            raise NoResponse(why, passing=_is_passing(error)) from error
        return response

    def _once(self, client: ApiClient, login: Login, request: Request) -> Response:
        return self._whole(self._sent(client, login, request), request.limit)

    def _begun(self, client: ApiClient, login: Login, request: Request) -> Response | OpenStream:
        response = self._sent(connect(self._endpoint, login, 1, self._timeouts, like=client), login, request)
        sock = getattr(response.connection, "sock", None)
        if response.status != 200 or not isinstance(sock, socket.socket):
            return self._whole(response, request.limit)
        chunked = "chunked" in response.headers.get("Transfer-Encoding", "").lower()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        return OpenStream(sock, chunked, partial(_end, sock, response))

    def _sent(self, client: ApiClient, login: Login, request: Request) -> urllib3.BaseHTTPResponse:
        query = f"?{urlencode(request.query)}" if request.query else ""
        timeouts = self._timeouts
        sent: urllib3.BaseHTTPResponse = client.rest_client.pool_manager.request(
            request.method,
            self._endpoint.server.rstrip("/") + request.path + query,
            headers={**request.headers, **login.headers},
            body=None if request.body is None else json_bytes(request.body),
            preload_content=False,
            retries=False,
            redirect=False,  # a redirect would carry the credentials to somebody else
            timeout=urllib3.Timeout(connect=timeouts.connect_seconds, read=timeouts.read_seconds),
        )
        return sent

    def _whole(self, response: urllib3.BaseHTTPResponse, limit: int) -> Response:
        try:
            content = read_body(response, limit + 1)
            if len(content) > limit:
                response.close()
                return Response(413, KubeText.RESPONSE_LARGER_MIB(limit=limit // MIB).encode())
            return Response(response.status, content, response.headers)
        finally:
            response.release_conn()

    def _connected(self) -> tuple[ApiClient, Login]:
        with self._lock:
            login = self._source.current()
            old = self._login
            if self._client is None or old is None or (old.certificate, old.key) != (login.certificate, login.key):
                if self._client is not None:
                    self._client.rest_client.pool_manager.clear()
                self._client = connect(self._endpoint, login, self._parallel, self._timeouts)
            self._login = login
            return self._client, login

    def _renew(self, login: Login) -> bool:
        with self._lock:
            # Another thread may have renewed it meanwhile.
            return self._login is not login or self._source.renew()


def _end(sock: socket.socket, response: urllib3.BaseHTTPResponse) -> None:
    sock.close()
    response.close()


def connect(
    endpoint: Endpoint, login: Login, parallel: int, timeouts: Timeouts, *, like: ApiClient | None = None
) -> ApiClient:
    """A client of the official package for one server and one login; certificates are given to it in memory.

    `like` is another one for them: with it, the new one is for one response of which nothing is read ahead.
    """
    configuration = Configuration()
    configuration.host = endpoint.server
    configuration.verify_ssl = not endpoint.insecure
    configuration.tls_server_name = endpoint.server_name
    configuration.connection_pool_maxsize = parallel
    configuration.assert_hostname = None
    if endpoint.proxy is not None:
        configuration.proxy = endpoint.proxy
    client = ApiClient(configuration)
    buffered = io.DEFAULT_BUFFER_SIZE if like is None else 1
    pools = pools_with_limit(timeouts.response_seconds, SystemClock().monotonic, buffered=buffered)
    client.rest_client.pool_manager.pool_classes_by_scheme = pools
    if endpoint.server.startswith("https:"):
        context = like.rest_client.pool_manager.connection_pool_kw["ssl_context"] if like is not None else None
        client.rest_client.pool_manager.connection_pool_kw["ssl_context"] = context or _context(endpoint, login)
    return client


def _context(endpoint: Endpoint, login: Login) -> ssl.SSLContext:
    try:
        return _checked_context(endpoint, login)
    except (ssl.SSLError, ValueError) as error:
        hint = KubeText.CORRECT_CERTIFICATE_AUTHORITY_DATA()
        raise BadInput(KubeText.CERTIFICATES_KUBECONFIG_CANNOT_USED(), hint=hint) from error
    except OSError as error:
        hint = KubeText.SET_TMPDIR_FOLDER_WRITTEN()
        raise MissingPart(
            KubeText.CLIENT_CERTIFICATE_NEEDS_TEMPORARY_DIRECTORY(strerror=error.strerror), hint=hint
        ) from error


def _checked_context(endpoint: Endpoint, login: Login) -> ssl.SSLContext:
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
            context.load_cert_chain(path, password=lambda: "")  # otherwise OpenSSL asks the terminal for one
    return context


def _is_passing(error: Exception) -> bool:
    """Whether a broken connection may be whole a moment later. A wrong certificate or host name will not be, and a
    server that lets us wait is not asked again at once."""
    if isinstance(error, urllib3.exceptions.NewConnectionError):
        return not isinstance(error, urllib3.exceptions.NameResolutionError)
    lasting = (urllib3.exceptions.SSLError, ssl.SSLError, urllib3.exceptions.TimeoutError)
    return not isinstance(error, lasting)
