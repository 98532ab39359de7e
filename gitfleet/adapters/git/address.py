"""Where a remote is: a URL or a local path, judged before git sees it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from gitfleet.adapters.git.local import LocalRepository, find_local_repository
from gitfleet.adapters.git.texts import GitText
from gitfleet.errors import BadInput
from gitfleet.settings import GitCredentials

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_EXTERNAL_HELPER = re.compile(r"[A-Za-z0-9+.-]+::")
_SSH_SHORT = re.compile(r"(?:[\w.+-]+@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[\w.-]+):(?P<path>.+)")
# The protocol that git may use for each scheme; plain http may be sent on to https but not the other way round.
_PROTOCOLS = {"http": "http:https", "https": "https", "ssh": "ssh", "git": "git", "file": "file"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """One remote: `url` is what git gets, without a password; `shown` is what people see."""

    url: str
    shown: str
    scheme: str
    origin: str = ""  # scheme://host[:port]/ of http and https
    local: LocalRepository | None = None

    @property
    def protocols(self) -> str:
        """The value of GIT_ALLOW_PROTOCOL: nothing but what this address needs."""
        return _PROTOCOLS[self.scheme]


def parse_address(text: str) -> tuple[Address, GitCredentials | None]:
    """The address, and the credentials that were written inside it, if any.

    BadInput for an option in disguise, an external helper (`ext::`), an unknown scheme, a local path without a
    repository, and a local repository of another user that git does not trust.
    """
    if not text.strip() or _CONTROL.search(text):
        raise _refusal(GitText.ADDRESS_EMPTY())
    if text.startswith("-") or _EXTERNAL_HELPER.match(text):
        raise _refusal(GitText.ADDRESS_LIKE_OPTION(part=text.split("::", 1)[0][:20]))
    if scheme := _SCHEME.match(text):
        return _parse_url(text, scheme.group(1).lower())
    short = _SSH_SHORT.fullmatch(text)
    # user:password@host is not ssh's short form, however much git would take it for host "user".
    if short and "/" not in text.split(":", 1)[0] and "@" not in short.group("path").split("/")[0]:
        _refuse_option(short.group("host"))
        _refuse_option(short.group("path"))
        return Address(url=text, shown=text, scheme="ssh"), None
    if "@" in text and not Path(text).exists():  # perhaps a mistyped URL with a password in it: not to be repeated
        raise _refusal(GitText.ADDRESS_NO_URL())
    return _local(Path(text)), None


def _parse_url(text: str, scheme: str) -> tuple[Address, GitCredentials | None]:
    if scheme not in _PROTOCOLS:
        raise _refusal(GitText.NO_FETCH_BY(scheme=scheme))
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        # The cause may quote a part of the URL, and that part may be a password.
        raise _refusal(GitText.ADDRESS_NO_URL()) from None
    if scheme == "file":
        if host not in ("", "localhost"):
            raise _refusal(GitText.HOST_OF_FILE_URL(host=host))
        return _local(Path(unquote(parts.path))), None
    if not host or not parts.path.strip("/"):
        raise _refusal(GitText.ADDRESS_NO_URL())
    _refuse_option(host)
    _refuse_option(parts.username or "")
    place = (f"[{host}]" if ":" in host else host) + (f":{port}" if port else "")
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    if scheme in ("ssh", "git"):
        login = f"{parts.username}@" if parts.username else ""
        return Address(
            url=f"{scheme}://{login}{place}{path}", shown=f"{scheme}://{place}{parts.path}", scheme=scheme
        ), None
    origin = f"{scheme}://{place}/"
    address = Address(
        url=origin + path.lstrip("/"), shown=origin + parts.path.lstrip("/"), scheme=scheme, origin=origin
    )
    return address, _credentials_inside(parts.username, parts.password)


def _credentials_inside(username: str | None, password: str | None) -> GitCredentials | None:
    if password:
        return GitCredentials(username=unquote(username or "git"), password=unquote(password))
    if username:  # https://TOKEN@host/ is how several hosts hand out a token
        return GitCredentials(username=unquote(username), password=unquote(username))
    return None


def _local(path: Path) -> Address:
    repository = find_local_repository(path)
    return Address(url=str(repository.git_dir), shown=str(path), scheme="file", local=repository)


def _refuse_option(text: str) -> None:
    if text.startswith("-"):
        raise _refusal(GitText.ADDRESS_LIKE_OPTION(part=text[:20]))


def _refusal(message: str) -> BadInput:
    return BadInput(message, hint=GitText.GIVE_URL_OR_PATH())
