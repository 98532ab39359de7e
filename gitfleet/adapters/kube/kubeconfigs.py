"""Kubeconfigs read with suspicion: which server, which authority, which login; and what may not be used.

A kubeconfig that was handed to the process may name files and (allow-listed) plug-ins; one that comes from a Secret
holds everything inside itself, unless the operator says otherwise.
"""

from __future__ import annotations

import base64
import binascii
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from gitfleet.adapters.kube.logins import (
    Endpoint,
    ExecLogin,
    FileLogin,
    FixedLogin,
    Login,
    LoginSource,
    basic_header,
)
from gitfleet.errors import BadInput, MissingPart
from gitfleet.formats.yaml_reader import Profile, UnreadableText, read_documents

LARGEST_KUBECONFIG: Final = 1024 * 1024
_EXEC_VERSIONS: Final = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What kubeconfigs may do: `allowed_exec` are names or absolute paths of plug-ins, `files` tells whether they may
    name files, `insecure` whether they may switch the check of the server's certificate off."""

    allowed_exec: tuple[str, ...] = ()
    files: bool = True
    insecure: bool = False


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """A parsed kubeconfig. `source` names it in sentences, `folder` is where its relative paths start."""

    source: str
    body: Mapping[str, Any]
    folder: Path | None = None

    def access(
        self, rules: Rules, now: Callable[[], datetime], context: str | None = None
    ) -> tuple[Endpoint, LoginSource]:
        """Where a context leads and how to log in there; the current context when none is named.

        MissingPart for what is not there, BadInput for what is wrong or not allowed, each with a hint.
        """
        name = context if context is not None else str(self.body.get("current-context") or "")
        if not name:
            raise MissingPart(f"{self.source} has no current context", hint="name one in spec.connection.context")
        found = self._named("contexts", name)
        cluster = self._named("clusters", str(found.get("cluster") or ""))
        user = self._named("users", str(found.get("user") or "")) if found.get("user") else {}
        return self._endpoint(cluster, rules), self._login(cluster, user, rules, now)

    def _named(self, kind: str, name: str) -> Mapping[str, Any]:
        for entry in self.body.get(kind) or ():
            if isinstance(entry, Mapping) and entry.get("name") == name:
                part = entry.get(kind[:-1])
                return part if isinstance(part, Mapping) else {}
        have = ", ".join(sorted(str(e.get("name")) for e in self.body.get(kind) or () if isinstance(e, Mapping)))
        raise MissingPart(f'{self.source} has no {kind[:-1]} "{name}"', hint=f"it has: {have or 'none'}")

    def _endpoint(self, cluster: Mapping[str, Any], rules: Rules) -> Endpoint:
        server = str(cluster.get("server") or "")
        if not server.startswith(("https://", "http://")):
            raise BadInput(f"{self.source} names no server address (https://...)")
        insecure = bool(cluster.get("insecure-skip-tls-verify"))
        if (insecure or server.startswith("http://")) and not rules.insecure:
            raise BadInput(
                f"{self.source} does not check who the API server is, which is not allowed",
                hint="give it certificate-authority-data and an https address, or allow insecure kubeconfigs",
            )
        return Endpoint(
            server=server,
            authority=self._pem(cluster, "certificate-authority", rules),
            server_name=str(cluster["tls-server-name"]) if cluster.get("tls-server-name") else None,
            insecure=insecure,
            proxy=str(cluster["proxy-url"]) if cluster.get("proxy-url") else None,
        )

    def _login(
        self, cluster: Mapping[str, Any], user: Mapping[str, Any], rules: Rules, now: Callable[[], datetime]
    ) -> LoginSource:
        headers: dict[str, str] = {}
        if user.get("as"):
            headers["Impersonate-User"] = str(user["as"])
        if user.get("as-groups"):
            raise BadInput(f"{self.source} impersonates groups, which is not supported", hint="impersonate a user")
        certificate = self._pem(user, "client-certificate", rules)
        key = self._pem(user, "client-key", rules)
        base = Login(headers=headers, certificate=certificate, key=key)
        if user.get("auth-provider"):
            hint = "use an exec plug-in, a token or a client certificate"
            raise BadInput(f"{self.source} uses an auth-provider, which Kubernetes has removed", hint=hint)
        if user.get("exec"):
            return self._exec(cluster, user["exec"], base, rules, now)
        if user.get("tokenFile"):
            return FileLogin(self._path(str(user["tokenFile"]), "tokenFile", rules), base)
        if user.get("token"):
            headers["Authorization"] = f"Bearer {user['token']}"
        elif user.get("username"):
            headers["Authorization"] = basic_header(str(user["username"]), str(user.get("password") or ""))
        return FixedLogin(Login(headers=headers, certificate=certificate, key=key))

    def _exec(
        self,
        cluster: Mapping[str, Any],
        plugin: Mapping[str, Any],
        base: Login,
        rules: Rules,
        now: Callable[[], datetime],
    ) -> LoginSource:
        command, version = str(plugin.get("command") or ""), str(plugin.get("apiVersion") or _EXEC_VERSIONS[0])
        if version not in _EXEC_VERSIONS:
            raise BadInput(f"{self.source} wants a credential plug-in of {version}, which is not supported")
        environment = {str(e.get("name")): str(e.get("value")) for e in plugin.get("env") or ()}
        info = {k: v for k, v in cluster.items() if k in ("server", "tls-server-name", "certificate-authority-data")}
        return ExecLogin(
            command=self._allowed(command, rules),
            arguments=tuple(str(argument) for argument in plugin.get("args") or ()),
            environment=environment,
            api_version=version,
            cluster_info=info if plugin.get("provideClusterInfo") else None,
            now=now,
            base=base,
        )

    def _allowed(self, command: str, rules: Rules) -> str:
        """The plug-in's absolute path, when the operator allowed its very name or its very path."""
        hint = f"start gitfleet with --allow-exec {command or 'NAME'} if you trust it"
        refused = BadInput(f'{self.source} wants to run "{command}", which is not allowed', hint=hint)
        if os.sep not in command:
            if command not in rules.allowed_exec:
                raise refused
            found = shutil.which(command)
            if found is None:
                raise MissingPart(f"the credential plug-in {command} is not on the PATH", hint="install it")
            return found
        if not Path(command).is_absolute() and self.folder is None:
            raise refused
        path = ((self.folder or Path("/")) / command).resolve()
        if path not in {Path(entry).resolve() for entry in rules.allowed_exec if os.sep in entry}:
            raise refused
        return str(path)

    def _pem(self, part: Mapping[str, Any], field: str, rules: Rules) -> str | None:
        data = part.get(f"{field}-data")
        if data:
            try:
                return base64.b64decode(str(data), validate=True).decode("ascii")
            except (binascii.Error, ValueError) as error:
                raise BadInput(f"{self.source}: {field}-data is not base64 of a PEM text") from error
        if not part.get(field):
            return None
        path = self._path(str(part[field]), field, rules)
        try:
            return path.read_text(encoding="ascii")
        except (OSError, ValueError) as error:
            raise MissingPart(f"{self.source}: the file of {field} cannot be read") from error

    def _path(self, path: str, field: str, rules: Rules) -> Path:
        if not rules.files or self.folder is None:
            hint = f"put the content itself there (such as {field}-data or token)"
            raise BadInput(f"{self.source}: {field} names a file, which is not allowed there", hint=hint)
        return self.folder / path


def parse_kubeconfig(content: bytes, source: str, folder: Path | None = None) -> Kubeconfig:
    """A kubeconfig from its YAML or JSON text; BadInput when it is none."""
    try:
        documents = read_documents(content, Profile.KUBERNETES, max_bytes=LARGEST_KUBECONFIG)
    except UnreadableText as error:
        raise BadInput(f"{source} cannot be read: {error}") from error
    body = documents[0] if len(documents) == 1 else None
    if not isinstance(body, Mapping) or not isinstance(body.get("clusters"), Sequence):
        raise BadInput(f"{source} is not a kubeconfig")
    return Kubeconfig(source, body, folder)


def read_kubeconfig(path: Path, source: str) -> Kubeconfig:
    """A kubeconfig from a file; MissingPart when it cannot be read."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_KUBECONFIG + 1)
    except OSError as error:
        raise MissingPart(f"{source} cannot be read: {error.strerror}") from error
    return parse_kubeconfig(content, source, path.resolve().parent)
