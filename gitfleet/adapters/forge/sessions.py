"""HTTP to one forge for its client library: to one server alone, in bounded time and size, with one table of errors.

The libraries decide what is asked and read what comes back. Whatever is no JSON response with success is an error
before they see it, so that none of them sleeps, tries again, follows a redirect or reads without end.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import requests
import urllib3
from requests.adapters import HTTPAdapter

from gitfleet.adapters.bounded_reads import pools_with_limit, read_body, why_no_response
from gitfleet.adapters.clock import SystemClock
from gitfleet.adapters.forge.texts import ForgeText
from gitfleet.errors import BadInput, Forbidden, ForgeUnavailable, GitfleetError, NoResponse
from gitfleet.formats.canonical_json import parse_json
from gitfleet.formats.masking import masked

CONNECT_SECONDS: Final = 10.0
READ_SECONDS: Final = 20.0
WHOLE_SECONDS: Final = 30.0
MOST_BYTES: Final = 4 * 1024 * 1024
MOST_PAGES: Final = 10
PAGE: Final = 100
_BUSY: Final = frozenset({408, 425, 429})
_RATE_LIMIT_SIGNS: Final = ("rate limit", "abuse detection")


def origin_of(url: str) -> tuple[str, str, int]:
    """Scheme, host and port of a URL; BadInput for one that is no http or https URL of a host alone and a path."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise BadInput(ForgeText.URL_FORGE_NO_HTTP_HTTPS(), hint=_URL_HINT) from None
    scheme, host = parts.scheme.lower(), (parts.hostname or "").lower()
    if scheme not in ("http", "https") or not host or parts.username is not None or parts.password is not None:
        raise BadInput(ForgeText.URL_FORGE_NO_HTTP_HTTPS(), hint=_URL_HINT)
    return scheme, host, port or (443 if scheme == "https" else 80)


_URL_HINT: Final = ForgeText.GIVE_FORGE_URL()


class ForgeAdapter(HTTPAdapter):
    """What carries a session's requests to the server of `url`, and to no other."""

    def __init__(self, url: str, token: str, *, whole_seconds: float = WHOLE_SECONDS) -> None:
        self._origin = origin_of(url)
        self._host = urlsplit(url).netloc
        self._token = token
        self._pools = pools_with_limit(whole_seconds, SystemClock().monotonic)
        super().__init__(max_retries=0)
        self.poolmanager.pool_classes_by_scheme = self._pools

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        """The manager of connections by the operator's proxy, with the same limit."""
        manager = super().proxy_manager_for(proxy, **options)
        manager.pool_classes_by_scheme = self._pools
        return manager

    def send(self, request: requests.PreparedRequest, *_: Any, **options: Any) -> requests.Response:
        """The response, when it is JSON and says success; otherwise an error of `error_of`."""
        if origin_of(request.url or "") != self._origin:
            raise Forbidden(ForgeText.FORGE_NAMES_ADDRESSES_ANOTHER_HOST(host=self._host))
        options |= {"stream": True, "timeout": (CONNECT_SECONDS, READ_SECONDS)}
        request.headers["Accept-Encoding"] = "identity"
        try:
            response = super().send(request, **options)
            content = _content(response)
        except (NoResponse, requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            why = why_no_response(error, CONNECT_SECONDS, READ_SECONDS)
            raise ForgeUnavailable(ForgeText.FORGE_NOT_ANSWER(host=self._host, why=why)) from error
        headers = {name.lower(): value for name, value in response.headers.items()}
        request_line = f"{request.method} {urlsplit(request.url or '').path}"
        refusal = error_of(response.status_code, headers, content, now=SystemClock().now().timestamp())
        if refusal is not None:
            raise self._named(refusal, request_line)
        response.raw = io.BytesIO(content or b"")
        return response

    def _named(self, error: GitfleetError, request_line: str) -> GitfleetError:
        """The error with the forge and the request in front."""
        text = masked(ForgeText.THE_FORGE_REQUEST(host=self._host, why=error, request=request_line), [self._token])
        if isinstance(error, ForgeUnavailable):
            return ForgeUnavailable(text, after=error.after)
        return type(error)(text, hint=error.hint)


def error_of(status: int, headers: Mapping[str, str], content: bytes | None, *, now: float) -> GitfleetError | None:
    """What a response comes to: None for success, ForgeUnavailable for what passes by itself, Forbidden for what only
    other settings can end, BadInput where this one request was refused. `content` is None for a response that is too
    large; names of headers are in lower case; `now` is in seconds since 1970."""
    if content is None:
        return ForgeUnavailable(ForgeText.ANSWERS_MORE_MIB(most_bytes=MOST_BYTES // 2**20))
    if 300 <= status < 400:
        return Forbidden(ForgeText.REDIRECTS_ANOTHER_ADDRESS())
    reason = _message(content)
    after = _seconds(headers, now)
    limited = after is not None or any(sign in reason.lower() for sign in _RATE_LIMIT_SIGNS)
    if status in _BUSY or status >= 500 or (status == 403 and limited):
        return ForgeUnavailable(f"answers {status}{reason}", after=after)
    if status in (401, 403):
        return Forbidden(ForgeText.REFUSES_TOKEN(status=status, why=reason))
    if status >= 400:
        return BadInput(ForgeText.REFUSES_REQUEST(status=status, why=reason))
    if status not in (200, 201, 204) or not (status == 204 or _is_json(content)):
        return ForgeUnavailable(ForgeText.ANSWERS_NO_JSON(status=status, get=headers.get("content-type", "something")))
    return None


def _content(response: requests.Response) -> bytes | None:
    """The body, None for one that is larger than MOST_BYTES."""
    with response:
        content = read_body(response.raw, MOST_BYTES + 1)
    return content if len(content) <= MOST_BYTES else None


def _is_json(content: bytes) -> bool:
    try:
        return isinstance(parse_json(content), dict | list)
    except ValueError:
        return False


def _message(content: bytes) -> str:
    """What an error says of itself, behind a comma; "" where it is no JSON object with a text."""
    try:
        body = parse_json(content)
    except ValueError:
        return ""
    if not isinstance(body, dict):
        return ""
    message = next((body[key] for key in ("message", "error") if body.get(key)), "")
    details = body.get("errors") if isinstance(body.get("errors"), list) else []
    return "".join(f", {text}" for text in (str(message)[:200], str(details)[:200] if details else "") if text)


def _seconds(headers: Mapping[str, str], now: float) -> float | None:
    """How long the forge asks to wait: Retry-After in seconds, or the end of a rate limit that is used up."""
    if headers.get("retry-after", "").isdecimal():
        return float(headers["retry-after"])
    for prefix in ("x-ratelimit", "ratelimit"):
        if headers.get(f"{prefix}-remaining") == "0" and headers.get(f"{prefix}-reset", "").isdecimal():
            return max(0.0, float(headers[f"{prefix}-reset"]) - now)
    return None
