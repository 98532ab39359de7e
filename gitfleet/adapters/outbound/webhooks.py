"""Webhooks of rollouts: a POST of JSON, signed where the operator gave a secret."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gitfleet.adapters.checked_requests import SIGNATURE, signature_of
from gitfleet.adapters.outbound.texts import OutboundText
from gitfleet.errors import BadInput
from gitfleet.formats.canonical_json import json_bytes
from gitfleet.model.calls import WebhookCall
from gitfleet.ports.metric_providers import OutboundHttp, OutboundRequest
from gitfleet.ports.rollout_calls import WebhookReply

MOST_READ: Final = 64 * 1024
_LONGEST_LINE: Final = 200


class HttpWebhooks:
    """See ports.rollout_calls.WebhookSender. `secrets` reads those that bodies are signed with, the first of which
    counts; with none there is no signature."""

    def __init__(self, http: OutboundHttp, secrets: Callable[[], tuple[bytes, ...]]) -> None:
        self._http = http
        self._secrets = secrets

    def send(self, call: WebhookCall) -> WebhookReply:
        """See the port."""
        if not call.id.isascii() or not call.id.isprintable():
            raise BadInput(OutboundText.ID_WEBHOOK_NO_HEADER())
        body = json_bytes(call.body)
        headers = {"Idempotency-Key": call.id}
        for secret in self._secrets()[:1]:
            headers[SIGNATURE] = signature_of(secret, body)
        request = OutboundRequest(
            method="POST",
            url=call.url,
            content=body,
            content_type="application/json",
            headers=headers,
            seconds=call.timeout_seconds,
            most_bytes=MOST_READ,
        )
        reply = self._http.request(request)
        return WebhookReply(host=reply.host, status=reply.status, line=self._line_of(reply.content))

    def _line_of(self, content: bytes) -> str:
        """The first line with anything on it, as part of a sentence."""
        lines = (line.strip() for line in content.decode(errors="replace").splitlines())
        text = self._http.without_secrets(next(filter(None, lines), ""))
        return text if len(text) <= _LONGEST_LINE else f"{text[: _LONGEST_LINE - 1]}…"
