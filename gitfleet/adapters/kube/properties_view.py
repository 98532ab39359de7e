"""What a property provider may see of a cluster: reading, page by page, and nothing else (ports.properties)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from gitfleet.adapters.kube.refusals import refusal_of
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.adapters.kube.wire import PAGE, Wire, next_page_of
from gitfleet.api.objects import JsonObject
from gitfleet.errors import Forbidden, RetryLater
from gitfleet.ports.transport import Response

_MOST_PAGES: Final = 400


class WireView:
    """ClusterView on one API server."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    @property
    def name(self) -> str:
        """ClusterView.name."""
        return self._wire.name

    @property
    def server(self) -> str:
        """ClusterView.server, without whatever logs in by it."""
        parts = urlsplit(self._wire.server)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()

    def get(self, path: str) -> JsonObject | None:
        """ClusterView.get."""
        response = self._wire.send("GET", path)
        if response.status == 404:
            return None
        return self._body(response, path)

    def items(self, path: str, query: Mapping[str, str] | None = None) -> Iterator[JsonObject]:
        """ClusterView.items."""
        complete = False
        for response in self._wire.pages(path, query, most=_MOST_PAGES):
            page = self._body(response, path)
            yield from page.get("items") or ()
            complete = next_page_of(page) is None
        if not complete:
            raise RetryLater(KubeText.MORE_OBJECTS(path=path, name=self.name, page=PAGE * _MOST_PAGES))

    def _body(self, response: Response, path: str) -> dict[str, Any]:
        if response.ok:
            body: dict[str, Any] = response.json()
            return body
        refusal = refusal_of(response)
        error = RetryLater if refusal.retry and response.status != 404 else Forbidden
        raise error(f"{path} of {self.name}: {refusal.message}")
