"""How requests reach one API server: over HTTP, or to a simulated server in this process.

JSON bodies are values, not bytes, on the way to a server and, where a transport has them so, on the way back: whoever
reads one must not change it.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from gitfleet.api.objects import JsonObject
from gitfleet.formats.canonical_json import json_bytes, parse_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """`path` is quoted and starts with a slash, `query` is not quoted; of the response at most `limit` bytes count."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: JsonObject | None = field(default=None, repr=False)
    limit: int = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response, whatever its status."""

    status: int
    content: bytes | JsonObject = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether the server did it."""
        return 200 <= self.status < 300

    def json(self) -> Any:
        """The body as a JSON value; ValueError when it is none."""
        return parse_json(self.content) if isinstance(self.content, bytes) else self.content

    def text(self) -> str:
        """The beginning of the body, for people."""
        content = self.content if isinstance(self.content, bytes) else json_bytes(self.content)
        return content[:1024].decode(errors="replace").strip()


class Transport(Protocol):
    """Carries requests to one API server; may be used by several threads."""

    @property
    def server(self) -> str:
        """The URL of the API server."""

    def request(self, request: Request) -> Response:
        """The server's response, whatever its status; 413 for one larger than `request.limit`.

        NoResponse when none came; MissingPart or Forbidden when there is no login to send.
        """

    def close(self) -> None:
        """Let connections go; the next request makes new ones."""


@dataclass(frozen=True, slots=True)
class OpenStream:
    """A response whose headers came and whose body comes bit by bit: whoever has it reads the socket and ends it.

    `chunked` says how the body is written; `end` closes the connection.
    """

    sock: socket.socket = field(repr=False)
    chunked: bool
    end: Callable[[], None] = field(repr=False)


@runtime_checkable
class Streaming(Protocol):
    """A transport that can also carry a response without end."""

    def stream(self, request: Request) -> Response | OpenStream:
        """The open body of a 200; any other response whole. Errors as Transport.request."""
