"""Webhooks to real servers: what is sent, what an answer is, and that no server can hold up, lead away or fill."""

from __future__ import annotations

import hmac
import json
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gitfleet.adapters.checked_requests import trusting
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.adapters.outbound import AllowedHttp, HttpWebhooks
from gitfleet.adapters.outbound.texts import OutboundText
from gitfleet.adapters.texts import AdaptersText
from gitfleet.errors import BadInput, NoResponse
from gitfleet.formats.hosts import HostPattern
from gitfleet.model.calls import WebhookCall
from gitfleet.ports.rollout_calls import WebhookReply
from tests.adapters.outbound.hook_server import HookServer, hook_server
from tests.realparts.certificates import write_server_certificate

SECRET = b"canary-of-the-signing-secret"
BODY = {"phase": "pre-batch-rollout", "metadata": {"ü": "é"}, "numbers": [1, 2.5, None, True]}


@pytest.fixture
def hooks() -> Iterator[HookServer]:
    with hook_server() as found:
        yield found


def sender(
    *allowed: str, secrets: Callable[[], tuple[bytes, ...]] = tuple, context: Callable[[], ssl.SSLContext] = trusting
) -> HttpWebhooks:
    patterns = tuple(HostPattern.parse(one) for one in allowed)

    def not_shown() -> tuple[str, ...]:
        return tuple(secret.decode() for secret in secrets())

    return HttpWebhooks(
        AllowedHttp(allowed=patterns, option="--allow-webhooks", context=context, secrets=not_shown), secrets
    )


def call(hooks: HookServer, seconds: float = 30.0, **more: str) -> WebhookCall:
    return WebhookCall(id="8f14e45f", url=more.get("url", hooks.url), body=BODY, timeout_seconds=seconds)


def send(hooks: HookServer, seconds: float = 30.0, secrets: tuple[bytes, ...] = ()) -> WebhookReply:
    return sender(hooks.host, secrets=lambda: secrets).send(call(hooks, seconds))


def test_what_is_sent(hooks: HookServer) -> None:
    assert send(hooks) == WebhookReply(host=hooks.host, status=200, line="ok")
    ((request, headers, body),) = hooks.got
    assert request == "POST /hook" and json.loads(body) == BODY
    assert headers == {
        "host": hooks.host,
        "accept-encoding": "identity",
        "content-length": str(len(body)),
        "content-type": "application/json",
        "user-agent": "gitfleet",
        "connection": "close",
        "idempotency-key": "8f14e45f",
    }


def test_a_repeated_question_is_known_by_its_key_and_signed_alike(hooks: HookServer) -> None:
    hooks.way = "close"
    with pytest.raises(NoResponse):
        send(hooks, secrets=(SECRET,))
    hooks.way = "answer"
    assert send(hooks, secrets=(SECRET,)).status == 200
    (_, first, body), (_, second, again) = hooks.got
    assert body == again and hooks.done == {"8f14e45f": 1}
    signed = f"sha256={hmac.new(SECRET, body, 'sha256').hexdigest()}"
    assert first["x-gitfleet-signature-256"] == second["x-gitfleet-signature-256"] == signed


def test_the_first_secret_signs_as_it_is_at_each_use(hooks: HookServer) -> None:
    given = [SECRET, b"the one of before"]
    sends = sender(hooks.host, secrets=lambda: tuple(given))
    for _ in range(2):
        sends.send(call(hooks))
        _, headers, body = hooks.got[-1]
        assert headers["x-gitfleet-signature-256"] == f"sha256={hmac.new(given[0], body, 'sha256').hexdigest()}"
        given.insert(0, b"a new one of ours")


def test_nothing_is_sent_unsigned_where_the_secret_cannot_be_read(hooks: HookServer) -> None:
    unreadable = KubeText.CANNOT_READ(source="/etc/gitfleet/hooks", error="No such file or directory")

    def gone() -> tuple[bytes, ...]:
        raise BadInput(unreadable)

    with pytest.raises(BadInput, match=re.escape(unreadable)):
        sender(hooks.host, secrets=gone).send(call(hooks))
    assert hooks.got == []


