"""What opens a remote, and how it reaches git: through the environment of one process, never through an argument."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from gitfleet.formats.masking import without_secrets


@dataclass(frozen=True, slots=True, kw_only=True)
class GitCredentials:
    """How to prove who we are to a git remote; anything left None is not used.

    For http and https: `username` and `password` (a token is a password; many hosts ignore the name that goes with
    it). For ssh: `ssh_key_file` and `known_hosts_file`. `ca_file` is the authority that signs an https remote.
    """

    username: str | None = None
    password: str | None = field(default=None, repr=False)
    ssh_key_file: Path | None = None
    known_hosts_file: Path | None = None
    ca_file: Path | None = None

    def basic_token(self) -> str | None:
        """The value of HTTP basic authentication, None without a password."""
        if not self.password:
            return None
        return base64.b64encode(f"{self.username or 'git'}:{self.password}".encode()).decode()

    def config(self, origin: str) -> Mapping[str, str]:
        """Git settings for one `scheme://host[:port]/`: the header goes to that host and, with it, to no other."""
        settings = {}
        if token := self.basic_token():
            settings[f"http.{origin}.extraHeader"] = f"Authorization: Basic {token}"
            settings["http.followRedirects"] = "false"
        if self.ca_file:
            settings["http.sslCAInfo"] = str(self.ca_file)
        return settings

    def ssh_options(self) -> str:
        """Options for ssh in the shell quoting that GIT_SSH_COMMAND asks for."""
        options = []
        if self.ssh_key_file:
            options += ["-i", str(self.ssh_key_file), "-o", "IdentitiesOnly=yes"]
        if self.known_hosts_file:
            options += ["-o", f"UserKnownHostsFile={self.known_hosts_file}", "-o", "StrictHostKeyChecking=yes"]
        return shlex.join(options)


class Mask:
    """Replaces secrets in text that people or logs will see."""

    def __init__(self, credentials: GitCredentials | None) -> None:
        secrets: set[str] = set()
        if credentials and credentials.password:
            secrets |= {credentials.password, quote(credentials.password, safe=""), credentials.basic_token() or ""}
        self._secrets = secrets

    def __call__(self, text: str) -> str:
        """The text with every secret replaced by ***."""
        return without_secrets(text, self._secrets)
