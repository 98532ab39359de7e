"""Tokens of a GitHub App (extra `forges`): the app's key signs who it is, and GitHub gives a token for one hour."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from gitfleet import extra
from gitfleet.adapters.texts import AdaptersText
from gitfleet.errors import BadInput, Forbidden, MissingPart, RetryLater
from gitfleet.formats.canonical_json import parse_json
from gitfleet.formats.json_values import section
from gitfleet.model.failures import Failure, Subject, attempt
from gitfleet.ports.clock import Clock
from gitfleet.settings import GitHubApp

if TYPE_CHECKING:
    from github.Auth import AppAuth

_LEFT: Final = timedelta(minutes=10)
"""A token that lasts less than this is used no more: a fetch and a push may take long."""
_MOST_KEY_BYTES: Final = 64 << 10
_PUBLIC: Final = ("github.com", "www.github.com", "ssh.github.com")


class AppTokens:
    """The tokens of one installation, for any number of threads. The key is read whenever a token is asked for, so that
    its file may be replaced while the process runs."""

    def __init__(self, app: GitHubApp, remote: str, clock: Clock, *, ca_file: Path | None = None) -> None:
        """`remote` is the URL of the repository, from which the address of the API follows where the app names none.
        BadInput where it does not."""
        self._app, self._clock, self._ca_file = app, clock, ca_file
        self._api = (app.api_url or _api_of(remote)).rstrip("/")
        self._lock = threading.Lock()
        self._token, self._until = "", datetime.min.replace(tzinfo=UTC)

    def __call__(self, renew: bool = False) -> str:
        """A token that lasts for ten minutes at least, a new one with `renew`. MissingPart for a key that cannot be
        used, Forbidden where GitHub refuses the app, RetryLater where it does not answer."""
        with self._lock:
            if renew or self._clock.now() + _LEFT > self._until:
                self._token, self._until = self._ask()
            return self._token

    def _ask(self) -> tuple[str, datetime]:
        try:
            import requests
            from github.Auth import AppAuth

            from gitfleet.adapters.forge.sessions import ForgeAdapter
        except ImportError as error:
            hint = AdaptersText.INSTALL_WITH(extra=extra("forges"))
            raise MissingPart(AdaptersText.PYGITHUB_NOT_INSTALLED(), hint=hint) from error
        proof = self._proof(AppAuth)
        with requests.Session() as session:
            adapter = ForgeAdapter(self._api, proof)
            session.mount("https://", adapter)
            session.mount("http://", adapter)
            session.verify = str(self._ca_file) if self._ca_file else True
            headers = {"Authorization": f"Bearer {proof}", "Accept": "application/vnd.github+json"}
            url = f"{self._api}/app/installations/{self._app.installation_id}/access_tokens"
            try:
                content = session.post(url, headers=headers).content
            except BadInput as error:  # 404: no such installation
                hint = AdaptersText.CHECK_IDS()
                raise Forbidden(AdaptersText.NO_TOKEN_GITHUB_APP(error=error), hint=hint) from error
        return _token_of(parse_json(content))

    def _proof(self, auth: type[AppAuth]) -> str:
        """The signed word of the app that it is itself: a JWT, RS256, for a few minutes."""
        file = self._app.key_file
        try:
            with file.open("rb") as opened:
                key = opened.read(_MOST_KEY_BYTES).decode(errors="replace")
        except OSError as error:
            raise MissingPart(AdaptersText.GITHUB_APP_KEY_CANNOT_READ(file=file, why=error.strerror)) from error
        # What the libraries raise for a key that they cannot use is of many kinds, and may quote the key.
        proof = attempt(Subject("GitHub App", self._app.app_id), lambda: auth(self._app.app_id, key).create_jwt())
        if isinstance(proof, Failure):
            hint = AdaptersText.GIVE_PEM_FILE()
            raise MissingPart(AdaptersText.GITHUB_APP_KEY_NO_RSA(file=file), hint=hint)
        return proof


def _token_of(response: Any) -> tuple[str, datetime]:
    token = section(response).get("token")
    try:
        when = datetime.fromisoformat(str(section(response).get("expires_at")))
    except ValueError:
        when = None
    if not isinstance(token, str) or not token.isascii() or not token.isprintable() or not token or when is None:
        raise RetryLater(AdaptersText.RESPONSE_NO_TOKEN_END())
    return token, when if when.tzinfo else when.replace(tzinfo=UTC)


def _api_of(remote: str) -> str:
    parts = urlsplit(remote)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        hint = AdaptersText.GIVE_HTTPS_URL()
        raise BadInput(AdaptersText.GITHUB_APP_HTTPS_ALONE(), hint=hint)
    if parts.hostname in _PUBLIC:
        return "https://api.github.com"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/api/v3"
