"""What the operator's file of a destination says: where it is, and with which secrets. No error repeats a value."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.errors import MessageError
from email.headerregistry import Address
from typing import Annotated, Any, Final, TypeVar
from urllib.parse import urlsplit

from annotated_types import Interval, MinLen

from gitfleet import api
from gitfleet.adapters.addresses import is_refused
from gitfleet.adapters.notify.texts import NotifyText
from gitfleet.api.annotations import Accept, At, Break, Check, OneOf
from gitfleet.errors import BadInput
from gitfleet.formats.yaml_reader import parse_documents
from gitfleet.ports.notifiers import NotifierAccess

T = TypeVar("T")
MOST_BYTES: Final = 64 * 1024
"""Of a destination's file."""
_SHORTEST_SECRET: Final = 16


def _url_fault(text: str) -> str | None:
    try:
        parts = urlsplit(text)
        host, sound = parts.hostname or "", parts.port != 0 and parts.username is None and not parts.fragment
    except ValueError:
        return NotifyText.MUST_HTTPS_URL_HOST()
    if parts.scheme not in ("http", "https") or not host or not sound or not text.isascii() or not text.isprintable():
        return NotifyText.MUST_HTTPS_URL_HOST()
    return NotifyText.LINK_LOCAL_ADDRESS() if is_refused(host) else None


def _address_fault(text: str) -> str | None:
    try:
        address = Address(addr_spec=text)
    except (MessageError, ValueError, IndexError):
        return NotifyText.MUST_ADDRESS_FLEET_EXAMPLE_COM()
    sound = text.isascii() and text.isprintable() and address.domain and " " not in text
    return None if sound else NotifyText.MUST_ADDRESS_FLEET_EXAMPLE_COM()


def _authority_fault(text: str) -> str | None:
    try:
        ssl.create_default_context(cadata=text)
    except (ssl.SSLError, ValueError):
        return NotifyText.MUST_CERTIFICATES_PEM()
    return None


def _secret_fault(text: str) -> str | None:
    least = NotifyText.MUST_LEAST_CHARACTERS(shortest_secret=_SHORTEST_SECRET)
    return None if len(text) >= _SHORTEST_SECRET else least


def _stripped(value: Any) -> Any:
    return value.rstrip() if isinstance(value, str) else value


_Secret = Annotated[str, Accept(_stripped, lambda schema: schema), Check(_secret_fault)]
"""Without the newline that `secret: |` and most editors leave, as in the files of --webhook."""
_Url = Annotated[str, Check(_url_fault)]
_Mailbox = Annotated[str, Check(_address_fault)]
_Authority = Annotated[str, Check(_authority_fault)]
_NEEDS_HTTPS: Final = NotifyText.MUST_BEGIN_HTTPS()


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackFile:
    """url: the incoming webhook, which is a secret
    ca: certificates of the authority that signs its server
    allowHttp: whether it may be sent in the clear
    """

    url: _Url = field(repr=False)
    ca: _Authority | None = None
    allow_http: bool = False

    def breaks(self) -> Iterator[Break]:
        """Nothing secret goes in the clear unasked."""
        if self.url.startswith("http:") and not self.allow_http:
            yield ("url",), _NEEDS_HTTPS


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookFile(SlackFile):
    """url: where to post
    secret: what messages are signed with
    ca: certificates of the authority that signs its server
    allowHttp: whether it may be sent in the clear
    """

    secret: _Secret = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class MailFile:
    """host: the mail server
    port: its port
    tls: starttls, implicit (TLS from the first byte, port 465) or none
    username: who logs in
    password: with what
    from: the sender's address
    to: the recipients' addresses
    ca: certificates of the authority that signs the server
    """

    host: Annotated[str, MinLen(1)]
    port: Annotated[int, Interval(ge=1, le=65535)] = 587
    tls: Annotated[str, OneOf("starttls", "implicit", "none")] = "starttls"
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    sender: Annotated[_Mailbox, At("from")]
    to: Annotated[tuple[_Mailbox, ...], MinLen(1)]
    ca: _Authority | None = None

    def breaks(self) -> Iterator[Break]:
        """A password never goes in the clear, and a login has both parts."""
        if (self.username is None) != (self.password is None):
            yield ("username",), NotifyText.GOES_PASSWORD_GIVE_BOTH_NONE()
        if self.password is not None and self.tls == "none":
            yield ("tls",), NotifyText.MUST_STARTTLS_IMPLICIT_WHERE_PASSWORD()
        if is_refused(self.host):
            yield ("host",), NotifyText.LINK_LOCAL_ADDRESS()


def settings_in(access: NotifierAccess, cls: type[T]) -> T:
    """What the file of a destination says; BadInput for whatever is wrong with it."""
    where = NotifyText.FILE_DESTINATION(file=access.file, access=access.name).replace("  ", " ")
    parsed = parse_documents(access.content, max_bytes=MOST_BYTES)
    if parsed.faults or len(parsed.documents) != 1:
        why = (
            f"line {parsed.faults[0][0]} {parsed.faults[0][1]}" if parsed.faults else NotifyText.MUST_HOLD_ONE_MAPPING()
        )
        raise BadInput(NotifyText.CANNOT_USED(where=where, why=why))
    settings, breaks = api.read(cls, parsed.documents[0].value)
    if settings is None:
        place, sentence = breaks[0]
        raise BadInput(NotifyText.CANNOT_USED(where=where, why=" ".join(filter(None, (api.dotted(place), sentence)))))
    return settings
