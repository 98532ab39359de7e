"""The server is for anybody: limits on what it reads, slow clients, words of a handler that failed, its address."""

from __future__ import annotations

import http.client
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from gitfleet.adapters import http_server
from gitfleet.adapters.http_server import MOST_BODY_BYTES, MOST_CONNECTIONS, HttpServer
from gitfleet.errors import BadInput
from gitfleet.ports.http import HttpRequest, HttpResponse, sentence_response


def answer(request: HttpRequest) -> HttpResponse:
    """Says what it was asked; /broken fails with words that nobody may see."""
    if request.path == "/broken":
        raise ValueError("hunter2")
    return sentence_response(200, f"{request.method} {request.path} {len(request.body)} {request.headers.get('x-a')}")


@pytest.fixture
def server() -> Iterator[HttpServer]:
    running = HttpServer("127.0.0.1", 0, answer, time.monotonic)
    running.start()
    yield running
    running.stop()


def connect(server: HttpServer) -> socket.socket:
    host, port = server.address.rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=20)


def ask(server: HttpServer, method: str, path: str, **more: Any) -> tuple[int, str]:
    connection = http.client.HTTPConnection(server.address, timeout=20)
    connection.request(method, path, **more)
    response = connection.getresponse()
    return response.status, response.read().decode()


def raw(server: HttpServer, sent: bytes) -> bytes:
    """The first line of what comes back, b"" when the connection only ends."""
    with connect(server) as client:
        client.sendall(sent)
        received = b""
        while read := client.recv(65536):
            received += read
    return received.split(b"\r\n")[0]


def test_a_request_is_answered_once_and_the_connection_ends(server: HttpServer) -> None:
    assert ask(server, "GET", "/x?token=hidden", headers={"X-A": "1"}) == (200, "GET /x 0 1\n")
    assert ask(server, "POST", "/x", body=b"abc") == (200, "POST /x 3 None\n")
    assert ask(server, "HEAD", "/x") == (200, "")
    twice = b"GET /one HTTP/1.1\r\n\r\nGET /two HTTP/1.1\r\n\r\n"
    with connect(server) as client:
        client.sendall(twice)
        received = b""
        while read := client.recv(65536):
            received += read
    assert received.count(b"HTTP/1.1 200") == 1


def test_a_defect_shows_no_words(server: HttpServer) -> None:
    assert ask(server, "GET", "/broken") == (500, "internal error\n")


@pytest.mark.parametrize(
    ("sent", "first_line"),
    [
        (b"POST /x HTTP/1.1\r\n\r\n", b"HTTP/1.1 411 Length Required"),
        (b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", b"HTTP/1.1 411 Length Required"),
        (b"POST /x HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"HTTP/1.1 400 Bad Request"),
        (b"POST /x HTTP/1.1\r\nContent-Length: 1e3\r\n\r\n", b"HTTP/1.1 400 Bad Request"),
        (b"POST /x HTTP/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", b"HTTP/1.1 400 Bad Request"),
        (b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n", b"HTTP/1.1 431 Request Header Fields Too Large"),
        (b"GET /x HTTP/1.1\r\nX-B: " + b"b" * 20_000 + b"\r\n\r\n", b"HTTP/1.1 431 Request Header Fields Too Large"),
        (b"GET /x HTTP/1.1\r\n" + b"X-B: b\r\n" * 200 + b"\r\n", b"HTTP/1.1 431 Request Header Fields Too Large"),
        (b"BREW /x HTTP/1.1\r\n\r\n", b"HTTP/1.1 501 Not Implemented"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n", b"HTTP/1.1 400 Bad Request"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused(server: HttpServer, sent: bytes, first_line: bytes) -> None:
    assert raw(server, sent) == first_line


def test_a_body_is_at_most_1_mib(server: HttpServer) -> None:
    assert ask(server, "POST", "/x", body=b"a" * MOST_BODY_BYTES)[0] == 200
    status, said = ask(server, "POST", "/x", body=b"a" * (MOST_BODY_BYTES + 1))
    assert (status, said) == (413, f"the body is larger than {MOST_BODY_BYTES} bytes\n")


def test_slow_clients_do_not_keep_a_probe_from_being_answered(server: HttpServer) -> None:
    slow = [connect(server) for _ in range(3 * MOST_CONNECTIONS)]
    for client in slow:
        client.send(b"GET /healthz HTT")
    assert ask(server, "GET", "/healthz")[0] == 200
    for client in slow:
        client.close()


def test_a_client_that_drips_is_ended_at_the_deadline(server: HttpServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "SECONDS", 0.3)
    began = time.monotonic()
    with connect(server) as client:
        try:
            while time.monotonic() - began < 60:
                client.send(b"a")
                client.settimeout(0.05)
                try:
                    if client.recv(10) == b"":
                        break
                except TimeoutError:
                    continue
        except OSError:
            pass
    assert time.monotonic() - began < 30


def test_an_address_that_is_taken_is_the_operators_error(server: HttpServer) -> None:
    host, port = server.address.rsplit(":", 1)
    with pytest.raises(BadInput, match=rf"--listen 127\.0\.0\.1:{port}: .+"):
        HttpServer(host, int(port), answer, time.monotonic)
    with pytest.raises(BadInput, match="no such port"):
        HttpServer(host, 70000, answer, time.monotonic)


def test_ipv6(request: pytest.FixtureRequest) -> None:
    try:
        server = HttpServer("::1", 0, answer, time.monotonic)
    except BadInput:
        pytest.skip("no IPv6 here")
    server.start()
    request.addfinalizer(server.stop)
    assert server.address.startswith("[::1]:")
    assert ask(server, "GET", "/x")[0] == 200
