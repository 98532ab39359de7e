"""A time limit on a whole response, headers and body: a socket's own timeout begins again with each byte."""

from __future__ import annotations

import http.client
import io
from collections.abc import Callable
from typing import Any

from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection

from gitfleet.errors import NoResponse


def pools_with_limit(
    seconds: float, monotonic: Callable[[], float], *, buffered: int = io.DEFAULT_BUFFER_SIZE
) -> dict[str, type[HTTPConnectionPool]]:
    """What a PoolManager's `pool_classes_by_scheme` is to be: NoResponse when a response is not whole after so many
    seconds, counted from the end of the request. The read that is under way then is bounded by its own timeout.

    `buffered` bytes are read ahead at most: 1 leaves the whole body in the socket when the headers are read.
    """

    class Response(http.client.HTTPResponse):
        def __init__(self, sock: Any, *args: Any, **options: Any) -> None:
            super().__init__(sock, *args, **options)
            self.fp = io.BufferedReader(_Until(self.fp.detach(), seconds, monotonic), buffered)

    class Plain(HTTPConnection):
        response_class = Response

    class Encrypted(HTTPSConnection):
        response_class = Response

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class EncryptedPool(HTTPSConnectionPool):
        ConnectionCls = Encrypted

    return {"http": PlainPool, "https": EncryptedPool}


class _Until(io.RawIOBase):
    """Reads from a raw stream until a moment."""

    def __init__(self, raw: io.RawIOBase, seconds: float, monotonic: Callable[[], float]) -> None:
        self._raw, self._seconds, self._monotonic = raw, seconds, monotonic
        self._end = monotonic() + seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        if self._monotonic() > self._end:
            raise NoResponse(f"no whole response within {self._seconds:g} s", passing=False)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()
