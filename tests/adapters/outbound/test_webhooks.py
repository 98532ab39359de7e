"""Webhooks to real servers: what is sent, what an answer is, and that no server can hold up, lead away or fill."""

from __future__ import annotations

import hmac
import json
import ssl
import time
from collections.abc import Callable, Iterator

import pytest

from gitfleet.adapters.checked_requests import trusting
from gitfleet.adapters.outbound import AllowedHttp, HttpWebhooks
from gitfleet.adapters.outbound.texts import OutboundText
from gitfleet.errors import NoResponse
from gitfleet.formats.hosts import HostPattern
from gitfleet.model.calls import WebhookCall
from gitfleet.ports.rollout_calls import WebhookReply
from tests.adapters.outbound.hook_server import HookServer, hook_server

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
