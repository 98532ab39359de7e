"""A repository of our own for the demo, and where a local repository keeps its refs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gitfleet.adapters.git.local import find_local_repository
from gitfleet.errors import BadInput


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
