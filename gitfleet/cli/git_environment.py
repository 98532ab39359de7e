"""The credentials for the git remote, from the environment; never from an argument that others can see."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

from gitfleet.cli.texts import CliText
from gitfleet.errors import BadInput
from gitfleet.settings import GitCredentials, GitHubApp

_APP = ("GITFLEET_GITHUB_APP_ID", "GITFLEET_GITHUB_APP_INSTALLATION_ID", "GITFLEET_GITHUB_APP_KEY_FILE")
_PROXIES = ("http", "https", "socks5", "socks5h")
_LONGEST_SECONDS = 3600.0


def git_credentials() -> GitCredentials:
    """What the variables name. BadInput for those that do not go together, and for a proxy that is no URL."""
    password, password_file = _text("GITFLEET_GIT_PASSWORD"), _file("GITFLEET_GIT_PASSWORD_FILE")
    app, proxy = _app(), _text("GITFLEET_GIT_PROXY")
    if sum(value is not None for value in (password, password_file, app)) > 1:
        raise BadInput(CliText.GIVE_ONE_GITFLEET_GIT_PASSWORD(app=_APP[0]))
    if proxy is not None:
        _check_proxy(proxy)
    return GitCredentials(
        username=_text("GITFLEET_GIT_USERNAME"),
        password=password,
        password_file=password_file,
        app=app,
        ssh_key_file=_file("GITFLEET_SSH_KEY_FILE"),
        known_hosts_file=_file("GITFLEET_KNOWN_HOSTS_FILE"),
        ca_file=_file("GITFLEET_GIT_CA_FILE"),
        proxy=proxy,
    )


def git_seconds() -> float:
    """How many seconds one fetch or push may take (GITFLEET_GIT_TIMEOUT, 120 by default)."""
    text = _text("GITFLEET_GIT_TIMEOUT") or "120"
    if not text.isdecimal() or not 1 <= int(text) <= _LONGEST_SECONDS:
        raise BadInput(CliText.GITFLEET_GIT_TIMEOUT(text=text, longest_seconds=_LONGEST_SECONDS))
    return float(text)


def _app() -> GitHubApp | None:
    values = [_text(name) for name in _APP]
    api = _text("GITFLEET_GITHUB_API_URL")
    app_id, installation_id, key_file = values
    if app_id is None or installation_id is None or key_file is None:
        missing = [name for name, value in zip(_APP, values, strict=True) if value is None]
        if len(missing) < len(_APP) or api is not None:
            raise BadInput(CliText.GITHUB_APP_NEEDS(app=", ".join(_APP), missing=missing[0]))
        return None
    if not installation_id.isdecimal():
        raise BadInput(CliText.NO_NUMBER_STANDS_ADDRESS_INSTALLATION(app=_APP[1]))
    return GitHubApp(app_id=app_id, installation_id=installation_id, key_file=Path(key_file), api_url=api or "")


def _check_proxy(url: str) -> None:
    try:
        parts = urlsplit(url)
        sound = parts.scheme in _PROXIES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound:  # it is not repeated: there may be a password in it
        raise BadInput(CliText.GITFLEET_GIT_PROXY_NO_URL(), hint="give it as http://HOST:PORT")


def _text(name: str) -> str | None:
    return os.environ.get(name) or None


def _file(name: str) -> Path | None:
    return Path(os.environ[name]) if os.environ.get(name) else None
