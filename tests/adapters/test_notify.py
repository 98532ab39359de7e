"""Notifiers against real servers of this machine: HTTP that answers, hangs, redirects and breaks off, and SMTP."""

from __future__ import annotations

import hmac
import json
import re
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

from gitfleet.adapters.notify import BUILT_IN, mail
from gitfleet.adapters.notify.texts import NotifyText
from gitfleet.api.notifications import BUILT_IN_TYPES, NotificationEvent
from gitfleet.api.texts import ApiText
from gitfleet.errors import BadInput, DestinationUnavailable
from gitfleet.formats.canonical_json import json_bytes
from gitfleet.formats.texts import FormatsText
from gitfleet.model.notifications import NotificationMessage, Occurrence
from gitfleet.ports.notifiers import NotifierAccess
from gitfleet.views.notifications import Occasion, notification_message
from tests.realparts.certificates import write_server_certificate

CANARY = "canary-1f0c9e7b5d"
OCCASION = Occasion("prod", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "c" * 40, "d" * 40)


def message(*sentences: str) -> NotificationMessage:
    return notification_message(OCCASION, [Occurrence(NotificationEvent.ERROR, one) for one in sentences])


def send(type_: str, settings: Any, what: NotificationMessage | None = None) -> None:
    BUILT_IN[type_](NotifierAccess(name="ops", content=json_bytes(settings))).send(what or message("an error"))


@dataclass
class Receiver:
    """An HTTP server that answers as it is told to, and keeps what it got."""

    url: str
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b"ok"
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)


