"""The composition root of `gitfleet bundle`: a git remote whose branches travel in files, and nothing else."""

from __future__ import annotations

from pathlib import Path

from gitfleet.adapters.git.bundles import GitBundles
from gitfleet.adapters.git.site import make_site_repository
from gitfleet.errors import MissingPart
from gitfleet.settings import Settings

__all__ = ["make_site_repository", "open_bundles", "site_folder"]


def open_bundles(settings: Settings) -> GitBundles:
    """The remote that the settings name. MissingPart when the cache folder cannot be made."""
    try:
        settings.cache_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        hint = "name a folder that can be written with --cache-dir"
        why = f"the cache folder {settings.cache_dir} cannot be made: {error.strerror}"
        raise MissingPart(why, hint=hint) from error
    credentials = settings.git_credentials if settings.git_credentials.given else None
    return GitBundles(settings.repo, settings.cache_dir / "mirror", credentials=credentials, use_git_config=True)


def site_folder(address: str) -> Path | None:
    """The folder of a repository on this machine that an address names; None for a URL."""
    return None if "://" in address or ":" in address.split("/")[0] else Path(address).expanduser().absolute()
