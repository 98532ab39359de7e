"""One HTTP request handed to ``git http-backend`` (a CGI program), streamed both ways."""

from __future__ import annotations

import base64
import binascii
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from pathlib import Path
from typing import IO, Any, Protocol
from urllib.parse import unquote, urlsplit

_BLOCK = 64 * 1024
_IDLE_SECONDS = 60
# git asks "may I?" with an empty push of this many bytes before it sends a large one.
_PROBE_LENGTH = "4"


@dataclass(frozen=True)
class Verdict:
    """What shall happen to a request: nothing special, a bare status, or no answer."""

    status: int | None = None
    lose_answer: bool = False


class GitHost(Protocol):
    """What the handler asks of the server that it works for."""

    root: Path
    before_receive_pack: Callable[[Path], None] | None

    @property
    def logins(self) -> Mapping[str, str]:
        """Every user with a password; nobody needs one where there is none."""

    def judge(self, request: str) -> Verdict:
        """Say what shall happen to ``"<method> <path and query>"``."""


class GitCgiServer(ThreadingHTTPServer):
    """A loopback HTTP server, a thread for each connection, that runs ``backend``."""

    daemon_threads = True

    def __init__(self, host: GitHost, backend: list[str], environment: dict[str, str]) -> None:
        super().__init__(("127.0.0.1", 0), GitHandler)
        self.host = host
        self.backend = backend
        self.environment = environment

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Show what went wrong here, such as in a hook of the test, but not a lost client."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class GitHandler(BaseHTTPRequestHandler):
    """Turns one HTTP request into one run of the backend."""

    protocol_version = "HTTP/1.1"
    timeout = _IDLE_SECONDS
    disable_nagle_algorithm = True
    wbufsize = _BLOCK

    def do_GET(self) -> None:
        """Serve what refs there are."""
        self._serve()

    def do_POST(self) -> None:
        """Serve a fetch or a push."""
        self._serve()

    def log_message(self, *_: object) -> None:
        """Say nothing: tests read ``requests`` instead."""

    def _serve(self) -> None:
        server = self.server
        assert isinstance(server, GitCgiServer)
        verdict = server.host.judge(f"{self.command} {self.path}")
        if verdict.status is not None:
            self._refuse(verdict.status)
        elif server.host.logins and self._user(server.host.logins) is None:
            self._refuse(401, ("WWW-Authenticate", 'Basic realm="git"'))
        else:
            self._warn_of_push(server.host)
            self._run_backend(server, lose_answer=verdict.lose_answer)

    def _user(self, logins: Mapping[str, str]) -> str | None:
        """Who asks, by basic authentication; None for nobody who is known."""
        kind, _, value = self.headers.get("Authorization", "").partition(" ")
        try:
            user, _, password = base64.b64decode(value, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            return None
        return user if kind.lower() == "basic" and logins.get(user) == password else None

    def _refuse(self, status: int, *headers: tuple[str, str]) -> None:
        """Answer by a bare status; the body is read first, as the client may not listen before."""
        for _ in self._body():
            pass
        body = b"refused by the test\n"
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _warn_of_push(self, host: GitHost) -> None:
        path = unquote(urlsplit(self.path).path)
        is_push = self.command == "POST" and path.endswith("/git-receive-pack")
        is_probe = self.headers.get("Content-Length") == _PROBE_LENGTH
        if is_push and not is_probe and host.before_receive_pack is not None:
            repository = path.removesuffix("/git-receive-pack").lstrip("/")
            host.before_receive_pack(host.root / repository)

    def _run_backend(self, server: GitCgiServer, *, lose_answer: bool) -> None:
        with subprocess.Popen(
            server.backend,
            env=server.environment | self._cgi_environment(server.host),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as backend:
            assert backend.stdin is not None
            assert backend.stdout is not None
            feeder = threading.Thread(target=self._feed, args=(backend.stdin,), daemon=True)
            feeder.start()
            try:
                if lose_answer:
                    backend.stdout.read()
                    self.close_connection = True
                else:
                    self._answer(backend.stdout)
            except OSError:  # The client is gone.
                self.close_connection = True
                backend.kill()
            feeder.join(_IDLE_SECONDS)

    def _feed(self, sink: IO[bytes]) -> None:
        """Hand the body on; when git stops reading early, read the client's bytes anyway."""
        body = self._body()
        try:
            with suppress(BrokenPipeError), sink:
                for block in body:
                    sink.write(block)
            for _ in body:
                pass
        except (OSError, ValueError):  # The client is gone, or its chunks make no sense.
            self.close_connection = True

    def _body(self) -> Iterator[bytes]:
        """Yield the request's body, which may have a length, come in chunks, or be absent."""
        source = self.rfile
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            while size := int(source.readline().split(b";")[0], 16):
                yield from _blocks(source, size)
                source.readline()
            while source.readline().strip():
                pass
        else:
            yield from _blocks(source, int(self.headers.get("Content-Length") or 0))

    def _cgi_environment(self, host: GitHost) -> dict[str, str]:
        url = urlsplit(self.path)
        environment = {
            "GIT_PROJECT_ROOT": str(host.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": unquote(url.path),
            "QUERY_STRING": url.query,
            "REQUEST_METHOD": self.command,
            "REMOTE_ADDR": self.client_address[0],
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
        }
        if (user := self._user(host.logins)) is not None:
            environment["REMOTE_USER"] = user
        passed_on = {
            "Content-Length": "CONTENT_LENGTH",
            "Content-Encoding": "HTTP_CONTENT_ENCODING",
            "Git-Protocol": "HTTP_GIT_PROTOCOL",
        }
        for header, variable in passed_on.items():
            if header in self.headers:
                environment[variable] = self.headers[header]
        if "HTTP_GIT_PROTOCOL" in environment:
            environment["GIT_PROTOCOL"] = environment["HTTP_GIT_PROTOCOL"]
        return environment

    def _answer(self, source: IO[bytes]) -> None:
        """Send the backend's output, chunk by chunk as it comes."""
        status, headers = 200, []
        while line := source.readline().rstrip(b"\r\n").decode("latin-1"):
            name, _, value = line.partition(":")
            if name.lower() == "status":
                status = int(value.split()[0])
            else:
                headers.append((name, value.strip()))
        self.send_response(status if headers else 500)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while block := _some(source):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(block), block))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()


def _some(source: IO[bytes]) -> bytes:
    """Return what is there, waiting only when nothing is."""
    read_some: Callable[[int], bytes] = getattr(source, "read1", source.read)
    return read_some(_BLOCK)


def _blocks(source: BufferedIOBase, length: int) -> Iterator[bytes]:
    while length > 0 and (block := source.read(min(length, _BLOCK))):
        length -= len(block)
        yield block
