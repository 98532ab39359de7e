"""Where an API server is, and proof of who we are: fixed, or read from a file (asked of a plug-in: `exec_login`)."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from gitfleet.adapters.kube.texts import KubeText
from gitfleet.errors import MissingPart

_TOKEN: Final = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where an API server is and whom to trust there. `authority` is a PEM text, None for the machine's own."""

    server: str
    authority: str | None = field(default=None, repr=False)
    server_name: str | None = None
    insecure: bool = False
    proxy: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """Headers to send with each request, and the PEM texts of a client certificate and its key. Never printed."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    certificate: str | None = field(default=None, repr=False)
    key: str | None = field(default=None, repr=False)


class LoginSource(Protocol):
    """Gives the login to use now; `renew` after the server refused the last one."""

    def current(self) -> Login:
        """The login; the same value as before while it is still good."""

    def renew(self) -> bool:
        """Drop the last login; False when another one cannot be had."""


@dataclass(frozen=True, slots=True)
class FixedLogin:
    """A login that never changes."""

    login: Login = field(repr=False)

    def current(self) -> Login:
        """See LoginSource."""
        return self.login

    def renew(self) -> bool:
        """See LoginSource."""
        return False


@dataclass(slots=True)
class FileLogin:
    """A bearer token in a file that somebody rotates, such as a pod's service account token."""

    path: Path
    base: Login = field(default_factory=Login, repr=False)
    _login: Login | None = field(default=None, repr=False)

    def current(self) -> Login:
        """The file's present content; MissingPart when it cannot be read."""
        if self._login is None:
            try:
                header = bearer_header(self.path.read_text(encoding="utf-8").strip())
            except (OSError, ValueError) as error:
                why = getattr(error, "strerror", None) or KubeText.TOKEN_NO_SPACES()
                raise MissingPart(KubeText.TOKEN_FILE_KUBECONFIG_CANNOT_READ(error=why)) from error
            headers = {**self.base.headers, "Authorization": header}
            self._login = Login(headers=headers, certificate=self.base.certificate, key=self.base.key)
        return self._login

    def renew(self) -> bool:
        """Read the file again; False when it still says the same."""
        old, self._login = self._login, None
        return old != self.current()


def bearer_header(token: str) -> str:
    """The value of a bearer token's header; ValueError, which does not repeat it, for what cannot be one."""
    if _TOKEN.fullmatch(token) is None:
        raise ValueError(KubeText.TOKEN_NO_SPACES())
    return f"Bearer {token}"


def basic_header(username: str, password: str) -> str:
    """The value of HTTP basic authentication."""
    return "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()
