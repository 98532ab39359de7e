"""Messages as e-mail, by one mail server, with a limit on the whole time."""

from __future__ import annotations

import smtplib
import socket
import ssl
import threading
from contextlib import suppress
from email import policy
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Any, Final

from gitfleet.adapters.addresses import checked
from gitfleet.adapters.bounded_reads import connected
from gitfleet.adapters.checked_requests import trusting
from gitfleet.adapters.notify.files import MailFile, settings_in
from gitfleet.adapters.notify.texts import NotifyText
from gitfleet.errors import BadInput, DestinationUnavailable
from gitfleet.model.notifications import NotificationMessage
from gitfleet.ports.notifiers import NotifierAccess

ANSWER_SECONDS: Final = 20.0
WHOLE_SECONDS: Final = 60.0
_AGAIN_SECONDS: Final = 0.2


class Mail:
    """See ports.notifiers.Notifier. Plain text; what it says comes with lines alone, so that it can add no header."""

    def __init__(self, access: NotifierAccess) -> None:
        self._file = settings_in(access, MailFile)

    def send(self, message: NotificationMessage) -> None:
        """See the port."""
        file, mail = self._file, mail_of(self._file, message)
        try:
            with _Deadline() as deadline, _connected(file, deadline) as server:
                if file.username is not None and file.password is not None:
                    server.login(file.username, file.password)
                server.send_message(mail, file.sender, list(file.to))
        except smtplib.SMTPRecipientsRefused as error:
            _refused(file, max(code for code, _ in error.recipients.values()))
        except smtplib.SMTPResponseException as error:
            _refused(file, error.smtp_code)
        except smtplib.SMTPNotSupportedError:
            raise BadInput(NotifyText.NO_TLS_NO_LOGIN(host=file.host)) from None
        except ssl.SSLError:
            raise DestinationUnavailable(NotifyText.CERTIFICATE_NOT_ACCEPTED(host=file.host)) from None
        except (smtplib.SMTPException, OSError) as error:
            raise DestinationUnavailable(NotifyText.NOT_ANSWER(host=file.host, error=type(error).__name__)) from None


def mail_of(file: MailFile, message: NotificationMessage) -> EmailMessage:
    """The message as a mail."""
    mail = EmailMessage(policy=policy.SMTP)
    mail["Subject"], mail["From"], mail["To"] = message.subject, file.sender, ", ".join(file.to)
    mail["Date"], mail["Message-ID"] = format_datetime(message.time), f"<{message.id}@gitfleet>"
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content("".join(f"{line}\n" for line in message.lines))
    return mail


class _Deadline:
    """Ends the connection of a server after WHOLE_SECONDS, whatever it waits for: a socket's own timeout begins again
    with each line. Then it does so again and again: there may be no connection yet, or another one once it has TLS."""

    def __init__(self) -> None:
        self.server: smtplib.SMTP | None = None
        self._over = threading.Event()

    def __enter__(self) -> _Deadline:
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def _watch(self) -> None:
        pause = WHOLE_SECONDS
        while not self._over.wait(pause):
            pause = _AGAIN_SECONDS
            connection = getattr(self.server, "sock", None)
            if connection is not None:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)


class _Checked(smtplib.SMTP):
    """A connection whose other end is looked at before anything is sent."""

    def __init__(self, deadline: _Deadline, file: MailFile) -> None:
        deadline.server = self
        super().__init__(file.host, file.port, timeout=ANSWER_SECONDS)

    def _get_socket(self, host: str, port: int, timeout: Any) -> socket.socket:
        return checked(connected(host, port, timeout))


class _CheckedTls(smtplib.SMTP_SSL):
    """The same with TLS from the first byte."""

    def __init__(self, deadline: _Deadline, file: MailFile, context: ssl.SSLContext) -> None:
        deadline.server = self
        super().__init__(file.host, file.port, timeout=ANSWER_SECONDS, context=context)

    def _get_socket(self, host: str, port: int, timeout: Any) -> socket.socket:
        plain = checked(connected(host, port, timeout))
        return self.context.wrap_socket(plain, server_hostname=host)


def _connected(file: MailFile, deadline: _Deadline) -> smtplib.SMTP:
    context = trusting(file.ca)
    if file.tls == "implicit":
        return _CheckedTls(deadline, file, context)
    server = _Checked(deadline, file)
    if file.tls == "starttls":
        try:
            server.starttls(context=context)
        except BaseException:
            server.close()
            raise
    return server


def _refused(file: MailFile, code: int) -> None:
    """What a mail server answered: 5xx is for good, anything else may pass."""
    if 500 <= code < 600:
        raise BadInput(NotifyText.REFUSES_IT_WITH(host=file.host, code=code)) from None
    raise DestinationUnavailable(f"{file.host} answers {code}") from None
