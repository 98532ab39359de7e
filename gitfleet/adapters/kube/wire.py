"""Requests to one API server: size limits, and retries while it is busy. A Transport sends them."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from gitfleet import __version__
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.api.objects import JsonObject
from gitfleet.errors import ClusterUnreachable, NoResponse
from gitfleet.ports.transport import OpenStream, Request, Response, Streaming, Transport

MIB: Final = 1024 * 1024
APPLY_PATCH: Final = "application/apply-patch+yaml"
MERGE_PATCH: Final = "application/merge-patch+json"
JSON: Final = "application/json"
TYPED_PATCH: Final = "failed to create typed patch object"
"""Server-side apply reports a field that the schema does not have with status 500: an error of the manifest, not
ours."""
PRUNE: Final = "failed to prune fields"
"""What gitfleet applied last was in another version of a custom kind, which lacks a field of the new one."""
PAGE: Final = 500
"""Items of a list that are asked for at once."""
_LARGEST_PAGE: Final = 64 * MIB
_BUSY: Final = frozenset({429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Limits in seconds and tries. A read that timed out is not tried again here: the next reconcile is soon enough.
    `read_seconds` is for the next bytes, `response_seconds` for all of a response.

    A definition is Established within a tenth of a second as a rule; `definition_tries` is how often it is asked for,
    with a tenth of a second in between. `provider_seconds` is for each operation of a property provider (KubeFleet's
    two deadlines); None waits however long it takes.
    """

    connect_seconds: float = 5.0
    read_seconds: float = 20.0
    response_seconds: float = 30.0
    tries: int = 3
    first_pause_seconds: float = 0.1
    longest_pause_seconds: float = 2.0
    definition_tries: int = 50
    provider_seconds: float | None = 10.0


class Wire:
    """Sends requests to one API server; may be used by several threads."""

    def __init__(
        self,
        name: str,
        transport: Transport,
        *,
        timeouts: Timeouts | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name = name
        self.refused = False
        """Set when the server refused every login: whoever made this wire should get newer credentials."""
        self.timeouts = timeouts or Timeouts()
        self._transport = transport
        self._pause = pause

    def send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        *,
        body: JsonObject | None = None,
        headers: Mapping[str, str] | None = None,
        limit: int = 8 * MIB,
    ) -> Response:
        """One request, tried again while the server is busy or its connection breaks: only send what may be sent twice.

        `path` is already quoted. ClusterUnreachable when no response came; a response larger than `limit` bytes counts
        as status 413. MissingPart or Forbidden when there is no login to send.
        """
        sent = {"User-Agent": f"gitfleet/{__version__}", "Accept": JSON}
        if body is not None:
            sent["Content-Type"] = JSON
        sent |= headers or {}
        request = Request(method=method, path=path, query=query or {}, headers=sent, body=body, limit=limit)
        tries = self.timeouts.tries
        while True:
            tries -= 1
            try:
                response = self._transport.request(request)
            except NoResponse as error:
                if tries > 0 and error.passing:
                    self._pause(self._next_pause(tries, None))
                    continue
                raise ClusterUnreachable(KubeText.API_SERVER_NOT_ANSWER(name=self.name, error=error)) from error
            self.refused = response.status == 401
            if tries > 0 and response.status in _BUSY and not _is_verdict(response):
                self._pause(self._next_pause(tries, response.headers.get("Retry-After")))
                continue
            return self._checked(request, response)

    def _checked(self, request: Request, response: Response) -> Response:
        """The response with its body as the JSON object that was asked for. ClusterUnreachable when what answers there
        is no API server, such as a login page or a proxy."""
        instead = ""
        if 300 <= response.status < 400:
            instead = "a redirect"
        elif response.ok and JSON in request.headers["Accept"]:
            try:
                body = response.json()
            except ValueError:
                html = isinstance(response.content, bytes) and response.content.lstrip()[:1] == b"<"
                body, instead = None, "HTML" if html else "something else"
            if isinstance(body, dict):
                return Response(response.status, body, response.headers)
            instead = instead or "no object"
        if instead:
            request_line = f"{request.method} {request.path}"
            raise ClusterUnreachable(
                KubeText.API_SERVER_GAVE_INSTEAD_JSON(name=self.name, what=instead, asked=request_line)
            )
        return response

    def pages(
        self, path: str, query: Mapping[str, str] | None = None, *, accept: str = JSON, most: int
    ) -> Iterator[Response]:
        """The pages of a list, at most so many; one that the server refuses is the last. As `send`."""
        parameters = {**(query or {}), "limit": str(PAGE)}
        for _ in range(most):
            response = self.send("GET", path, parameters, headers={"Accept": accept}, limit=_LARGEST_PAGE)
            yield response
            token = next_page_of(response.json()) if response.ok else None
            if token is None:
                return
            parameters["continue"] = token

    def stream(self, path: str, query: Mapping[str, str], *, accept: str) -> Response | OpenStream:
        """Begin a response without end, once. ClusterUnreachable when no response came, or none is carried so."""
        headers = {"User-Agent": f"gitfleet/{__version__}", "Accept": accept}
        request = Request(method="GET", path=path, query=query, headers=headers, limit=MIB)
        if not isinstance(self._transport, Streaming):
            raise ClusterUnreachable(KubeText.NOT_REACHED_HTTP(name=self.name))
        try:
            return self._transport.stream(request)
        except NoResponse as error:
            raise ClusterUnreachable(KubeText.API_SERVER_NOT_ANSWER(name=self.name, error=error)) from error

    @property
    def server(self) -> str:
        """The URL of the API server."""
        return self._transport.server

    def close(self) -> None:
        """Let connections go."""
        self._transport.close()

    def _next_pause(self, tries_left: int, wait: str | None) -> float:
        timeouts = self.timeouts
        step = timeouts.tries - tries_left - 1
        pause: float = timeouts.first_pause_seconds * 2.0**step * (0.5 + random.random())
        if wait is not None and wait.isdigit():
            pause = max(pause, float(wait))
        return min(pause, timeouts.longest_pause_seconds)


def micro_time(moment: datetime) -> str:
    """A MicroTime, as Leases and Events have it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def next_page_of(page: JsonObject) -> str | None:
    """What asks for the page after this one; None when this is the last."""
    token = (page.get("metadata") or {}).get("continue")
    return str(token) if token else None


def _is_verdict(response: Response) -> bool:
    """Whether a 500 is a judgement on the request itself, which another try would only repeat."""
    return response.status == 500 and any(words in response.text() for words in (TYPED_PATCH, PRUNE))
