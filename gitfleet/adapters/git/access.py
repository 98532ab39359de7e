"""Who we are to the remote at this moment: files are read and tokens asked for at each use, so that they may rotate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from gitfleet.adapters.git.address import Address
from gitfleet.adapters.git.credentials import Mask
from gitfleet.adapters.git.errors import is_refused
from gitfleet.adapters.git.hardening import git_environment
from gitfleet.adapters.git.runner import GitResult, GitRunner
from gitfleet.adapters.git.texts import GitText
from gitfleet.errors import MissingPart
from gitfleet.settings import GitCredentials

_MOST_BYTES = 64 << 10
_TOKEN_USER = "x-access-token"  # noqa: S105 - the name that GitHub wants beside a token of an app

AppToken = Callable[[bool], str]
"""A token of a GitHub App, which lasts long enough for one fetch or push; with True another one than before."""


class Access:
    """The credentials for one remote as they are now."""

    def __init__(self, credentials: GitCredentials | None, app_token: AppToken | None = None) -> None:
        self._credentials = credentials
        self._app_token = app_token

    def now(self, *, renew: bool = False) -> GitCredentials | None:
        """With the password that the file or the app has now; with `renew` an app's token is not one that was used
        already. MissingPart for a file that cannot be read or is empty; what the app's server answers."""
        credentials = self._credentials
        if credentials is None:
            return None
        if self._app_token is not None:
            return replace(credentials, username=credentials.username or _TOKEN_USER, password=self._app_token(renew))
        if credentials.password_file is not None:
            return replace(credentials, password=read_secret(credentials.password_file))
        return credentials


class RemoteCommands:
    """Runs git between a repository on this machine and the remote. What is added to `mask` hides what was used."""

    def __init__(
        self, address: Address, access: Access, mask: Mask, git_dir: Path, *, seconds: float, use_git_config: bool
    ) -> None:
        self._address, self._access, self._mask, self._git_dir = address, access, mask, git_dir
        self._seconds, self._use_git_config = seconds, use_git_config

    def runner(self, git_dir: Path, credentials: GitCredentials | None = None) -> GitRunner:
        """What runs git on a repository; without credentials for what does not leave this machine."""
        environment = git_environment(
            str(git_dir),
            protocols=self._address.protocols,
            origin=self._address.origin,
            credentials=credentials,
            use_git_config=self._use_git_config,
        )
        return GitRunner(self._git_dir.parent, environment)

    def run(
        self,
        *arguments: str,
        stdin: Sequence[bytes] = (),
        file_bytes: int | None = None,
        lock: int | None = None,
        into: Path | None = None,
    ) -> GitResult:
        """Run git on the mirror (or on the repository `into`) and the remote, with the credentials of this moment: once
        more where they were refused and others are there by then."""

        def run_with(credentials: GitCredentials | None) -> GitResult:
            self._mask.add(credentials)
            git = self.runner(into or self._git_dir, credentials)
            return git.run(*arguments, stdin=stdin, seconds=self._seconds, file_bytes=file_bytes, lock=lock)

        credentials = self._access.now()
        result = run_with(credentials)
        if is_refused(result) and (renewed := self._access.now(renew=True)) != credentials:
            result = run_with(renewed)
        return result


def read_secret(file: Path) -> str:
    """The one line of a file; MissingPart where it cannot be read or holds something else."""
    try:
        with file.open("rb") as opened:
            text = opened.read(_MOST_BYTES).decode(errors="replace").strip()
    except OSError as error:
        message = GitText.FILE_CANNOT_READ(file=file, why=error.strerror)
        raise MissingPart(message, hint=GitText.GIVE_TOKEN_FILE()) from error
    if not text or not text.isprintable():
        raise MissingPart(GitText.FILE_NOT_ONE_LINE(file=file), hint=GitText.GIVE_TOKEN_FILE())
    return text
