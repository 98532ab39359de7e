"""Logins asked of a client-go credential plug-in that the operator allowed.

Source: Kubernetes documentation, "client-go credential plugins" (ExecCredential v1 and v1beta1).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from gitfleet.adapters.kube.logins import Login, bearer_header
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.adapters.programs import Finished, run_program
from gitfleet.api.objects import JsonObject
from gitfleet.errors import Forbidden, MissingPart
from gitfleet.formats.canonical_json import json_text, parse_json
from gitfleet.formats.masking import masked
from gitfleet.formats.times import read_time

EXEC_VERSIONS: Final = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
LARGEST_OUTPUT: Final = 1024 * 1024
"""Most bytes that a plug-in may print."""
_RENEW_BEFORE: Final = timedelta(seconds=60)
_SHOWN_COMPLAINT: Final = 2048


@dataclass(slots=True, kw_only=True)
class ExecLogin:
    """A credential plug-in, run without a shell and bounded in time and output. It was allow-listed before.

    Its environment is PATH, those variables of this process that `inherited` names, and what the kubeconfig says.
    """

    command: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(repr=False)
    inherited: tuple[str, ...] = ()
    api_version: str
    cluster_info: JsonObject | None = None
    folder: Path
    now: Callable[[], datetime]
    timeout_seconds: float = 30.0
    base: Login = field(default_factory=Login, repr=False)
    _login: Login | None = field(default=None, repr=False)
    _expires: datetime | None = None

    def current(self) -> Login:
        """The plug-in's login, requested again shortly before it expires; MissingPart or Forbidden when it gives
        none."""
        if self._login is None or (self._expires is not None and self.now() >= self._expires - _RENEW_BEFORE):
            self._login = self._run_plugin()
        return self._login

    def renew(self) -> bool:
        """Ask again with the next request."""
        self._login = None
        return True

    def _run_plugin(self) -> Login:
        name = Path(self.command).name
        try:
            done = run_program(
                [self.command, *self.arguments],
                environment=self._environment(),
                folder=self.folder,
                seconds=self.timeout_seconds,
                largest_output=LARGEST_OUTPUT,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            hint = KubeText.INSTALL_OR_PUT_ON_PATH()
            raise MissingPart(KubeText.CREDENTIAL_PLUG_CANNOT_RUN(name=name, why=reason), hint=hint) from error
        if done.too_slow:
            raise MissingPart(KubeText.CREDENTIAL_PLUG_NOT_ANSWER(name=name, seconds=self.timeout_seconds))
        if done.code != 0:
            complaint = masked(done.errors[-_SHOWN_COMPLAINT:].decode(errors="replace"), self.environment.values())
            raise Forbidden(KubeText.CREDENTIAL_PLUG_FAILED(name=name, code=done.code, complaint=complaint))
        return self._read(done, name)

    def _environment(self) -> dict[str, str]:
        spec: dict[str, Any] = {"interactive": False}
        if self.cluster_info is not None:
            spec["cluster"] = self.cluster_info
        info = {"apiVersion": self.api_version, "kind": "ExecCredential", "spec": spec}
        inherited = {key: os.environ[key] for key in ("PATH", *self.inherited) if key in os.environ}
        return {**inherited, **self.environment, "KUBERNETES_EXEC_INFO": json_text(info)}

    def _read(self, done: Finished, name: str) -> Login:
        try:
            status = parse_json(done.output)["status"]
            token, expires = status.get("token"), status.get("expirationTimestamp")
            certificate, key = status.get("clientCertificateData"), status.get("clientKeyData")
            if not all(value is None or isinstance(value, str) for value in (token, certificate, key)):
                raise TypeError("a credential is a string")
            self._expires = read_time(expires) if expires else None
            headers = {**self.base.headers, **({"Authorization": bearer_header(token)} if token else {})}
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise MissingPart(KubeText.CREDENTIAL_PLUG_NO_EXECCREDENTIAL(name=name)) from error
        return Login(headers=headers, certificate=certificate or self.base.certificate, key=key or self.base.key)
