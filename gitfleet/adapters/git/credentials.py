"""How the credentials for a remote reach git: through the environment of one process, never through an argument."""

from __future__ import annotations

import base64
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

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
    if credentials.proxy:
        settings["http.proxy"] = credentials.proxy
    return settings


def ssh_options(credentials: GitCredentials) -> str:
    """Options for ssh in the shell quoting that GIT_SSH_COMMAND asks for."""
    options = []
    if credentials.ssh_key_file:
        # Unlike -i, this leaves no other key to be tried when the file is not there.
        options += ["-o", f"IdentityFile={_quoted(credentials.ssh_key_file)}", "-o", "IdentitiesOnly=yes"]
    if credentials.known_hosts_file:
        # Only this file counts: what another one on the machine trusts does not.
        options += [
            "-o",
            f"UserKnownHostsFile={_quoted(credentials.known_hosts_file)}",
            "-o",
            f"GlobalKnownHostsFile={os.devnull}",
        ]
    return shlex.join(options)


def _quoted(path: Path) -> str:
    """A path in ssh's own quoting, in which spaces separate files and % begins a name for something else."""
    return '"' + str(path).replace("%", "%%") + '"'


class Mask:
    """Replaces secrets in text that people or logs will see."""

    def __init__(self, credentials: GitCredentials | None) -> None:
        self._secrets: set[str] = set()
        self.add(credentials)
        for name in ("http_proxy", "https_proxy", "all_proxy"):  # git honours them, by curl
            for value in (os.environ.get(name), os.environ.get(name.upper())):
                self._secrets |= _proxy_secrets(value)

    def add(self, credentials: GitCredentials | None) -> None:
        """Hide the secrets of these credentials, too."""
        if credentials is None:
            return
        if credentials.password:
            token = basic_token(credentials) or ""
            self._secrets |= {credentials.password, quote(credentials.password, safe=""), token}
        self._secrets |= _proxy_secrets(credentials.proxy)

    def __call__(self, text: str) -> str:
        """The text with every secret replaced by ***."""
        return without_secrets(text, self._secrets)


def _proxy_secrets(url: str | None) -> set[str]:
    """The password inside the URL of a proxy, as it stands there and as it is meant."""
    try:
        password = urlsplit(url or "").password
    except ValueError:
        password = None
    return {password, unquote(password)} if password else set()
