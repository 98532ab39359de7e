"""Servers that are no API servers, or misbehave: that cluster alone is unreachable, with the cause as the reason."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from gitfleet.adapters.kube.client import KubeClient
from gitfleet.adapters.kube.http_transport import HttpTransport
from gitfleet.adapters.kube.logins import Endpoint, FixedLogin, Login
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.adapters.kube.wire import Timeouts, Wire
from gitfleet.adapters.texts import AdaptersText
from gitfleet.api.objects import ObjectKey
from tests.adapters.kube.stub import serving
from tests.adapters.kube.test_wire import wire
from tests.texts import part

POD = ObjectKey("", "v1", "ConfigMap", "web", "settings")
QUICK = Timeouts(connect_seconds=5.0, read_seconds=0.5, response_seconds=1.0, tries=1)


@contextmanager
def answering(head: bytes, body: bytes, *, drip: bool = False, hang: bool = False) -> Iterator[str]:
    """A server that sends the same bytes to every connection."""
    listener = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def answer(connection: socket.socket) -> None:
        with connection:
            try:
                connection.recv(65536)
                connection.sendall(head)
                if hang:
                    over.wait()
                for byte in body if drip else ():
                    connection.sendall(bytes([byte]))
                    if over.wait(0.05):
                        return
                connection.sendall(b"" if drip or hang else body)
            except OSError:
                pass  # the client has gone, as it should

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def head(*lines: str, length: int | None = None, status: str = "200 OK") -> bytes:
    size = [] if length is None else [f"Content-Length: {length}"]
    return "\r\n".join([f"HTTP/1.1 {status}", "Connection: close", *size, *lines, "", ""]).encode()


def _gave(what: str) -> str:
    """The middle of the sentence, which names no cluster and no path."""
    return KubeText.API_SERVER_GAVE_INSTEAD_JSON(name="|", what=what, asked="|").split("|")[1]


def _none(why: str) -> str:
    return KubeText.ANSWERS_API_SERVER_NONE(wire="c1", why=why)


HTML = b"<!DOCTYPE html><title>Please log in</title>"
LOST = b'{"kind": "Status", "status": "Failure", "reason": "NotFound", "message": "cluster c1 not found", "code": 404}'
BOMB = gzip.compress(bytes(50 << 20))
STRANGE = {
    "HTML": (head("Content-Type: text/html", length=len(HTML)), HTML, {}, _gave("HTML")),
    "bad JSON": (head(length=9), b'{"items":', {}, _gave("something else")),
    "no object": (head(length=2), b"[]", {}, _gave("no object")),
    "100 MB": (head(length=100 << 20), bytes(100 << 20), {}, part(KubeText.RESPONSE_LARGER_MIB)),
    "without end": (head(), b" " * (80 << 20), {}, part(KubeText.RESPONSE_LARGER_MIB)),
    "a bomb": (head("Content-Encoding: gzip", length=len(BOMB)), BOMB, {}, "compressed"),
    "drips": (head(length=10_000), b" " * 10_000, {"drip": True}, "no whole response within 1 s"),
    "drips its headers": (b"", head(length=2) + b"{}", {"drip": True}, "no whole response within 1 s"),
    "hangs after headers": (head(length=100), b"", {"hang": True}, AdaptersText.NO_RESPONSE_WITHIN(seconds=0.5)),
    "a redirect": (head("Location: http://evil.example/", length=0, status="302 Found"), b"", {}, _gave("a redirect")),
    "bad chunks": (head("Transfer-Encoding: chunked"), b"zz\r\nnonsense\r\n", {}, AdaptersText.CONNECTION_BROKE_OFF()),
    "cut short": (head(length=100), b"{", {}, AdaptersText.CONNECTION_BROKE_OFF()),
    "no HTTP": (b"SSH-2.0-OpenSSH_9.2\r\n", b"", {}, AdaptersText.CONNECTION_BROKE_OFF()),
    "404": (head(length=20, status="404 Not Found"), b"404 page not found\n\n", {}, _none("404 page not found")),
    "404 as a Status": (head(length=len(LOST), status="404 Not Found"), LOST, {}, _none("")),
    "nothing": (head(length=2), b"{}", {}, part(KubeText.API_SERVER_GAVE_JSON_ANOTHER)),
    "a wrong kind": (head(length=27), b'{"kind":"Secret","items":3}', {}, part(KubeText.API_SERVER_GAVE_JSON_ANOTHER)),
}


@pytest.mark.parametrize("name", STRANGE)
def test_a_strange_server_is_unreachable_for_a_reason(name: str) -> None:
    first, body, manner, reason = STRANGE[name]
    with answering(first, body, **manner) as url:
        wire = Wire("c1", HttpTransport(Endpoint(server=url), FixedLogin(Login()), timeouts=QUICK), timeouts=QUICK)
        seen = KubeClient("c1", wire, parallel=1).observe([POD])
    assert not seen.reachable and reason in seen.error, seen
    assert not seen.live, "nothing is taken as gone"


def test_the_identity_of_a_server_that_lists_no_namespaces_is_read_once() -> None:
    system = '{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"kube-system","uid":"u1"}}'
    with serving() as stub:
        stub.replies = [(200, "ok", {}), (403, "{}", {}), (200, system, {}), (200, "ok", {}), (403, "{}", {})]
        client = KubeClient("c1", wire(stub))
        assert [client.observe(()).server for _ in range(2)] == ["u1", "u1"]
        assert [path for _, path, _ in stub.seen if path.endswith("kube-system")] == ["/api/v1/namespaces/kube-system"]
