"""Kubeconfigs read with suspicion: which server, which authority, which login; and what may not be used.

A kubeconfig that the operator handed to the process may name files, a proxy and allow-listed plug-ins. One that comes
from a Secret was written by whoever may write Secrets: it holds everything inside itself and runs nothing, whatever is
allow-listed.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from gitfleet.adapters.kube.exec_login import EXEC_VERSIONS, ExecLogin
from gitfleet.adapters.kube.logins import (
    Endpoint,
    FileLogin,
    FixedLogin,
    Login,
    LoginSource,
    basic_header,
    bearer_header,
)
from gitfleet.adapters.kube.texts import KubeText
from gitfleet.errors import BadInput, MissingPart
from gitfleet.formats.yaml_reader import UnreadableText, read_documents
from gitfleet.settings import ConnectionRules

LARGEST_KUBECONFIG: Final = 1024 * 1024
_LINE: Final = re.compile(r"[^\x00-\x1f\x7f]+")
_SERVERS: Final = ("https://", "http://")


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """A parsed kubeconfig. `source` names it in sentences, `folder` is where its relative paths start.

    One without a folder was not given to the process as a file: it names no file and no proxy, and runs nothing.
    """

    source: str
    body: Mapping[str, Any]
    folder: Path | None = None

    def access(
        self, rules: ConnectionRules, now: Callable[[], datetime], context: str | None = None
    ) -> tuple[Endpoint, LoginSource]:
        """Where a context leads and how to log in there; the current context when none is named.

        MissingPart for what is not there, BadInput for what is wrong or not allowed, each with a hint.
        """
        name = context if context is not None else self._text(self.body, "current-context")
        if not name:
            raise MissingPart(
                KubeText.NO_CURRENT_CONTEXT(source=self.source), hint=KubeText.NAME_ONE_SPEC_CONNECTION_CONTEXT()
            )
        entry = self._named("contexts", name)
        cluster = self._named("clusters", self._text(entry, "cluster") or "")
        user_name = self._text(entry, "user")
        user = self._named("users", user_name) if user_name else {}
        return self._endpoint(cluster, rules), self._login(cluster, user, rules, now)

    def _named(self, kind: str, name: str) -> Mapping[str, Any]:
        entries = _mappings(self.body.get(kind), f"{self.source}: {kind}")
        for entry in entries:
            if entry.get("name") == name:
                return _mapping(entry.get(kind[:-1]) or {}, f"{self.source}: {kind[:-1]} {name}")
        have = ", ".join(sorted(str(entry.get("name")) for entry in entries)) if self.folder is not None else ""
        hint = f"it has: {have}" if have else KubeText.ADD_UNDER(kind=kind)
        raise MissingPart(KubeText.HAS_NO(source=self.source, kind=kind[:-1], name=name), hint=hint)

    def _endpoint(self, cluster: Mapping[str, Any], rules: ConnectionRules) -> Endpoint:
        server = self._text(cluster, "server") or ""
        if not server.startswith(_SERVERS):
            raise BadInput(KubeText.NAMES_NO_SERVER(source=self.source))
        insecure = bool(cluster.get("insecure-skip-tls-verify"))
        if (insecure or server.startswith("http://")) and not rules.allow_insecure:
            raise BadInput(
                KubeText.NOT_CHECK_WHO_API_SERVER(source=self.source),
                hint=KubeText.GIVE_CERTIFICATE_AUTHORITY_DATA_HTTPS(),
            )
        return Endpoint(
            server=server,
            authority=self._pem(cluster, "certificate-authority"),
            server_name=self._text(cluster, "tls-server-name"),
            insecure=insecure,
            proxy=self._proxy(cluster),
        )

    def _proxy(self, cluster: Mapping[str, Any]) -> str | None:
        proxy = self._text(cluster, "proxy-url")
        if proxy is None:
            return None
        if self.folder is None:
            hint = KubeText.GIVE_GITFLEET_ENVIRONMENT_VARIABLE_HTTPS()
            raise BadInput(KubeText.NAMES_PROXY_NOT_ALLOWED(source=self.source), hint=hint)
        if not proxy.startswith(_SERVERS):
            raise BadInput(KubeText.PROXY_URL_NO_HTTP_HTTPS(source=self.source), hint=KubeText.OTHER_PROXIES_NOT_WORK())
        return proxy

    def _login(
        self, cluster: Mapping[str, Any], user: Mapping[str, Any], rules: ConnectionRules, now: Callable[[], datetime]
    ) -> LoginSource:
        headers: dict[str, str] = {}
        if user.get("as"):
            headers["Impersonate-User"] = self._ascii(user, "as")
        if user.get("as-groups"):
            raise BadInput(KubeText.IMPERSONATES_GROUPS_NOT_SUPPORTED(source=self.source), hint="impersonate a user")
        certificate = self._pem(user, "client-certificate")
        key = self._pem(user, "client-key")
        base = Login(headers=headers, certificate=certificate, key=key)
        if user.get("auth-provider"):
            hint = KubeText.USE_EXEC_PLUG()
            raise BadInput(KubeText.USES_AUTH_PROVIDER(source=self.source), hint=hint)
        if user.get("exec"):
            return self._exec(cluster, _mapping(user["exec"], f"{self.source}: exec"), base, rules, now)
        if user.get("tokenFile"):
            return FileLogin(self._path(self._text(user, "tokenFile") or "", "tokenFile"), base)
        if user.get("token"):
            try:
                headers["Authorization"] = bearer_header(self._text(user, "token") or "")
            except ValueError as error:
                raise BadInput(f"{self.source}: {error}") from error
        elif user.get("username"):
            headers["Authorization"] = basic_header(str(user["username"]), str(user.get("password") or ""))
        return FixedLogin(Login(headers=headers, certificate=certificate, key=key))

    def _exec(
        self,
        cluster: Mapping[str, Any],
        plugin: Mapping[str, Any],
        base: Login,
        rules: ConnectionRules,
        now: Callable[[], datetime],
    ) -> LoginSource:
        folder = self.folder
        if folder is None:
            hint = KubeText.GIVE_GITFLEET_KUBECONFIG_FILE_KUBECONFIG()
            raise BadInput(KubeText.WANTS_RUN_PROGRAM(source=self.source), hint=hint)
        command, version = self._text(plugin, "command") or "", self._text(plugin, "apiVersion") or EXEC_VERSIONS[0]
        if version not in EXEC_VERSIONS:
            raise BadInput(KubeText.WANTS_CREDENTIAL_PLUG(source=self.source, version=version))
        arguments = plugin.get("args") or []
        if not isinstance(arguments, list) or not all(isinstance(argument, str) for argument in arguments):
            raise BadInput(KubeText.MUST_LINE_PLAIN_TEXT(source=self.source, field="exec.args"))
        variables = _mappings(plugin.get("env") or [], f"{self.source}: exec.env")
        info = {k: v for k, v in cluster.items() if k in ("server", "tls-server-name", "certificate-authority-data")}
        return ExecLogin(
            command=self._allowed(command, folder, rules),
            arguments=tuple(arguments),
            environment={str(variable.get("name")): str(variable.get("value")) for variable in variables},
            inherited=rules.exec_environment,
            api_version=version,
            cluster_info=info if plugin.get("provideClusterInfo") else None,
            folder=folder,
            now=now,
            base=base,
        )

    def _allowed(self, command: str, folder: Path, rules: ConnectionRules) -> str:
        """The plug-in's absolute path, when the operator allowed its very name or its very path."""
        hint = KubeText.START_GITFLEET_ALLOW_EXEC_IF(command=command or "NAME")
        refused = BadInput(KubeText.WANTS_RUN_NOT_ALLOWED(source=self.source, command=command), hint=hint)
        if os.sep not in command:
            if command not in rules.allowed_exec:
                raise refused
            program = shutil.which(command)
            if program is None:
                raise MissingPart(KubeText.CREDENTIAL_PLUG_NOT_PATH(command=command), hint="install it")
            return program
        path = (folder / command).resolve()
        if path not in {Path(entry).resolve() for entry in rules.allowed_exec if os.sep in entry}:
            raise refused
        return str(path)

    def _pem(self, part: Mapping[str, Any], field: str) -> str | None:
        data = part.get(f"{field}-data")
        if data:
            try:
                return base64.b64decode(str(data), validate=True).decode("ascii")
            except (binascii.Error, ValueError) as error:
                raise BadInput(KubeText.DATA_NOT_BASE64_PEM_TEXT(source=self.source, field=field)) from error
        if not part.get(field):
            return None
        path = self._path(self._text(part, field) or "", field)
        try:
            return path.read_text(encoding="ascii")
        except (OSError, ValueError) as error:
            raise MissingPart(KubeText.FILE_CANNOT_READ(source=self.source, field=field)) from error

    def _path(self, path: str, field: str) -> Path:
        if self.folder is None:
            hint = KubeText.PUT_CONTENT_ITSELF_CERTIFICATE_AUTHORITY()
            raise BadInput(KubeText.NAMES_FILE_NOT_ALLOWED(source=self.source, field=field), hint=hint)
        return self.folder / path

    def _text(self, part: Mapping[str, Any], field: str) -> str | None:
        """A field that is one line of plain text, as addresses, names and paths are; None when it is not there."""
        value = part.get(field)
        if value is None or value == "":
            return None
        if not isinstance(value, str) or _LINE.fullmatch(value) is None:
            raise BadInput(KubeText.MUST_LINE_PLAIN_TEXT(source=self.source, field=field))
        return value

    def _ascii(self, part: Mapping[str, Any], field: str) -> str:
        value = self._text(part, field) or ""
        if not value.isascii():
            raise BadInput(KubeText.MUST_LINE_PLAIN_TEXT(source=self.source, field=field))
        return value


