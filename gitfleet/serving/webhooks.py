"""The receiver of webhooks: a signed request wakes the loop, and is nothing but that.

What a request says is not read: the loop fetches, and decides on what the remote has. So a forged, repeated or late
request costs one `ls-remote` at most, and a lost one a poll interval.

Sources of the signatures: GitHub "Validating webhook deliveries"; GitLab "Webhooks" (X-Gitlab-Token, and signing tokens
as in the Standard Webhooks specification); Gitea and Forgejo "Webhooks"; Atlassian "Manage webhooks". `generic` is
X-Signature as Flux' generic-hmac has it, or the secret as a bearer token.
"""

from __future__ import annotations

import binascii
import hmac
import threading
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from gitfleet.branches.log_once import WarnOnce
from gitfleet.errors import BadInput, GitfleetError
from gitfleet.ports.clock import Clock
from gitfleet.ports.http import HttpRequest, HttpResponse, sentence_response
from gitfleet.ports.metrics import Metrics
from gitfleet.serving.texts import ServingText

_HMAC: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "github": (("x-hub-signature-256", "sha256="),),
    "gitlab": (),
    "gitea": (("x-gitea-signature", ""),),
    "forgejo": (("x-forgejo-signature", ""), ("x-gitea-signature", "")),
    "bitbucket": (("x-hub-signature", "sha256="),),
    "generic": (("x-signature", "sha256="),),
}
"""The headers that have the HMAC-SHA256 of the body in hexadecimal, and what stands before it; the first that is there
counts."""
_TOKEN: Final = {"gitlab": ("x-gitlab-token", ""), "generic": ("authorization", "Bearer ")}
PROVIDERS: Final = tuple(_HMAC)
SIGNING_TOKEN: Final = b"whsec_"
"""What the secret of a Standard Webhooks signature begins with."""
_SHORTEST: Final = 16
MOST_SECRET_BYTES: Final = 4096
_TOLERANCE: Final = 300.0
"""Seconds by which the time of a signature with a time may differ from ours."""


def secrets_in(content: bytes, where: str) -> tuple[bytes, ...]:
    """The secrets of a file, one a line: while one is replaced, both count. BadInput for none, or one that is short."""
    secrets = tuple(line.strip() for line in content.splitlines() if line.strip())
    if not secrets or len(content) > MOST_SECRET_BYTES or any(len(secret) < _SHORTEST for secret in secrets):
        raise BadInput(
            ServingText.HOLDS_NO_WEBHOOK_SECRET(where=where, shortest=_SHORTEST),
            hint=ServingText.MAKE_ONE_OPENSSL_RAND_HEX(),
        )
    for secret in secrets:
        if secret.startswith(SIGNING_TOKEN) and _key_of(secret) is None:
            raise BadInput(ServingText.FOLLOWS_WHSEC_NO_BASE64(where=where))
    return secrets


def is_signed(provider: str, headers: Mapping[str, str], body: bytes, secrets: Collection[bytes], now: float) -> bool:
    """Whether one of the secrets signed this; headers by their names in small letters, `now` in seconds since 1970."""
    return any(_by(provider, headers, body, secret, now) for secret in secrets)


def _by(provider: str, headers: Mapping[str, str], body: bytes, secret: bytes, now: float) -> bool:
    if provider == "gitlab" and secret.startswith(SIGNING_TOKEN):
        return _by_standard(headers, body, secret, now)
    signature = next(((headers[name], prefix) for name, prefix in _HMAC[provider] if name in headers), None)
    if signature is not None:
        return _same(signature[0], (signature[1] + hmac.digest(secret, body, "sha256").hex()).encode())
    header, prefix = _TOKEN.get(provider, ("", ""))
    return header in headers and _same(headers[header], prefix.encode() + secret)


def _by_standard(headers: Mapping[str, str], body: bytes, secret: bytes, now: float) -> bool:
    identity, at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    in_time = at.isascii() and at.isdigit() and len(at) < 16 and abs(now - int(at)) <= _TOLERANCE
    key = _key_of(secret)
    if not in_time or not identity or key is None:
        return False
    digest = hmac.digest(key, b".".join((identity.encode(errors="replace"), at.encode(), body)), "sha256")
    signatures = headers.get("webhook-signature", "").split(" ")[:8]  # two while the forge replaces its token
    return any(_same(signature, b"v1," + b64encode(digest)) for signature in signatures)


def _key_of(secret: bytes) -> bytes | None:
    try:
        return b64decode(secret.removeprefix(SIGNING_TOKEN), validate=True)
    except binascii.Error:
        return None


def _same(actual: str, expected: bytes) -> bool:
    """In a time that does not depend on how much is right; headers come as latin-1."""
    return hmac.compare_digest(actual.encode("latin-1", errors="replace"), expected)


BURST: Final = 60
"""So many requests of one provider at once are looked at."""
PER_SECOND: Final = 5.0
"""So many more each second."""


@dataclass(slots=True, kw_only=True)
class Receiver:
    """Answers the requests of one provider. `secrets` reads those that count now."""

    provider: str
    secrets: Callable[[], tuple[bytes, ...]]
    hint: Callable[[], None]
    clock: Clock
    metrics: Metrics
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _allowance: float = BURST
    _since: float | None = None
    _warnings: WarnOnce = field(default_factory=WarnOnce)
    """Whoever can reach the port must not fill the log: each sentence once, until a request is accepted."""

    def receive(self, request: HttpRequest) -> HttpResponse:
        """202 for a signed request; else 429 (too many), 401 (not signed), 503 (the secret cannot be read)."""
        outcome, response = self._answer(request)
        self.metrics.delivered(self.provider, outcome)
        return response

    def _answer(self, request: HttpRequest) -> tuple[str, HttpResponse]:
        if not self._may():
            return "limited", sentence_response(429, ServingText.TOO_MANY_REQUESTS(), Retry_After="1")
        try:
            secrets = self.secrets()
        except GitfleetError as error:
            self._warnings.warn(str(error))
            return "unavailable", sentence_response(503, ServingText.SECRET_WEBHOOK_CANNOT_READ())
        if not is_signed(self.provider, request.headers, request.body, secrets, self.clock.now().timestamp()):
            self._warnings.warn(ServingText.REQUEST_REFUSED_SIGNATURE_MISSING_WRONG(request=request.path))
            return "refused", sentence_response(401, ServingText.SIGNATURE_MISSING_WRONG())
        self._warnings.forget()
        self.hint()
        return "accepted", sentence_response(202, ServingText.LOOP_WOKEN())

    def _may(self) -> bool:
        """Take one of the requests that are allowed now."""
        with self._lock:
            now = self.clock.monotonic()
            passed = 0.0 if self._since is None else now - self._since
            self._allowance, self._since = min(BURST, self._allowance + passed * PER_SECOND), now
            if self._allowance < 1:
                return False
            self._allowance -= 1
            return True
