"""One HTTP request: limits on time and size, no redirects, no proxy, never to a link-local or metadata address."""

from __future__ import annotations

import hmac
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import urllib3

from gitfleet.adapters.addresses import checked
from gitfleet.adapters.bounded_reads import pools_with_limit, why_no_response
from gitfleet.adapters.clock import SystemClock
from gitfleet.errors import NoResponse

SIGNATURE: Final = "X-Gitfleet-Signature-256"
"""The header with the signature of a body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Seconds until there is a connection, between two bytes of the response and until it is whole; and the bytes of
    its body that are read."""

    connect: float = 10.0
    read: float = 15.0
    whole: float = 20.0
    most_bytes: int = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request."""

    method: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """One response; `cut`: its body goes on."""

    status: int
    headers: Mapping[str, str]
    content: bytes = field(repr=False)
    cut: bool


def trusting(authorities: str | None = None) -> ssl.SSLContext:
    """TLS 1.2 or newer, with the certificates of these authorities (PEM) instead of the machine's own."""
    context = ssl.create_default_context(cadata=authorities)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def signature_of(secret: bytes, body: bytes) -> str:
    """What the header SIGNATURE says of a body."""
    return f"sha256={hmac.digest(secret, body, 'sha256').hex()}"


def exchanged(request: Exchange, context: ssl.SSLContext, bounds: Bounds) -> Answered:
    """The response to a request, whatever its status. NoResponse with the reason in the same words each time, BadInput
    for such an address; neither names the URL, which may be a secret."""
    pool = urllib3.PoolManager(retries=False, ssl_context=context)
    pool.pool_classes_by_scheme = _checked_pools(bounds.whole)
    try:
        response = pool.request(
            request.method,
            request.url,
            body=request.body or None,
            headers={"User-Agent": "gitfleet", "Connection": "close", **request.headers},
            retries=False,
            redirect=False,
            preload_content=False,
            timeout=urllib3.Timeout(connect=bounds.connect, read=bounds.read),
        )
        content = response.read(bounds.most_bytes + 1, decode_content=False)
        answered = Answered(
            status=response.status,
            headers=response.headers,
            content=content[: bounds.most_bytes],
            cut=len(content) > bounds.most_bytes,
        )
        response.close()
        return answered
    except (NoResponse, urllib3.exceptions.HTTPError, OSError) as error:
        why = why_no_response(error, bounds.connect, bounds.read)
        raise NoResponse(why, passing=not isinstance(error, NoResponse)) from None
    finally:
        pool.clear()


def _checked_pools(seconds: float) -> dict[str, Any]:
    """Connections whose other end is looked at before anything is sent."""
    pools = pools_with_limit(seconds, SystemClock().monotonic)
    return {scheme: _checked_pool(pool) for scheme, pool in pools.items()}


def _checked_pool(pool: Any) -> Any:
    def new_connection(self: Any) -> Any:
        return checked(pool.ConnectionCls._new_conn(self))

    connection = type("Checked", (pool.ConnectionCls,), {"_new_conn": new_connection})
    return type("CheckedPool", (pool,), {"ConnectionCls": connection})
