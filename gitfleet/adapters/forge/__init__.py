"""Forges, each behind a factory that loads its client library when it is called (extra `forges`).

No module here has the name of a factory: importing it would put it in the factory's place in this package, where the
entry points look.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from gitfleet import extra
from gitfleet.adapters.forge.texts import ForgeText
from gitfleet.errors import MissingPart
from gitfleet.ports.forges import Forge, ForgeAccess, ForgeFactory


def github(access: ForgeAccess) -> Forge:
    """GitHub, or GitHub Enterprise Server where a URL is given."""
    with _needs("PyGithub"):
        from gitfleet.adapters.forge.github_client import GitHub
    return GitHub(access)


def gitea(access: ForgeAccess) -> Forge:
    """Gitea or Forgejo."""
    with _needs("PyGithub"):
        from gitfleet.adapters.forge.github_client import Gitea
    return Gitea(access)


def gitlab(access: ForgeAccess) -> Forge:
    """GitLab: gitlab.com, or the server of the URL."""
    with _needs("python-gitlab"):
        from gitfleet.adapters.forge.gitlab_client import GitLab
    return GitLab(access)


@contextmanager
def _needs(package: str) -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        hint = ForgeText.INSTALL_IT_WITH(extra=extra("forges"))
        raise MissingPart(ForgeText.PACKAGE_NOT_INSTALLED(package=package), hint=hint) from error


BUILT_IN: Final[Mapping[str, ForgeFactory]] = {"gitea": gitea, "github": github, "gitlab": gitlab}
