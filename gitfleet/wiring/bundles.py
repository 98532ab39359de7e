"""The composition root of `gitfleet bundle`: a git remote whose branches travel in files, and nothing else."""

from __future__ import annotations

from pathlib import Path

from gitfleet.adapters.git.bundles import GitBundles, make_site_repository
from gitfleet.adapters.git_setup import open_remote
from gitfleet.settings import Settings

__all__ = ["make_site_repository", "open_bundles", "site_folder"]


def open_bundles(settings: Settings) -> GitBundles:
    """The remote that the settings name. MissingPart when the cache folder cannot be made."""
    return open_remote(settings, GitBundles)


def site_folder(address: str) -> Path | None:
    """The folder of a repository on this machine that an address names; None for a URL."""
    return None if "://" in address or ":" in address.split("/")[0] else Path(address).expanduser().absolute()