@pytest.mark.parametrize(
    ("way", "said"),
    [
        ("hang", "no response within 0.5 s"),
        ("drip", "no whole response within 0.5 s"),
        ("close", "the connection broke off"),
    ],
)
def test_a_server_that_gives_no_answer(hooks: HookServer, way: str, said: str) -> None:
    hooks.way, before = way, time.monotonic()
    with pytest.raises(NoResponse) as raised:
        send(hooks, seconds=0.5)
    assert str(raised.value) == OutboundText.NOT_ANSWER(name=hooks.host, error=said)
    assert time.monotonic() - before < 30.0


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (b"", "no response within 0.5 s"),
        (b"HTTP/1.1 100 Continue\r\n\r\n", "no whole response within 0.5 s"),
        (b"X: y\r\n", "the connection broke off"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1000, "the connection broke off"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000, "the connection broke off"),
    ],
    ids=["nothing", "go on", "no HTTP", "many headers", "a long header"],
)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_what_is_no_http(scheme: str, sent: bytes, said: str) -> None:
    """A server that sends the same bytes again and again, or once and no more."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=repeats, args=(server, sent, b"100" in sent), daemon=True).start()
        url = f"{scheme}://127.0.0.1:{server.getsockname()[1]}/"
        before = time.monotonic()
        with pytest.raises(NoResponse) as raised:
            sender(url.rpartition("//")[2].rstrip("/")).send(WebhookCall(id="a", url=url, body={}, timeout_seconds=0.5))
        assert time.monotonic() - before < 30.0
    whys = [said]
    if scheme == "https":  # no TLS begins
        whys = ["no connection within 0.5 s", "its TLS certificate or ours", "no response within 0.5 s"]
    begins = [OutboundText.NOT_ANSWER(name=urlsplit(url).netloc, error=why) for why in whys]
    assert str(raised.value).startswith(tuple(begins))


def repeats(server: socket.socket, sent: bytes, again: bool) -> None:
    connection, _ = server.accept()
    with connection, suppress(OSError):
        if not sent:
            time.sleep(5)
        connection.sendall(sent)
        while again:
            connection.sendall(sent)
            time.sleep(0.01)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            pass


def test_a_body_without_end_is_an_answer_of_which_little_is_read(hooks: HookServer) -> None:
    hooks.way, hooks.status = "endless", 500
    reply = send(hooks)
    assert (reply.status, reply.line) == (500, "x" * 199 + "…")


def test_the_status_of_a_body_that_is_cut_off_counts(hooks: HookServer) -> None:
    hooks.status, hooks.body, hooks.headers = 409, b"no", {"Content-Length": "100"}
    assert send(hooks) == WebhookReply(host=hooks.host, status=409, line="no")


def test_a_redirect_is_an_answer_and_not_followed(hooks: HookServer) -> None:
    with hook_server() as other:
        hooks.status, hooks.headers = 307, {"Location": other.url}
        patterns = (hooks.host, other.host)
        assert sender(*patterns).send(call(hooks)).status == 307
        assert other.got == [] and len(hooks.got) == 1


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (b"", ""),
        (b"\r\n \n  not now \nand more", "not now"),
        (b"no: " + SECRET, "no: ***"),
        (b"Authorization: Bearer abcdefghijklmnop", "Authorization: Bearer ***"),
        (b"see https://me:pass@x.example/?token=abc", "see https://***@x.example/?***"),
        (b"\x1b[31mred\x07\x00", "[31mred"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"<html>\n<body>502 Bad Gateway</body>", "<html>"),
        ("ü".encode() * 300, "ü" * 199 + "…"),
    ],
)
def test_what_of_an_answer_is_shown(hooks: HookServer, body: bytes, line: str) -> None:
    hooks.status, hooks.body = 400, body
    assert send(hooks, secrets=(SECRET,)) == WebhookReply(host=hooks.host, status=400, line=line)


def test_tls_needs_a_certificate_that_is_trusted(tmp_path: Path) -> None:
    certificate, key = write_server_certificate(tmp_path, "hooks")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with hook_server(context) as hooks:
        why = AdaptersText.CERTIFICATE_NOT_ACCEPTED(reason="self-signed certificate")
        with pytest.raises(NoResponse, match=f"^{re.escape(OutboundText.NOT_ANSWER(name=hooks.host, error=why))}$"):
            send(hooks)
        assert hooks.got == []
        trusts = sender(hooks.host, context=lambda: trusting(certificate.read_text()))
        assert trusts.send(call(hooks)).status == 200
