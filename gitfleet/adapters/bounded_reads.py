"""Time limits on the whole of a connect and of a response, headers and body: a socket's own timeout begins again with
each address and with each byte."""

from __future__ import annotations

import http.client
import io
import socket
import ssl
from collections.abc import Callable, Iterable
from typing import Any

from urllib3 import BaseHTTPResponse, HTTPConnectionPool, HTTPSConnectionPool, exceptions
from urllib3.connection import HTTPConnection, HTTPSConnection

from gitfleet.adapters.clock import SystemClock
from gitfleet.adapters.texts import AdaptersText
from gitfleet.errors import NoResponse
from gitfleet.formats.masking import masked


def connected(
    host: str, port: int, seconds: float, options: Iterable[tuple[int, int, int | bytes]] = ()
) -> socket.socket:
    """A connection to the first address of a host that answers: so many seconds for all of them together, divided
    among those that are left. They are also the timeout of what the connection does."""
    clock, error = SystemClock(), OSError("no address")
    end = clock.monotonic() + seconds
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    for number, (family, kind, protocol, _, address) in enumerate(addresses):
        connection = socket.socket(family, kind, protocol)
        try:
            for option in options:
                connection.setsockopt(*option)
            connection.settimeout(max(0.001, end - clock.monotonic()) / (len(addresses) - number))
            connection.connect(address)
            connection.settimeout(seconds)
            return connection
        except OSError as failure:
            connection.close()
            error = failure
    raise error


def _new_connection(self: HTTPConnection) -> socket.socket:
    """HTTPConnection._new_conn, with one limit for all addresses."""
    try:
        return connected(self._dns_host.strip("[]"), self.port, float(self.timeout or 0.0), self.socket_options or ())
    except socket.gaierror as error:
        raise exceptions.NameResolutionError(self.host, self, error) from error
    except TimeoutError as error:
        raise exceptions.ConnectTimeoutError(self, str(error)) from error
    except OSError as error:
        raise exceptions.NewConnectionError(self, str(error)) from error


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
        _new_conn = _new_connection

    class Encrypted(HTTPSConnection):
        response_class = Response
        _new_conn = _new_connection

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class EncryptedPool(HTTPSConnectionPool):
        ConnectionCls = Encrypted

    return {"http": PlainPool, "https": EncryptedPool}


def read_body(response: BaseHTTPResponse, most: int) -> bytes:
    """The body up to so many bytes. NoResponse for a compressed one, which nobody asked for: it may unfold to any
    size."""
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise NoResponse(AdaptersText.RESPONSE_COMPRESSED(), passing=False)
    parts, remaining = list[bytes](), most
    while remaining and (part := response.read1(remaining, decode_content=False)):
        parts.append(part)
        remaining -= len(part)
    return b"".join(parts)


def why_no_response(error: Exception, connect: float, read: float) -> str:
    """Why no response came within these seconds, in the same words each time, so that the same error makes no new
    commit."""
    cause = error
    while isinstance(inner := getattr(cause, "reason", None) or next(iter(cause.args), None), Exception):
        cause = inner
    match cause:
        case NoResponse():
            return str(cause)
        case exceptions.NameResolutionError():
            return AdaptersText.NAME_CANNOT_RESOLVED()
        case exceptions.NewConnectionError():
            return "connection refused" if "refused" in str(cause) else AdaptersText.NO_CONNECTION()
        case exceptions.ConnectTimeoutError():
            return AdaptersText.NO_CONNECTION_WITHIN(seconds=connect)
        case exceptions.TimeoutError() | TimeoutError():
            return AdaptersText.NO_RESPONSE_WITHIN(seconds=read)
        case exceptions.SSLError() | ssl.SSLError():
            reason = getattr(cause, "verify_message", None) or getattr(cause, "reason", None) or type(cause).__name__
            return AdaptersText.CERTIFICATE_NOT_ACCEPTED(reason=masked(str(reason)))
        case exceptions.ProtocolError() | ConnectionError():
            return AdaptersText.CONNECTION_BROKE_OFF()
        case _:
            return AdaptersText.CONNECTION_FAILED(name=type(cause).__name__)


class _Until(io.RawIOBase):
    """Reads from a raw stream until a moment."""

    def __init__(self, raw: io.RawIOBase, seconds: float, monotonic: Callable[[], float]) -> None:
        self._raw, self._seconds, self._monotonic = raw, seconds, monotonic
        self._end = monotonic() + seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        if self._monotonic() > self._end:
            raise NoResponse(AdaptersText.NO_WHOLE_RESPONSE_WITHIN(seconds=self._seconds), passing=False)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()
