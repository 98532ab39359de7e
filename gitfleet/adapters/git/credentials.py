"""How the credentials for a remote reach git: through the environment of one process, never through an argument."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Mapping
from urllib.parse import quote

from gitfleet.formats.masking import without_secrets
from gitfleet.settings import GitCredentials


def basic_token(credentials: GitCredentials) -> str | None:
    """The value of HTTP basic authentication, None without a password."""
    if not credentials.password:
        return None
    return base64.b64encode(f"{credentials.username or 'git'}:{credentials.password}".encode()).decode()


def git_config(credentials: GitCredentials, origin: str) -> Mapping[str, str]:
    """Git settings for one `scheme://host[:port]/`: the header goes to that host and, with it, to no other."""
    settings = {}
    if token := basic_token(credentials):
        settings[f"http.{origin}.extraHeader"] = f"Authorization: Basic {token}"
        settings["http.followRedirects"] = "false"
    if credentials.ca_file:
        settings["http.sslCAInfo"] = str(credentials.ca_file)
    return settings


def ssh_options(credentials: GitCredentials) -> str:
    """Options for ssh in the shell quoting that GIT_SSH_COMMAND asks for."""
    options = []
    if credentials.ssh_key_file:
        options += ["-i", str(credentials.ssh_key_file), "-o", "IdentitiesOnly=yes"]
    if credentials.known_hosts_file:
        options += ["-o", f"UserKnownHostsFile={credentials.known_hosts_file}", "-o", "StrictHostKeyChecking=yes"]
    return shlex.join(options)


class Mask:
    """Replaces secrets in text that people or logs will see."""

    def __init__(self, credentials: GitCredentials | None) -> None:
        secrets: set[str] = set()
        if credentials and credentials.password:
            secrets |= {credentials.password, quote(credentials.password, safe=""), basic_token(credentials) or ""}
        self._secrets = secrets

    def __call__(self, text: str) -> str:
        """The text with every secret replaced by ***."""
        return without_secrets(text, self._secrets)
