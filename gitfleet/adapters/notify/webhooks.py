"""Messages as HTTP requests: to one URL, with limits on time and size, never redirected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from gitfleet.adapters.checked_requests import SIGNATURE, Bounds, Exchange, exchanged, signature_of, trusting
from gitfleet.adapters.notify.files import SlackFile, WebhookFile, settings_in
from gitfleet.adapters.notify.texts import NotifyText
from gitfleet.errors import BadInput, DestinationUnavailable, NoResponse
from gitfleet.formats.canonical_json import json_bytes
from gitfleet.model.notifications import NotificationMessage
from gitfleet.ports.notifiers import NotifierAccess

BOUNDS: Final = Bounds()
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
        headers = {
            "X-Gitfleet-Id": message.id,
            "X-Gitfleet-Timestamp": str(int(message.time.timestamp())),
            SIGNATURE: signature_of(self._file.secret.encode(), body),
        }
        post(self._file, body, headers)


def escaped(text: str) -> str:
    """A text in which Slack sees no mark-up (its page "Formatting text for app surfaces")."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def post(file: SlackFile, body: bytes, headers: Mapping[str, str]) -> None:
    """Post to the URL of a file; DestinationUnavailable for what may pass, BadInput for what this request alone cannot
    end. A URL may be a secret: only its host is named."""
    host = urlsplit(file.url).hostname
    request = Exchange(method="POST", url=file.url, body=body, headers={"Content-Type": "application/json", **headers})
    try:
        answered = exchanged(request, trusting(file.ca), BOUNDS)
    except BadInput as error:
        raise BadInput(f"{host}: {error}") from error
    except NoResponse as error:
        raise DestinationUnavailable(NotifyText.NOT_ANSWER(host=host, error=error)) from None
    status, after = answered.status, answered.headers.get("Retry-After", "")
    if status in _BUSY or status >= 500:
        raise DestinationUnavailable(f"{host} answers {status}", after=float(after) if after.isdecimal() else None)
    if 300 <= status < 400:
        raise BadInput(NotifyText.REDIRECTS_ANOTHER_ADDRESS(host=host))
    if status >= 300 or status < 200:
        raise BadInput(NotifyText.REFUSES_IT_WITH(host=host, code=status))
