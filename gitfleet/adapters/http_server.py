"""A small HTTP server for probes, metrics and webhooks, which anybody may reach.

Each connection has a thread, one request and a deadline; a head of 16 KiB and a body of 1 MiB are the most that is
read, and only with a Content-Length. Where too many connections are open the oldest is ended, so that clients that are
slow on purpose keep no probe from being answered. What a handler raises is a 500 without its words.
"""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, BinaryIO, Final, cast

from gitfleet.adapters.texts import AdaptersText
from gitfleet.errors import BadInput
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.ports.http import HttpHandler, HttpRequest, HttpResponse, sentence_response

log = logging.getLogger(__name__)
MOST_CONNECTIONS: Final = 32
SECONDS: Final = 10.0
"""From the connection to the end of the response."""
IDLE_SECONDS: Final = 5.0
"""So long one read or write may take."""
MOST_HEAD_BYTES: Final = 16 * 1024
MOST_BODY_BYTES: Final = 1024 * 1024
_MOST_DISCARDED: Final = 4 * MOST_BODY_BYTES
"""So much of a body that is too large is read and dropped: a client that is cut off while it sends sees no answer."""


class HttpServer:
    """Serves one handler on one address, in threads of its own, from `start` until `stop`."""

    def __init__(self, host: str, port: int, handler: HttpHandler, monotonic: Callable[[], float]) -> None:
        """BadInput where the address cannot be had. Port 0 takes a free one."""
        try:
            self._server = _Server(host, port, handler, monotonic)
        except (OSError, OverflowError) as error:
            why = error.strerror or str(error) if isinstance(error, OSError) else AdaptersText.NO_SUCH_PORT()
            raise BadInput(f"--listen {_shown(host, port)}: {why}", hint=AdaptersText.NAME_ANOTHER_PORT()) from error
        self._thread = threading.Thread(target=self._server.serve_forever, name="http", daemon=True)

    @property
    def address(self) -> str:
        """ADDRESS:PORT as it is bound."""
        return _shown(*self._server.server_address[:2])

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """Take no more connections; those that are open end with the process or at their deadline."""
        self._server.shutdown()
        self._server.server_close()


def _shown(host: Any, port: Any) -> str:
    return f"[{host}]:{port}" if ":" in str(host) else f"{host}:{port}"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, host: str, port: int, handler: HttpHandler, monotonic: Callable[[], float]) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.handler, self._monotonic = handler, monotonic
        self._open: dict[socket.socket, float] = {}
        self._lock = threading.Lock()
        super().__init__((host, port), _Connection)

    def server_bind(self) -> None:
        """Without the look-up of this machine's name that the standard library makes here."""
        socket.socket.setsockopt(self.socket, socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            if len(self._open) >= MOST_CONNECTIONS:
                _end(next(iter(self._open)))
            self._open[request] = self._monotonic()
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def service_actions(self) -> None:
        """Called about twice a second: ends what is past its deadline."""
        now = self._monotonic()
        with self._lock:
            for connection, since in self._open.items():
                if now - since > SECONDS:
                    _end(connection)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went, or sent what is no HTTP: not worth a line of the log."""
        log.debug(AdaptersText.CONNECTION_ENDED_ERROR(), exc_info=True)


def _end(connection: socket.socket) -> None:
    """Let whoever reads or writes there see the end; the thread of the connection closes it."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


class _Head:
    """The lines of a request's head, as far as they are read; `left` is 0 once they are too long."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.left = file, MOST_HEAD_BYTES
        self.close = file.close

    def readline(self, size: int = -1) -> bytes:
        line = self.file.readline(self.left if size < 0 else min(size, self.left))
        self.left -= len(line)
        return line


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # which answers `Expect: 100-continue`
    timeout = IDLE_SECONDS

    def setup(self) -> None:
        super().setup()
        self.head = _Head(cast(BinaryIO, self.rfile))
        self.rfile = cast(Any, self.head)

    def _answer(self) -> None:
        body = self._body()
        if isinstance(body, HttpResponse):
            self._respond(body)
            return
        headers = {name.lower(): value for name, value in reversed(self.headers.items())}  # the first of a name counts
        request = HttpRequest(method=self.command, path=self.path.partition("?")[0], headers=headers, body=body)
        handler = cast(_Server, self.server).handler
        response = attempt(Subject("request", request.path), handler, request)
        if isinstance(response, Failure):
            log.error("%s", response.report)
            response = sentence_response(500, AdaptersText.INTERNAL_ERROR())
        self._respond(response)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_OPTIONS = do_PATCH = _answer  # noqa: N815 - the library's names

    def _body(self) -> bytes | HttpResponse:
        """The whole body, or why it is not read."""
        if not self.head.left:
            return sentence_response(431, AdaptersText.HEAD_TOO_LARGE())
        length = self.headers.get("Content-Length")
        if "Transfer-Encoding" in self.headers or (length is None and self.command == "POST"):
            return sentence_response(411, AdaptersText.CONTENT_LENGTH_NEEDED())
        if length is None:
            return b""
        if not (length.isascii() and length.isdigit() and len(length) < 16):
            return sentence_response(400, AdaptersText.REQUEST_CANNOT_READ())
        if int(length) > MOST_BODY_BYTES:
            self._discard(min(int(length), _MOST_DISCARDED))
            return sentence_response(413, AdaptersText.BODY_LARGER(most=MOST_BODY_BYTES))
        body = self.head.file.read(int(length))
        return body if len(body) == int(length) else sentence_response(400, AdaptersText.REQUEST_CANNOT_READ())

    def _discard(self, remaining: int) -> None:
        while remaining > 0 and (read := self.head.file.read(min(remaining, 65536))):
            remaining -= len(read)

    def _respond(self, response: HttpResponse) -> None:
        self.close_connection, self.request_version = True, self.protocol_version
        self.send_response(response.status)
        named = {
            "Content-Type": response.content_type,
            "Content-Length": str(len(response.body)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Connection": "close",
            **response.headers,
        }
        for name, value in named.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the standard library refuses by itself: without a page that repeats the request."""
        self.command = getattr(self, "command", None) or "GET"
        self._respond(sentence_response(int(code), AdaptersText.REQUEST_CANNOT_READ()))

    def version_string(self) -> str:
        """The header `Server`, without versions."""
        return "gitfleet"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name that the standard library has
        """Nothing: who asks is no event."""