def _mapping(value: Any, subject: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise BadInput(KubeText.MUST_MAPPING(what=subject))
    return value


def _mappings(value: Any, subject: str) -> list[Mapping[str, Any]]:
    if value is not None and (not isinstance(value, list) or not all(isinstance(entry, Mapping) for entry in value)):
        raise BadInput(KubeText.MUST_LIST_MAPPINGS(what=subject))
    return value or []


def parse_kubeconfig(content: bytes, source: str, folder: Path | None = None) -> Kubeconfig:
    """A kubeconfig from its YAML or JSON text; BadInput when it is none."""
    try:
        documents = read_documents(content, max_bytes=LARGEST_KUBECONFIG)
    except UnreadableText as error:
        raise BadInput(KubeText.CANNOT_READ(source=source, error=error)) from error
    body = documents[0] if len(documents) == 1 else None
    if not isinstance(body, Mapping) or not isinstance(body.get("clusters"), list):
        raise BadInput(KubeText.NOT_KUBECONFIG(source=source))
    return Kubeconfig(source, body, folder)


def read_kubeconfig(path: Path, source: str) -> Kubeconfig:
    """A kubeconfig from a file; MissingPart when it cannot be read."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_KUBECONFIG + 1)
    except OSError as error:
        raise MissingPart(KubeText.CANNOT_READ(source=source, error=error.strerror)) from error
    return parse_kubeconfig(content, source, path.resolve().parent)
