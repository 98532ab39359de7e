"""What a small HTTP server hands to whoever answers: values, and no socket."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

TEXT: Final = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """One request: `path` without its query, the names of `headers` in small letters, the whole body."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """One response; its `body` names nothing secret, as anybody may have asked."""

    status: int
    body: bytes
    content_type: str = TEXT
    headers: Mapping[str, str] = field(default_factory=dict)


HttpHandler = Callable[[HttpRequest], HttpResponse]


def sentence_response(status: int, sentence: str, **headers: str) -> HttpResponse:
    """A response of one line; headers by their names with `_` for `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return HttpResponse(status=status, body=f"{sentence}\n".encode(), headers=named)
