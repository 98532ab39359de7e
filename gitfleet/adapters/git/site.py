"""The bare repository of a site without a way to the hub's remote, which its agent has as its remote."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from gitfleet.adapters.git.bundle_header import read_header
from gitfleet.adapters.git.errors import quote_of
from gitfleet.adapters.git.hardening import git_environment
from gitfleet.adapters.git.runner import GitRunner
from gitfleet.errors import BadInput, MissingPart


def make_site_repository(folder: Path, bundle: bytes, *, shown: str) -> bool:
    """Make an empty bare repository, only for this user, whose ids are of the kind that a bundle has; whether there was
    none. BadInput for what is no bundle of one branch, MissingPart where the folder cannot be made."""
    if os.path.lexists(folder):
        return False
    object_format = read_header(bundle, shown).object_format
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise MissingPart(f"The folder {folder} cannot be made: {error.strerror}.") from error
    try:
        words = (
            "init",
            "--quiet",
            "--bare",
            "--template=",
            "--initial-branch=main",
            f"--object-format={object_format}",
        )
        done = GitRunner(fresh, git_environment(None)).run(*words, str(fresh))
        if not done.ok:
            raise MissingPart(f"git could not make a repository in {folder}: {quote_of(done.errors)}")
        with suppress(OSError):  # another process was faster: there is one now
            fresh.rename(folder)
        if not folder.is_dir():
            raise BadInput(f"The folder {folder} could not be made.", hint="Is its path free, and may you write there?")
        return True
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
