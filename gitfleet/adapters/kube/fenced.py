"""A transport that sends no write once its process may not write any more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gitfleet.adapters.kube.texts import KubeText
from gitfleet.errors import NoResponse
from gitfleet.ports.transport import OpenStream, Request, Response, Streaming, Transport

_READS: Final = frozenset({"GET", "HEAD"})


class FencedTransport:
    """See ports.transport.Transport. `may_write` is asked before each request that is no read: a process that was
    suspended in the middle of its work, or lost its lease there, goes on to the next request and no further."""

    def __init__(self, inner: Transport, may_write: Callable[[], bool]) -> None:
        self._inner, self._may_write = inner, may_write

    @property
    def server(self) -> str:
        """See the port."""
        return self._inner.server

    def request(self, request: Request) -> Response:
        """See the port; NoResponse, and nothing sent, where it may not write."""
        if request.method not in _READS and not self._may_write():
            raise NoResponse(KubeText.PROCESS_NOT_LEAD_ANY_MORE(), passing=False)
        return self._inner.request(request)

    def stream(self, request: Request) -> Response | OpenStream:
        """See Streaming: a stream is a read. NoResponse where the transport carries none."""
        if not isinstance(self._inner, Streaming):
            raise NoResponse(KubeText.NOT_REACHED_HTTP(), passing=False)
        return self._inner.stream(request)

    def close(self) -> None:
        """See the port."""
        self._inner.close()
