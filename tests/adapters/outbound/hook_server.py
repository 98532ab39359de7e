"""A real receiver of webhooks that does as it is told: answers, hangs, breaks off, redirects, or never ends."""

from __future__ import annotations

import ssl
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class HookServer:
    """`way` is how requests are answered: `answer` (with `status`, `headers` and `body`), `hang`, `drip` (a byte each
    tenth of a second), `close` (no answer) or `endless`. `got` has each request, `done` how often each idempotency key
    made it do something, which is once."""

    port: int = 0
    scheme: str = "http"
    way: str = "answer"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b"ok"
    got: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)
    released: threading.Event = field(default_factory=threading.Event)

    @property
    def host(self) -> str:
        """As --allow-webhooks takes it."""
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """Where webhooks go."""
        return f"{self.scheme}://{self.host}/hook"


@contextmanager
def hook_server(context: ssl.SSLContext | None = None) -> Iterator[HookServer]:
    """A server on the loopback address, which what hangs in it does not keep from ending."""
    hooks = HookServer()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hooks": hooks}))
    server.daemon_threads, server.block_on_close = True, False
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        hooks.scheme = "https"
    hooks.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield hooks
    finally:
        hooks.released.set()
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    hooks: HookServer

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def _answer(self) -> None:
        hooks = self.hooks
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        hooks.got.append((f"{self.command} {self.path}", headers, body))
        key = headers.get("idempotency-key", "")
        hooks.done[key] = hooks.done[key] or 1
        way = hooks.way
        if way == "hang":
            hooks.released.wait(60)
        if way in ("hang", "close"):
            self.close_connection = True
            return
        self.send_response(hooks.status)
        for name, value in hooks.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if way == "answer":
            self.wfile.write(hooks.body)
        while way in ("drip", "endless") and not hooks.released.is_set():
            self.wfile.write(b"x" if way == "drip" else b"x" * 65536)
            self.wfile.flush()
            time.sleep(0.1 if way == "drip" else 0)

    def handle(self) -> None:
        with suppress(OSError):  # whoever asked may have gone
            super().handle()

    def log_message(self, *_: Any) -> None:
        pass
