"""Where an API server is, and proof of who we are: fixed, read from a file, or asked of an exec plug-in."""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, Protocol

from gitfleet.api.objects import JsonObject
from gitfleet.errors import Forbidden, MissingPart
from gitfleet.formats.canonical_json import json_text, parse_json
from gitfleet.formats.masking import masked
from gitfleet.formats.times import read_time

_RENEW_BEFORE: Final = timedelta(seconds=60)
_LARGEST_OUTPUT: Final = 1024 * 1024


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
        """Forget the last login; False when another one cannot be had."""


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
                token = self.path.read_text(encoding="utf-8").strip()
            except OSError as error:
                raise MissingPart(f"the token file of a kubeconfig cannot be read: {error.strerror}") from error
            headers = {**self.base.headers, "Authorization": f"Bearer {token}"}
            self._login = Login(headers=headers, certificate=self.base.certificate, key=self.base.key)
        return self._login

    def renew(self) -> bool:
        """Read the file again; False when it still says the same."""
        old, self._login = self._login, None
        return old != self.current()


@dataclass(slots=True, kw_only=True)
class ExecLogin:
    """A client-go credential plug-in, run without a shell and with a time limit. It was allow-listed before.

    Source: Kubernetes documentation, "client-go credential plugins" (ExecCredential v1 and v1beta1).
    """

    command: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(repr=False)
    api_version: str
    cluster_info: JsonObject | None = None
    now: Callable[[], datetime]
    timeout_seconds: float = 30.0
    base: Login = field(default_factory=Login, repr=False)
    _login: Login | None = field(default=None, repr=False)
    _expires: datetime | None = None

    def current(self) -> Login:
        """The plug-in's login, asked anew shortly before it expires; MissingPart or Forbidden when it gives none."""
        if self._login is None or (self._expires is not None and self.now() >= self._expires - _RENEW_BEFORE):
            self._login = self._run_plugin()
        return self._login

    def renew(self) -> bool:
        """Ask again with the next request."""
        self._login = None
        return True

    def _run_plugin(self) -> Login:
        spec: dict[str, Any] = {"interactive": False}
        if self.cluster_info is not None:
            spec["cluster"] = self.cluster_info
        info = {"apiVersion": self.api_version, "kind": "ExecCredential", "spec": spec}
        environment = {**os.environ, **self.environment, "KUBERNETES_EXEC_INFO": json_text(info)}
        name = Path(self.command).name
        try:
            done = subprocess.run(  # noqa: S603 - allow-listed by the operator, no shell
                [self.command, *self.arguments],
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=self.timeout_seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise MissingPart(f"the credential plug-in {name} did not answer in {self.timeout_seconds:g} s") from error
        except OSError as error:
            hint = "install it, or put it on the PATH of this process"
            raise MissingPart(f"the credential plug-in {name} cannot be run: {error.strerror}", hint=hint) from error
        if done.returncode != 0:
            stderr_text = masked(done.stderr[-2048:].decode(errors="replace"))
            raise Forbidden(f"the credential plug-in {name} failed with exit code {done.returncode}: {stderr_text}")
        return self._read(done.stdout[:_LARGEST_OUTPUT], name)

    def _read(self, output: bytes, name: str) -> Login:
        try:
            status = parse_json(output)["status"]
            token, expires = status.get("token"), status.get("expirationTimestamp")
            self._expires = read_time(expires) if expires else None
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise MissingPart(f"the credential plug-in {name} did not print an ExecCredential") from error
        headers = {**self.base.headers, **({"Authorization": f"Bearer {token}"} if token else {})}
        return Login(
            headers=headers,
            certificate=status.get("clientCertificateData") or self.base.certificate,
            key=status.get("clientKeyData") or self.base.key,
        )


def basic_header(username: str, password: str) -> str:
    """The value of HTTP basic authentication."""
    return "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()
