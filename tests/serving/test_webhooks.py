"""Signatures as the providers document them, the limit of requests, and hints that are never lost."""

from __future__ import annotations

import hmac
from collections.abc import Mapping

import pytest

from gitfleet.errors import BadInput
from gitfleet.ports.http import HttpRequest
from gitfleet.serving.texts import ServingText
from gitfleet.serving.webhooks import BURST, PROVIDERS, Receiver, is_signed, secrets_in
from gitfleet.simulation.clock import ManualClock
from tests.loop.test_pulse import Counted

EVERYBODY = b"It's a Secret to Everybody"
"""Of GitHub's and Atlassian's pages."""
GITHUB = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
ATLASSIAN = "sha256=a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9"
RFC_4231 = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
JEFE, NOTHING = b"Jefe", b"what do ya want for nothing?"
STANDARD, AT = b"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", 1614265330
STANDARD_BODY = b'{"test": 2432232314}'
STANDARD_HEADERS = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": str(AT),
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
}
"""Of the Standard Webhooks specification."""


@pytest.mark.parametrize(
    ("provider", "headers", "body", "secret"),
    [
        ("github", {"x-hub-signature-256": GITHUB}, b"Hello, World!", EVERYBODY),
        ("bitbucket", {"x-hub-signature": ATLASSIAN}, b"Hello World!", EVERYBODY),
        ("gitea", {"x-gitea-signature": RFC_4231}, NOTHING, JEFE),
        ("forgejo", {"x-forgejo-signature": RFC_4231, "x-gitea-signature": "no"}, NOTHING, JEFE),
        ("forgejo", {"x-gitea-signature": RFC_4231}, NOTHING, JEFE),
        ("generic", {"x-signature": f"sha256={RFC_4231}"}, NOTHING, JEFE),
        ("generic", {"authorization": "Bearer Jefe"}, NOTHING, JEFE),
        ("gitlab", {"x-gitlab-token": "Jefe"}, NOTHING, JEFE),
        ("gitlab", STANDARD_HEADERS, STANDARD_BODY, STANDARD),
    ],
)
def test_documented_signatures(provider: str, headers: Mapping[str, str], body: bytes, secret: bytes) -> None:
    def signed(headers: Mapping[str, str] = headers, body: bytes = body, by: bytes = secret, at: float = AT) -> bool:
        return is_signed(provider, headers, body, (b"another secret", by), at)

    assert signed()
    assert not signed({})
    assert not signed(by=b"whsec_AAAA")
    for name in headers:
        if (provider, name) != ("forgejo", "x-gitea-signature") or len(headers) == 1:
            assert not signed({**headers, name: headers[name][:-1]}) and not signed({**headers, name: "ä\udcff"})
    if "token" not in next(iter(headers)) and "authorization" not in headers:
        assert not signed(body=body + b" ")
    if secret is STANDARD:
        assert not signed(at=AT + 301) and not signed(at=AT - 301) and signed(at=AT + 299)
        assert not signed({"x-gitlab-token": STANDARD.decode()}), "the token itself is never sent"
        assert signed({**headers, "webhook-signature": f"v1,x {headers['webhook-signature']}"})


@pytest.mark.parametrize("provider", PROVIDERS)
def test_one_provider_takes_no_others_signature(provider: str) -> None:
    everything = {
        "x-hub-signature-256": "github", "x-hub-signature": "bitbucket", "x-gitea-signature": "gitea",
        "x-forgejo-signature": "forgejo", "x-signature": "generic", "x-gitlab-token": "gitlab",
        "authorization": "generic",
    }  # fmt: skip
    signature = hmac.digest(JEFE, b"", "sha256").hex()
    values = {
        "x-gitlab-token": "Jefe",
        "authorization": "Bearer Jefe",
        "x-gitea-signature": signature,
        "x-forgejo-signature": signature,
    }
    for name, owner in everything.items():
        signed = is_signed(provider, {name: values.get(name, f"sha256={signature}")}, b"", (JEFE,), 0.0)
        assert signed == (provider == owner or (provider, owner) == ("forgejo", "gitea")), name


def test_secrets_of_a_file() -> None:
    assert secrets_in(b"0123456789abcdef\n\n  fedcba9876543210\r\n", "f") == (b"0123456789abcdef", b"fedcba9876543210")
    for content in (b"", b"\n \n", b"short\n", b"0123456789abcdef\nshort", b"a" * 5000, b"whsec_0123456789!"):
        with pytest.raises(BadInput, match="f"):
            secrets_in(content, "f")


def test_requests_are_limited_and_the_log_is_not_filled(caplog: pytest.LogCaptureFixture) -> None:
    clock, woken, metrics = ManualClock(), list[int](), Counted()
    receiver = Receiver(
        provider="gitlab", secrets=lambda: (JEFE,), hint=lambda: woken.append(1), clock=clock, metrics=metrics
    )
    unsigned = HttpRequest(method="POST", path="/webhook/gitlab")
    signed = HttpRequest(method="POST", path="/webhook/gitlab", headers={"x-gitlab-token": "Jefe"})
    assert [receiver.receive(unsigned).status for _ in range(BURST + 2)] == [401] * BURST + [429, 429]
    assert receiver.receive(signed).status == 429
    clock.advance(1)
    assert [receiver.receive(signed).status for _ in range(6)] == [202] * 5 + [429]
    assert len(woken) == 5
    assert caplog.messages == [ServingText.REQUEST_REFUSED_SIGNATURE_MISSING_WRONG(request="/webhook/gitlab")]
    assert metrics.calls[-2:] == [("gitlab", "accepted"), ("gitlab", "limited")]


def test_a_secret_that_cannot_be_read_is_said() -> None:
    def gone() -> tuple[bytes, ...]:
        raise BadInput("secret cannot be read")

    receiver = Receiver(provider="github", secrets=gone, hint=lambda: None, clock=ManualClock(), metrics=Counted())
    assert receiver.receive(HttpRequest(method="POST", path="/x")).status == 503
