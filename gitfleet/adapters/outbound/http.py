"""HTTP to the hosts that the operator allowed, whatever a repository asks for, and the webhooks of rollouts by it."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from urllib3.exceptions import LocationParseError
from urllib3.util import Url, parse_url

from gitfleet.adapters.addresses import is_refused
from gitfleet.adapters.checked_requests import SIGNATURE, Bounds, Exchange, exchanged, signature_of
from gitfleet.adapters.outbound.texts import OutboundText
from gitfleet.errors import BadInput, NoResponse
from gitfleet.formats.canonical_json import json_bytes
from gitfleet.formats.hosts import HostPattern, Origin, plain_host, shown_host
from gitfleet.formats.masking import masked
from gitfleet.formats.sentences import shortened
from gitfleet.model.calls import WebhookCall
from gitfleet.ports.metric_providers import OutboundHttp, OutboundReply, OutboundRequest
from gitfleet.ports.rollout_calls import WebhookReply

_CONNECT_SECONDS: Final = 10.0
_MOST_URL: Final = 8192
_MOST_READ: Final = 64 * 1024
_LONGEST_LINE: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedHttp:
    """See ports.metric_providers.OutboundHttp. `tokens` read the bearer token of an origin, `secrets` all that is not
    to be shown, `context` makes what connections are encrypted with; all of them at each use, so that files may be
    replaced. `option` of `run` is what allows a host."""

    allowed: tuple[HostPattern, ...]
    option: str
    context: Callable[[], ssl.SSLContext]
    tokens: tuple[tuple[Origin, Callable[[], str]], ...] = ()
    secrets: Callable[[], tuple[str, ...]] = field(default=tuple, repr=False)

    def request(self, request: OutboundRequest) -> OutboundReply:
        """See the port."""
        url = self._allowed_url(request.url)
        name = shown_host(plain_host(url.host or ""), url.port)
        headers = {**request.headers, **self._authorization(url)}
        if request.content_type:
            headers["Content-Type"] = request.content_type
        seconds = request.seconds
        bounds = Bounds(
            connect=min(seconds, _CONNECT_SECONDS), read=seconds, whole=seconds, most_bytes=request.most_bytes
        )
        exchange = Exchange(method=request.method, url=url.url, headers=headers, body=request.content)
        try:
            answered = exchanged(exchange, self.context(), bounds)
        except NoResponse as error:
            raise NoResponse(OutboundText.NOT_ANSWER(name=name, error=error), passing=error.passing) from None
        except BadInput as error:
            raise BadInput(f"{name}: {error}") from None
        return OutboundReply(host=name, status=answered.status, content=answered.content, cut=answered.cut)

    def without_secrets(self, text: str) -> str:
        """See the port."""
        return masked("".join(character if character.isprintable() else " " for character in text), self.secrets())

    def _allowed_url(self, text: str) -> Url:
        """The URL as the connection will read it, so that there is one reading of its host."""
        plain = text.isascii() and text.isprintable() and "\\" not in text and len(text) <= _MOST_URL
        try:
            url = parse_url(text if plain else "")
            host = plain_host(url.host or "")
        except (LocationParseError, ValueError):
            raise BadInput(OutboundText.URL_MUST_BEGIN()) from None
        whole = host and url.auth is None and url.port != 0 and url.fragment is None
        if url.scheme not in ("http", "https") or not whole:
            raise BadInput(OutboundText.URL_MUST_BEGIN())
        shown = shown_host(host, url.port)
        if is_refused(host):
            raise BadInput(OutboundText.LINK_LOCAL_ADDRESS(shown=shown))
        if not any(pattern.fits(url.scheme, url.host or "", url.port) for pattern in self.allowed):
            raise BadInput(OutboundText.NO_HOST_PROCESS_CALL(shown=shown, option=self.option))
        return url

    def _authorization(self, url: Url) -> dict[str, str]:
        """The header with the token for a host, if there is one. A repository cannot have it sent in the clear."""
        scheme, host = url.scheme or "", url.host or ""
        tokens = [(origin, read) for origin, read in self.tokens if origin.host.fits(scheme, host, url.port)]
        for origin, read in tokens:
            if origin.scheme == scheme:
                return {"Authorization": f"Bearer {read()}"}
        for origin, _ in tokens:
            raise BadInput(OutboundText.TOKEN_SCHEME_ALONE(host=origin.host, token_scheme=origin.scheme, scheme=scheme))
        return {}


class HttpWebhooks:
    """See ports.rollout_calls.WebhookSender: a POST of JSON. `secrets` reads those that bodies are signed with: the
    first counts, and with none there is no signature."""

    def __init__(self, http: OutboundHttp, secrets: Callable[[], tuple[bytes, ...]]) -> None:
        self._http = http
        self._secrets = secrets

    def send(self, call: WebhookCall) -> WebhookReply:
        """See the port."""
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
            most_bytes=_MOST_READ,
        )
        reply = self._http.request(request)
        return WebhookReply(host=reply.host, status=reply.status, line=self._line_of(reply.content))

    def _line_of(self, content: bytes) -> str:
        """The first line with anything on it, as part of a sentence."""
        lines = (line.strip() for line in content.decode(errors="replace").splitlines())
        return shortened(self._http.without_secrets(next(filter(None, lines), "")), _LONGEST_LINE)
