"""How requests reach one API server: over HTTP, or to a simulated server in this process."""

from __future__ import annotations

from typing import Protocol

from gitfleet.model.http import Request, Response


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
