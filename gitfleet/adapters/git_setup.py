"""Repositories as the settings name them: the config repo, one of our own for the demo, and where a local one keeps its
refs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from gitfleet.adapters.clock import SystemClock
from gitfleet.adapters.git import GitRemote
from gitfleet.adapters.git.connection import Bounds
from gitfleet.adapters.git.errors import NO_ROOM
from gitfleet.adapters.git.local import find_local_repository
from gitfleet.adapters.git.work_tree import read_work_tree
from gitfleet.adapters.github_app import AppTokens
from gitfleet.adapters.state_dir import StateDirectory
from gitfleet.adapters.texts import AdaptersText
from gitfleet.api.fleet import Branches
from gitfleet.errors import BadInput, MissingPart
from gitfleet.ports.repos import WorkTreeFiles
from gitfleet.settings import Settings

_Remote = TypeVar("_Remote", bound=GitRemote)


def make_repository(folder: Path, files: Mapping[str, bytes], message: str) -> None:
    """A new repository with one commit on `main` that holds the files (path: bytes); the folder must not exist yet."""
    import git  # here, because importing it costs more than most commands take

    repo = git.Repo.init(folder, mkdir=True, initial_branch="main")
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    repo.git.add("--all")
    identity = ["-c", "user.name=gitfleet demo", "-c", "user.email=demo@gitfleet.dev", "-c", "commit.gpgSign=false"]
    repo.git.execute(["git", *identity, "commit", "--quiet", "--no-verify", "--message", message])
    repo.close()


def local_git_dir(address: str) -> Path | None:
    """The git directory of a repository on this machine, None for a URL."""
    if "://" in address:
        return None
    try:
        return find_local_repository(Path(address)).git_dir
    except BadInput:
        # An address such as host:path is no folder here; whether it can be reached is the remote's affair.
        return None


def remote_with_state(address: str) -> str | None:
    """The remote that has the state branch, of a clone on this machine that fetched it and has none of its own; None
    for any other address."""
    git_dir, state = local_git_dir(address), Branches().state
    if git_dir is None:
        return None
    file = git_dir / "packed-refs"
    packed = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    if f" refs/heads/{state}\n" in packed or (git_dir / "refs" / "heads" / state).is_file():
        return None
    packed_remotes = re.findall(rf" refs/remotes/([^/\n]+)/{re.escape(state)}\n", packed)
    loose_remotes = (path.relative_to(git_dir).parts[2] for path in git_dir.glob(f"refs/remotes/*/{state}"))
    return min((*packed_remotes, *loose_remotes), default=None)


def work_tree_of(settings: Settings) -> WorkTreeFiles | None:
    """The files of the config repo's work tree where it has one that can be read here, None otherwise."""
    return read_work_tree(settings.repo, limit=settings.limits.file_bytes)


def app_tokens(settings: Settings) -> AppTokens | None:
    """The tokens of the GitHub App that the settings name, if any."""
    credentials = settings.git_credentials
    if credentials.app is None:
        return None
    return AppTokens(credentials.app, settings.repo, SystemClock(), ca_file=credentials.ca_file)


def open_repository(settings: Settings) -> GitRemote | StateDirectory:
    """The config repo that the settings name, its state branch in a folder where they say so. MissingPart when the
    cache folder cannot be made; a full disk may have room by the time that something is to be kept there."""
    remote = open_remote(settings, GitRemote)
    if settings.state_dir is None:
        return remote
    return StateDirectory(settings.state_dir, Branches().state, remote)


def open_remote(settings: Settings, kind: type[_Remote]) -> _Remote:
    """The config repo's git remote; MissingPart as for `open_repository`."""
    try:
        settings.cache_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        if error.errno not in NO_ROOM:
            hint = AdaptersText.NAME_FOLDER_CACHE_DIR()
            why = AdaptersText.CACHE_FOLDER_CANNOT_MADE(folder=settings.cache_dir, why=error.strerror)
            raise MissingPart(why, hint=hint) from error
    credentials = settings.git_credentials if settings.git_credentials.is_set else None
    return kind(
        settings.repo,
        settings.cache_dir / "mirror",
        credentials=credentials,
        bounds=Bounds(network_seconds=settings.git_seconds),
        use_git_config=True,
        app_token=app_tokens(settings),
        tracked=settings.tracked,
    )
