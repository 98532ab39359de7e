"""Messages as HTTP requests: to one URL, with limits on time and size, never redirected."""

from __future__ import annotations

import hmac
import ssl
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import urllib3

from gitfleet.adapters.bounded_reads import pools_with_limit
from gitfleet.adapters.clock import SystemClock
from gitfleet.adapters.notify.addresses import checked
from gitfleet.adapters.notify.files import SlackFile, WebhookFile, settings_in
from gitfleet.errors import BadInput, DestinationUnavailable, NoResponse
from gitfleet.formats.canonical_json import json_bytes
from gitfleet.model.notifications import NotificationMessage
from gitfleet.ports.notifiers import NotifierAccess

CONNECT_SECONDS: Final = 10.0
READ_SECONDS: Final = 15.0
WHOLE_SECONDS: Final = 20.0
_MOST_READ: Final = 4096
_BUSY: Final = frozenset({408, 425, 429})
_MOST_TEXT: Final = 12_000
"""Characters; Slack cuts a text at 40,000."""


class Slack:
    """See ports.notifiers.Notifier. The text is shown as it is: no mark-up, and no mention of anybody."""

    def __init__(self, access: NotifierAccess) -> None:
        self._file = settings_in(access, SlackFile)

    def send(self, message: NotificationMessage) -> None:
        """See the port."""
        lines = (message.subject, *message.lines) if len(message.lines) > 1 else (message.subject,)
        text = escaped("\n".join(lines))[:_MOST_TEXT]
        body = json_bytes({"text": text, "mrkdwn": False, "unfurl_links": False, "unfurl_media": False})
        post(self._file, body, {})


class SignedWebhook:
    """See ports.notifiers.Notifier. The document of the message, signed."""

    def __init__(self, access: NotifierAccess) -> None:
        self._file = settings_in(access, WebhookFile)

    def send(self, message: NotificationMessage) -> None:
        """See the port."""
        body = json_bytes(message.document)
        signature = hmac.digest(self._file.secret.encode(), body, "sha256").hex()
        headers = {
            "X-Gitfleet-Id": message.id,
            "X-Gitfleet-Timestamp": str(int(message.time.timestamp())),
            "X-Gitfleet-Signature-256": f"sha256={signature}",
        }
        post(self._file, body, headers)


def escaped(text: str) -> str:
    """A text in which Slack sees no mark-up (its page "Formatting text for app surfaces")."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def post(file: SlackFile | WebhookFile, body: bytes, headers: Mapping[str, str]) -> None:
    """Post to the URL of a file; DestinationUnavailable for what may pass, BadInput for what this request alone cannot
    end. A URL may be a secret: only its host is named."""
    host = urlsplit(file.url).hostname
    context = ssl.create_default_context(cadata=file.ca)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    pool = urllib3.PoolManager(retries=False, ssl_context=context)
    pool.pool_classes_by_scheme = _checked_pools()
    try:
        response = pool.request(
            "POST",
            file.url,
            body=body,
            headers={"Content-Type": "application/json", "User-Agent": "gitfleet", "Connection": "close", **headers},
            retries=False,
            redirect=False,
            preload_content=False,
            timeout=urllib3.Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS),
        )
        response.read(_MOST_READ, decode_content=False)
        status, after = response.status, response.headers.get("Retry-After", "")
        response.close()
    except BadInput as error:
        raise BadInput(f"{host}: {error}") from error
    except (NoResponse, urllib3.exceptions.HTTPError, OSError) as error:
        raise DestinationUnavailable(f"{host} does not answer: {_why(error)}") from None
    finally:
        pool.clear()
    if status in _BUSY or status >= 500:
        raise DestinationUnavailable(f"{host} answers {status}", after=float(after) if after.isdecimal() else None)
    if 300 <= status < 400:
        raise BadInput(f"{host} redirects to another address, which is not followed: name that one")
    if status >= 300 or status < 200:
        raise BadInput(f"{host} refuses it with {status}")


def _checked_pools() -> dict[str, Any]:
    """Connections whose other end is looked at before anything is sent."""
    pools = pools_with_limit(WHOLE_SECONDS, SystemClock().monotonic)
    return {scheme: _checked_pool(pool) for scheme, pool in pools.items()}


def _checked_pool(pool: Any) -> Any:
    def new_connection(self: Any) -> Any:
        return checked(pool.ConnectionCls._new_conn(self))

    connection = type("Checked", (pool.ConnectionCls,), {"_new_conn": new_connection})
    return type("CheckedPool", (pool,), {"ConnectionCls": connection})


def _why(error: Exception) -> str:
    """Why no response came, in the same words each time and without the URL."""
    match error:
        case NoResponse():
            return str(error)
        case urllib3.exceptions.NameResolutionError():
            return "its name cannot be resolved"
        case urllib3.exceptions.SSLError() | ssl.SSLError():
            return "its certificate was not accepted"
        case urllib3.exceptions.NewConnectionError():
            return "no connection"
        case urllib3.exceptions.ConnectTimeoutError():
            return f"no connection within {CONNECT_SECONDS:g} s"
        case urllib3.exceptions.TimeoutError() | TimeoutError():
            return f"no response within {READ_SECONDS:g} s"
        case _:
            return f"the connection failed ({type(error).__name__})"
