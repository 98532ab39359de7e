"""Whether a webhook's request was sent by who knows the secret, as each provider signs. Nothing of a body is read.

Sources: GitHub "Validating webhook deliveries"; GitLab "Webhooks" (X-Gitlab-Token, and signing tokens as in the
Standard Webhooks specification); Gitea and Forgejo "Webhooks"; Atlassian "Manage webhooks". `generic` is X-Signature as
Flux' generic-hmac has it, or the secret as a bearer token.
"""

from __future__ import annotations

import binascii
import hmac
from base64 import b64decode, b64encode
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Final

from gitfleet.errors import BadInput
from gitfleet.loop.texts import LoopText

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
            LoopText.HOLDS_NO_WEBHOOK_SECRET(where=where, shortest=_SHORTEST),
            hint=LoopText.MAKE_ONE_OPENSSL_RAND_HEX(),
        )
    for secret in secrets:
        if secret.startswith(SIGNING_TOKEN) and _key_of(secret) is None:
            raise BadInput(LoopText.FOLLOWS_WHSEC_NO_BASE64(where=where))
    return secrets


def secrets_of(file: Path) -> tuple[bytes, ...]:
    """The secrets that a file has now: whoever replaces them need not restart the process. BadInput as `secrets_in`,
    and for a file that cannot be read."""
    try:
        with file.open("rb") as opened:
            content = opened.read(MOST_SECRET_BYTES + 1)
    except OSError as error:
        raise BadInput(LoopText.CANNOT_READ_3(file=file, strerror=error.strerror)) from error
    return secrets_in(content, str(file))


def is_signed(provider: str, headers: Mapping[str, str], body: bytes, secrets: Collection[bytes], now: float) -> bool:
    """Whether one of the secrets signed this; headers by their names in small letters, `now` in seconds since 1970."""
    return any(_by(provider, headers, body, secret, now) for secret in secrets)


def _by(provider: str, headers: Mapping[str, str], body: bytes, secret: bytes, now: float) -> bool:
    if provider == "gitlab" and secret.startswith(SIGNING_TOKEN):
        return _by_standard(headers, body, secret, now)
    given = next(((headers[name], prefix) for name, prefix in _HMAC[provider] if name in headers), None)
    if given is not None:
        return _same(given[0], (given[1] + hmac.digest(secret, body, "sha256").hex()).encode())
    header, prefix = _TOKEN.get(provider, ("", ""))
    return header in headers and _same(headers[header], prefix.encode() + secret)


def _by_standard(headers: Mapping[str, str], body: bytes, secret: bytes, now: float) -> bool:
    identity, at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    in_time = at.isascii() and at.isdigit() and len(at) < 16 and abs(now - int(at)) <= _TOLERANCE
    key = _key_of(secret)
    if not in_time or not identity or key is None:
        return False
    wanted = hmac.digest(key, b".".join((identity.encode(errors="replace"), at.encode(), body)), "sha256")
    return any(_same(each, b"v1," + b64encode(wanted)) for each in _few(headers))


def _few(headers: Mapping[str, str]) -> Iterator[str]:
    """The signatures of a request: while the forge replaces its token there are two."""
    yield from headers.get("webhook-signature", "").split(" ")[:8]


def _key_of(secret: bytes) -> bytes | None:
    try:
        return b64decode(secret.removeprefix(SIGNING_TOKEN), validate=True)
    except binascii.Error:
        return None


def _same(given: str, wanted: bytes) -> bool:
    """In a time that does not depend on how much is right; headers come as latin-1."""
    return hmac.compare_digest(given.encode("latin-1", errors="replace"), wanted)