@contextmanager
def receiving(context: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    receiver = Receiver("")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(receiver.status)
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(receiver.body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    receiver.url = f"http{'s' if context else ''}://127.0.0.1:{server.server_address[1]}/hooks/{CANARY}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


def at(receiver: Receiver, **more: Any) -> dict[str, Any]:
    return {"url": receiver.url, "allowHttp": True, **more}


def test_slack_shows_a_text_as_it_is(receiver: Receiver) -> None:
    send("slack", at(receiver), message("<!channel> a & b", "second"))
    (headers, body), *others = receiver.got
    assert not others and headers["content-type"] == "application/json"
    assert json.loads(body) == {
        "text": "fleet prod: &lt;!channel&gt; a &amp; b and 1 more\n&lt;!channel&gt; a &amp; b\nsecond",
        "mrkdwn": False,
        "unfurl_links": False,
        "unfurl_media": False,
    }


def test_the_generic_webhook_is_signed(receiver: Receiver) -> None:
    secret, what = "s" * 32, message("an error")
    send("webhook", at(receiver, secret=f"{secret}\n"), what)
    send("webhook", at(receiver, secret=secret), what)
    (headers, body), again = receiver.got
    signature = hmac.new(secret.encode(), body, "sha256").hexdigest()
    assert headers["x-gitfleet-signature-256"] == f"sha256={signature}"
    assert (headers["x-gitfleet-id"], headers["x-gitfleet-timestamp"]) == (what.id, "1767323045")
    assert json.loads(body) == what.document and what.document["time"] == "2026-01-02T03:04:05Z"
    assert again[1] == body and again[0]["x-gitfleet-id"] == what.id
    assert secret not in str(headers) + body.decode()


@pytest.mark.parametrize(
    ("status", "headers", "error", "said", "after"),
    [
        (500, {}, DestinationUnavailable, "127.0.0.1 answers 500", None),
        (429, {"Retry-After": "30"}, DestinationUnavailable, "127.0.0.1 answers 429", 30.0),
        (503, {"Retry-After": "soon"}, DestinationUnavailable, "127.0.0.1 answers 503", None),
        (404, {}, BadInput, NotifyText.REFUSES_IT_WITH(host="127.0.0.1", code="404"), None),
        (
            302, {"Location": "http://127.0.0.1:1/"}, BadInput,
            NotifyText.REDIRECTS_ANOTHER_ADDRESS(host="127.0.0.1"), None,
        ),
    ],
)  # fmt: skip
def test_what_a_server_answers(
    receiver: Receiver, status: int, headers: dict[str, str], error: type[Exception], said: str, after: float | None
) -> None:
    receiver.status, receiver.headers, receiver.body = status, headers, CANARY.encode()
    with pytest.raises(error) as raised:
        send("slack", at(receiver))
    assert (str(raised.value), getattr(raised.value, "after", None)) == (said, after)
    assert len(receiver.got) == 1


def refusal(code: int) -> str:
    return f"^{re.escape(NotifyText.REFUSES_IT_WITH(host='127.0.0.1', code=code))}$"


@pytest.mark.parametrize("tls", ["starttls", "implicit"])
def test_a_link_local_address_behind_the_name_of_a_mail_server(tls: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitfleet.adapters.addresses.is_refused", lambda host: host == "127.0.0.1")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings = {**MAIL, "host": "localhost", "port": silent.getsockname()[1], "tls": tls}
        with pytest.raises(BadInput, match="link-local or metadata address, to which nothing is sent"):
            send("email", settings)


def test_tls_needs_a_certificate_that_is_trusted(tmp_path: Path) -> None:
    certificate, key = write_server_certificate(tmp_path, "hooks")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with receiving(context) as receiver:
        with pytest.raises(DestinationUnavailable, match="certificate or ours was not accepted"):
            send("slack", {"url": receiver.url})
        assert receiver.got == []
        send("slack", {"url": receiver.url, "ca": certificate.read_text()})
        assert len(receiver.got) == 1


LINK_LOCAL = f"url {NotifyText.LINK_LOCAL_ADDRESS()}"
SHORT = f"secret {NotifyText.MUST_LEAST_CHARACTERS(shortest_secret=16)}"
ADDRESS = NotifyText.MUST_ADDRESS_FLEET_EXAMPLE_COM()
MAIL = {"host": "127.0.0.1", "from": "fleet@example.com", "to": ["ops@example.com"]}


@pytest.mark.parametrize(
    ("type_", "settings", "said"),
    [
        ("slack", {}, f"url {ApiText.REQUIRED_ADD()}"),
        ("slack", {"url": f"http://x.example/{CANARY}"}, "url must begin with https://; allowHttp: true"),
        ("slack", {"url": f"https://me:{CANARY}@x.example"}, f"url {NotifyText.MUST_HTTPS_URL_HOST()}"),
        ("slack", {"url": f"file:///{CANARY}"}, f"url {NotifyText.MUST_HTTPS_URL_HOST()}"),
        ("slack", {"url": "https://169.254.169.254/latest"}, LINK_LOCAL),
        (
            "slack",
            {"url": "https://x.example", "urk": CANARY},
            f"urk {ApiText.NOT_KNOWN_FIELD(hint=FormatsText.YOU_MEAN(near='url'))}",
        ),
        ("webhook", {"url": "https://x.example", "secret": "short"}, SHORT),
        ("webhook", {"url": "https://x.example", "secret": "f" * 15 + "\n"}, SHORT),
        (
            "webhook",
            {"url": "https://x.example", "secret": CANARY, "ca": CANARY},
            f"ca {NotifyText.MUST_CERTIFICATES_PEM()}",
        ),
        ("email", {**MAIL, "to": []}, "to "),
        ("email", {**MAIL, "to": ["ops@example.com\nBcc: all@example.com"]}, f"to[0] {ADDRESS}"),
        ("email", {**MAIL, "from": "nobody"}, f"from {ADDRESS}"),
        ("email", {**MAIL, "username": "me"}, f"username {NotifyText.GOES_PASSWORD_GIVE_BOTH_NONE()}"),
        (
            "email",
            {**MAIL, "username": "me", "password": CANARY, "tls": "none"},
            f"tls {NotifyText.MUST_STARTTLS_IMPLICIT_WHERE_PASSWORD()}",
        ),
        ("email", {**MAIL, "host": "169.254.1.1"}, f"host {NotifyText.LINK_LOCAL_ADDRESS()}"),
    ],
)
def test_a_file_that_cannot_be_used(type_: str, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput) as raised:
        send(type_, settings)
    where = NotifyText.FILE_DESTINATION(file="", access="ops").replace("  ", " ")
    assert str(raised.value).startswith(NotifyText.CANNOT_USED(where=where, why=said))
    assert CANARY not in str(raised.value)


def test_the_path_of_a_file_that_cannot_be_used() -> None:
    access = NotifierAccess(name="ops", content=b"{}", file="/etc/notify/ops")
    where = NotifyText.FILE_DESTINATION(file="/etc/notify/ops", access="ops")
    sentence = NotifyText.CANNOT_USED(where=where, why=f"url {ApiText.REQUIRED_ADD()}")
    with pytest.raises(BadInput, match=f"^{re.escape(sentence)}$"):
        BUILT_IN["slack"](access)


@pytest.mark.parametrize("content", [b"", b"url: [", b"a: 1\n---\nb: 2\n", b"\xff", f"- {CANARY}".encode()])
def test_a_file_that_is_no_mapping(content: bytes) -> None:
    with pytest.raises(BadInput) as raised:
        BUILT_IN["slack"](NotifierAccess(name="ops", content=content))
    assert CANARY not in str(raised.value) and CANARY not in repr(NotifierAccess(name="ops", content=content))


def test_every_type_that_a_configuration_may_name_is_there() -> None:
    assert set(BUILT_IN) == set(BUILT_IN_TYPES)


@dataclass
class Mailbox:
    """A mail server's answers and what it got."""

    refusal: str = ""
    got: list[tuple[str, list[str], EmailMessage]] = field(default_factory=list)

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802 - aiosmtpd's name
        parsed = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(parsed, EmailMessage)
        self.got.append((envelope.mail_from, envelope.rcpt_tos, parsed))
        return self.refusal or "250 OK"


def authenticated(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
    sound = isinstance(data, LoginPassword) and (data.login, data.password) == (b"me", CANARY.encode())
    return AuthResult(success=sound, handled=False)


@contextmanager
def mailing(context: ssl.SSLContext, **options: Any) -> Iterator[tuple[Mailbox, int]]:
    box = Mailbox()
    free = socket.create_server(("127.0.0.1", 0))
    port = free.getsockname()[1]
    free.close()
    controller = Controller(
        box, "127.0.0.1", port, tls_context=context, authenticator=authenticated, require_starttls=True, **options
    )
    controller.start()
    try:
        yield box, port
    finally:
        controller.stop()


@pytest.fixture
def encrypted(tmp_path: Path) -> tuple[ssl.SSLContext, str]:
    certificate, key = write_server_certificate(tmp_path, "mail")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context, certificate.read_text()


def test_a_mail_by_starttls_and_login(encrypted: tuple[ssl.SSLContext, str]) -> None:
    context, authority = encrypted
    settings = {**MAIL, "to": ["a@example.com", "b@example.com"], "ca": authority}
    with mailing(context, auth_required=True) as (box, port):
        what = message("x: Ärger\r\nBcc: all@example.com", "y" * 400)
        with pytest.raises(BadInput, match=refusal(530)):
            send("email", {**settings, "port": port}, what)
        with pytest.raises(BadInput, match=refusal(535)):
            send("email", {**settings, "port": port, "username": "me", "password": "wrong"}, what)
        send("email", {**settings, "port": port, "username": "me", "password": CANARY}, what)
        ((sender, recipients, mail_),) = box.got
        assert (sender, recipients) == ("fleet@example.com", ["a@example.com", "b@example.com"])
        assert mail_["Subject"] == "fleet prod: x: Ärger Bcc: all@example.com and 1 more"
        assert (mail_["To"], mail_["Bcc"]) == ("a@example.com, b@example.com", None)
        assert mail_["Message-ID"] == f"<{what.id}@gitfleet>" and mail_["Date"] == "Fri, 02 Jan 2026 03:04:05 +0000"
        assert mail_.get_content().splitlines()[1] == "y" * 400

        box.refusal = "451 later"
        with pytest.raises(DestinationUnavailable, match=r"^127\.0\.0\.1 answers 451$"):
            send("email", {**settings, "port": port, "username": "me", "password": CANARY}, what)
        with pytest.raises(
            DestinationUnavailable, match=re.escape(NotifyText.CERTIFICATE_NOT_ACCEPTED(host="127.0.0.1"))
        ):
            send("email", {**MAIL, "port": port}, what)
        with pytest.raises(BadInput, match=refusal(530)):
            send("email", {**MAIL, "port": port, "tls": "none"}, what)


def test_a_mail_with_tls_from_the_first_byte(encrypted: tuple[ssl.SSLContext, str]) -> None:
    context, authority = encrypted
    got: list[bytes] = []

    def answer(server: socket.socket) -> None:
        with context.wrap_socket(server.accept()[0], server_side=True) as connection:
            connection.sendall(b"220 hello\r\n")
            replies = iter((b"250 OK", b"250 OK", b"250 OK", b"354 go on", b"250 OK", b"221 bye"))
            while reply := next(replies, b""):
                got.append(connection.recv(65536))
                connection.sendall(reply + b"\r\n")

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=answer, args=(server,), daemon=True)
        thread.start()
        send("email", {**MAIL, "port": server.getsockname()[1], "tls": "implicit", "ca": authority})
        thread.join(10)
    assert b"an error" in b"".join(got)


@pytest.mark.parametrize(
    ("tls", "greeting"), [("none", b"220 hello\r\n"), ("none", b""), ("starttls", b"220 hello\r\n")]
)
def test_a_mail_server_that_sends_without_end(tls: str, greeting: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail, "WHOLE_SECONDS", 0.3)
    ended = threading.Event()

    def answer(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection:
            if greeting:
                connection.sendall(greeting)
                connection.recv(4096)
            try:
                while not ended.wait(0.02):
                    connection.sendall(b"250-more\r\n")
            except OSError:
                return

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=answer, args=(server,), daemon=True)
        thread.start()
        with pytest.raises(DestinationUnavailable):
            send("email", {**MAIL, "port": server.getsockname()[1], "tls": tls})
        ended.set()
        thread.join(10)


@pytest.mark.parametrize("tls", ["none", "starttls", "implicit"])
def test_a_deadline_that_comes_before_there_is_a_connection(
    tls: str, encrypted: tuple[ssl.SSLContext, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time is up while the name is looked up, or while TLS begins; then the server sends without end."""
    context, authority = encrypted
    monkeypatch.setattr(mail, "WHOLE_SECONDS", 0.1)
    ended, resolve = threading.Event(), socket.getaddrinfo

    def slow(*given: Any, **more: Any) -> Any:
        ended.wait(0.3 if tls == "none" else 0)
        return resolve(*given, **more)

    monkeypatch.setattr(socket, "getaddrinfo", slow)

    def answer(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection:
            if tls == "starttls":
                connection.sendall(b"220 hello\r\n")
                for line in (b"250-hello\r\n250 STARTTLS\r\n", b"220 go on\r\n"):
                    connection.recv(4096)
                    connection.sendall(line)
            if tls != "none":
                ended.wait(0.3)
                connection = context.wrap_socket(connection, server_side=True, suppress_ragged_eofs=True)
            with suppress(OSError):
                while not ended.wait(0.02):
                    connection.sendall(b"250-more\r\n")

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=answer, args=(server,), daemon=True)
        thread.start()
        with pytest.raises(DestinationUnavailable):
            send("email", {**MAIL, "port": server.getsockname()[1], "tls": tls, "ca": authority})
        ended.set()
        thread.join(10)
