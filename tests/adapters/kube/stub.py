"""A server that answers what it is told to, for faults that a real one does not give on demand."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Reply = tuple[int, str, dict[str, str]]


@dataclass
class Stub:
    """`replies` are given in order, the last one again and again; `seen` is what was asked for, `bodies` with what."""

    url: str = ""
    replies: list[Reply] = field(default_factory=list)
    seen: list[tuple[str, str, str]] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)


@contextmanager
def serving() -> Iterator[Stub]:
    """A stub server on this machine for the length of a block."""
    stub = Stub()

    class Handler(BaseHTTPRequestHandler):
        def result(self) -> None:
            stub.bodies.append(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())
            stub.seen.append((self.command, self.path, self.headers.get("Authorization", "")))
            status, body, headers = stub.replies.pop(0) if len(stub.replies) > 1 else stub.replies[0]
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body.encode())), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body.encode())

        do_GET = do_PATCH = do_PUT = do_DELETE = result  # noqa: N815 - the names that http.server calls

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in http.server
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
